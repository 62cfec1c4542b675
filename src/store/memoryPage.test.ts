/**
 * Aim: the packed table keeps its rules (order, no empty page, bounded pages) through any changes. Method: random changes
 * and range deletions against a sorted array, with `checkTable` after each, in shapes that grow, shrink and append.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesCompare, fromBareHex, toBareHex } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import {
  checkTable,
  EMPTY_TABLE,
  entryCount,
  type MemoryTable,
  pageKey,
  pageValue,
  tableApply,
  tableBytes,
  tableDeleteRange,
  tableGet,
} from './memoryPage.ts'

function contentOf(table: MemoryTable): [string, string][] {
  return table.pages.flatMap((page) =>
    Array.from({ length: entryCount(page) }, (_, entry): [string, string] => [
      toBareHex(pageKey(page, entry)),
      toBareHex(pageValue(page, entry)),
    ]),
  )
}

const sorted = (model: Map<string, string>) =>
  [...model].sort(([a], [b]) => bytesCompare(fromBareHex(a), fromBareHex(b)))

test('random changes keep the rules and the content', () => {
  const prng = new Prng(11)
  let table = EMPTY_TABLE
  const model = new Map<string, string>()
  for (let round = 0; round < 150; round++) {
    const before = table
    const contentBefore = contentOf(before)
    if (prng.oneIn(6)) {
      const gte = prng.bytes(prng.below(3))
      const lt = prng.oneIn(4) ? undefined : prng.bytes(2)
      table = tableDeleteRange(table, gte, lt)
      for (const key of [...model.keys()]) {
        const bytes = fromBareHex(key)
        if (bytesCompare(bytes, gte) >= 0 && (lt === undefined || bytesCompare(bytes, lt) < 0))
          model.delete(key)
      }
    } else {
      const changes = new Map<string, Uint8Array | undefined>()
      // Some rounds mostly delete, so that pages shrink and join.
      const deletes = prng.oneIn(3) ? 1 : 5
      for (let count = prng.between(0, 400); count > 0; count--) {
        const value = prng.oneIn(deletes) ? undefined : prng.bytes(prng.pick([0, 3, 60, 900]))
        changes.set(toBareHex(prng.bytes(prng.between(1, 2))), value)
      }
      const list = [...changes].map(([key, value]) => ({ key: fromBareHex(key), value }))
      table = tableApply(
        table,
        list.sort((a, b) => bytesCompare(a.key, b.key)),
      )
      for (const [key, value] of changes)
        if (value === undefined) model.delete(key)
        else model.set(key, toBareHex(value))
    }
    checkTable(table)
    assert.deepEqual(contentOf(table), sorted(model), `round ${round}`)
    assert.deepEqual(contentOf(before), contentBefore, 'an older table never changes')
    for (const [key, value] of [...model].slice(0, 20))
      assert.equal(toBareHex(tableGet(table, fromBareHex(key))!), value)
  }
})

test('appending and emptying leave no crumbs', () => {
  let table = EMPTY_TABLE
  const key = (index: number) => Uint8Array.of(index >> 16, index >> 8, index)
  for (let index = 0; index < 20_000; index++)
    table = tableApply(table, [{ key: key(index), value: new Uint8Array(40) }])
  checkTable(table)
  assert.equal(table.entryCount, 20_000)
  const bytesFull = 20_000 * 43
  assert.ok(table.pages.length < (bytesFull / 8192) * 2.5, `${table.pages.length} pages`)
  assert.ok(tableBytes(table) < bytesFull * 1.5)
  for (let index = 0; index < 20_000; index++)
    if (index % 50 !== 0) table = tableApply(table, [{ key: key(index), value: undefined }])
  checkTable(table)
  assert.equal(table.entryCount, 400)
  assert.ok(table.pages.length < 20, `${table.pages.length} pages for 400 small entries`)
})
