// Aim: the commands do what a user expects of them, also of bad input: one clear line, exit 1 or 2, the database as it
// was. Method: the compiled command in processes of its own, on the demonstration's chain. @isolate
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { open } from 'lmdb'

const main = join(import.meta.dirname, 'main.js')
const folder = mkdtempSync(join(tmpdir(), 'varve-cli-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function varve(...parameters: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...parameters], {
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

function json(...parameters: string[]) {
  const { status, stdout, stderr } = varve(...parameters, '--json')
  assert.equal(stdout.trim().split('\n').length, 1, `one line of JSON, got ${stdout} ${stderr}`)
  return { status, value: JSON.parse(stdout) }
}

function digest(db: string): string {
  return json('db', 'stats', '--db', db, '--digest').value.digest
}

// The chain is made once, by the demonstration.
const kept = varve('demo', '--chain', '--keep').stderr.match(/kept (.*)/)![1]!
cpSync(kept, join(folder, 'demo'), { recursive: true })
rmSync(kept, { recursive: true })
const chain = join(folder, 'demo', 'chain.rlp')
const genesis = join(folder, 'demo', 'genesis.json')
const bytes = readFileSync(chain)

function importOf(db: string, file = chain, ...more: string[]): string[] {
  return ['import', file, '--db', db, '--genesis', genesis, ...more]
}

test('import goes to --to, goes on from there, and a last run does nothing and says so', () => {
  const db = join(folder, 'steps')
  const first = json(...importOf(db, chain, '--to', '700'))
  assert.equal(first.status, 0)
  assert.deepEqual(Object.keys(first.value), [
    'blocks',
    'head',
    'seconds',
    'blocksPerSecond',
    'megagas',
    'megagasPerSecond',
    'phases',
    'stopped',
  ])
  assert.equal(first.value.blocks, 700)
  assert.deepEqual(Object.keys(first.value.head), ['number', 'hash', 'stateRoot'])
  // The database knows its chain: no --genesis is needed any more.
  const second = json('import', chain, '--db', db)
  assert.equal(second.value.blocks, 1300)
  assert.equal(second.value.head.number, 2000)
  const before = digest(db)
  const third = varve('import', chain, '--db', db)
  assert.equal(third.status, 0)
  assert.match(third.stdout, /nothing to do/)
  assert.equal(digest(db), before)
  const whole = join(folder, 'whole')
  varve(...importOf(whole))
  assert.equal(digest(whole), before)
  assert.equal(varve('db', 'verify', '--db', db).status, 0)
})

test('get answers, in lines and in JSON, of accounts that exist and of others', () => {
  const db = join(folder, 'demo', 'db')
  const miner = '0x8dd106abb5ecf260d7cc6e05d50b84d9dbb84b15'
  const nobody = `0x${'00'.repeat(20)}`
  const account = json('get', 'account', miner, '--db', db).value
  assert.equal(account.exists, true)
  assert.equal(account.balance, '172218750000000000000')
  assert.equal(json('get', 'account', nobody, '--db', db).value.exists, false)
  assert.match(
    varve('get', 'account', miner.toUpperCase().replace('0X', '0x'), '--db', db).stdout,
    /172218750000000000000 wei/,
  )
  const storage = json('get', 'storage', miner, '0x0', 'ff', '--db', db).value.storage
  assert.equal(storage.length, 2)
  assert.equal(storage[1].slot, `0x${'ff'.padStart(64, '0')}`)
  const proof = json('get', 'proof', miner, '0x1', '--db', db).value
  assert.equal(BigInt(proof.balance), 172218750000000000000n)
  assert.equal(proof.storageProof[0].value, '0x0')
  assert.equal(json('get', 'proof', nobody, '--db', db).value.codeHash, `0x${'00'.repeat(32)}`)
  const old = varve('get', 'account', miner, '--db', db, '--block', '5')
  assert.equal(old.status, 1)
  assert.match(old.stderr, /state of block 5 is not kept: kept are those of blocks 1872 to 2000/)
  // The states before the newest are answered as well, and differ from it.
  const at = (block: string) =>
    json('get', 'account', miner, '--db', db, '--block', block).value.balance
  assert.equal(at('2000'), at('latest'))
  assert.ok(BigInt(at('1872')) < BigInt(at('2000')))
  const older = json('get', 'proof', miner, '0x1', '--db', db, '--block', '1900').value
  assert.equal(BigInt(older.balance), BigInt(at('1900')))
  assert.equal(older.block.number, 1900)
})

test('wrong usage ends with 2 and a line that says what was expected', () => {
  const db = join(folder, 'demo', 'db')
  for (const parameters of [
    [],
    ['nonsense'],
    ['import', chain],
    ['import', '--db', db],
    ['import', chain, '--db', db, '--to', '-1'],
    ['import', chain, '--db', db, '--batch', '0'],
    ['get', 'account', '0x12', '--db', db],
    ['get', 'storage', `0x${'00'.repeat(20)}`, 'xyz', '--db', db],
    ['get', 'storage', `0x${'00'.repeat(20)}`, '--db', db],
    ['db', 'verify'],
    ['import', chain, '--db', ''],
    ['db', 'stats', '--db', ''],
    ['db', 'verify', '--db', ''],
    ['get', 'account', `0x${'00'.repeat(20)}`, '--db', ''],
  ]) {
    const { status, stderr } = varve(...parameters)
    assert.equal(status, 2, parameters.join(' '))
    assert.ok(stderr.length > 0)
  }
  assert.equal(varve('--help').status, 0)
  assert.match(varve('import', '--help').stdout, /Examples?:/)
})

/** Runs an import that must fail with one line, and checks that nothing changed. */
function assertRefused(db: string, file: string, pattern: RegExp, ...more: string[]): void {
  const existed = existsSync(db)
  const before = existed ? digest(db) : undefined
  const { status, stderr, stdout } = varve('import', file, '--db', db, ...more)
  assert.equal(status, 1, stdout)
  assert.equal(stderr.trim().split('\n').length, 1, stderr)
  assert.match(stderr, pattern)
  assert.equal(existsSync(db), existed, 'the folder')
  if (existed) assert.equal(digest(db), before)
}

test('damaged, cut, foreign and missing files are refused with one line and leave the database as it was', () => {
  const full = join(folder, 'demo', 'db')
  const part = join(folder, 'part')
  varve(...importOf(part, chain, '--to', '100'))
  const bad = join(folder, 'bad.rlp')
  const fresh = join(folder, 'fresh')
  const withGenesis = ['--genesis', genesis]
  const flipped = Uint8Array.from(bytes)
  flipped[bytes.length >> 1]! ^= 1
  writeFileSync(bad, flipped)
  assertRefused(part, bad, /bad\.rlp, byte \d+, block \d+ of the file: expected .* got /)
  assertRefused(fresh, bad, /bad\.rlp/, ...withGenesis)
  writeFileSync(bad, bytes.subarray(0, bytes.length - 7))
  assertRefused(part, bad, /bad\.rlp, byte \d+/)
  assertRefused(fresh, bad, /bad\.rlp, byte \d+/, ...withGenesis)
  writeFileSync(bad, '{"not": "blocks"}')
  assertRefused(fresh, bad, /bad\.rlp, byte 0/, ...withGenesis)
  writeFileSync(bad, '')
  assertRefused(fresh, bad, /bad\.rlp/, ...withGenesis)
  assertRefused(fresh, join(folder, 'missing.rlp'), /missing\.rlp/, ...withGenesis)
  assertRefused(fresh, folder, /varve-cli-test/, ...withGenesis)
  // The wrong genesis: mainnet's, and a database of another chain.
  assertRefused(fresh, chain, /block 0: expected hash/, '--genesis', 'mainnet')
  assertRefused(full, chain, /another chain/, '--genesis', 'mainnet')
  assertRefused(fresh, chain, /no\.json/, '--genesis', join(folder, 'no.json'))
})

test('a folder that cannot be a database is refused with one line', () => {
  const file = join(folder, 'a-file')
  writeFileSync(file, 'x')
  assertRefused(join(file, 'below'), chain, /a-file/, '--genesis', genesis)
  for (const path of [file, '/dev/null']) {
    const { status, stderr } = varve(...importOf(path))
    assert.equal(status, 1)
    assert.ok(stderr.includes(path) && stderr.trim().endsWith('[STORE_UNWRITABLE]'), stderr)
    assert.equal(stderr.trim().split('\n').length, 1, stderr)
  }
  const other = join(folder, 'other')
  cpSync(join(folder, 'demo'), other, { recursive: true })
  const { status, stderr } = varve('import', chain, '--db', other, '--genesis', genesis)
  assert.equal(status, 1)
  assert.equal(stderr.trim().split('\n').length, 1, stderr)
  assert.deepEqual(readdirSync(other).sort(), readdirSync(join(folder, 'demo')).sort())
  for (const command of [
    ['db', 'stats'],
    ['db', 'verify'],
    ['get', 'account', `0x${'00'.repeat(20)}`],
  ]) {
    const missing = varve(...command, '--db', join(folder, 'nothing-here'))
    assert.equal(missing.status, 1)
    assert.match(missing.stderr, /nothing-here/)
    assert.equal(missing.stderr.trim().split('\n').length, 1, missing.stderr)
  }
})

test('an import goes through where an earlier one was killed while it made its files', async () => {
  // A process that died before its first table existed leaves a database without any; before that, an empty file.
  const bare = join(folder, 'bare')
  await open({ path: bare, noSubdir: false }).close()
  const empty = join(folder, 'empty')
  mkdirSync(empty)
  writeFileSync(join(empty, 'data.mdb'), '')
  for (const db of [bare, empty]) {
    const { status, stderr } = varve(...importOf(db, chain, '--to', '10'))
    assert.equal(status, 0, stderr)
    assert.equal(varve('db', 'verify', '--db', db).status, 0)
  }
})

test('the example of the README runs', () => {
  const example = join(import.meta.dirname, '../examples/importAndProve.js')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [example, chain, genesis, '0x8dd106abb5ecf260d7cc6e05d50b84d9dbb84b15'],
    { encoding: 'utf8' },
  )
  assert.equal(status, 0, stderr)
  assert.match(stdout, /block 2000: 172218750000000000000 wei, 4 nodes/)
})

test('import takes blocks in JSON: a list of RLP, objects with RLP, a blockchain test with its own start', () => {
  // The file begins with the genesis, so these are blocks 0 to 4.
  const blocks = blocksOfChain(bytes, 5)
  const list = join(folder, 'list.json')
  writeFileSync(list, JSON.stringify(blocks))
  const expected = json(...importOf(join(folder, 'json-of-rlp'), chain, '--to', '4'))
  const fromList = json(...importOf(join(folder, 'json-list'), list))
  assert.deepEqual(fromList.value.head, expected.value.head)
  const objects = join(folder, 'objects.json')
  writeFileSync(objects, JSON.stringify({ blocks: blocks.map((rlp) => ({ rlp })) }))
  const fromObjects = json(...importOf(join(folder, 'json-objects'), objects))
  assert.deepEqual(fromObjects.value.head, expected.value.head)

  for (const [text, said] of [
    ['{', /expected JSON/],
    ['5', /a list of blocks or a test/],
    ['{"a": {}}', /one blockchain test, found 0/],
    ['["0xzz"]', /block 0 as hex/],
    ['[7]', /block 0 as hex text/],
    ['["0xc0"]', /block 0 of the file/],
  ] as const) {
    const bad = join(folder, 'bad.json')
    writeFileSync(bad, text)
    const db = join(folder, 'json-bad')
    const { status, stderr } = varve(...importOf(db, bad))
    assert.equal(status, 1)
    assert.match(stderr, said)
    assert.equal(stderr.trim().split('\n').length, 1)
  }
})

/** The first blocks of a chain file, in hex; each is a list with two bytes of length. */
function blocksOfChain(file: Uint8Array, count: number): string[] {
  const blocks: string[] = []
  for (let offset = 0; blocks.length < count; ) {
    assert.equal(file[offset], 0xf9)
    const end = offset + 3 + file[offset + 1]! * 256 + file[offset + 2]!
    blocks.push(`0x${Buffer.from(file.subarray(offset, end)).toString('hex')}`)
    offset = end
  }
  return blocks
}

test('G15: --metrics on a port in use ends the command before it makes anything', async () => {
  const taken = createServer()
  await new Promise<void>((resume) => taken.listen(0, '127.0.0.1', resume))
  const { port } = taken.address() as AddressInfo
  const db = join(folder, 'port')
  const { status, stderr } = varve(...importOf(db), '--metrics', `${port}`)
  assert.equal(status, 1)
  assert.match(stderr, /another process listens there \[METRICS_ADDRESS\]\n$/)
  assert.ok(!existsSync(db))
  taken.close()
  for (const wrong of ['x', '70000', '1:2:3'])
    assert.equal(varve(...importOf(db), '--metrics', wrong).status, 2)
})

test('--slow-block 0 tells of every block on standard error, and the database is as without', () => {
  const db = join(folder, 'slow')
  const { status, stderr } = varve(
    ...importOf(db, chain, '--to', '40'),
    '--slow-block',
    '0',
    '--metrics',
    '0',
  )
  assert.equal(status, 0)
  const [url, ...lines] = stderr.trimEnd().split('\n')
  assert.match(url!, /^metrics: http:\/\/127\.0\.0\.1:\d+\/metrics$/)
  const numbers = lines.map((line) => JSON.parse(line).block.number)
  assert.deepEqual(
    numbers,
    Array.from({ length: 40 }, (_, index) => index + 1),
  )
  const plain = join(folder, 'not-slow')
  varve(...importOf(plain, chain, '--to', '40'))
  assert.equal(digest(db), digest(plain))
})
