/**
 * The structures that layers might have been, each in its plainest good form, for the benchmark that chose between
 * them. All map a hash of 32 bytes to a number and take batches sorted by key.
 *
 *     SkipTables   a hash table a layer; the table of layer n also holds the 2^k layers before, k zeros at the end of n
 *     KeyIndex     one map from key to its versions, newest first, over all layers
 *     PlainMap     one map, no versions: what a state without layers does
 *     SortedArray  one sorted array, merged with each batch, no versions
 */
import { bytesCompare, bytesEqual } from '../../base/index.ts'
import { type HashKey, hashKey, hashOfKey } from '../key.ts'

export type Batch = readonly { readonly key: Uint8Array; readonly value: number }[]

export type Candidate = {
  readonly name: string
  /** Puts a layer on top. */
  push(batch: Batch): void
  /** The value at the newest layer. */
  get(key: Uint8Array): number | undefined
  /** Keys written after layer `base`, in order, with their newest value: how many, and a digest. */
  diff(base: number): { count: number; digest: number }
}

/** Adds to a digest that depends on the order. */
export function digestOf(digest: number, key: Uint8Array, value: number): number {
  return (Math.imul(digest, 31) + key[31]! + value) >>> 0
}

type Table = {
  readonly slots: Uint32Array
  readonly keys: readonly Uint8Array[]
  readonly values: readonly number[]
}

function makeTable(batch: Batch): Table {
  let size = 4
  while (size < batch.length * 2) size *= 2
  const slots = new Uint32Array(size * 2)
  batch.forEach(({ key }, index) => {
    const hash = hashOf(key)
    let at = hash & (size - 1)
    while (slots[at * 2 + 1] !== 0) at = (at + 1) & (size - 1)
    slots[at * 2] = hash
    slots[at * 2 + 1] = index + 1
  })
  return { slots, keys: batch.map(({ key }) => key), values: batch.map(({ value }) => value) }
}

function hashOf(key: Uint8Array): number {
  return ((key[4]! << 24) | (key[5]! << 16) | (key[6]! << 8) | key[7]!) >>> 0
}

function lookUp({ slots, keys, values }: Table, key: Uint8Array, hash: number): number | undefined {
  const mask = slots.length / 2 - 1
  for (let at = hash & mask; ; at = (at + 1) & mask) {
    const index = slots[at * 2 + 1]!
    if (index === 0) return undefined
    if (slots[at * 2] === hash && bytesEqual(keys[index - 1]!, key)) return values[index - 1]
  }
}

/** Both sorted; where both have a key, `newer` wins. */
function mergeBatches(older: Batch, newer: Batch): Batch {
  const merged: { key: Uint8Array; value: number }[] = []
  let at = 0
  for (const entry of newer) {
    let order = -1
    while (at < older.length && (order = bytesCompare(older[at]!.key, entry.key)) < 0)
      merged.push(older[at++]!)
    if (order === 0 && at < older.length) at++
    merged.push(entry)
  }
  for (; at < older.length; at++) merged.push(older[at]!)
  return merged
}

export class SkipTables implements Candidate {
  readonly name = 'a table a layer, with skips'
  private readonly merged: Batch[] = [[]]
  private readonly tables: Table[] = [makeTable([])]

  push(batch: Batch): void {
    const number = this.merged.length
    const span = number & -number
    let all = batch
    // The layers of the span are already merged in runs of growing length.
    for (let at = number - 1; at > number - span; at -= at & -at)
      all = mergeBatches(this.merged[at]!, all)
    this.merged.push(all)
    this.tables.push(makeTable(all))
  }

  get(key: Uint8Array): number | undefined {
    const hash = hashOf(key)
    for (let at = this.tables.length - 1; at > 0; at -= at & -at) {
      const value = lookUp(this.tables[at]!, key, hash)
      if (value !== undefined) return value
    }
    return undefined
  }

  diff(base: number): { count: number; digest: number } {
    let all: Batch = []
    let at = this.merged.length - 1
    for (; at - (at & -at) >= base && at > 0; at -= at & -at)
      all = mergeBatches(this.merged[at]!, all)
    // A run that reaches below the base is of no use: its layers, one by one, are those with an odd number.
    for (; at > base; at--) if ((at & 1) === 1) all = mergeBatches(this.merged[at]!, all)
    let digest = 0
    for (const { key, value } of all) digest = digestOf(digest, key, value)
    return { count: all.length, digest }
  }
}

type KeyVersion = {
  readonly layer: number
  readonly value: number
  readonly older: KeyVersion | undefined
}

export class KeyIndex implements Candidate {
  readonly name = 'one index of versions'
  private readonly versions = new Map<HashKey, KeyVersion>()
  private readonly layers: Batch[] = [[]]

  push(batch: Batch): void {
    const layer = this.layers.length
    for (const { key, value } of batch) {
      const name = hashKey(key)
      this.versions.set(name, { layer, value, older: this.versions.get(name) })
    }
    this.layers.push(batch)
  }

  get(key: Uint8Array): number | undefined {
    return this.versions.get(hashKey(key))?.value
  }

  diff(base: number): { count: number; digest: number } {
    const keys = new Map<HashKey, number>()
    for (const layer of this.layers.slice(base + 1))
      for (const { key, value } of layer) keys.set(hashKey(key), value)
    return digestSorted(keys)
  }
}

export class PlainMap implements Candidate {
  readonly name = 'one map without versions'
  private readonly values = new Map<HashKey, number>()

  push(batch: Batch): void {
    for (const { key, value } of batch) this.values.set(hashKey(key), value)
  }

  get(key: Uint8Array): number | undefined {
    return this.values.get(hashKey(key))
  }

  diff(): { count: number; digest: number } {
    return digestSorted(this.values)
  }
}

export class SortedArray implements Candidate {
  readonly name = 'one sorted array without versions'
  private entries: Batch = []

  push(batch: Batch): void {
    this.entries = mergeBatches(this.entries, batch)
  }

  get(key: Uint8Array): number | undefined {
    let low = 0
    let high = this.entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (bytesCompare(this.entries[middle]!.key, key) < 0) low = middle + 1
      else high = middle
    }
    const found = this.entries[low]
    return found !== undefined && bytesEqual(found.key, key) ? found.value : undefined
  }

  diff(): { count: number; digest: number } {
    let digest = 0
    for (const { key, value } of this.entries) digest = digestOf(digest, key, value)
    return { count: this.entries.length, digest }
  }
}

function digestSorted(values: ReadonlyMap<HashKey, number>): { count: number; digest: number } {
  let digest = 0
  for (const key of [...values.keys()].sort())
    digest = digestOf(digest, hashOfKey(key), values.get(key)!)
  return { count: values.size, digest }
}
