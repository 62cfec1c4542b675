/**
 * Accounts, slots and codes as the store holds them: one row each, keyed by hash, readable without the trie.
 *
 *     accounts   keccak(address)                   RLP [nonce, balance, codeHash or ""]
 *     storages   keccak(address) ‖ keccak(slot)    the value without leading zeros, 1 to 32 bytes
 *     codes      keccak(code)                      code
 *
 * The storage root is not in the account's row: it is the summary's business (commit/accountLeaf.ts).
 */
import {
  assert,
  bytesAreZero,
  EMPTY_BYTES,
  EMPTY_CODE_HASH,
  HASH_BYTES,
  isVarveError,
  leadingZeroCount,
  toHex,
  VarveError,
} from '../base/index.ts'
import { encodeRlp, RlpReader } from '../codec/index.ts'
import { prefixEnd, type Store, storageKey } from '../store/index.ts'
import { type Account, accountHasCode } from './account.ts'

/** Reads the flat rows of a store. Holds no state of its own. */
export class FlatState {
  private readonly store: Store

  constructor(store: Store) {
    this.store = store
  }

  /** @throws VarveError STATE_ROW_INVALID where the row does not decode */
  account(addressHash: Uint8Array): Account | undefined {
    const row = this.store.get('accounts', addressHash)
    return row === undefined ? undefined : decodeFlatAccount(row, addressHash)
  }

  /** The slot's 32 bytes, or `undefined` for zero. @throws VarveError STATE_ROW_INVALID */
  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    const row = this.store.get('storages', storageKey(addressHash, slotHash))
    return row === undefined ? undefined : decodeFlatSlot(row, slotHash)
  }

  code(codeHash: Uint8Array): Uint8Array | undefined {
    return this.store.get('codes', codeHash)
  }

  hasStorage(addressHash: Uint8Array): boolean {
    for (const _ of this.slotHashes(addressHash)) return true
    return false
  }

  /** Hashes of all slots of an account, in order. */
  *slotHashes(addressHash: Uint8Array): Iterable<Uint8Array> {
    for (const { key } of this.store.range('storages', {
      gte: addressHash,
      lt: prefixEnd(addressHash),
    }))
      yield key.subarray(HASH_BYTES)
  }
}

/** Encodes an account's row. */
export function encodeFlatAccount(account: Account): Uint8Array {
  return encodeRlp([
    account.nonce,
    account.balance,
    accountHasCode(account) ? account.codeHash : EMPTY_BYTES,
  ])
}

/** Decodes an account's row; `addressHash` is for the message. @throws VarveError STATE_ROW_INVALID */
export function decodeFlatAccount(row: Uint8Array, addressHash: Uint8Array): Account {
  try {
    const reader = new RlpReader(row)
    const outerEnd = reader.openList('account')
    const nonce = reader.readBigint(8, 'nonce')
    const balance = reader.readBigint(32, 'balance')
    const codeHash = reader.readFixedOrEmpty(HASH_BYTES, 'codeHash') ?? EMPTY_CODE_HASH
    reader.closeList(outerEnd, 'account')
    reader.finish('account')
    return { nonce, balance, codeHash }
  } catch (error) {
    if (!isVarveError(error)) throw error
    throw rowFault('account', addressHash, error.message)
  }
}

/** A slot's row: its 32 bytes without leading zeros. The value is not zero. */
export function encodeFlatSlot(value: Uint8Array): Uint8Array {
  assert(value.length === HASH_BYTES && !bytesAreZero(value), 'a stored slot is 32 bytes, not zero')
  return value.slice(leadingZeroCount(value))
}

/** The 32 bytes of a slot's row; `slotHash` is for the message. @throws VarveError STATE_ROW_INVALID */
export function decodeFlatSlot(row: Uint8Array, slotHash: Uint8Array): Uint8Array {
  if (row.length === 0 || row.length > HASH_BYTES || row[0] === 0)
    throw rowFault(
      'slot',
      slotHash,
      `expected 1 to 32 bytes without leading zero, got ${toHex(row)}`,
    )
  const value = new Uint8Array(HASH_BYTES)
  value.set(row, HASH_BYTES - row.length)
  return value
}

function rowFault(kind: 'account' | 'slot', hash: Uint8Array, problem: string): VarveError {
  return new VarveError('STATE_ROW_INVALID', `flat ${kind} ${toHex(hash)}: ${problem}`, {
    kind,
    hash: toHex(hash),
  })
}

/** Error codes of this module. */
export type FlatStateErrorCode =
  /** A row of the flat state does not decode. */
  'STATE_ROW_INVALID'
