/** Aim: what a transaction used and changed, with the traps: delegations, self-destructs by fork, failed stores. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesConcat, Fork, toHex } from '../base/index.ts'
import {
  AUTHORITY,
  authorization,
  COINBASE,
  type TestAccount,
  typed,
} from '../execute/testWorld.suite.ts'
import { PrestateTracer, type PrestateTracerOptions } from './prestateTracer.ts'
import {
  accountsOf,
  addressOf,
  assemble,
  legacy,
  OTHER,
  SENDER,
  slot,
  TARGET,
  type TraceRunOptions,
  traced,
} from './traceRun.suite.ts'

type Account = {
  balance?: string
  nonce?: number
  code?: string
  codeHash?: string
  storage?: { [slot: string]: string }
}
type State = { [address: string]: Account }

function stateOf(options: TraceRunOptions, tracer: PrestateTracerOptions = {}): State {
  const { result } = traced(new PrestateTracer(tracer), options)
  return JSON.parse(JSON.stringify(result)) as State
}

function differenceOf(options: TraceRunOptions, tracer: PrestateTracerOptions = {}) {
  const { result } = traced(new PrestateTracer({ ...tracer, diffMode: true }), options)
  return JSON.parse(JSON.stringify(result)) as { pre: State; post: State }
}

const word = (value: bigint | number) => `0x${BigInt(value).toString(16).padStart(64, '0')}`
const at = (address: Uint8Array) => toHex(address) as string

test('all that was used is shown as it was, first use first', () => {
  const code = '9 1 SSTORE 1 SLOAD 2 SLOAD 0xdddd BALANCE 0xeeee EXTCODESIZE'
  const state = stateOf({ accounts: accountsOf(code) })
  assert.deepEqual(Object.keys(state).sort(), [SENDER, TARGET, OTHER].map(at).sort())
  assert.deepEqual(state[at(TARGET)]!.storage, { [word(1)]: word(7), [word(2)]: word(0) })
  assert.equal(state[at(SENDER)]!.balance, `0x${(10n ** 18n).toString(16)}`, 'before gas is bought')
  const empty = stateOf({ accounts: accountsOf(code) }, { includeEmpty: true })
  assert.deepEqual(empty[at(addressOf(0xeeee))], { balance: '0x0' })
  assert.deepEqual(empty[at(COINBASE)], { balance: '0x0' })
})

test('code and storage can be left out', () => {
  const options = { accounts: accountsOf('1 SLOAD') }
  const target = stateOf(options, { disableCode: true, disableStorage: true })[at(TARGET)]!
  assert.ok(target.codeHash !== undefined && !('code' in target) && !('storage' in target))
})

test('N11: a difference holds what changed, before and after', () => {
  const { pre, post } = differenceOf({ accounts: accountsOf('9 1 SSTORE 3 2 SSTORE 4 SLOAD') })
  assert.deepEqual(pre[at(TARGET)]!.storage, { [word(1)]: word(7) })
  assert.deepEqual(post[at(TARGET)], { storage: { [word(1)]: word(9), [word(2)]: word(3) } })
  assert.equal(post[at(SENDER)]!.nonce, 1)
  assert.ok(at(OTHER) in pre === false, 'not used')
})

test('N11: a store that is undone is no difference, and transient storage is none at all', () => {
  const call = '0 0 0 0 0 0xdddd GAS CALL'
  const undone = differenceOf({ accounts: accountsOf(call, '5 5 SSTORE 0 0 REVERT') })
  assert.ok(!(at(OTHER) in undone.pre) && !(at(OTHER) in undone.post))
  const transient = differenceOf({ accounts: accountsOf('1 1 TSTORE 1 TLOAD') })
  assert.ok(!(at(TARGET) in transient.post))
})

test('a slot that is cleared stands before and not after', () => {
  const { pre, post } = differenceOf({ accounts: accountsOf('0 1 SSTORE') })
  assert.deepEqual(pre[at(TARGET)]!.storage, { [word(1)]: word(7) })
  assert.ok(!('storage' in post[at(TARGET)]!))
})

test('a new contract has no state before', () => {
  const transaction = legacy({
    gasLimit: 200_000n,
    to: undefined,
    data: assemble('6 0 SSTORE 1 0 MSTORE8 1 0 RETURN'),
  })
  const { pre, post } = differenceOf({ transaction })
  const created = Object.keys(post).find((address) => post[address]!.code === '0x01')!
  assert.ok(!(created in pre))
  assert.deepEqual(post[created]!.storage, { [word(0)]: word(6) })
  assert.equal(post[created]!.nonce, 1)
})

test('a self-destructed account is gone before Cancun, and stays from then on', () => {
  const options = { accounts: accountsOf('0x12 SELFDESTRUCT') }
  const old = differenceOf({ ...options, fork: Fork.Shanghai })
  assert.ok(at(TARGET) in old.pre && !(at(TARGET) in old.post))
  const now = differenceOf({ ...options, fork: Fork.Cancun })
  assert.deepEqual(now.post[at(TARGET)], { balance: '0x0' })
  assert.equal(now.post[at(addressOf(0x12))]!.balance, '0x3e8')
})

const DELEGATION = bytesConcat(Uint8Array.of(0xef, 1, 0), OTHER)

test('a delegation that is set and one that is taken away are differences of code', () => {
  const set = differenceOf({
    transaction: typed(4, { gasLimit: 200_000n }),
    accounts: accountsOf('STOP'),
  })
  assert.equal(set.post[at(AUTHORITY)]!.code, `0xef0100${toHex(TARGET).slice(2)}`)
  assert.equal(set.post[at(AUTHORITY)]!.nonce, 1)
  const account: TestAccount = { address: AUTHORITY, nonce: 1n, balance: 3n, code: DELEGATION }
  const cleared = differenceOf({
    transaction: typed(4, {
      gasLimit: 200_000n,
      authorizationList: [authorization({ nonce: 1n, address: new Uint8Array(20) })],
    }),
    accounts: [...accountsOf('STOP'), account],
  })
  assert.equal(cleared.pre[at(AUTHORITY)]!.code, toHex(DELEGATION))
  assert.equal(cleared.post[at(AUTHORITY)]!.code, '0x')
  assert.match(cleared.post[at(AUTHORITY)]!.codeHash!, /^0xc5d246/)
})

test('the account whose code a delegation runs is used too', () => {
  const account: TestAccount = { address: TARGET, nonce: 1n, code: DELEGATION }
  const state = stateOf({ accounts: [account, ...accountsOf('STOP', '1 SLOAD').slice(1)] })
  assert.ok(at(OTHER) in state)
  assert.deepEqual(state[at(TARGET)]!.storage, { [word(1)]: word(0) })
})

test('a store that a static call forbids was looked at', () => {
  const accounts = [
    ...accountsOf('0 0 0 0 0xdddd GAS STATICCALL').slice(0, 1),
    { address: OTHER, nonce: 1n, code: assemble('1 6 SSTORE'), storage: [slot(6n, 4n)] },
  ]
  assert.deepEqual(stateOf({ accounts })[at(OTHER)]!.storage, { [word(6)]: word(4) })
})
