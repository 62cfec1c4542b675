/**
 * Aim: the leaves in all nodes of a trie are its pairs, each once, embedded ones too. Method: naive trees over keys that
 * share much, with values short enough that leaves, and branches, lie in their parents.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toBareHex } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { naiveTree } from './naiveTrie.suite.ts'
import { packNibblesInto } from './nibbles.ts'
import { NodeLeaves } from './nodeLeaves.ts'

const OWNER = Uint8Array.of(0xaa, 0xbb)

test('every pair is found in one node, with its key and its value', () => {
  let embeddedCount = 0
  for (let seed = 1; seed <= 60; seed++) {
    const prng = new Prng(seed)
    const keyBytes = prng.pick([1, 2, 4, 32])
    const stem = prng.bytes(keyBytes)
    const pairs = new Map<string, Uint8Array>()
    for (let count = prng.pick([0, 1, 2, 17, 60]); count > 0; count--) {
      const key = stem.slice()
      key[prng.below(keyBytes)] = prng.below(256)
      pairs.set(toBareHex(key), prng.bytes(prng.pick([1, 2, 32, 55, 56, 110, 300])))
    }
    const found = new Map<string, string>()
    let bytes = new Uint8Array(0)
    let visitCount = 0
    const leaves = new NodeLeaves(keyBytes, OWNER.length, (start, end) => {
      assert.deepEqual(leaves.key.subarray(0, OWNER.length), OWNER)
      found.set(toBareHex(leaves.key.subarray(OWNER.length)), toBareHex(bytes.subarray(start, end)))
      visitCount++
    })
    leaves.key.set(OWNER)
    const { nodes } = naiveTree(pairs)
    for (const [path, node] of nodes) {
      // In the midst of other bytes, as in a batch.
      bytes = Uint8Array.from([0xff, ...node, 0xff])
      const nibbles = Uint8Array.from(path, (digit) => Number.parseInt(digit, 16))
      packNibblesInto(nibbles, nibbles.length, leaves.key, OWNER.length)
      leaves.visit(bytes, 1, 1 + node.length, nibbles.length)
    }
    const expected = [...pairs].map(([key, value]) => [key, toBareHex(value)] as const)
    assert.deepEqual(found, new Map(expected), `seed ${seed}`)
    assert.equal(visitCount, pairs.size, `seed ${seed}: each once`)
    embeddedCount += Math.max(0, pairs.size - nodes.size)
  }
  assert(embeddedCount > 0, 'some leaves were embedded')
})
