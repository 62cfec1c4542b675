/**
 * An account as execution sees it. The root of its storage is not here: it belongs to the state summary (`commit/`),
 * which learns it from the account trie, late and off the critical path.
 */
import { bytesEqual, EMPTY_CODE_HASH } from '../base/index.ts'

/** Values of an account. Immutable: a change makes a new one. */
export type Account = {
  /** Transactions sent, or contracts created: 0 to 2^64-1 (EIP-2681). */
  readonly nonce: bigint
  /** Wei, 0 to 2^256-1. */
  readonly balance: bigint
  /** keccak-256 of the code; `EMPTY_CODE_HASH` where there is none. Never written to. */
  readonly codeHash: Uint8Array
}

/** The account that a first credit creates. */
export const EMPTY_ACCOUNT: Account = { nonce: 0n, balance: 0n, codeHash: EMPTY_CODE_HASH }

/** EIP-161: no nonce, no balance, no code. Storage plays no part. */
export function accountIsEmpty(account: Account): boolean {
  return account.nonce === 0n && account.balance === 0n && !accountHasCode(account)
}

export function accountHasCode(account: Account): boolean {
  return account.codeHash !== EMPTY_CODE_HASH && !bytesEqual(account.codeHash, EMPTY_CODE_HASH)
}

export function accountsEqual(a: Account | undefined, b: Account | undefined): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined) return false
  return a.nonce === b.nonce && a.balance === b.balance && bytesEqual(a.codeHash, b.codeHash)
}
