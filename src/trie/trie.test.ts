import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzzTrie } from './trie.fuzz.ts'

test('G1 G2 G6: random operations agree with the naive model', () => {
  for (let seed = 1; seed <= 30; seed++) {
    try {
      fuzzTrie(seed, 200)
    } catch (fault) {
      throw new Error(`seed ${seed}`, { cause: fault })
    }
  }
  assert.ok(true)
})
