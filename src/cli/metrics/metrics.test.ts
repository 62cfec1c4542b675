/**
 * Aim: what is exported is what the list, the document and the dashboard say, in the form that geth's exporter has; the
 * endpoint answers nothing else; slow blocks are told in the words that other clients use. Method: runs under watch, read
 * over HTTP as Prometheus reads it.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Registry } from 'prom-client'
import { isVarveError, toHex } from '../../base/index.ts'
import { parseMetricsAddress } from '../arguments.ts'
import { contractAddress } from '../executor/accountBook.ts'
import { BLOCK_SIZE, BLOCKS, database, run } from '../executor/testRun.suite.ts'
import { UsageError } from '../exit.ts'
import { METRICS, metricTables } from './catalogue.ts'
import { GethTimer } from './gethTimer.ts'
import { MetricsServer } from './metricsServer.ts'
import { type WatchFlags, Watching, watched } from './watching.ts'

const root = join(import.meta.dirname, '../../..')
const folder = mkdtempSync(join(tmpdir(), 'varve-metrics-'))
after(() => rmSync(folder, { recursive: true }))

const ANY_PORT = { host: '127.0.0.1', port: 0 }
/** What a kind adds to a name. */
const SUFFIXES = { timer: ['_sum', '_count'], histogram: ['_bucket', '_sum', '_count'] } as const

/** Samples of an answer: each name with its labels, and the value. */
function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1))] as const
    }),
  )
}

function namesOf(samples: Iterable<string>): Set<string> {
  return new Set(Array.from(samples, (sample) => sample.split('{', 1)[0]!))
}

/** Names of our metrics as samples have them. */
function sampleNames(): Set<string> {
  const names = METRICS.flatMap(({ name, kind }) => {
    if (kind === 'timer') return [name, ...SUFFIXES.timer.map((suffix) => name + suffix)]
    if (kind === 'histogram') return SUFFIXES.histogram.map((suffix) => name + suffix)
    return [name]
  })
  return new Set(names)
}

async function scraped(flags: WatchFlags, isPipelined = false): Promise<Map<string, number>> {
  return await watched({ metrics: ANY_PORT, ...flags }, async (watching) => {
    await run(database(), ['erc20-transfer'], { watching, isPipelined })
    const response = await fetch(watching.url!)
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type')!, /^text\/plain; version=0\.0\.4/)
    return samplesOf(await response.text())
  })
}

test('G15: every metric of the list is exported, and every other one is the process’s', async () => {
  const samples = await scraped({})
  const names = namesOf(samples.keys())
  for (const name of sampleNames()) assert.ok(names.has(name), `${name} is exported`)
  for (const name of names)
    assert.ok(sampleNames().has(name) || /^(nodejs|process)_/.test(name), `${name} is on the list`)
  assert.ok(names.has('nodejs_gc_duration_seconds_sum') || names.has('nodejs_heap_size_used_bytes'))
})

test('what a run did is what its metrics say, with stages on this thread or overlapping', async () => {
  for (const isPipelined of [false, true]) {
    const samples = await scraped({}, isPipelined)
    const value = (name: string): number => samples.get(name)!
    assert.equal(value('chain_head_block'), BLOCKS)
    assert.equal(value('varve_blocks_total{status="head"}'), BLOCKS)
    assert.equal(value('varve_transactions_total'), BLOCKS * BLOCK_SIZE)
    assert.equal(value('chain_inserts_count'), BLOCKS)
    assert.equal(value('varve_block_latency_seconds_count'), BLOCKS)
    assert.ok(value('chain_inserts{quantile="0.50"}') <= value('chain_inserts{quantile="0.99"}'))
    assert.ok(value('chain_account_hashes_sum') > 0)
    assert.ok(value('chain_storage_updates_sum') > 0)
    assert.ok(value('state_read_account') > BLOCKS * 10)
    assert.ok(value('state_update_storage') > BLOCKS * 10)
    const reads = value('chain_storage_reads_cache_process_hit')
    assert.equal(
      reads + value('chain_storage_reads_cache_process_miss'),
      value('state_read_storage'),
    )
    assert.ok(value('chain_write_count') > 0)
    assert.ok(value('pathdb_commit_bytes') > 1000)
    assert.ok(value('state_update_accountnodes') > 0)
    assert.ok(value('state_update_storagenodes') > 0)
    assert.ok(value('varve_memory_limit_bytes{part="layers"}') > 2 ** 20)
    assert.ok(value('varve_phase_seconds_total{phase="execute"}') > 0)
    assert.ok(value('varve_phase_seconds_total{phase="root"}') > 0)
  }
})

test('a timer has the form of geth’s: quantiles to two places, and a count of its own', async () => {
  let now = 0
  const registry = new Registry()
  const timer = new GethTimer('test_resetting_timer', 'a test', registry, () => now)
  for (const value of [10, 11, 12, 120, 13, 14]) timer.add(value * 1_000_000)
  assert.deepEqual(
    samplesOf(await registry.metrics()),
    new Map([
      ['test_resetting_timer{quantile="0.50"}', 13_000_000],
      ['test_resetting_timer{quantile="0.95"}', 120_000_000],
      ['test_resetting_timer{quantile="0.99"}', 120_000_000],
      ['test_resetting_timer_sum', 180_000_000],
      ['test_resetting_timer_count', 6],
    ]),
  )
  assert.match(await registry.metrics(), /^# TYPE test_resetting_timer summary$/m)
  // Old values are forgotten, new ones push out those before them; sum and count go on.
  now = 61_000
  assert.equal(samplesOf(await registry.metrics()).size, 2)
  for (let value = 1; value <= 5000; value++) timer.add(value)
  const samples = samplesOf(await registry.metrics())
  assert.equal(samples.get('test_resetting_timer_count'), 5006)
  assert.ok(samples.get('test_resetting_timer{quantile="0.50"}')! > 4000)
})

test('docs/METRICS.md has the list as it is', () => {
  const document = readFileSync(join(root, 'docs/METRICS.md'), 'utf8')
  assert.ok(document.includes(metricTables()), `expected in docs/METRICS.md:\n\n${metricTables()}`)
})

test('the dashboard asks for every metric of the list, and for none that is not exported', async () => {
  const dashboard = JSON.parse(readFileSync(join(root, 'docs/grafana/varve.json'), 'utf8')) as {
    readonly panels: readonly {
      readonly id: number
      readonly targets?: { readonly expr: string }[]
    }[]
    readonly templating: { readonly list: readonly { readonly name: string }[] }
  }
  const { panels, templating } = dashboard
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  const asked = new Set(queries.flatMap((query) => query.match(/[a-z]+_\w+(?=\{)/g) ?? []))
  const exported = namesOf((await scraped({})).keys())
  // Which sorts of collections there were is chance.
  exported.add('nodejs_gc_duration_seconds_sum')
  for (const name of asked) assert.ok(exported.has(name), `${name} is exported`)
  for (const { name, kind } of METRICS) {
    const names = kind === 'histogram' ? [`${name}_bucket`] : [name]
    assert.ok(
      names.some((each) => asked.has(each)),
      `${name} is on the dashboard`,
    )
  }
  const variables = new Set(queries.flatMap((query) => query.match(/\$\w+/g) ?? []))
  for (const variable of variables)
    assert.ok(
      variable.startsWith('$__') || templating.list.some(({ name }) => `$${name}` === variable),
      variable,
    )
})

test('the endpoint answers GET /metrics and nothing else, and is gone once closed', async () => {
  const source = { contentType: 'text/plain', text: async () => 'varve 1\n' }
  const server = await MetricsServer.open(ANY_PORT, source)
  const { url } = server
  const port = Number(new URL(url).port)
  assert.equal(await (await fetch(url)).text(), 'varve 1\n')
  assert.equal(await (await fetch(`${url}?name[]=x`)).text(), 'varve 1\n')
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const { status, headers } = await fetch(url, { method })
    assert.deepEqual([status, headers.get('allow')], [405, 'GET'])
  }
  for (const path of ['/', '/metrics/', '/metrics/../etc/passwd', '//metrics', 'http://x/metrics'])
    assert.match(await raw(port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`), /^HTTP\/1\.1 404/)
  assert.match(await raw(port, 'nonsense\r\n\r\n'), /^HTTP\/1\.1 400/)
  assert.match(await raw(port, `GET /metrics HTTP/1.1\r\nX: ${'a'.repeat(9000)}\r\n\r\n`), /431/)
  await assert.rejects(
    MetricsServer.open({ host: '127.0.0.1', port }, source),
    (error) => isVarveError(error, 'METRICS_ADDRESS') && /another process/.test(error.message),
  )
  await assert.rejects(MetricsServer.open({ host: '192.0.2.1', port: 0 }, source), (error) =>
    isVarveError(error, 'METRICS_ADDRESS'),
  )
  // One that says nothing, and stays.
  const idle = connect(port, '127.0.0.1')
  await new Promise((resolve) => idle.once('connect', resolve))
  const ended = new Promise((resolve) => idle.once('close', resolve))
  idle.on('error', () => undefined)
  await server.close()
  await ended
  await assert.rejects(fetch(url))
})

test('what cannot be made an answer of ends the connection, and the next one is answered', async () => {
  let isBroken = true
  const server = await MetricsServer.open(ANY_PORT, {
    contentType: 'text/plain',
    text: async () => {
      if (isBroken) throw new Error('broken')
      return 'fine\n'
    },
  })
  await assert.rejects(fetch(server.url))
  isBroken = false
  assert.equal(await (await fetch(server.url)).text(), 'fine\n')
  await server.close()
})

test('an address is a port, or host and port', () => {
  assert.deepEqual(parseMetricsAddress('6060'), { host: '127.0.0.1', port: 6060 })
  assert.deepEqual(parseMetricsAddress('0.0.0.0:0'), { host: '0.0.0.0', port: 0 })
  assert.deepEqual(parseMetricsAddress('[::1]:80'), { host: '::1', port: 80 })
  assert.deepEqual(parseMetricsAddress('node.local:9'), { host: 'node.local', port: 9 })
  for (const wrong of ['', ':1', '65536', '1:2:3', '::1:80', 'a b:1', '-1', 'x', '1.5', '[x]:1'])
    assert.throws(() => parseMetricsAddress(wrong), wrong)
})

test('a slow block is one line, in the words that clients share, and its ranking adds up', async () => {
  const path = join(folder, 'slow.jsonl')
  const flags = { slowBlock: 0, slowBlockLog: path }
  const samples = await scraped(flags, true)
  assert.equal(samples.get('varve_slow_blocks_total'), BLOCKS)
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  assert.equal(lines.length, BLOCKS)
  for (const line of lines) {
    const record = JSON.parse(line)
    assert.deepEqual(
      Object.keys(record),
      'level msg block timing throughput state_reads state_writes cache trie costs'.split(' '),
    )
    assert.deepEqual([record.level, record.msg], ['warn', 'Slow block'])
    assert.deepEqual(Object.keys(record.block), ['number', 'hash', 'gas_used', 'tx_count'])
    assert.deepEqual(
      Object.keys(record.timing).slice(0, 5),
      'execution_ms state_read_ms state_hash_ms commit_ms total_ms'.split(' '),
    )
    assert.equal(record.block.tx_count, BLOCK_SIZE)
    const { execution_ms, state_read_ms, state_hash_ms, commit_ms, total_ms } = record.timing
    const { validation_ms, senders_ms } = record.timing
    const parts = execution_ms + state_read_ms + state_hash_ms + commit_ms
    assert.ok(Math.abs(parts + validation_ms + senders_ms - total_ms) < 0.01)
    assert.ok(record.state_writes.storage_slots > 10)
    assert.equal(record.cache.code.hits + record.cache.code.misses, record.state_reads.code)
    const { total, accounts, rest, slots } = record.costs
    assert.equal(accounts[0].address, toHex(contractAddress('token')))
    assert.ok(accounts.length <= 10 && slots.length <= 10)
    assert.equal(slots[0].address, accounts[0].address)
    assert.match(slots[0].slot, /^0x[0-9a-f]{64}$/)
    for (const name of ['reads', 'writes', 'nodes_read', 'nodes_written', 'gas', 'operations'])
      assert.equal(sumOf([...accounts, rest], name), total[name], name)
    for (const name of ['ms', 'read_ms'])
      assert.ok(Math.abs(sumOf([...accounts, rest], name) - total[name]) < 0.01, name)
    assert.equal(total.gas, record.block.gas_used)
    assert.equal(
      total.reads,
      record.state_reads.accounts + record.state_reads.storage_slots + record.state_reads.code,
    )
  }
})

test('where the log has no room the lines go to standard error, and the work goes on', {
  skip: existsSync('/dev/full') ? false : 'no /dev/full here',
}, async () => {
  const samples = await scraped({ slowBlock: 0, slowBlockLog: '/dev/full' })
  assert.equal(samples.get('varve_slow_blocks_total'), BLOCKS)
})

test('faster blocks are not told; nothing asked for is nothing watched', async () => {
  const path = join(folder, 'none.jsonl')
  const samples = await scraped({ slowBlock: 1e9, slowBlockLog: path })
  assert.equal(samples.get('varve_slow_blocks_total'), 0)
  assert.equal(readFileSync(path, 'utf8'), '')
  const watching = await Watching.open({})
  assert.deepEqual([watching.observer, watching.url], [undefined, undefined])
  await watching.close()
  await assert.rejects(Watching.open({ slowBlockLog: path }), UsageError)
  await assert.rejects(Watching.open({ slowBlock: 1, slowBlockLog: folder }), UsageError)
})

function sumOf(rows: readonly Record<string, number>[], name: string): number {
  return rows.reduce((sum, row) => sum + row[name]!, 0)
}

/** Sends bytes as they are, and gives back what comes. */
function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(answer))
  })
}
