import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesCompare, toBareHex } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { Batch, type TrieChange } from './batch.ts'

/** What is left of changes, by a map and a sort. */
function model(changes: readonly TrieChange[]): string[] {
  const last = new Map(changes.map((change) => [toBareHex(change.key), change]))
  return [...last.values()]
    .sort((a, b) => bytesCompare(a.key, b.key))
    .map(({ key, value }) => `${toBareHex(key)}=${value?.length ? toBareHex(value) : 'gone'}`)
}

function content(batch: Batch): string[] {
  return Array.from({ length: batch.count }, (_, index) => {
    const start = batch.keyOffsets[index]!
    const key = batch.keys.subarray(start, start + batch.keyLengths[index]!)
    const value = batch.values[index]
    return `${toBareHex(key)}=${value === undefined ? 'gone' : toBareHex(value)}`
  })
}

test('a batch is sorted by key, and the last change of a key is left', () => {
  const prng = new Prng(1)
  const batch = new Batch()
  for (let round = 0; round < 600; round++) {
    const alphabet = prng.pick([[0], [0, 1], [0, 0x7f, 0x80, 0xff]])
    const lengthMax = prng.pick([1, 4, 5, 9])
    const changes = Array.from({ length: prng.pick([0, 1, 2, 3, 63, 64, 65, 200]) }, () => ({
      key: Uint8Array.from({ length: prng.between(0, lengthMax) }, () => prng.pick(alphabet)),
      value: prng.oneIn(4) ? undefined : prng.bytes(prng.below(3)),
    }))
    if (prng.oneIn(3)) changes.sort((a, b) => bytesCompare(a.key, b.key))
    batch.fill(changes)
    assert.deepEqual(content(batch), model(changes))
    const deleteCount = content(batch).filter((text) => text.endsWith('gone')).length
    assert.equal(batch.deleteCount, deleteCount)
    batch.clear()
  }
})

test('keys chosen to collide in the bytes that are sorted first cost no quadratic time', () => {
  const count = 100_000
  const changes = Array.from({ length: count }, (_, index) => {
    const key = new Uint8Array(32)
    new DataView(key.buffer).setUint32(28, Math.imul(index, 0x9e3779b1))
    return { key, value: Uint8Array.of(1) }
  })
  const batch = new Batch()
  batch.fill(changes)
  assert.equal(batch.count, count)
  for (let index = 1; index < count; index++) {
    const before = batch.keyOffsets[index - 1]!
    const at = batch.keyOffsets[index]!
    const order = bytesCompare(
      batch.keys.subarray(before, before + 32),
      batch.keys.subarray(at, at + 32),
    )
    if (order >= 0) assert.fail('out of order')
  }
})
