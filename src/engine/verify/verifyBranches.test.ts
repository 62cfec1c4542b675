// Aim: in a database with side blocks, receipts and kept states, one changed, missing or foreign row of any table of
// blocks is found. Method: a tree of blocks with transactions; every such row in turn gets a byte flipped, is cut, is
// removed, or is written a second time under another key.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, toHex } from '../../base/index.ts'
import { memoryStore, type Store, TABLES, type Table, WriteBatch } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { openEngine } from '../engine.ts'
import { makeTree } from '../tree/treeChain.suite.ts'
import { verifyStore } from './verifyStore.ts'

const BLOCK_TABLES: Table[] = [
  'headers',
  'bodies',
  'receipts',
  'canonical',
  'numbers',
  'meta',
  'deltas',
  'sideReceipts',
]
const prng = new Prng(31)
const store = await treeStore()
const rows = BLOCK_TABLES.flatMap((table) =>
  [...store.range(table)].map((row) => ({ table, ...row })),
)

async function treeStore(): Promise<Store> {
  const options = { fork: Fork.London, blockCount: 16, spread: 4, withCopies: false }
  const { genesis, blocks } = await makeTree(prng, options)
  const made = memoryStore()
  const engine = await openEngine({ store: made, genesis, historyBlocks: 6 })
  for (const { block } of blocks)
    try {
      engine.import(block)
    } catch {
      // The tree has invalid blocks too.
    }
  engine.flush()
  return made
}

function put(table: Table, key: Uint8Array, value: Uint8Array | undefined): void {
  const batch = new WriteBatch()
  if (value === undefined) batch.delete(table, key)
  else batch.put(table, key, value)
  store.write(batch)
}

function isFound(): boolean {
  for (const _ of verifyStore(store)) return true
  return false
}

test('the database has rows in every table of blocks, and no difference', () => {
  for (const table of BLOCK_TABLES)
    assert.ok(
      rows.some((row) => row.table === table),
      table,
    )
  assert.equal(store.tableStats()[TABLES.indexOf('deltas')]!.entryCount > 6, true)
  assert.deepEqual([...verifyStore(store)], [])
})

test('changed and cut rows are found', () => {
  for (const { table, key, value } of rows) {
    const flips = Array.from({ length: table === 'deltas' ? 12 : 2 }, () => {
      const changed = value.slice()
      changed[prng.below(value.length)]! ^= 1 << prng.below(8)
      return changed
    })
    for (const changed of [...flips, value.slice(1), Uint8Array.of(...value, 0)]) {
      put(table, key, changed)
      assert.ok(isFound(), `${table} ${toHex(key)}: ${toHex(changed)}`)
    }
    put(table, key, value)
  }
  assert.equal(isFound(), false)
})

test('missing and foreign rows are found', () => {
  for (const { table, key, value } of rows) {
    put(table, key, undefined)
    assert.ok(isFound(), `${table} ${toHex(key)} is missing`)
    put(table, key, value)
    const other = key.slice()
    other[other.length - 1]! ^= 0x50
    put(table, other, value)
    assert.ok(isFound(), `${table} ${toHex(other)} belongs to nothing`)
    put(table, other, undefined)
  }
  assert.equal(isFound(), false)
})
