/**
 * Aim: state tests mean here what their authors meant, and none can pass by mistake. Method: a small test made by hand,
 * right and then wrong in each place that is checked; a sample of the published ones; the command's ways of reading.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { brotliCompressSync } from 'node:zlib'
import { fixtureRecords, fixturesMissing } from '../../testing/index.ts'
import { findInputs, requestsOf } from '../testfiles/inputs.ts'
import type { TestReply, TestRequest } from '../testfiles/messages.ts'
import { answerRequests } from '../testfiles/testTask.ts'
import { StateTestRunner, type SubCaseResult } from './runStateTest.ts'
import { fuzzStateTests } from './stateTest.fuzz.ts'
import { isStateTest, readStateTest } from './stateTest.ts'
import { openStateTests, stateTestTask } from './stateTestTask.ts'

const SENDER = '0xa94f5374fce5edbc8e2a8697c15331677e6ebf0b'
const KEY = '0x45a915e4d060149eb4365960e6a7a45f334393093061116b197e3240065ff2d8'
const NO_LOGS = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'

type Draft = {
  env: Record<string, unknown>
  pre: Record<string, unknown>
  transaction: Record<string, unknown>
  post: Record<string, Record<string, unknown>[]>
}

const runner = await StateTestRunner.open()
const folder = mkdtempSync(join(tmpdir(), 'varve-statetest-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Writes 1 to slot 0 of the target. */
function draft(): Draft {
  return {
    env: {
      currentCoinbase: '0x2adc25665018aa1fe0e6bc666dac8fc2697ff9ba',
      currentDifficulty: '0x020000',
      currentGasLimit: '0x0f4240',
      currentNumber: '0x01',
      currentTimestamp: '0x03e8',
    },
    pre: {
      [SENDER]: { balance: '0x0de0b6b3a7640000', nonce: '0x00', code: '0x', storage: {} },
      '0x00000000000000000000000000000000000000aa': {
        balance: '0x00',
        nonce: '0x01',
        code: '0x6001600055',
        storage: { '0x01': '0x02', '0x03': '0x00' },
      },
    },
    transaction: {
      data: ['0x'],
      gasLimit: ['0x0186a0', '0x5208'],
      gasPrice: '0x0a',
      nonce: '0x00',
      secretKey: KEY,
      to: '0x00000000000000000000000000000000000000aa',
      value: ['0x00'],
    },
    post: { Berlin: [post(0)] },
  }
}

function post(gas: number, hash = `0x${'00'.repeat(32)}`): Record<string, unknown> {
  return { indexes: { data: 0, gas, value: 0 }, hash, logs: NO_LOGS }
}

function run(test: Draft, fork?: string): SubCaseResult[] {
  return runner.run(readStateTest('made', test), { fork })
}

/** The draft with the root that it leads to. */
function passing(): Draft {
  const test = draft()
  test.post['Berlin'] = [post(0, run(test)[0]!.stateRoot)]
  return test
}

test('a test passes with its root, and fails with any other root or logs', () => {
  assert.deepEqual(
    run(passing()).map(({ pass, error }) => ({ pass, error })),
    [{ pass: true, error: undefined }],
  )
  const wrongRoot = draft()
  assert.match(run(wrongRoot)[0]!.error!, /^d0 g0 v0: expected state root 0x0000/)
  const wrongLogs = passing()
  wrongLogs.post['Berlin']![0]!['logs'] = `0x${'11'.repeat(32)}`
  assert.match(run(wrongLogs)[0]!.error!, /expected hash of logs/)
})

test('the root depends on pre-state, block and transaction', () => {
  const changes: readonly ((test: Draft) => void)[] = [
    (test) => {
      test.env['currentCoinbase'] = '0x2adc25665018aa1fe0e6bc666dac8fc2697ff9bb'
    },
    (test) => {
      test.transaction['gasPrice'] = '0x0b'
    },
    (test) => {
      ;(test.pre[SENDER] as Record<string, unknown>)['balance'] = '0x0de0b6b3a7640001'
    },
    (test) => {
      test.transaction['data'] = ['0x00']
    },
  ]
  for (const change of changes) {
    const test = passing()
    change(test)
    assert.equal(run(test)[0]!.pass, false)
  }
})

test('one run after another starts from the same state', () => {
  const test = passing()
  test.post['Berlin'] = [...test.post['Berlin']!, ...test.post['Berlin']!]
  assert.deepEqual(
    [...run(test), ...run(test)].map(({ pass }) => pass),
    [true, true, true, true],
  )
})

test('an exception must happen, and must be the one that is named', () => {
  const test = passing()
  test.post['Berlin']![0]!['expectException'] = 'TransactionException.INTRINSIC_GAS_TOO_LOW'
  assert.match(run(test)[0]!.error!, /the transaction was executed/)
  const rejected = draft()
  rejected.transaction['gasLimit'] = ['0x5207']
  const [before] = run(rejected)
  Object.assign(rejected.post['Berlin']![0]!, {
    hash: before!.stateRoot,
    expectException: 'TransactionException.INTRINSIC_GAS_TOO_LOW|TransactionException.OTHER',
  })
  assert.equal(run(rejected)[0]!.pass, true)
  rejected.post['Berlin']![0]!['expectException'] = 'TransactionException.SENDER_NOT_EOA'
  assert.match(run(rejected)[0]!.error!, /expected exception .* found \[TX_INTRINSIC_GAS\]/)
})

test('a rejection that no file names is seen by the root alone, and before EIP-161 the coinbase is there', () => {
  const test = draft()
  test.transaction['gasLimit'] = ['0x5207']
  test.post = { Homestead: [post(0)], EIP158: [post(0)] }
  const [homestead, spurious] = run(test)
  assert.notEqual(homestead!.stateRoot, spurious!.stateRoot)
  test.post = {
    Homestead: [post(0, homestead!.stateRoot)],
    EIP158: [post(0, spurious!.stateRoot)],
  }
  assert.deepEqual(
    run(test).map(({ pass }) => pass),
    [true, true],
  )
})

test('where an exception is named, the tool that filled the file decides about the coinbase', () => {
  const test: Draft & { _info?: unknown } = draft()
  test.transaction['gasLimit'] = ['0x5207']
  const rootOf = (info: unknown, exception?: string) => {
    test._info = info
    test.post = { Homestead: [{ ...post(0), expectException: exception }] }
    return run(test)[0]!.stateRoot
  }
  const rewarded = rootOf({})
  const before = rootOf({}, 'TransactionException.INTRINSIC_GAS_TOO_LOW')
  assert.notEqual(before, rewarded)
  assert.equal(rootOf(undefined, 'X'), before)
  assert.equal(rootOf({ 'filling-tool-version': 'retesteth-0.3' }, 'X'), rewarded)
  assert.equal(rootOf({ 'filling-tool-version': 'other' }, 'X'), before)
  assert.equal(rootOf({ filledwith: 'testeth 1.7' }, 'X'), rewarded)
})

test('forks go by the names of the published files; unknown ones fail', () => {
  const test = draft()
  for (const name of ['Frontier', 'EIP150', 'EIP158', 'ConstantinopleFix', 'Merge', 'Prague'])
    test.post = { ...test.post, [name]: [post(0)] }
  test.post['Atlantis'] = [post(0)]
  const results = run(test)
  assert.match(results.find(({ fork }) => fork === 'Atlantis')!.error!, /unsupported fork/)
  assert(results.every(({ fork, stateRoot }) => (fork === 'Atlantis') === (stateRoot === '')))
  assert.deepEqual(
    run(test, 'eip150').map(({ fork }) => fork),
    ['EIP150'],
  )
})

test('a trace has a line a step, the end of the transaction, and the root', () => {
  const lines: string[] = []
  const test = passing()
  const [result] = runner.run(readStateTest('made', test), { trace: (text) => lines.push(text) })
  const parsed = lines
    .join('')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const names = parsed.map(({ opName }) => opName)
  assert.deepEqual(names, ['PUSH1', 'PUSH1', 'SSTORE', 'STOP', undefined, undefined])
  assert.equal(parsed[4].output, '')
  assert.deepEqual(parsed[5], { stateRoot: result!.stateRoot })
  assert.equal(run(test)[0]!.pass, true, 'a trace changes nothing')
})

test('hostile files are refused with the place of the fault', () => {
  const changes: readonly (readonly [path: RegExp, change: (test: Draft) => void])[] = [
    [/env\.currentNumber/, (test) => delete test.env['currentNumber']],
    [/env\.currentCoinbase/, (test) => (test.env['currentCoinbase'] = '0x01')],
    [/pre\.0x12/, (test) => (test.pre['0x12'] = {})],
    [/transaction\.data/, (test) => (test.transaction['data'] = 'x')],
    [/transaction\.value\.0/, (test) => (test.transaction['value'] = [-1])],
    [/transaction\.secretKey/, (test) => (test.transaction['secretKey'] = `0x${'00'.repeat(32)}`)],
    [/post\.Berlin\.0\.hash/, (test) => (test.post['Berlin']![0]!['hash'] = '0xzz')],
    [/post\.Berlin\.0\.indexes/, (test) => (test.post['Berlin']![0]!['indexes'] = null)],
  ]
  for (const [path, change] of changes) {
    const test = draft()
    change(test)
    assert.throws(() => readStateTest('made', test), { code: 'TESTFILE_INVALID', message: path })
  }
})

test('a file, a folder and a shard give the same rows, on one thread and on two', async () => {
  const tests = { one: passing(), two: draft(), _info: {} }
  mkdirSync(join(folder, 'a/.meta'), { recursive: true })
  const file = join(folder, 'a/tests.json')
  writeFileSync(file, JSON.stringify(tests))
  writeFileSync(join(folder, 'a/.meta/index.json'), 'not read')
  writeFileSync(join(folder, 'a/notes.txt'), 'not read')
  const shard = join(folder, 'tests.ndjson.br')
  const line = JSON.stringify({ path: 'a/tests.json', tests })
  writeFileSync(shard, brotliCompressSync(`${line}\n${line}\n`))
  const expected = ['one true', 'two false']
  assert.deepEqual(await rowsOf(file, 1), expected)
  assert.deepEqual(await rowsOf(join(folder, 'a'), 2), expected)
  assert.deepEqual(await rowsOf(shard, 1), [...expected, ...expected])
  assert.deepEqual(await rowsOf(shard, 2), [...expected, ...expected])
  assert.deepEqual(await rowsOf(shard, 1, '/two$'), ['two false', 'two false'])
})

test('what cannot be read is a fault of the input, and the rest is run', async () => {
  const broken = join(folder, 'broken')
  mkdirSync(broken)
  writeFileSync(join(broken, '1.json'), '{"one": ')
  writeFileSync(join(broken, '2.json'), JSON.stringify({ two: passing() }))
  writeFileSync(join(broken, '3.json'), '[]')
  const server = await openStateTests({ fork: undefined, filter: undefined })
  const replies: TestReply<SubCaseResult>[] = []
  for (const input of findInputs(broken))
    for await (const request of requestsOf(input, () => undefined))
      replies.push(await server(request))
  const faults = replies.flatMap((reply) => reply.faults.map(({ code }) => code))
  assert.deepEqual(faults, ['TESTFILE_UNREADABLE', 'TESTFILE_INVALID'])
  assert.equal(replies.flatMap(({ rows }) => rows).length, 1)
  const cut = join(folder, 'cut.ndjson.br')
  const whole = brotliCompressSync(JSON.stringify({ path: 'x', tests: { one: passing() } }))
  writeFileSync(cut, whole.subarray(0, whole.length - 20))
  await assert.rejects(
    async () => {
      for await (const _ of requestsOf(findInputs(cut)[0]!, () => undefined));
    },
    { code: 'TESTFILE_UNREADABLE' },
  )
  mkdirSync(join(folder, 'empty'))
  assert.throws(() => findInputs(join(folder, 'empty')), { code: 'TESTFILE_UNREADABLE' })
})

async function rowsOf(path: string, threadCount: number, filter?: string): Promise<string[]> {
  async function* requests(): AsyncGenerator<TestRequest> {
    for (const input of findInputs(path)) yield* requestsOf(input, () => undefined)
  }
  const rows: string[] = []
  for await (const reply of answerRequests(
    requests(),
    stateTestTask({ fork: undefined, filter }),
    threadCount,
  ))
    for (const { name, pass } of reply.rows) rows.push(`${name} ${pass}`)
  return rows
}

/** Folders of which every n-th file is run, so that `npm test` sees each kind of test in seconds. */
const SAMPLES: readonly (readonly [suite: string, oneIn: number])[] = [
  ['et-state', 45],
  ['legacy-constantinople-state', 60],
  ['eest-state', 12],
]

for (const [suite, oneIn] of SAMPLES)
  test(`a sample of ${suite}`, {
    skip: fixturesMissing(
      suite,
      'github.com/ethereum/tests, github.com/ethereum/execution-spec-tests',
    ),
  }, async () => {
    let fileCount = 0
    const failures: string[] = []
    let passCount = 0
    type Record = { readonly path: string; readonly tests: { readonly [name: string]: unknown } }
    for await (const { path, tests } of fixtureRecords<Record>(suite)) {
      if (fileCount++ % oneIn !== 0 || SLOW.test(path)) continue
      for (const [name, value] of Object.entries(tests).slice(0, 20)) {
        if (!isStateTest(value)) continue
        for (const { pass, fork, error } of runner.run(readStateTest(name, value)))
          if (pass) passCount++
          else failures.push(`${path} ${name} [${fork}] ${error}`)
      }
    }
    assert.deepEqual(failures, [])
    assert(passCount > 100, `only ${passCount} sub-cases were run`)
  })

/** Tests of seconds each. */
const SLOW = /stTimeConsuming|static_Call50000|CALLBlake2f_MaxRounds|VMTests\/vmPerformance/

const seed = Date.now() % 2 ** 31

test(`broken tests, seed ${seed}`, () => fuzzStateTests(seed, 400))
