/**
 * Aim: two ways to import a chain are compared segment by segment, in turns that swap half way, with the first one as its
 * own control; leads are sums of segments; both series lie on one axis (rows G15, G16). Method: the command on a short
 * chain, in processes of its own; no figure decides. @isolate
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parseGenesisJson } from '../../../chain/index.ts'
import { encodeBlock } from '../../../codec/index.ts'
import { axisFlags, drawnAxes } from '../../../measure/index.ts'
import { demoBlocks, demoGenesisText } from '../../demoChain.ts'
import { parseReplayConfig } from './config.ts'
import type { ReplayReport } from './replayReport.ts'

const main = join(import.meta.dirname, '../../main.js')
const folder = mkdtempSync(join(tmpdir(), 'varve-replay-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const chain = join(folder, 'chain.rlp')
const genesis = join(folder, 'genesis.json')
const page = join(folder, 'replay.html')
const BLOCK_COUNT = 100

writeFileSync(genesis, demoGenesisText())
const encoded: Uint8Array[] = []
for await (const block of demoBlocks(parseGenesisJson(demoGenesisText()))) {
  if (block.header.number > 0) encoded.push(encodeBlock(block))
  if (block.header.number === BLOCK_COUNT) break
}
writeFileSync(chain, Buffer.concat(encoded))

function replay(...parameters: string[]) {
  const all = ['bench', 'replay', '--file', chain, '--genesis', genesis, '--quiet', ...parameters]
  return spawnSync(process.execPath, [main, ...all], { encoding: 'utf8' })
}

test('segments take turns, swapped half way; leads are their sums (row G16)', () => {
  const configs = ['--a', 'pipeline=off', '--b', 'pipeline=on,history=64']
  const { stdout, stderr } = replay(...configs, '--segments', '4', '--json', '--report', page)
  assert.notEqual(stdout, '', stderr)
  const report = JSON.parse(stdout) as ReplayReport
  assert.deepEqual(
    report.judgement.flags.filter(({ isVoid }) => isVoid),
    [],
  )
  assert.equal(report.segmentBlockCount * 4 + report.warmUpBlockCount, BLOCK_COUNT)
  assert.deepEqual(report.blocks, { first: report.warmUpBlockCount + 1, last: BLOCK_COUNT })
  for (const { blocks, writes } of [report.a, report.b, report.sham]) {
    assert.deepEqual(
      blocks.map(({ number }) => number),
      Array.from(
        { length: 4 * report.segmentBlockCount },
        (_, index) => report.blocks.first + index,
      ),
    )
    assert.ok(writes.length >= 4)
    assert.equal(writes.at(-1)!.number, BLOCK_COUNT)
  }
  const lead = report.a.seconds - report.b.seconds
  assert.ok(Math.abs(report.leads.at(-1)!.b - lead) < 1e-6)
  assert.ok(Math.abs(report.lead.seconds - lead) < 1e-6)
  assert.ok(Math.abs(report.shamLead.seconds - (report.a.seconds - report.sham.seconds)) < 1e-6)
})

test('each chart of the page has one axis for its series (row G15)', () => {
  const charts = readFileSync(page, 'utf8').split('<article>').slice(1).map(drawnAxes)
  assert.equal(charts.length, 4)
  for (const axes of charts) {
    assert.equal(axes.length, 2)
    assert.deepEqual(axisFlags(axes), [])
  }
})

test('too few blocks and wrong configurations are wrong usage', () => {
  for (const parameters of [
    ['--a', 'default', '--b', 'default', '--to', '10'],
    ['--a', 'pipeline=maybe', '--b', 'default'],
    ['--a', 'speed=high', '--b', 'default'],
    ['--a', 'default', '--b', 'default', '--segments', '5'],
  ])
    assert.equal(replay(...parameters).status, 2, parameters.join(' '))
})

test('a chain that breaks a rule is a fault of the arm that met it', () => {
  const broken = Buffer.concat(encoded)
  // Within the last block's state root.
  broken[broken.length - encoded.at(-1)!.length + 100]! ^= 1
  const path = join(folder, 'broken.rlp')
  writeFileSync(path, broken)
  const parameters = ['bench', 'replay', '--file', path, '--genesis', genesis, '--quiet']
  const { status, stderr } = spawnSync(
    process.execPath,
    [main, ...parameters, '--a', 'pipeline=off', '--b', 'pipeline=off', '--segments', '4'],
    { encoding: 'utf8' },
  )
  assert.equal(status, 1)
  assert.match(stderr, /pipeline=off: block 100/)
})

test('configurations say all that an import takes', () => {
  const { label: _, ...config } = parseReplayConfig(
    'pipeline=off,sync=group:20,memory=128M,rev=HEAD',
  )
  assert.deepEqual(config, {
    isPipelined: false,
    sync: { mode: 'group', milliseconds: 20 },
    memoryBytes: 128 * 2 ** 20,
    revision: 'HEAD',
  })
  assert.deepEqual(parseReplayConfig('default'), {
    label: 'default',
    isPipelined: true,
    sync: { mode: 'os' },
  })
})
