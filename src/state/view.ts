/**
 * What may be asked of a state. A view never changes: reading has no effect that another reader could see.
 * Accounts and slots are named by keccak-256 of the address or slot, which the caller has computed once: it is the
 * key of the trie, of the store and of every layer.
 */
import type { Account } from './account.ts'

/** An immutable state at one version. Returned arrays are never written to, by either side. */
export type StateView = {
  /** Values of an account, or `undefined` where there is none. */
  account(addressHash: Uint8Array): Account | undefined
  /** The 32-byte value of a slot, or `undefined` where it is zero. */
  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined
  /** Code by its keccak-256; empty for `EMPTY_CODE_HASH`. @throws VarveError STATE_CODE_MISSING */
  code(codeHash: Uint8Array): Uint8Array
  /** Whether any slot of the account is not zero (EIP-7610 asks this of an address to create at). */
  hasStorage(addressHash: Uint8Array): boolean
}

/** A slot that is not zero. */
export type StoredSlot = { readonly slotHash: Uint8Array; readonly value: Uint8Array }

/** A view that can also name all slots of an account, as undoing the end of an account needs. */
export type ListingView = StateView & {
  /** Every slot of an account that is not zero, in no order. Not to be held over a change of the state beneath. */
  slots(addressHash: Uint8Array): Iterable<StoredSlot>
}

/** Error codes of this module. */
export type StateViewErrorCode =
  /** An account names a code that is not in the store. */
  'STATE_CODE_MISSING'
