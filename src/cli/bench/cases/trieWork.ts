/** What the trie's cases work on, as go-ethereum's benchmarks do, with the counts that their names say. */
import type { NodeArena } from '../../../arena/index.ts'
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, toBareHex } from '../../../base/index.ts'
import { encodeRlp } from '../../../codec/index.ts'
import { keccak256 } from '../../../kernels/index.ts'
import { type BenchProof, Prng } from '../../../measure/index.ts'
import { type NodeSet, Trie } from '../../../trie/index.ts'
import { digestOfAll } from '../digest.ts'

export type TriePair = { readonly key: Uint8Array; readonly value: Uint8Array }

/** Accounts: hashed random addresses, a nonce of 63 bits, a balance of 0 to 32 bytes, no storage, no code. */
export function accountPairs(count: number): TriePair[] {
  const random = new Prng(count)
  return Array.from({ length: count }, () => {
    const nonce = random.bytes(8)
    nonce[0]! = (nonce[0]! & 0x7f) | 1
    const balance = random.bytes(random.between(0, 32))
    if (balance.length > 0) balance[0]! |= 1
    const key = keccak256(random.bytes(20))
    return { key, value: encodeRlp([nonce, balance, EMPTY_TRIE_ROOT, EMPTY_CODE_HASH]) }
  })
}

/** Some of the pairs, at random; equal counts give equal ones. */
export function samplePairs(pairs: readonly TriePair[], count: number): TriePair[] {
  const random = new Prng(count)
  return Array.from({ length: count }, () => random.pick(pairs))
}

/** Counts the entries that a trie has beyond those that were there before, by a walk; its root is the result. */
export function proveTrie(trie: Trie, oldCount: number): BenchProof {
  let operations = -oldCount
  for (const _ of trie.entries()) operations++
  return { operations, digest: digestOfAll([trie.root()]) }
}

/**
 * Counts the leaves that a set of nodes reaches from its root by itself, and hashes what it writes and where, in order.
 * A set that lacks a node, or a leaf, proves less than was claimed.
 */
export function proveNodeSet(set: NodeSet, arena: NodeArena): BenchProof {
  const { root, nodes, deletions, leaves } = set
  const byPath = new Map(nodes.map(({ path, bytes }) => [toBareHex(path), bytes]))
  const reader = { readNode: (path: Uint8Array) => byPath.get(toBareHex(path)) }
  const trie = new Trie({ arena, root, reader })
  let operations = 0
  for (const _ of trie.entries()) operations++
  trie.dispose()
  const written = nodes.flatMap(({ path, hash }) => [path, hash])
  const gone = deletions.map(({ path }) => path)
  const called = leaves.flatMap(({ key, parentHash }) => [key, parentHash])
  if (leaves.length > 0 && leaves.length !== operations) operations = leaves.length
  return { operations, digest: digestOfAll([root, ...written, ...gone, ...called]) }
}
