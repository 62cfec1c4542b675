/**
 * The value of a leaf of the account trie: RLP [nonce, balance, storageRoot, codeHash] (Yellow Paper, section 4.1).
 * The only meeting point of account and trie: `state/` knows no roots, `trie/` knows no accounts.
 */
import {
  EMPTY_CODE_HASH,
  EMPTY_TRIE_ROOT,
  HASH_BYTES,
  leadingZeroCount,
  toHex,
  VarveError,
} from '../base/index.ts'
import { encodeRlp, RlpReader, writeRlpInteger } from '../codec/index.ts'
import type { Account } from '../state/index.ts'

/** What the trie commits to for one account. */
export type AccountLeaf = Account & { readonly storageRoot: Uint8Array }

/** RLP of a list of 56 to 255 bytes begins with this and the length. A leaf has 68 to 108. */
const LIST_OF_ONE_LENGTH_BYTE = 0xf8
/** RLP of a string of 32 bytes begins with this. */
const STRING_OF_32 = 0xa0
/** RLP of the empty string. */
const EMPTY_STRING = 0x80
const HASH_FIELD_BYTES = 1 + HASH_BYTES

/** Encodes a leaf: 70 bytes for an empty account, at most 110. */
export function encodeAccountLeaf(account: Account, storageRoot: Uint8Array): Uint8Array {
  const leaf = new Uint8Array(LEAF_BYTES_MAX)
  return leaf.slice(0, writeAccountLeaf(leaf, 0, account, storageRoot))
}

const LEAF_BYTES_MAX = 110

/**
 * Leaves one behind the other in memory that is used again: an array of more than 64 bytes has memory of its own that
 * the collector must follow, and two of them an account were a tenth of a block's root.
 */
export class AccountLeafSlab {
  private slab = new Uint8Array(1024 * LEAF_BYTES_MAX)
  private end = 0

  /** Encodes a leaf. Good until `clear`. */
  encode(account: Account, storageRoot: Uint8Array): Uint8Array {
    if (this.end + LEAF_BYTES_MAX > this.slab.length) {
      // Leaves that were given out stay where they are.
      this.slab = new Uint8Array(this.slab.length)
      this.end = 0
    }
    const start = this.end
    this.end = writeAccountLeaf(this.slab, start, account, storageRoot)
    return this.slab.subarray(start, this.end)
  }

  clear(): void {
    this.end = 0
  }
}

/**
 * Returns the offset after the leaf. Written out because its shape is fixed and it is encoded for every account of every
 * block: a third of what the general encoder takes.
 */
function writeAccountLeaf(
  leaf: Uint8Array,
  start: number,
  account: Account,
  storageRoot: Uint8Array,
): number {
  const { nonce, balance, codeHash } = account
  leaf[start] = LIST_OF_ONE_LENGTH_BYTE
  let at = writeRlpInteger(leaf, start + 2, nonce)
  at = writeRlpInteger(leaf, at, balance)
  leaf[at] = STRING_OF_32
  at = copyHash(leaf, at + 1, storageRoot)
  leaf[at] = STRING_OF_32
  at = copyHash(leaf, at + 1, codeHash)
  leaf[start + 1] = at - start - 2
  return at
}

/** Copies 32 bytes: in a loop, since `set` costs a call out of compiled code. */
function copyHash(target: Uint8Array, offset: number, hash: Uint8Array): number {
  for (let index = 0; index < HASH_BYTES; index++) target[offset + index] = hash[index]!
  return offset + HASH_BYTES
}

/** Decodes a leaf, strictly. @throws VarveError RLP_* */
export function decodeAccountLeaf(bytes: Uint8Array): AccountLeaf {
  const reader = new RlpReader(bytes)
  const outerEnd = reader.openList('account leaf')
  const nonce = reader.readBigint(8, 'nonce')
  const balance = reader.readBigint(32, 'balance')
  const storageRoot = reader.readFixed(HASH_BYTES, 'storageRoot')
  const codeHash = reader.readFixed(HASH_BYTES, 'codeHash')
  reader.closeList(outerEnd, 'account leaf')
  reader.finish('account leaf')
  return { nonce, balance, storageRoot, codeHash }
}

/**
 * The storage root of a leaf, a view of it: the leaf's last two fields have fixed widths. Decodes nothing where the frame
 * is right, which the node's hash vouches for. @throws VarveError RLP_*
 */
export function storageRootOfLeaf(leaf: Uint8Array): Uint8Array {
  const at = leaf.length - 2 * HASH_FIELD_BYTES
  return isFramed(leaf, 0, leaf.length)
    ? leaf.subarray(at + 1, at + HASH_FIELD_BYTES)
    : decodeAccountLeaf(leaf).storageRoot
}

/** Whether `bytes` from `start` to `end` are a rightly framed leaf that names the empty storage root. */
export function leafHasNoStorage(bytes: Uint8Array, start: number, end: number): boolean {
  if (!isFramed(bytes, start, end)) return false
  const root = end - 2 * HASH_FIELD_BYTES + 1
  for (let index = 0; index < HASH_BYTES; index++)
    if (bytes[root + index] !== EMPTY_TRIE_ROOT[index]) return false
  return true
}

/** Whether the outer head and the two fields of fixed width at the end are as a leaf has them. */
function isFramed(bytes: Uint8Array, start: number, end: number): boolean {
  const at = end - 2 * HASH_FIELD_BYTES
  return (
    at > start + 2 &&
    bytes[start] === LIST_OF_ONE_LENGTH_BYTE &&
    bytes[start + 1] === end - start - 2 &&
    bytes[at] === STRING_OF_32 &&
    bytes[at + HASH_FIELD_BYTES] === STRING_OF_32
  )
}

/** Where a leaf's value, or a row, lies. */
export type ByteSpan = { readonly bytes: Uint8Array; readonly start: number; readonly end: number }

/**
 * The leaf that an account's flat row makes, without decoding it: the same two integers, the storage root, and the hash
 * of the code where the row has none. Good until the next call. A row is one of `state/flatState.ts`.
 */
export function leafOfRow({ bytes, start, end }: ByteSpan, storageRoot: Uint8Array): Uint8Array {
  const from = start + (bytes[start]! < LIST_OF_ONE_LENGTH_BYTE ? 1 : 2)
  const isCodeless = !endsInHash(bytes, from, end)
  const integersEnd = isCodeless ? end - 1 : end - HASH_FIELD_BYTES
  const leaf = rowLeaf
  leaf[0] = LIST_OF_ONE_LENGTH_BYTE
  let at = 2
  for (let index = from; index < integersEnd && at < 2 + INTEGERS_BYTES_MAX; index++)
    leaf[at++] = bytes[index]!
  leaf[at] = STRING_OF_32
  at = copyHash(leaf, at + 1, storageRoot)
  leaf[at] = STRING_OF_32
  if (isCodeless) at = copyHash(leaf, at + 1, EMPTY_CODE_HASH)
  else for (let index = integersEnd; index < end; index++) leaf[at++] = bytes[index]!
  leaf[1] = at - 2
  return leaf.subarray(0, at)
}

/** A nonce of 8 bytes and a balance of 32, with a byte more each. */
const INTEGERS_BYTES_MAX = 42
const rowLeaf = new Uint8Array(LEAF_BYTES_MAX)

/** Whether the third item of a row's list, after two integers that start at `from`, is a hash. */
function endsInHash(bytes: Uint8Array, from: number, end: number): boolean {
  let at = from
  for (let count = 0; count < 2; count++)
    at += bytes[at]! < EMPTY_STRING ? 1 : 1 + bytes[at]! - EMPTY_STRING
  return end - at === HASH_FIELD_BYTES
}

/** Whether a slot's leaf says what its flat row says: the leaf is the RLP of the row, which has 1 to 32 bytes. */
export function slotLeafIsOfRow(leaf: ByteSpan, row: ByteSpan): boolean {
  const { bytes } = leaf
  const length = row.end - row.start
  const isItself = length === 1 && row.bytes[row.start]! < EMPTY_STRING
  const start = isItself ? leaf.start : leaf.start + 1
  if (leaf.end - start !== length) return false
  if (!isItself && bytes[leaf.start] !== EMPTY_STRING + length) return false
  for (let index = 0; index < length; index++)
    if (bytes[start + index] !== row.bytes[row.start + index]) return false
  return true
}

/** The value of a leaf of a storage trie: RLP of the slot without leading zeros. */
export function encodeSlotLeaf(value: Uint8Array): Uint8Array {
  return encodeRlp(value.subarray(leadingZeroCount(value)))
}

/**
 * Decodes a leaf of a storage trie: 32 fresh bytes, never zero.
 * @throws VarveError RLP_*, SLOT_LEAF_INVALID
 */
export function decodeSlotLeaf(bytes: Uint8Array): Uint8Array {
  const reader = new RlpReader(bytes)
  const trimmed = reader.readBytes('storage value')
  reader.finish('storage value')
  if (trimmed.length === 0 || trimmed.length > HASH_BYTES || trimmed[0] === 0)
    throw new VarveError(
      'SLOT_LEAF_INVALID',
      `storage leaf: expected 1 to 32 bytes without leading zero, got ${toHex(trimmed.subarray(0, HASH_BYTES + 1))}`,
    )
  const value = new Uint8Array(HASH_BYTES)
  value.set(trimmed, HASH_BYTES - trimmed.length)
  return value
}

/** Error codes of this module. */
export type AccountLeafErrorCode =
  /** A leaf of a storage trie is zero, too long, or has leading zeros. */
  'SLOT_LEAF_INVALID'
