/**
 * What a tracer is: an observer of the EVM's events that knows the transaction around them and ends with a JSON
 * value. The names and shapes of the results are geth's, which the tools of the field read.
 *
 *     begin ─▶ hooks … ─▶ end ─▶ result
 *
 * Not here: the events (`evm/hooks.ts`), the run itself (`traceTransaction.ts`).
 */
import type { Fork } from '../base/index.ts'
import type { UnsignedTransaction } from '../codec/index.ts'
import type { EvmHooks, Machine, PrecompileSet } from '../evm/index.ts'
import type { TransactionOutcome } from '../execute/index.ts'

/** A value that `JSON.stringify` writes as it is. Members that are `undefined` are left out. */
export type TraceValue =
  | string
  | number
  | boolean
  | null
  | readonly TraceValue[]
  | { readonly [key: string]: TraceValue | undefined }

/** State as it is at the moment of the question. Reading never changes a run. */
export type TraceState = Pick<
  Machine,
  'getBalance' | 'getNonce' | 'getCode' | 'getCodeHash' | 'getStorage'
>

/** What a tracer is told before anything of the transaction has happened. */
export type TraceStart = {
  readonly state: TraceState
  readonly fork: Fork
  /** As the block's environment has it. */
  readonly precompileSet?: PrecompileSet | undefined
  /** Of the block, 20 bytes. */
  readonly coinbase: Uint8Array
  readonly transaction: UnsignedTransaction
  readonly sender: Uint8Array
  /** Receiver, or the address of the contract that is to be. */
  readonly target: Uint8Array
  /** Accounts whose signatures the authorization list bears, valid ones only (EIP-7702). */
  readonly authorities: readonly Uint8Array[]
}

/** Serves one transaction; belongs to whoever made it. */
export type Tracer = {
  readonly hooks: EvmHooks
  begin?(start: TraceStart): void
  /** Not called for a transaction that was rejected. */
  end?(outcome: TransactionOutcome): void
  /** @throws VarveError TRACE_INCOMPLETE where the transaction was not run to its end */
  result(): TraceValue
}
