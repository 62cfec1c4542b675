/**
 * What layers are compared with, each in its plainest good form: structures that map hashes of 32 bytes to accounts and
 * take batches sorted by key. `docs/decisions/0004-layers.md` says why layers were chosen.
 *
 *     layers       tries that share what a batch did not touch
 *     map          one map, no versions: what a state without layers does
 *     sorted       one sorted array, merged with each batch, no versions
 *     skip-tables  a hash table a layer; the table of layer n also holds the 2^k layers before, k zeros at the end of n
 *     key-index    one map from key to its versions, newest first, over all layers
 */
import { assert, bytesCompare, bytesEqual } from '../../../base/index.ts'
import {
  type Account,
  eachAccountChange,
  type HashKey,
  hashKey,
  hashOfKey,
  LayeredMap,
  LayerTree,
  type MapLayer,
  type StateDelta,
  UNWRITTEN,
} from '../../../state/index.ts'

export type Entry = { readonly key: Uint8Array; readonly account: Account }
/** New keys in their order, and the same as a delta. */
export type Batch = { readonly entries: readonly Entry[]; readonly delta: StateDelta }

export type Structure = {
  /** Puts a batch on top, as a layer where there are any. */
  push(batch: Batch): void
  /** Takes the batch that was put last away; not twice in a row. */
  pop(): void
  get(key: Uint8Array): Account | undefined
  /** Visits what was written after layer `base`, in order; without versions everything. */
  diff(base: number, visit: (entry: Entry) => void): void
}

const MAKERS: Readonly<Record<string, () => Structure>> = {
  layers: () => new Layers(),
  map: () => new PlainMap(),
  sorted: () => new SortedArray(),
  'skip-tables': () => new SkipTables(),
  'key-index': () => new KeyIndex(),
}

export function makeStructure(arm: string): Structure {
  return MAKERS[arm]!()
}

const BYTES_MAX = 8 * 2 ** 30

class Layers implements Structure {
  private readonly tree = new LayerTree({ bytesMax: BYTES_MAX })
  private readonly layers: MapLayer[] = [this.tree.root]
  private view = new LayeredMap(this.tree.root, this.tree.root)

  push({ delta }: Batch): void {
    this.layers.push(this.view.spawn(delta))
    this.look()
  }

  pop(): void {
    const layer = this.layers.pop()!
    this.look()
    layer.release()
  }

  private look(): void {
    this.view.close()
    this.view = new LayeredMap(this.tree.root, this.layers.at(-1)!)
  }

  get(key: Uint8Array): Account | undefined {
    const account = this.view.account(key)
    return account === UNWRITTEN ? undefined : account
  }

  diff(base: number, visit: (entry: Entry) => void): void {
    const view = new LayeredMap(this.layers[base]!, this.layers.at(-1)!)
    eachAccountChange(view.diffSource(), ({ addressHash, after }) =>
      visit({ key: addressHash, account: after! }),
    )
    view.close()
  }
}

class PlainMap implements Structure {
  private readonly accounts = new Map<HashKey, Account>()
  private last: Batch | undefined

  push(batch: Batch): void {
    for (const { key, account } of batch.entries) this.accounts.set(hashKey(key), account)
    this.last = batch
  }

  pop(): void {
    for (const { key } of this.last!.entries) this.accounts.delete(hashKey(key))
  }

  get(key: Uint8Array): Account | undefined {
    return this.accounts.get(hashKey(key))
  }

  diff(_: number, visit: (entry: Entry) => void): void {
    visitSorted(this.accounts, visit)
  }
}

class SortedArray implements Structure {
  private entries: readonly Entry[] = []
  private before: readonly Entry[] = []

  push({ entries }: Batch): void {
    this.before = this.entries
    this.entries = merged(this.entries, entries)
  }

  pop(): void {
    this.entries = this.before
  }

  get(key: Uint8Array): Account | undefined {
    const found = this.entries[placeOf(this.entries, key, 0)]
    return found !== undefined && bytesEqual(found.key, key) ? found.account : undefined
  }

  diff(_: number, visit: (entry: Entry) => void): void {
    for (const entry of this.entries) visit(entry)
  }
}

/** Both sorted; where both have a key, `newer` wins. Looks for places by halves, then copies what lies between. */
function merged(older: readonly Entry[], newer: readonly Entry[]): readonly Entry[] {
  const all: Entry[] = []
  let at = 0
  for (const entry of newer) {
    const place = placeOf(older, entry.key, at)
    while (at < place) all.push(older[at++]!)
    if (at < older.length && bytesEqual(older[at]!.key, entry.key)) at++
    all.push(entry)
  }
  while (at < older.length) all.push(older[at++]!)
  return all
}

/** First place from `low` on whose key is not below. */
function placeOf(entries: readonly Entry[], key: Uint8Array, low: number): number {
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (bytesCompare(entries[middle]!.key, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Slots {hash, place in the entries from 1}, at most half full. */
type Table = { readonly slots: Uint32Array; readonly entries: readonly Entry[] }

function makeTable(entries: readonly Entry[]): Table {
  let size = 4
  while (size < entries.length * 2) size *= 2
  const slots = new Uint32Array(size * 2)
  entries.forEach(({ key }, index) => {
    const hash = shortHash(key)
    let at = hash & (size - 1)
    while (slots[at * 2 + 1] !== 0) at = (at + 1) & (size - 1)
    slots[at * 2] = hash
    slots[at * 2 + 1] = index + 1
  })
  return { slots, entries }
}

function shortHash(key: Uint8Array): number {
  return ((key[4]! << 24) | (key[5]! << 16) | (key[6]! << 8) | key[7]!) >>> 0
}

class SkipTables implements Structure {
  private readonly tables: Table[] = [makeTable([])]

  push({ entries }: Batch): void {
    const number = this.tables.length
    const span = number & -number
    let all = entries
    // The layers of the span are already merged in runs of growing length.
    for (let at = number - 1; at > number - span; at -= at & -at)
      all = merged(this.tables[at]!.entries, all)
    this.tables.push(makeTable(all))
  }

  pop(): void {
    this.tables.pop()
  }

  get(key: Uint8Array): Account | undefined {
    const hash = shortHash(key)
    for (let at = this.tables.length - 1; at > 0; at -= at & -at) {
      const { slots, entries } = this.tables[at]!
      const mask = slots.length / 2 - 1
      for (let slot = hash & mask; slots[slot * 2 + 1] !== 0; slot = (slot + 1) & mask) {
        const entry = entries[slots[slot * 2 + 1]! - 1]!
        if (slots[slot * 2] === hash && bytesEqual(entry.key, key)) return entry.account
      }
    }
    return undefined
  }

  diff(base: number, visit: (entry: Entry) => void): void {
    let all: readonly Entry[] = []
    let at = this.tables.length - 1
    for (; at - (at & -at) >= base && at > 0; at -= at & -at)
      all = merged(this.tables[at]!.entries, all)
    assert(at === base, 'skip tables: layers are compared at the end of a run')
    for (const entry of all) visit(entry)
  }
}

type KeyVersion = {
  readonly layer: number
  readonly account: Account
  readonly older: KeyVersion | undefined
}

class KeyIndex implements Structure {
  private readonly versions = new Map<HashKey, KeyVersion>()
  private readonly layers: (readonly Entry[])[] = [[]]

  push({ entries }: Batch): void {
    const layer = this.layers.length
    for (const { key, account } of entries) {
      const name = hashKey(key)
      this.versions.set(name, { layer, account, older: this.versions.get(name) })
    }
    this.layers.push(entries)
  }

  pop(): void {
    for (const { key } of this.layers.pop()!) {
      const name = hashKey(key)
      const { older } = this.versions.get(name)!
      if (older === undefined) this.versions.delete(name)
      else this.versions.set(name, older)
    }
  }

  get(key: Uint8Array): Account | undefined {
    return this.versions.get(hashKey(key))?.account
  }

  diff(base: number, visit: (entry: Entry) => void): void {
    const accounts = new Map<HashKey, Account>()
    for (const layer of this.layers.slice(base + 1))
      for (const { key, account } of layer) accounts.set(hashKey(key), account)
    visitSorted(accounts, visit)
  }
}

function visitSorted(accounts: ReadonlyMap<HashKey, Account>, visit: (entry: Entry) => void): void {
  for (const key of [...accounts.keys()].sort())
    visit({ key: hashOfKey(key), account: accounts.get(key)! })
}
