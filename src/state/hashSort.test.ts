// Aim: the fast order is that of the bytes, whole, and stable. Method: random hashes against a comparing sort, many alike.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesCompare } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { sortedByHash } from './hashSort.ts'

test('hashes are sorted as by comparison, those with a common beginning and the same ones, too', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const prng = new Prng(seed)
    const items = Array.from({ length: prng.pick([0, 1, 2, 3, 200, 3000]) }, (_, place) => {
      const hash = prng.bytes(32)
      // From no common bytes to all of them.
      hash.fill(prng.pick([0, 255]), 0, prng.oneIn(3) ? prng.pick([3, 4, 5, 31, 32]) : 0)
      return { hash, place }
    })
    const expected = [...items].sort((a, b) => bytesCompare(a.hash, b.hash))
    assert.deepEqual(
      sortedByHash(items, ({ hash }) => hash),
      expected,
      `seed ${seed}`,
    )
  }
})
