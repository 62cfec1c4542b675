/** Runs a transaction over a few accounts under a tracer. */
import { bigintToBytes, Fork } from '../base/index.ts'
import type { UnsignedTransaction } from '../codec/index.ts'
import type { PrecompileSet } from '../evm/index.ts'
import { addressOf, assemble } from '../evm/testWorld.suite.ts'
import { executeTransaction, type TransactionOutcome } from '../execute/index.ts'
import { legacy, SENDER, TARGET, type TestAccount, world } from '../execute/testWorld.suite.ts'
import type { Tracer, TraceValue } from './tracer.ts'
import { traceTransaction } from './traceTransaction.ts'

export { addressOf, assemble, legacy, SENDER, TARGET }

/** What the receiver calls in these tests. */
export const OTHER = addressOf(0xdddd)

export type TraceRun = {
  readonly outcome: TransactionOutcome
  readonly result: TraceValue
}

export type TraceRunOptions = {
  readonly fork?: Fork
  readonly transaction?: UnsignedTransaction
  readonly accounts?: readonly TestAccount[]
  readonly precompileSet?: PrecompileSet
}

/** Calls `TARGET`, which has this code, and one more contract at `OTHER`. */
export function accountsOf(code: string, other = 'STOP'): TestAccount[] {
  return [
    { address: TARGET, nonce: 1n, balance: 1000n, code: assemble(code), storage: [slot(1n, 7n)] },
    { address: OTHER, nonce: 1n, balance: 5n, code: assemble(other) },
  ]
}

export function slot(key: bigint, value: bigint): readonly [Uint8Array, Uint8Array] {
  const bytes = bigintToBytes(value, 32)
  return [bigintToBytes(key, 32), bytes.subarray(bytes.findIndex((byte) => byte !== 0))]
}

export function traced(tracer: Tracer, options: TraceRunOptions): TraceRun {
  const { fork = Fork.Prague, transaction = legacy({ gasLimit: 1_000_000n }) } = options
  const { precompileSet } = options
  const context = world(fork, options.accounts ?? [], { precompileSet })
  const outcome = traceTransaction(context, transaction, SENDER, tracer)
  return { outcome, result: tracer.result() }
}

/** The same without a tracer. */
export function untraced(options: TraceRunOptions) {
  const { fork = Fork.Prague, transaction = legacy({ gasLimit: 1_000_000n }) } = options
  const context = world(fork, options.accounts ?? [])
  const outcome = executeTransaction(context, transaction, SENDER)
  return { outcome, writes: context.machine.writeSet() }
}
