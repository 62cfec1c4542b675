/**
 * Aim: every tracer opens by its name, changes nothing, and every wrapper forwards every event. Method: the schema's
 * list of hooks, so that a new one cannot be forgotten; each tracer over programs that do a bit of everything.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork } from '../base/index.ts'
import { type EvmHooks, HOOK_NAMES } from '../evm/index.ts'
import { SENDER, world } from '../execute/testWorld.suite.ts'
import { FlatCallTracer } from './flatCallTracer.ts'
import { MuxTracer } from './muxTracer.ts'
import { openTracer, TRACER_NAMES } from './namedTracers.ts'
import { StructLogTracer } from './structLogTracer.ts'
import { accountsOf, assemble, legacy, traced, untraced } from './traceRun.suite.ts'
import type { Tracer } from './tracer.ts'
import { traceTransaction } from './traceTransaction.ts'

const CALL_OTHER = '0 0 0 0 3 0xdddd GAS CALL'
const PROGRAMS: readonly (readonly [code: string, other: string])[] = [
  ['STOP', 'STOP'],
  [
    `9 1 SSTORE 5 0 MSTORE 7 32 0 LOG1 ${CALL_OTHER} 1 SLOAD 1 1 TSTORE 1 TLOAD`,
    '0x12 SELFDESTRUCT',
  ],
  [`${CALL_OTHER} 0 0 REVERT`, '6 6 SSTORE 32 0 KECCAK256 0xdddd EXTCODESIZE ISZERO'],
  ['0x5f5ff3 0 MSTORE 3 29 0 CREATE 1 3 29 0 CREATE2 0xdddd BALANCE GAS', 'STOP'],
  ['0 0 32 0 4 GAS STATICCALL 0 0 0 0 1 10 DELEGATECALL ADD', 'ADD'],
]

test('N11: tracing changes no outcome and no state, whatever listens', () => {
  const everything = Object.fromEntries(
    TRACER_NAMES.filter((name) => name !== 'muxTracer').map((name) => [name, {}]),
  )
  for (const [code, other] of PROGRAMS)
    for (const fork of [Fork.Berlin, Fork.Osaka]) {
      const options = { accounts: accountsOf(code, other), fork }
      const plain = untraced(options)
      for (const name of [...TRACER_NAMES]) {
        const context = world(fork, options.accounts)
        const tracer = openTracer(name, name === 'muxTracer' ? everything : {})
        const transaction = legacy({ gasLimit: 1_000_000n })
        const outcome = traceTransaction(context, transaction, SENDER, tracer)
        assert.deepEqual(outcome, plain.outcome, `${name}: ${code}`)
        assert.deepEqual(context.machine.writeSet(), plain.writes, `${name}: ${code}`)
        assert.doesNotThrow(() => JSON.stringify(tracer.result()))
      }
    }
})

/** Members of a tracer: this compiles only while each is named. */
const TRACER_MEMBERS: Record<keyof Tracer, true> = {
  hooks: true,
  begin: true,
  end: true,
  result: true,
}

test('N11: a mux has every member of a tracer', () => {
  const mux = new MuxTracer(new Map())
  for (const member of Object.keys(TRACER_MEMBERS))
    assert.notEqual(mux[member as keyof Tracer], undefined, member)
})

test('N11: a mux forwards every event of the schema to every tracer', () => {
  const heard: string[] = []
  const listener = (name: string) => ({
    hooks: Object.fromEntries(
      HOOK_NAMES.map((hook) => [hook, () => heard.push(`${name} ${hook}`)]),
    ) as EvmHooks,
    begin: () => heard.push(`${name} begin`),
    end: () => heard.push(`${name} end`),
    result: () => name,
  })
  const mux = new MuxTracer(
    new Map([
      ['a', listener('a')],
      ['b', listener('b')],
    ]),
  )
  const call = (work: unknown) => (work as (event: unknown) => void)({})
  call(mux.begin.bind(mux))
  for (const hook of HOOK_NAMES) {
    assert.equal(typeof mux.hooks[hook], 'function', hook)
    call(mux.hooks[hook])
  }
  call(mux.end.bind(mux))
  const expected = ['begin', ...HOOK_NAMES, 'end'].flatMap((hook) => [`a ${hook}`, `b ${hook}`])
  assert.deepEqual(heard, expected)
  assert.deepEqual(mux.result(), { a: 'a', b: 'b' })
})

test('N11: a mux gives each tracer what it gets alone', () => {
  const [code, other] = PROGRAMS[1]!
  const options = { accounts: accountsOf(code, other) }
  const names = ['callTracer', 'prestateTracer', '4byteTracer', 'structLogger']
  const { result } = traced(
    openTracer('muxTracer', Object.fromEntries(names.map((n) => [n, {}]))),
    options,
  )
  for (const name of names)
    assert.deepEqual(
      (result as { [name: string]: unknown })[name],
      traced(openTracer(name), options).result,
    )
})

test('an unknown name and a wrong option are faults', () => {
  assert.throws(() => openTracer('noTracer'), { code: 'TRACE_TRACER_UNKNOWN' })
  assert.throws(() => openTracer('constructor'), { code: 'TRACE_TRACER_UNKNOWN' })
  assert.throws(() => openTracer('callTracer', { withLog: 1 }), { code: 'TRACE_OPTION_INVALID' })
  assert.throws(() => openTracer('callTracer', []), { code: 'TRACE_OPTION_INVALID' })
  assert.throws(() => openTracer('structLogger', { limit: -1 }), { code: 'TRACE_OPTION_INVALID' })
  let nested: object = {}
  for (let depth = 0; depth < 20; depth++) nested = { muxTracer: nested }
  assert.throws(() => openTracer('muxTracer', nested), { code: 'TRACE_OPTION_INVALID' })
})

test('the flat tracer words errors as Parity on request', () => {
  const error = (code: string) => {
    const tracer = new FlatCallTracer({ convertParityErrors: true })
    const { result } = traced(tracer, { accounts: accountsOf(code) })
    return (result as { error?: string }[])[0]!.error
  }
  assert.equal(error('ADD'), 'Stack underflow')
  assert.equal(error('3 JUMP'), 'Bad jump destination')
  assert.equal(error('0 0 REVERT'), 'Reverted')
  assert.equal(error('0xffffffff MLOAD'), 'Out of gas')
  assert.equal(error('1 POP'), undefined)
})

test('the legacy tracer knows what a script could see', () => {
  const code = `0 0 0 0 0xffffffffff 0xdddd GAS CALL 2 30 0 0 0 0xdddd GAS CALL 0 0 0 0 0 0xeeee GAS CALL STOP`
  const accounts = accountsOf(code, '0xabcdef 0 MSTORE 3 29 RETURN')
  const { result } = traced(openTracer('callTracerLegacy'), { accounts })
  type Call = { error?: string; output?: string; gas?: string }
  const { calls } = JSON.parse(JSON.stringify(result)) as { calls: Call[] }
  assert.equal(calls[0]!.error, 'internal failure')
  assert.equal(calls[1]!.output, '0xabcd', 'as much as the caller had room for')
  assert.ok(calls[1]!.gas !== undefined && calls[2]!.gas === undefined, 'no gas without code')
  const faulty = traced(openTracer('callTracerLegacy'), {
    accounts: accountsOf('0 0 0 0 0 0xdddd GAS CALL', 'ADD'),
  })
  assert.match(JSON.stringify(faulty.result), /stack underflow \(0 <=> 2\)/)
})

test('the ERC-7562 tracer keeps first reads, and none of what was written before', () => {
  const code = '1 SLOAD 9 1 SSTORE 1 SLOAD 4 2 SSTORE 2 SLOAD 0xdddd EXTCODESIZE ISZERO GAS'
  const { result } = traced(openTracer('erc7562Tracer'), { accounts: accountsOf(code) })
  type Uses = {
    accessedSlots: { reads: Record<string, string[]>; writes: Record<string, number> }
    extCodeAccessInfo: string[]
  }
  const { accessedSlots, extCodeAccessInfo } = result as unknown as Uses
  const word = (digit: string) => `0x${digit.padStart(64, '0')}`
  assert.deepEqual(accessedSlots.reads, { [word('1')]: [word('7')] })
  assert.deepEqual(accessedSlots.writes, { [word('1')]: 1, [word('2')]: 1 })
  assert.deepEqual(extCodeAccessInfo, [], 'a check for existence is no access')
})

test('selectors are counted with the size of what follows them', () => {
  const transaction = legacy({ gasLimit: 100_000n, data: Uint8Array.of(1, 2, 3, 4, 5) })
  const { result } = traced(openTracer('4byteTracer'), {
    transaction,
    accounts: accountsOf('STOP'),
  })
  assert.deepEqual(result, { '0x01020304-1': 1 })
  const bare = legacy({ gasLimit: 100_000n, data: Uint8Array.of(1, 2, 3, 4) })
  const counted = traced(openTracer('4byteTracer'), { transaction: bare })
  assert.deepEqual(counted.result, { '0x01020304-0': 1 })
})

test('struct logs are bounded by their limit, and show storage as it becomes known', () => {
  const code = '9 1 SSTORE 1 SLOAD STOP'
  const { result } = traced(new StructLogTracer(), { accounts: accountsOf(code) })
  const { structLogs } = result as unknown as { structLogs: { op: string; storage?: object }[] }
  const load = structLogs.find(({ op }) => op === 'SLOAD')!
  assert.deepEqual(Object.values(load.storage!), ['9'.padStart(64, '0')])
  const limited = traced(new StructLogTracer({ limit: 2 }), { accounts: accountsOf(code) })
  assert.equal((limited.result as unknown as { structLogs: object[] }).structLogs.length, 2)
  assert.ok(assemble(code).length > 2)
})
