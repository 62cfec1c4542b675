// Aim: the commands of geth's tools behave as geth's: files, streams, exit codes, and a sample of its own tests.
// Method: the compiled command in processes of its own. @isolate
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const main = join(import.meta.dirname, 'main.js')
const folder = mkdtempSync(join(tmpdir(), 'varve-t8n-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function varve(args: readonly string[], input = '') {
  return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', cwd: folder, input })
}

const SENDER = '0xa94f5374fce5edbc8e2a8697c15331677e6ebf0b'
const KEY = '0x45a915e4d060149eb4365960e6a7a45f334393093061116b197e3240065ff2d8'
const alloc = {
  [SENDER]: { balance: '0xde0b6b3a7640000' },
  '0x00000000000000000000000000000000000000aa': { balance: '1', code: '0x600160005560005450' },
  // Asks for the hash of block 0.
  '0x00000000000000000000000000000000000000bb': { balance: '0x0', code: '0x60004050' },
}
const env = {
  currentCoinbase: '2adc25665018aa1fe0e6bc666dac8fc2697ff9ba',
  currentGasLimit: '0x1c9c380',
  currentNumber: '5',
  currentTimestamp: 1000,
  currentDifficulty: '0x20000',
  currentBaseFee: '0x7',
}
const tx = {
  nonce: '0x0',
  gas: '0x186a0',
  gasPrice: '0xa',
  to: '0x00000000000000000000000000000000000000aa',
  value: '0x0',
  input: '0x',
  ...{ v: '0x0', r: '0x0', s: '0x0', secretKey: KEY },
}
const STREAMS = ['--input.alloc', 'stdin', '--input.env', 'stdin', '--input.txs', 'stdin']
const TO_STDOUT = [
  '--output.alloc',
  'stdout',
  '--output.result',
  'stdout',
  '--output.body',
  'stdout',
]

function transition(change: object, fork = 'London', flags: readonly string[] = TO_STDOUT) {
  const input = JSON.stringify({ alloc, env, txs: [tx], ...change })
  return varve(['t8n', ...STREAMS, ...flags, '--state.fork', fork], input)
}

test('reads one object from stdin and writes one to stdout; the body can be read again', () => {
  const { status, stdout } = transition({})
  assert.equal(status, 0)
  const output = JSON.parse(stdout)
  assert.equal(
    output.alloc['0x00000000000000000000000000000000000000aa'].storage[`0x${'0'.repeat(64)}`],
    `0x${'1'.padStart(64, '0')}`,
  )
  assert.equal(output.alloc[SENDER].nonce, '0x1')
  assert.equal(output.result.receipts.length, 1)
  const again = transition({ txs: undefined, txsRlp: output.body })
  assert.deepEqual(JSON.parse(again.stdout), output)
})

test('rejects what cannot be in the block, in the words of geth, and goes on', () => {
  const { stdout } = transition({ txs: [{ ...tx, nonce: '0x5' }, { ...tx, gas: '0x10' }, tx] })
  const { rejected, receipts } = JSON.parse(stdout).result
  assert.deepEqual(rejected, [
    {
      index: 0,
      error: 'nonce too high: address 0xa94f5374Fce5edBC8E2a8697C15331677e6EbF0B, tx: 5 state: 0',
    },
    { index: 1, error: 'intrinsic gas too low: have 16, want 21000' },
  ])
  assert.equal(receipts.length, 1)
})

test('ends with the exit codes of geth', () => {
  const exit = (change: object, fork?: string) => transition(change, fork).status
  assert.equal(exit({}, 'Nowhere'), 3)
  assert.equal(exit({}, 'London+1346'), 3)
  assert.equal(exit({ env: { ...env, currentBaseFee: null } }), 3)
  assert.equal(exit({ env: { ...env, currentCoinbase: undefined } }), 10)
  assert.equal(exit({}, 'Paris'), 3)
  assert.equal(exit({ txs: [{ ...tx, to: '0x00000000000000000000000000000000000000bb' }] }), 4)
  assert.equal(exit({ txs: 'no list' }), 10)
  assert.equal(varve(['t8n', '--input.alloc', 'missing.json']).status, 11)
  assert.equal(varve(['t8n', ...STREAMS], '{').status, 10)
  assert.equal(transition({}, 'London', ['--trace.tracer', 'noTracer']).status, 3)
  assert.equal(varve(['t8n', '--nothing']).status, 2)
  assert.equal(varve(['t8n', '--help']).status, 0)
})

test('a hash that the environment holds is found', () => {
  const blockHashes = { '0': `0x${'11'.repeat(32)}` }
  const txs = [{ ...tx, to: '0x00000000000000000000000000000000000000bb' }]
  assert.equal(transition({ env: { ...env, blockHashes }, txs }).status, 0)
})

test('withdrawals, requests and blobs show up where their forks have them', () => {
  const later = {
    ...env,
    currentDifficulty: null,
    currentRandom: '0x1',
    withdrawals: [{ index: '0x0', validatorIndex: '0x0', address: SENDER, amount: '0x1' }],
    parentBeaconBlockRoot: `0x${'00'.repeat(32)}`,
    currentExcessBlobGas: '0x0',
  }
  const { status, stdout } = transition({ env: later }, 'Prague')
  assert.equal(status, 0)
  const { result } = JSON.parse(stdout)
  assert.equal(result.currentDifficulty, null)
  assert.match(result.withdrawalsRoot, /^0x[0-9a-f]{64}$/)
  assert.deepEqual(result.requests, [])
  assert.equal(
    result.requestsHash,
    '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  )
  assert.deepEqual([result.currentExcessBlobGas, result.blobGasUsed], ['0x0', '0x0'])
})

test('before Byzantium receipts bear the root after their transaction', () => {
  const { stdout } = transition({ txs: [tx, { ...tx, nonce: '0x1' }] }, 'Homestead')
  const { receipts, stateRoot } = JSON.parse(stdout).result
  assert.match(receipts[0].root, /^0x[0-9a-f]{64}$/)
  assert.notEqual(receipts[0].root, receipts[1].root)
  assert.equal(receipts[1].root, stateRoot)
})

test('files go below the base folder, traces beside them', () => {
  const { status } = transition({}, 'London', [
    '--output.basedir',
    'out/deep',
    '--trace',
    '--trace.memory',
  ])
  assert.equal(status, 0)
  const names = readdirSync(join(folder, 'out/deep')).sort()
  assert.deepEqual(names.slice(0, 2), ['alloc.json', 'result.json'])
  const lines = readFileSync(join(folder, 'out/deep', names[2]!), 'utf8')
    .trim()
    .split('\n')
  assert.equal(JSON.parse(lines[0]!).opName, 'PUSH1')
  assert.equal(JSON.parse(lines.at(-1)!).gasUsed !== undefined, true)
  assert.ok(!existsSync(join(folder, 'alloc.json')))
})

test('a script traces, counts over transactions, and its faults end the run', () => {
  const script =
    '{n: 0, step: function(log, db) { this.n += log.stack.length() }, fault: function() {}, result: function(ctx, db) { return {n: this.n, nonce: db.getNonce(ctx.from), to: toHex(ctx.to)} }}'
  const run = (tracer: string) =>
    transition({}, 'London', ['--output.basedir', 'script', '--trace.tracer', tracer])
  assert.equal(run(script).status, 0)
  const name = readdirSync(join(folder, 'script')).find((file) => file.startsWith('trace-0'))!
  const found = JSON.parse(readFileSync(join(folder, 'script', name), 'utf8'))
  assert.deepEqual(found, { n: 5, nonce: 1, to: tx.to })
  assert.equal(run('{result: function() {}}').status, 3)
  assert.equal(run('{fault: function() {}, result: function() { throw 1 }}').status, 3)
  assert.equal(run('{fault(){}, result(){}, setup(){ for (;;) {} }}').status, 3, 'endless')
})

test('t9n and b11r answer', () => {
  const { stdout } = transition({}, 'London', [
    '--output.alloc',
    '',
    '--output.result',
    '',
    '--output.body',
    'stdout',
  ])
  const body = JSON.parse(stdout).body as string
  const check = varve(
    ['t9n', '--input.txs', 'stdin', '--state.fork', 'London'],
    JSON.stringify({ txsRlp: body }),
  )
  assert.deepEqual(
    JSON.parse(check.stdout).map(
      ({ address, intrinsicGas }: { address: string; intrinsicGas: string }) => [
        address,
        intrinsicGas,
      ],
    ),
    [[SENDER, '0x5208']],
  )
  writeFileSync(join(folder, 'txs.rlp'), JSON.stringify(body))
  const header = {
    stateRoot: `0x${'00'.repeat(32)}`,
    number: '0x1',
    gasLimit: '0x1000',
    timestamp: '0x5',
  }
  writeFileSync(join(folder, 'header.json'), JSON.stringify(header))
  writeFileSync(
    join(folder, 'clique.json'),
    JSON.stringify({ secretKey: KEY, voted: SENDER, authorize: true }),
  )
  const build = (...flags: string[]) => varve(['b11r', '--output.block', 'stdout', ...flags])
  const plain = JSON.parse(build().stdout)
  const sealed = JSON.parse(build('--seal.clique', 'clique.json').stdout)
  assert.ok(sealed.rlp.length > plain.rlp.length + 2 * 97 - 8)
  assert.notEqual(sealed.hash, plain.hash)
  writeFileSync(join(folder, 'header.json'), JSON.stringify({ ...header, extraData: '0x01' }))
  assert.equal(build('--seal.clique', 'clique.json').status, 3)
})
