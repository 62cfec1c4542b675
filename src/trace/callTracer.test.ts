/** Aim: the tree of messages, its options and its wording. Method: two contracts; the published tests do the rest. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, toHex } from '../base/index.ts'
import { CallTracer, type CallTracerOptions } from './callTracer.ts'
import { accountsOf, assemble, legacy, OTHER, SENDER, TARGET, traced } from './traceRun.suite.ts'
import type { TraceValue } from './tracer.ts'

type Frame = { [key: string]: TraceValue | undefined } & {
  readonly calls?: Frame[]
  readonly logs?: { position: string; index: string; topics: string[] }[]
}

function frameOf(code: string, other?: string, options: CallTracerOptions = {}): Frame {
  const { result } = traced(new CallTracer(options), { accounts: accountsOf(code, other) })
  // As text and back, so that what is left out is absent.
  return JSON.parse(JSON.stringify(result)) as Frame
}

const CALL_OTHER = '0 0 0 0 0 0xdddd GAS CALL'

test('the outermost frame has the gas that the transaction buys and uses', () => {
  const frame = frameOf('STOP')
  assert.deepEqual(frame, {
    from: toHex(SENDER),
    gas: '0xf4240',
    gasUsed: '0x5208',
    to: toHex(TARGET),
    input: '0x',
    value: '0x0',
    type: 'CALL',
  })
})

test('a delegate call comes from the account that asks and shows the value it sees', () => {
  const frame = frameOf('0 0 0 0 0xdddd GAS DELEGATECALL', `0 0 0 0 0xdddd GAS STATICCALL`)
  const [inner] = frame.calls!
  assert.equal(inner!['from'], toHex(TARGET))
  assert.equal(inner!['to'], toHex(OTHER))
  assert.equal(inner!['value'], '0x0')
  // The code of OTHER acts as TARGET, so what it calls comes from TARGET.
  assert.equal(inner!.calls![0]!['from'], toHex(TARGET))
  assert.ok(!('value' in inner!.calls![0]!), 'a static call has no value')
})

test('a creation shows the code, and no address where it failed', () => {
  // Returns one zero byte as code; reverts.
  const good = frameOf(
    '0x6001600053 0 MSTORE 5 27 0 CREATE 0 0 RETURN'.replace('0x6001600053', '0x60016000f3'),
  )
  const [created] = good.calls!
  assert.equal(created!['type'], 'CREATE')
  assert.equal(created!['error'], undefined)
  const bad = frameOf('0x5f5ffd 0 MSTORE 3 29 0 CREATE')
  assert.equal(bad.calls![0]!['error'], 'execution reverted')
  assert.ok(!('to' in bad.calls![0]!))
})

test('a reason of Solidity is read out', () => {
  const error = `08c379a0${'20'.padStart(64, '0')}${'2'.padStart(64, '0')}6e6f${'0'.repeat(60)}`
  const code = [...(error.match(/.{1,64}/g) ?? [])]
    .map((word, index) => `0x${word.padEnd(64, '0')} ${index * 32} MSTORE`)
    .join(' ')
  const frame = frameOf(`${code} 100 0 REVERT`)
  assert.equal(frame['error'], 'execution reverted')
  assert.equal(frame['revertReason'], 'no')
})

test('logs stand in their frame with their place; those of failed frames are gone', () => {
  const code = `7 0 0 LOG1 ${CALL_OTHER} 8 0 0 LOG1`
  const frame = frameOf(code, '9 0 0 LOG1 0 0 REVERT', { withLog: true })
  assert.deepEqual(
    frame.logs!.map(({ position, topics }) => [position, Number(topics[0])]),
    [
      ['0x0', 7],
      ['0x1', 8],
    ],
  )
  assert.ok(!('logs' in frame.calls![0]!))
  assert.ok(!('logs' in frameOf(code, 'STOP')), 'only on request')
})

test('onlyTopCall leaves the inner messages out', () => {
  const frame = frameOf(`9 0 0 LOG1 ${CALL_OTHER}`, '8 0 0 LOG1 0x12 SELFDESTRUCT', {
    onlyTopCall: true,
    withLog: true,
  })
  assert.ok(!('calls' in frame))
  assert.equal(frame.logs!.length, 1)
})

test('a call of a precompile says why it failed', () => {
  const frame = frameOf('0 0 0 0 0 1 100 CALL 0 0 1 0 0 9 GAS CALL')
  assert.deepEqual(
    frame.calls!.map((call) => call['error']),
    ['out of gas', 'invalid input length'],
  )
})

test('messages that end before they begin are there', () => {
  const frame = frameOf('0 0 0 0 0xffffffffff 0xdddd GAS CALL')
  assert.equal(frame.calls![0]!['error'], 'insufficient balance for transfer')
})

test('before a run there is no result', () => {
  assert.throws(() => new CallTracer().result(), { code: 'TRACE_INCOMPLETE' })
})

test('a creation by the transaction names the contract and its code', () => {
  const transaction = legacy({
    gasLimit: 200_000n,
    to: undefined,
    data: assemble('1 0 MSTORE8 1 0 RETURN'),
  })
  const { result, outcome } = traced(new CallTracer(), { transaction, fork: Fork.Prague })
  const frame = result as Frame
  assert.equal(frame['type'], 'CREATE')
  assert.equal(frame['to'], toHex(outcome.created!))
  assert.equal(frame['output'], '0x01')
})
