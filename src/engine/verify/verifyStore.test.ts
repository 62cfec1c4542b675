// Aim: one changed byte in any row of any table is found, and a whole database is fine.
// Method: a small chain; every row of the store in turn gets one byte flipped, is removed, or a stray row is added.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toHex } from '../../base/index.ts'
import { memoryStore, type Store, TABLES, WriteBatch } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { openEngine } from '../engine.ts'
import { testBlocks, testGenesis } from '../testChain.suite.ts'
import { describeDifference } from './difference.ts'
import { verifyStore } from './verifyStore.ts'

async function chainStore(): Promise<Store> {
  const store = memoryStore()
  const genesis = testGenesis()
  const engine = await openEngine({ store, genesis })
  for (const block of await testBlocks(genesis, 12)) engine.import(block)
  engine.flush()
  return store
}

function firstDifference(store: Store) {
  for (const difference of verifyStore(store)) return difference
  return undefined
}

const store = await chainStore()
const rows = TABLES.flatMap((table) => [...store.range(table)].map((row) => ({ table, ...row })))

test('G13: a whole database has no differences, an empty one neither', () => {
  assert.deepEqual([...verifyStore(store)], [])
  assert.deepEqual([...verifyStore(memoryStore())], [])
})

test('G13: a changed byte in any row is found and the place is named', () => {
  const prng = new Prng(5)
  for (const { table, key, value } of rows)
    for (let flip = 0; flip < 3; flip++) {
      const changed = value.slice()
      const at = prng.below(value.length)
      changed[at] = changed[at]! ^ (1 << prng.below(8))
      const batch = new WriteBatch()
      batch.put(table, key, changed)
      store.write(batch)
      const found = firstDifference(store)
      assert.ok(found, `${table} ${toHex(key)} byte ${at}`)
      assert.ok(describeDifference(found).length > 20)
      restore(table, key, value)
    }
  assert.equal(firstDifference(store), undefined)
})

test('G13: a missing row is found, in every table', () => {
  for (const { table, key, value } of rows) {
    const batch = new WriteBatch()
    batch.delete(table, key)
    store.write(batch)
    assert.ok(firstDifference(store), `${table} ${toHex(key)}`)
    restore(table, key, value)
  }
})

test('a row that belongs to nothing is found, in every table but codes, whose rows outlive their accounts', () => {
  for (const table of TABLES) {
    const sample = rows.findLast((row) => row.table === table)
    if (sample === undefined || table === 'codes') continue
    const key = sample.key.slice()
    key[key.length - 1]! ^= 0x50
    assert.equal(store.has(table, key), false)
    const batch = new WriteBatch()
    batch.put(table, key, sample.value)
    store.write(batch)
    assert.ok(firstDifference(store), `${table} ${toHex(key)}`)
    const undo = new WriteBatch()
    undo.delete(table, key)
    store.write(undo)
  }
  assert.equal(firstDifference(store), undefined)
})

test('a database that lost all its records is not taken for an empty one', async () => {
  const batch = new WriteBatch()
  for (const { table, key } of rows) if (table === 'meta') batch.delete(table, key)
  store.write(batch)
  assert.ok(firstDifference(store))
  await assert.rejects(openEngine({ store, genesis: testGenesis() }), /"schemaVersion" is missing/)
  for (const { table, key, value } of rows) if (table === 'meta') restore(table, key, value)
})

test('rows of a wrong length, and node rows below any path, are found and named', () => {
  for (const { table, key, value } of rows)
    for (const changed of [value.slice(1), Uint8Array.of(...value, 0)]) {
      restore(table, key, changed)
      assert.ok(firstDifference(store), `${table} ${toHex(key)}`)
      restore(table, key, value)
    }
  for (const key of [
    Uint8Array.of(0xff),
    Uint8Array.of(0xff, 0xff),
    new Uint8Array(34).fill(0x41),
  ]) {
    restore('accountNodes', key, Uint8Array.of(1))
    assert.ok(firstDifference(store), toHex(key))
    const batch = new WriteBatch()
    batch.delete('accountNodes', key)
    store.write(batch)
  }
  assert.equal(firstDifference(store), undefined)
})

function restore(table: (typeof TABLES)[number], key: Uint8Array, value: Uint8Array): void {
  const batch = new WriteBatch()
  batch.put(table, key, value)
  store.write(batch)
}
