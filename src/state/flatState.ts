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
  bytesEqual,
  EMPTY_BYTES,
  EMPTY_CODE_HASH,
  HASH_BYTES,
  isVarveError,
  leadingZeroCount,
  toHex,
  VarveError,
} from '../base/index.ts'
import {
  RlpReader,
  rlpHeaderBytes,
  rlpIntegerLength,
  writeRlpBytes,
  writeRlpInteger,
  writeRlpListHeader,
} from '../codec/index.ts'
import { prefixEnd, type Store, storageKey } from '../store/index.ts'
import { type Account, accountHasCode } from './account.ts'
import type { StoredSlot } from './view.ts'

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
    for (const _ of this.slots(addressHash)) return true
    return false
  }

  /** All slots of an account, in order. @throws VarveError STATE_ROW_INVALID */
  *slots(addressHash: Uint8Array): Iterable<StoredSlot> {
    const bounds = { gte: addressHash, lt: prefixEnd(addressHash) }
    for (const { key, value } of this.store.range('storages', bounds)) {
      const slotHash = key.subarray(HASH_BYTES)
      yield { slotHash, value: decodeFlatSlot(value, slotHash) }
    }
  }
}

/** Encodes an account's row. */
export function encodeFlatAccount(account: Account): Uint8Array {
  const row = new Uint8Array(flatAccountBytes(account))
  writeFlatAccount(row, 0, account)
  return row
}

/** Bytes of an account's row: 4 to 78. */
export function flatAccountBytes(account: Account): number {
  const payload = payloadBytes(account)
  return rlpHeaderBytes(payload) + payload
}

/** Writes an account's row; returns the offset after it. Written out, since every block changes thousands. */
export function writeFlatAccount(target: Uint8Array, offset: number, account: Account): number {
  const { nonce, balance, codeHash } = account
  let at = writeRlpListHeader(target, offset, payloadBytes(account))
  at = writeRlpInteger(target, at, nonce)
  at = writeRlpInteger(target, at, balance)
  return writeRlpBytes(target, at, accountHasCode(account) ? codeHash : EMPTY_BYTES)
}

function payloadBytes(account: Account): number {
  const codeBytes = accountHasCode(account) ? 1 + HASH_BYTES : 1
  return rlpIntegerLength(account.nonce) + rlpIntegerLength(account.balance) + codeBytes
}

/** Reads an account's row as an item of a longer encoding. @throws VarveError RLP_* */
export function readFlatAccount(reader: RlpReader): Account {
  const outerEnd = reader.openList('account')
  const nonce = reader.readBigint(8, 'nonce')
  const balance = reader.readBigint(32, 'balance')
  const codeHash = reader.readFixedOrEmpty(HASH_BYTES, 'codeHash')
  reader.closeList(outerEnd, 'account')
  if (codeHash !== undefined && bytesEqual(codeHash, EMPTY_CODE_HASH))
    throw rowFault('account', codeHash, 'expected the empty string in place of the hash of no code')
  return { nonce, balance, codeHash: codeHash ?? EMPTY_CODE_HASH }
}

/** Decodes an account's row; `addressHash` is for the message. @throws VarveError STATE_ROW_INVALID */
export function decodeFlatAccount(row: Uint8Array, addressHash: Uint8Array): Account {
  try {
    const reader = new RlpReader(row)
    const account = readFlatAccount(reader)
    reader.finish('account')
    return account
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
