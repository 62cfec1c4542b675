// Aim: what `varve statetest` prints and ends with, for tests that pass, fail, and cannot be read. Method: the command
// in processes of its own. @isolate
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'

const folder = mkdtempSync(join(tmpdir(), 'varve-statetest-command-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const command = pathToFileURL(join(import.meta.dirname, 'statetestCommand.js')).href
const commander = import.meta.resolve('commander')
const script = `
  const { Command } = await import(${JSON.stringify(commander)})
  const { addStatetestCommand } = await import(${JSON.stringify(command)})
  const program = new Command('varve').exitOverride()
  addStatetestCommand(program)
  await program.parseAsync()
`

function statetest(...parameters: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script, 'statetest', ...parameters],
    { encoding: 'utf8' },
  )
  return { status, stdout, stderr }
}

const SENDER = '0xa94f5374fce5edbc8e2a8697c15331677e6ebf0b'
const ROOT_WRONG = `0x${'00'.repeat(32)}`

function testWith(hash: string): unknown {
  return {
    env: {
      currentCoinbase: '0x2adc25665018aa1fe0e6bc666dac8fc2697ff9ba',
      currentGasLimit: '0x0f4240',
      currentNumber: '1',
      currentTimestamp: '1000',
    },
    pre: { [SENDER]: { balance: '0x0de0b6b3a7640000', nonce: '0x00', code: '0x', storage: {} } },
    transaction: {
      data: ['0x'],
      gasLimit: ['0x5208'],
      gasPrice: '0x0a',
      nonce: '0x00',
      sender: SENDER,
      to: '0x00000000000000000000000000000000000000aa',
      value: ['0x01'],
    },
    post: {
      Cancun: [
        {
          indexes: { data: 0, gas: 0, value: 0 },
          hash,
          logs: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
        },
      ],
    },
  }
}

const failing = join(folder, 'failing.json')
writeFileSync(failing, JSON.stringify({ transfer: testWith(ROOT_WRONG) }))
const failed = statetest(failing, '--json')
const root: string = JSON.parse(failed.stdout)[0].stateRoot
const passing = join(folder, 'passing.json')
writeFileSync(passing, JSON.stringify({ transfer: testWith(root) }))
writeFileSync(join(folder, 'broken.txt'), '{')

test('a failure is a row with its reason, and ends with 1', () => {
  assert.equal(failed.status, 1)
  assert.match(root, /^0x[0-9a-f]{64}$/)
  assert.deepEqual(JSON.parse(failed.stdout), [
    {
      name: 'transfer',
      pass: false,
      fork: 'Cancun',
      stateRoot: root,
      error: `d0 g0 v0: expected state root ${ROOT_WRONG}, found ${root}`,
    },
  ])
  const { status, stdout } = statetest(failing)
  assert.equal(status, 1)
  assert.match(stdout, /FAIL .*transfer \[Cancun\]/)
  assert.match(stdout, /folder +failed +passed\n\S+ +1 +0\n/)
  assert.match(stdout, /0 of 1 passed/)
})

test('a pass ends with 0', () => {
  const { status, stdout, stderr } = statetest(passing, '--json')
  assert.equal(stderr, '')
  assert.deepEqual(JSON.parse(stdout), [
    { name: 'transfer', pass: true, fork: 'Cancun', stateRoot: root },
  ])
  assert.equal(status, 0)
  assert.match(statetest(passing, '--fork', 'cancun').stdout, /1 of 1 passed/)
})

test('what cannot be read ends with 2, and the rest is run', () => {
  const { status, stdout, stderr } = statetest(passing, join(folder, 'absent.json'), '--json')
  assert.equal(status, 2)
  assert.equal(JSON.parse(stdout).length, 1)
  assert.match(stderr, /^error: .*absent\.json.* \[TESTFILE_UNREADABLE\]\n$/)
  assert.equal(statetest(join(folder, 'broken.txt')).status, 2)
  mkdirSync(join(folder, 'empty'))
  assert.equal(statetest(join(folder, 'empty')).status, 2)
})

test('a test that lacks a part is a fault of the input, beside good ones too', () => {
  for (const part of ['env', 'pre', 'transaction', 'post']) {
    const lacking = testWith(root) as Record<string, unknown>
    delete lacking[part]
    const path = join(folder, 'lacking.json')
    writeFileSync(path, JSON.stringify({ lacking, whole: testWith(root) }))
    const { status, stdout, stderr } = statetest(path, '--json')
    assert.equal(status, 2, part)
    assert.equal(JSON.parse(stdout).length, 1)
    assert.match(stderr, new RegExp(`lacking.${part}: .* \\[TESTFILE_INVALID\\]`))
  }
})

test('options that leave no test over end with 2', () => {
  for (const parameters of [
    ['--fork', 'Nope'],
    ['--filter', 'zzz'],
  ]) {
    const { status, stderr } = statetest(passing, ...parameters)
    assert.equal(status, 2)
    assert.match(stderr, /expected a test to run, found none by --.* \[TESTFILE_NONE_SELECTED\]/)
  }
  const path = join(folder, 'expectsNothing.json')
  writeFileSync(path, JSON.stringify({ transfer: { ...(testWith(root) as object), post: {} } }))
  assert.equal(statetest(path).status, 2)
})

test('a trace goes to standard error, and leaves standard output as it is', () => {
  const { stdout, stderr } = statetest(passing, '--json', '--trace')
  assert.equal(JSON.parse(stdout).length, 1)
  assert.equal(stderr.trimEnd().split('\n').at(-1), `{"stateRoot": "${root}"}`)
})

test('--precompiles forces a set, whoever filled the file', () => {
  const CALLED = '0x0000000000000000000000000000000000000012'
  // Maps zeros to a point under the draft; under the final rules nothing is at the address.
  const withCall = (hash: string, info: object) => {
    const whole = testWith(hash) as Record<string, Record<string, unknown>>
    Object.assign(whole['transaction']!, { to: CALLED, data: [`0x${'00'.repeat(64)}`] })
    whole['transaction']!['gasLimit'] = ['0x0186a0']
    return { map: { ...whole, post: { Prague: whole['post']!['Cancun'] }, _info: info } }
  }
  const filled = { 'filling-rpc-server': 'evm version 1.14.0-unstable-a208e725-20240416' }
  const rootOf = (info: object, ...flags: string[]): string => {
    const path = join(folder, 'map.json')
    writeFileSync(path, JSON.stringify(withCall(ROOT_WRONG, info)))
    return JSON.parse(statetest(path, '--json', ...flags).stdout)[0].stateRoot
  }
  const draft = rootOf(filled)
  const final = rootOf({})
  assert.notEqual(draft, final)
  assert.equal(rootOf({}, '--precompiles', 'eip2537-april-2024'), draft)
  assert.equal(rootOf(filled, '--precompiles', 'final'), final)
  assert.match(statetest(passing, '--precompiles', 'newest').stderr, /Allowed choices are final/)
})
