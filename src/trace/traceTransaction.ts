/** Runs a transaction under the eyes of a tracer. */
import { ADDRESS_BYTES } from '../base/index.ts'
import { encodeRlp, TransactionType, type UnsignedTransaction } from '../codec/index.ts'
import {
  executeTransaction,
  type TransactionContext,
  type TransactionOutcome,
} from '../execute/index.ts'
import { keccak256 } from '../kernels/index.ts'
import type { Tracer } from './tracer.ts'

/**
 * As `executeTransaction`, and `tracer` hears of it. Same outcome, gas and state as without.
 * @throws as `executeTransaction`, and what the tracer's hooks throw; the state is then as before
 */
export function traceTransaction(
  context: TransactionContext,
  transaction: UnsignedTransaction,
  sender: Uint8Array,
  tracer: Tracer,
): TransactionOutcome {
  const { machine, block, recovery } = context
  const authorizations =
    transaction.type === TransactionType.SetCode ? transaction.authorizationList : []
  tracer.begin?.({
    state: machine,
    fork: block.fork,
    precompileSet: block.precompileSet,
    coinbase: block.coinbase,
    transaction,
    sender,
    target: transaction.to ?? contractAddress(sender, transaction.nonce),
    authorities: authorizations.flatMap((entry) => recovery.recoverAuthority(entry) ?? []),
  })
  machine.trace(tracer.hooks)
  let outcome: TransactionOutcome
  try {
    outcome = executeTransaction(context, transaction, sender)
  } finally {
    machine.trace(undefined)
  }
  tracer.end?.(outcome)
  return outcome
}

/** Address of the contract that an account creates at a nonce; Yellow Paper section 7. */
export function contractAddress(creator: Uint8Array, nonce: bigint): Uint8Array {
  return keccak256(encodeRlp([creator, nonce])).slice(-ADDRESS_BYTES)
}
