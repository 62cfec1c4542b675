/** Aim: the lines of EIP-3155 as geth writes them, also of steps that fail. Method: small programs, whole lines. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork } from '../base/index.ts'
import { type Eip3155Options, Eip3155Tracer } from './eip3155.ts'
import { accountsOf, traced } from './traceRun.suite.ts'

type Line = {
  pc: number
  opName: string
  gas: string
  gasCost: string
  memory?: string
  memSize: number
  stack: string[] | null
  depth: number
  refund: number
  error?: string
  type?: string
}

function linesOf(
  code: string,
  options: Eip3155Options = {},
  other?: string,
  fork?: Fork,
): string[] {
  const lines: string[] = []
  const tracer = new Eip3155Tracer((line) => lines.push(line), options)
  traced(tracer, { accounts: accountsOf(code, other), ...(fork === undefined ? {} : { fork }) })
  for (const line of lines) assert.match(line, /^\{.*\}\n$/, 'one call, one line')
  return lines.map((line) => line.trimEnd())
}

function steps(code: string, options?: Eip3155Options, other?: string, fork?: Fork): Line[] {
  return linesOf(code, options, other, fork)
    .map((line) => JSON.parse(line) as Line)
    .filter(({ opName }) => opName !== undefined)
}

const CALL_OTHER = '0 0 0 0 0 0xdddd GAS CALL'

test('a step is one line with geth fields in geth order, then comes the summary', () => {
  assert.deepEqual(linesOf('64 STOP'), [
    '{"pc":0,"op":96,"gas":"0xef038","gasCost":"0x3","memSize":0,"stack":[],"depth":1,"refund":0,"opName":"PUSH1"}',
    '{"pc":2,"op":0,"gas":"0xef035","gasCost":"0x0","memSize":0,"stack":["0x40"],"depth":1,"refund":0,"opName":"STOP"}',
    '{"output":"","gasUsed":"0x3"}',
  ])
})

test('memory, return data and stack follow the options', () => {
  const code = `1 0 MSTORE ${CALL_OTHER} STOP`
  const other = '0xabcd 0 MSTORE 2 30 RETURN'
  const plain = steps(code, {}, other).at(-1)!
  assert.ok(!('memory' in plain) && !('returnData' in plain))
  const full = steps(code, { memory: true, returnData: true, stack: false }, other).at(-1)!
  assert.equal(full.memory, `0x${'1'.padStart(64, '0')}`)
  assert.equal((full as { returnData?: string }).returnData, '0xabcd')
  assert.equal(full.stack, null)
})

test('memory is that before the step, whatever comes later', () => {
  const stores = steps('1 0 MSTORE 2 0 MSTORE STOP', { memory: true })
  assert.equal(stores[2]!.memory, undefined)
  assert.equal(stores[5]!.memory, `0x${'1'.padStart(64, '0')}`)
  assert.equal(stores[6]!.memory, `0x${'2'.padStart(64, '0')}`)
})

test('an implicit STOP has its line', () => {
  assert.equal(steps('1 POP').at(-1)!.opName, 'STOP')
})

test('depth counts from 1, and a call shows what it gives away', () => {
  const lines = steps(`0 0 0 0 3 0xdddd 0x0fff CALL STOP`)
  assert.equal(lines[0]!.depth, 1)
  const call = lines.find(({ opName }) => opName === 'CALL')!
  assert.equal(Number(call.gasCost), 2600 + 9000 + 0xfff)
  assert.equal(lines.find(({ depth }) => depth === 2)!.opName, 'STOP')
})

test('the refund is that of the step, and a revert takes it back', () => {
  const lines = steps(`${CALL_OTHER} POP 0 1 SSTORE STOP`, {}, '1 2 SSTORE 0 2 SSTORE 0 0 REVERT')
  const stores = lines.filter(({ opName }) => opName === 'SSTORE')
  assert.deepEqual(
    stores.map(({ refund }) => refund),
    [0, 19900, 4800],
  )
  assert.equal(lines.find(({ depth, pc }) => depth === 1 && pc > 14)!.refund, 0)
})

test('a revert and an invalid jump have a second line, without the operands', () => {
  const revert = steps('33 0 REVERT').slice(-2)
  assert.deepEqual(
    revert.map(({ stack, memSize, error }) => [stack, memSize, error]),
    [
      [['0x21', '0x0'], 0, undefined],
      [[], 64, 'execution reverted'],
    ],
  )
  const jump = steps('9 5 JUMP').slice(-2)
  assert.deepEqual(
    jump.map(({ stack, error, gasCost }) => [stack, error, gasCost]),
    [
      [['0x9', '0x5'], undefined, '0x8'],
      [['0x9'], 'invalid jump destination', '0x8'],
    ],
  )
})

test('what cannot begin has one line, with the words of geth', () => {
  const underflow = steps('1 ADD')
  assert.equal(underflow.length, 2)
  assert.equal(underflow.at(-1)!.error, 'stack underflow (1 <=> 2)')
  assert.equal(steps('0xffffffff MLOAD').at(-1)!.error, 'out of gas')
  const sentry = steps('1 1 0xfffff0 POP SSTORE', {}, undefined, Fork.Istanbul)
  assert.equal(sentry.at(-1)!.error, undefined)
})

test('the summary names the fault of the outermost frame only', () => {
  const failed = linesOf('1 ADD').at(-1)!
  assert.equal(failed, '{"output":"","gasUsed":"0xef038","error":"stack underflow (1 <=> 2)"}')
  const caught = linesOf(`${CALL_OTHER} STOP`, {}, 'ADD')
  assert.doesNotMatch(caught.at(-1)!, /error/)
  assert.equal(caught.filter((line) => line.startsWith('{"output"')).length, 1)
  const reverted = linesOf('1 0 MSTORE8 1 0 REVERT').at(-1)!
  assert.match(reverted, /^\{"output":"01","gasUsed":"0x[0-9a-f]+","error":"execution reverted"\}$/)
})

test('a store with too little gas to call back is named as such', () => {
  // Two pushes leave 2,300 gas, with which it fails as such, and one more, with which it is only too little.
  for (const [gas, error] of [
    ['0x0902', 'out of gas: not enough gas for reentrancy sentry'],
    ['0x0903', 'out of gas'],
  ]) {
    const lines = steps(`0 0 0 0 0 0xdddd ${gas} CALL STOP`, {}, '1 1 SSTORE')
    assert.equal(lines.find(({ opName }) => opName === 'SSTORE')!.error, error)
  }
})

test('call frames have lines, a self-destruct after its step, and each end one', () => {
  const lines = linesOf(`${CALL_OTHER} STOP`, { callFrames: true }, '0x12 SELFDESTRUCT')
  const names = lines.map((line) => {
    const { opName, type } = JSON.parse(line) as Line
    return opName ?? type ?? 'end'
  })
  assert.equal(names[0], 'CALL', 'the message of the transaction')
  const call = [
    'CALL',
    'CALL',
    'PUSH1',
    'SELFDESTRUCT',
    'SELFDESTRUCT',
    'end',
    'end',
    'STOP',
    'end',
  ]
  assert.deepEqual(names.slice(-call.length), call)
  const destruct = JSON.parse(lines[names.lastIndexOf('SELFDESTRUCT')]!) as { to: string }
  assert.equal(destruct.to, `0x${'12'.padStart(40, '0')}`)
})
