/**
 * What a precompile is: a gas rule and a pure function of bytes, joined so that gas, failure and faults of a
 * library are handled in one place. Which address holds which precompile at which fork: `registry.ts`.
 */
import { AssertionFault, type Fork } from '../../base/index.ts'

/**
 * Outcome of one call. `success`: `gasUsed` is at most the limit and `output` is fresh bytes that the caller owns.
 * `failure`: the input is refused and all gas of the call is consumed; `reason` is geth's wording, for tracers.
 * `outOfGas`: the price is above the limit; all gas is consumed and nothing was computed.
 */
export type PrecompileResult = PrecompileSuccess | PrecompileFailure | PrecompileOutOfGas

export type PrecompileSuccess = {
  readonly kind: 'success'
  readonly gasUsed: bigint
  readonly output: Uint8Array
}
export type PrecompileFailure = { readonly kind: 'failure'; readonly reason: string }
export type PrecompileOutOfGas = { readonly kind: 'outOfGas' }

/** A contract without code whose work the protocol defines. */
export type Precompile = {
  /** Name of EIP-7910, e.g. `BLS12_G1ADD`. */
  readonly name: string
  /** Exact price of `input`, whatever the limit. Never throws, never allocates by a declared length. */
  gas(input: Uint8Array): bigint
  /**
   * Prices and runs. Reads `input` only during the call and never throws on any bytes.
   * Cost beside the work itself: one object and the output; a refusal allocates nothing.
   */
  run(input: Uint8Array, gasLimit: bigint): PrecompileResult
}

/** The work of a precompile, given that its gas is paid. */
export type PrecompileWork = (input: Uint8Array) => Uint8Array | PrecompileFailure

/** One rule: from this fork on, this price and this work. */
export type PrecompileRule = {
  readonly since: Fork
  readonly gas: (input: Uint8Array) => bigint
  readonly work: PrecompileWork
}

/** An address with its rules, oldest first: a row of the tables in `registry.ts` and `draftEip2537.ts`. */
export type PrecompileRow = {
  readonly address: number
  readonly name: string
  readonly rules: readonly PrecompileRule[]
}

const OUT_OF_GAS: PrecompileOutOfGas = Object.freeze({ kind: 'outOfGas' })
/** A library threw on bytes that its module had accepted. */
const FAULT = failure('precompile fault')

/** A refusal with a constant reason; made once when a module loads, shared by all calls. */
export function failure(reason: string): PrecompileFailure {
  return Object.freeze({ kind: 'failure', reason })
}

/** Refusals that several precompiles share. */
export const INPUT_LENGTH_INVALID = failure('invalid input length')

/** Joins a name, a gas rule and the work into a precompile. */
export function definePrecompile(
  name: string,
  gas: (input: Uint8Array) => bigint,
  work: PrecompileWork,
): Precompile {
  const run = (input: Uint8Array, gasLimit: bigint): PrecompileResult => {
    const gasUsed = gas(input)
    if (gasUsed > gasLimit) return OUT_OF_GAS
    const output = guarded(work, input)
    return output instanceof Uint8Array ? { kind: 'success', gasUsed, output } : output
  }
  return { name, gas, run }
}

/** Whatever a library throws refuses the input; only a broken invariant of ours gets through. */
function guarded(work: PrecompileWork, input: Uint8Array): Uint8Array | PrecompileFailure {
  try {
    return work(input)
  } catch (error) {
    if (error instanceof AssertionFault) throw error
    return FAULT
  }
}
