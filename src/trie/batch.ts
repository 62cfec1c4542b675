/**
 * The changes of one update in the order of the trie: sorted by key, one for each key, keys side by side in one
 * array, so that the walk reads no object of the caller's but the values it stores.
 */
import { TRIE_KEY_BYTES_MAX, TRIE_VALUE_BYTES_MAX } from '../base/index.ts'
import { keyInvalid, valueInvalid } from './faults.ts'

/**
 * One change. `undefined` deletes, and so does an empty value, which a trie cannot hold.
 * The trie copies what it keeps: both arrays stay the caller's.
 */
export type TrieChange = { readonly key: Uint8Array; readonly value: Uint8Array | undefined }

/** Index of a change in the low bits of a sort key, the first 4 bytes of its trie key above: 53 bits in all. */
const INDEX_COUNT = 2 ** 21

export class Batch {
  /** Changes left after later ones of the same key won. */
  count = 0
  deleteCount = 0
  /** The keys, one behind the other as they came; `keyOffsets` and `keyLengths` are in the order of the trie. */
  keys = new Uint8Array(1024)
  keyOffsets = new Int32Array(64)
  keyLengths = new Int32Array(64)
  /** `undefined` deletes. Slots above `count` are empty. */
  values: (Uint8Array | undefined)[] = []

  /** Offsets of the keys as they came, and where the last one ends. */
  private inputOffsets = new Int32Array(65)
  private sortKeys = new Float64Array(64)
  private order = new Uint32Array(64)

  /** @throws VarveError TRIE_KEY_INVALID, TRIE_VALUE_INVALID */
  fill(changes: readonly TrieChange[]): void {
    const { length } = changes
    this.count = 0
    this.deleteCount = 0
    this.takeKeys(changes)
    const isSorted = this.isSorted(length)
    if (!isSorted) this.sort(length)
    const { order, inputOffsets, keyOffsets, keyLengths, values } = this
    let count = 0
    let deleteCount = 0
    for (let position = 0; position < length; position++) {
      const index = isSorted ? position : order[position]!
      if (position + 1 < length) {
        const following = isSorted ? position + 1 : order[position + 1]!
        if (this.compareInput(index, following) === 0) continue
      }
      const offset = inputOffsets[index]!
      const { value } = changes[index]!
      const isDelete = value === undefined || value.length === 0
      if (isDelete) deleteCount++
      keyOffsets[count] = offset
      keyLengths[count] = inputOffsets[index + 1]! - offset
      values[count++] = isDelete ? undefined : value
    }
    this.count = count
    this.deleteCount = deleteCount
  }

  /** Lets go of the caller's values, and of the memory of a batch that was far above the usual. */
  clear(): void {
    if (this.values.length > VALUES_KEPT) this.values = []
    else for (let index = 0; index < this.count; index++) this.values[index] = undefined
    this.count = 0
  }

  /** Checks and copies the keys in one pass over the caller's objects. */
  private takeKeys(changes: readonly TrieChange[]): void {
    const { length } = changes
    if (this.keyOffsets.length < length) {
      const capacity = Math.max(length, 2 * this.keyOffsets.length)
      this.keyOffsets = new Int32Array(capacity)
      this.keyLengths = new Int32Array(capacity)
      this.inputOffsets = new Int32Array(capacity + 1)
      this.sortKeys = new Float64Array(capacity)
      this.order = new Uint32Array(capacity)
    }
    const { inputOffsets } = this
    let { keys } = this
    let offset = 0
    for (let index = 0; index < length; index++) {
      const { key, value } = changes[index]!
      const keyLength = key.length
      if (keyLength > TRIE_KEY_BYTES_MAX) throw keyInvalid(key, TRIE_KEY_BYTES_MAX)
      if (value !== undefined && value.length > TRIE_VALUE_BYTES_MAX)
        throw valueInvalid(key, value, TRIE_VALUE_BYTES_MAX)
      if (offset + keyLength > keys.length) {
        const bigger = new Uint8Array(2 * keys.length)
        bigger.set(keys)
        keys = bigger
        this.keys = bigger
      }
      inputOffsets[index] = offset
      for (let at = 0; at < keyLength; at++) keys[offset + at] = key[at]!
      offset += keyLength
    }
    inputOffsets[length] = offset
  }

  /** Whether the changes came in the order of the trie, as those from a sorted diff do. */
  private isSorted(count: number): boolean {
    for (let index = 1; index < count; index++)
      if (this.compareInput(index - 1, index) > 0) return false
    return true
  }

  /** Fills `order` with the indexes of the changes by key, then by index. */
  private sort(count: number): void {
    const byKey = (a: number, b: number): number => this.compareInput(a, b) || a - b
    const order = this.order.subarray(0, count)
    if (count > INDEX_COUNT) {
      for (let index = 0; index < count; index++) order[index] = index
      order.sort(byKey)
      return
    }
    // Sorting doubles needs no comparator: 10 times as fast. Ties in the first 4 bytes are settled below.
    const sortKeys = this.sortKeys.subarray(0, count)
    for (let index = 0; index < count; index++)
      sortKeys[index] = this.prefixOf(index) * INDEX_COUNT + index
    sortKeys.sort()
    let runStart = 0
    let runPrefix = -1
    for (let position = 0; position < count; position++) {
      const sortKey = sortKeys[position]!
      const prefix = Math.floor(sortKey / INDEX_COUNT)
      order[position] = sortKey - prefix * INDEX_COUNT
      if (prefix === runPrefix) continue
      if (position - runStart > 1) order.subarray(runStart, position).sort(byKey)
      runStart = position
      runPrefix = prefix
    }
    if (count - runStart > 1) order.subarray(runStart, count).sort(byKey)
  }

  /** Order of two changes by key alone. */
  private compareInput(a: number, b: number): number {
    const { keys, inputOffsets } = this
    const aStart = inputOffsets[a]!
    const bStart = inputOffsets[b]!
    const aLength = inputOffsets[a + 1]! - aStart
    const bLength = inputOffsets[b + 1]! - bStart
    const shared = Math.min(aLength, bLength)
    for (let at = 0; at < shared; at++) {
      const difference = keys[aStart + at]! - keys[bStart + at]!
      if (difference !== 0) return difference
    }
    return aLength - bLength
  }

  /** The first 4 bytes of a key as a number, shorter keys filled up with zeros. */
  private prefixOf(index: number): number {
    const { keys, inputOffsets } = this
    const start = inputOffsets[index]!
    const end = inputOffsets[index + 1]!
    let prefix = 0
    for (let at = start; at < start + 4; at++) prefix = prefix * 256 + (at < end ? keys[at]! : 0)
    return prefix
  }
}

/** Most values of a batch that is kept for the next one. */
const VALUES_KEPT = 65_536

const idle: Batch[] = []

/** Lends a batch. A reader may update another trie in the middle of an update, so there can be several. */
export function takeBatch(): Batch {
  return idle.pop() ?? new Batch()
}

export function returnBatch(batch: Batch): void {
  batch.clear()
  if (idle.length < 4) idle.push(batch)
}
