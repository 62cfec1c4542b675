import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, toHex, U64_MAX, U256_MAX } from '../base/index.ts'
import { encodeRlp } from '../codec/index.ts'
import { Prng } from '../testing/index.ts'
import {
  decodeAccountLeaf,
  encodeAccountLeaf,
  encodeSlotLeaf,
  storageRootOfLeaf,
} from './accountLeaf.ts'

test('a leaf is what the general encoder makes of its four fields, and survives the way back', () => {
  const prng = new Prng(21)
  const edges = [0n, 1n, 127n, 128n, 255n, 256n]
  for (let step = 0; step < 1000; step++) {
    const nonce = step < edges.length ? edges[step]! : prng.oneIn(20) ? U64_MAX : prng.bigint(64)
    const balance = prng.oneIn(20) ? U256_MAX : prng.oneIn(5) ? prng.pick(edges) : prng.bigint(256)
    const codeHash = prng.oneIn(2) ? EMPTY_CODE_HASH : prng.bytes(32)
    const storageRoot = prng.oneIn(2) ? EMPTY_TRIE_ROOT : prng.bytes(32)
    const leaf = encodeAccountLeaf({ nonce, balance, codeHash }, storageRoot)
    assert.equal(toHex(leaf), toHex(encodeRlp([nonce, balance, storageRoot, codeHash])))
    assert.deepEqual(decodeAccountLeaf(leaf), { nonce, balance, storageRoot, codeHash })
    assert.deepEqual(storageRootOfLeaf(leaf), storageRoot)
    assert.throws(() => storageRootOfLeaf(leaf.subarray(1)), /RLP/)
  }
})

test("a slot's leaf has no leading zeros, wherever the first other byte stands", () => {
  for (let first = 0; first < 32; first++) {
    const value = new Uint8Array(32).fill(0x90, first)
    assert.equal(toHex(encodeSlotLeaf(value)), toHex(encodeRlp(value.subarray(first))))
  }
})
