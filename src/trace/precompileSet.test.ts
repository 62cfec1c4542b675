/**
 * Aim: tracers take for precompiles what the block's set has. Method: a contract that calls an address which is one
 * under the draft of EIP-2537 only, traced under both sets by each tracer that asks.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PRECOMPILE_SETS, type PrecompileSet } from '../evm/index.ts'
import { CallTracer } from './callTracer.ts'
import { FlatCallTracer } from './flatCallTracer.ts'
import { FourByteTracer } from './fourByteTracer.ts'
import { LegacyCallTracer } from './legacyCallTracer.ts'
import { accountsOf, traced } from './traceRun.suite.ts'
import type { Tracer } from './tracer.ts'

/** Four bytes of zeros go to 0x13, whose draft takes 128. */
const CODE = '0 0 4 0 0 0x13 100000 CALL STOP'

/** What the tracer says under each of `PRECOMPILE_SETS`, final first. */
function underEach(make: () => Tracer): Record<string, unknown>[] {
  return PRECOMPILE_SETS.map((precompileSet: PrecompileSet) => {
    const { result } = traced(make(), { accounts: accountsOf(CODE), precompileSet })
    return result as Record<string, unknown>
  })
}

test('callTracer says why a precompile of the draft failed', () => {
  const errors = underEach(() => new CallTracer()).map(
    ({ calls }) => (calls as { error?: string }[])[0]!.error,
  )
  assert.deepEqual(errors, [undefined, 'invalid input length'])
})

test('the tracers of legacy, flat and selectors leave precompiles of the draft out', () => {
  const callCounts = underEach(() => new LegacyCallTracer()).map(
    ({ calls }) => (calls as unknown[] | undefined)?.length ?? 0,
  )
  assert.deepEqual(callCounts, [1, 0])
  const flatCounts = underEach(() => new FlatCallTracer()).map((list) => Object.keys(list).length)
  assert.deepEqual(flatCounts, [2, 1], 'the transaction itself, and the call')
  const selectors = underEach(() => new FourByteTracer()).map((counts) => Object.keys(counts))
  assert.deepEqual(selectors, [['0x00000000-0'], []])
})
