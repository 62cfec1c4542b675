/**
 * Random batches against a store and against a plain `Map`, compared by reads, ranges of every form, and whole tables.
 * Keys are drawn from a small space with common prefixes and lengths 1 to 4, so that overwriting, deleting what is
 * there, and ranges that cut between a key and its extension all happen often.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesCompare, fromBareHex, toBareHex } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { openLmdbStore } from './lmdbStore.ts'
import { memoryStore } from './memoryStore.ts'
import type { RangeBounds, Store } from './store.ts'
import { TABLES, type Table } from './tables.ts'
import { WriteBatch } from './writeBatch.ts'

/** A map from hex key to value for every table. */
export class StoreModel {
  private readonly tables = new Map<Table, Map<string, Uint8Array>>(
    TABLES.map((table) => [table, new Map()]),
  )

  put(table: Table, key: Uint8Array, value: Uint8Array): void {
    this.of(table).set(toBareHex(key), value)
  }

  delete(table: Table, key: Uint8Array): void {
    this.of(table).delete(toBareHex(key))
  }

  deleteRange(table: Table, gte: Uint8Array, lt: Uint8Array | undefined): void {
    for (const { key } of this.range(table, { gte, lt })) this.delete(table, key)
  }

  get(table: Table, key: Uint8Array): Uint8Array | undefined {
    return this.of(table).get(toBareHex(key))
  }

  range(table: Table, bounds: RangeBounds = {}): { key: Uint8Array; value: Uint8Array }[] {
    const { gte, gt, lt, lte, reverse, limit } = bounds
    const entries = [...this.of(table)]
      .map(([text, value]) => ({ key: fromBareHex(text), value }))
      .filter(
        ({ key }) =>
          (gte === undefined || bytesCompare(key, gte) >= 0) &&
          (gt === undefined || bytesCompare(key, gt) > 0) &&
          (lt === undefined || bytesCompare(key, lt) < 0) &&
          (lte === undefined || bytesCompare(key, lte) <= 0),
      )
      .sort((a, b) => bytesCompare(a.key, b.key))
    if (reverse) entries.reverse()
    return limit === undefined ? entries : entries.slice(0, limit)
  }

  entryCount(table: Table): number {
    return this.of(table).size
  }

  private of(table: Table): Map<string, Uint8Array> {
    return this.tables.get(table)!
  }
}

/** Bytes of the alphabet: ends and neighbours, so that 0x00 and 0xff meet bounds. */
const ALPHABET = [0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff]

function randomKey(prng: Prng, lengthMin = 1): Uint8Array {
  const length = prng.between(lengthMin, 4)
  return Uint8Array.from({ length }, () => prng.pick(ALPHABET))
}

function randomValue(prng: Prng): Uint8Array {
  return prng.bytes(prng.pick([0, 1, 8, 32, 55, 110, 532, prng.oneIn(50) ? 5000 : 40]))
}

function randomBounds(prng: Prng): RangeBounds {
  const lower = prng.pick(['none', 'gte', 'gt'] as const)
  const upper = prng.pick(['none', 'lt', 'lte'] as const)
  return {
    ...(lower === 'none' ? {} : { [lower]: randomKey(prng, 0) }),
    ...(upper === 'none' ? {} : { [upper]: randomKey(prng, 0) }),
    ...(prng.oneIn(2) ? { reverse: true } : {}),
    ...(prng.oneIn(3) ? { limit: prng.below(6) } : {}),
  }
}

/** Fills `batch` and applies the same to `model`, in calling order. */
export function randomBatch(
  prng: Prng,
  batch: WriteBatch,
  model: StoreModel,
  operationCount: number,
): void {
  for (let step = 0; step < operationCount; step++) {
    const table = TABLES[prng.below(3)]!
    if (prng.oneIn(40)) {
      const gte = randomKey(prng, 0)
      const lt = prng.oneIn(5) ? undefined : randomKey(prng)
      batch.deleteRange(table, gte, lt)
      model.deleteRange(table, gte, lt)
      continue
    }
    const key = randomKey(prng)
    if (prng.oneIn(3)) {
      batch.delete(table, key)
      model.delete(table, key)
    } else {
      const value = randomValue(prng)
      batch.put(table, key, value)
      model.put(table, key, value)
    }
  }
}

/** For `npm run fuzz`: the store in memory. */
export function fuzzMemoryStore(seed: number, stepCount: number): void {
  runStoreFuzz(memoryStore(), seed, stepCount).close()
}

/** For `npm run fuzz`: the store on disk, opened again now and then. */
export function fuzzLmdbStore(seed: number, stepCount: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'varve-fuzz-'))
  const open = () => openLmdbStore(folder, { sync: 'os' })
  const reopen = (store: Store): Store => {
    store.close()
    return open()
  }
  try {
    runStoreFuzz(open(), seed, stepCount, reopen).close()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** @returns the store that is open at the end: `reopen` may have replaced the one given */
export function runStoreFuzz(
  open: Store,
  seed: number,
  operationCount: number,
  reopen?: (store: Store) => Store,
): Store {
  let store = open
  const prng = new Prng(seed)
  const model = new StoreModel()
  const batch = new WriteBatch()
  for (let done = 0; done < operationCount; ) {
    const count = prng.pick([1, 3, 20, 200])
    batch.clear()
    randomBatch(prng, batch, model, count)
    store.write(batch)
    done += count
    if (reopen !== undefined && prng.oneIn(20)) store = reopen(store)
    compareStore(store, model, prng, `seed ${seed}, after ${done} operations`)
  }
  return store
}

function compareStore(store: Store, model: StoreModel, prng: Prng, where: string): void {
  for (let probe = 0; probe < 8; probe++) {
    const table = TABLES[prng.below(3)]!
    const key = randomKey(prng)
    assert.deepEqual(store.get(table, key), model.get(table, key), where)
    assert.equal(store.has(table, key), model.get(table, key) !== undefined, where)
    const bounds = randomBounds(prng)
    assert.deepEqual([...store.range(table, bounds)], model.range(table, bounds), where)
  }
  for (const { table, entryCount } of store.tableStats())
    assert.equal(entryCount, model.entryCount(table), where)
}
