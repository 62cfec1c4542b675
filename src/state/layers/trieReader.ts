/** Reading the tries of layers: one key, or all leaves in order, always above a base. */
import { type ChunkHandle, NO_CHUNK, SEGMENT_MASK, SEGMENT_SHIFT } from '../../arena/index.ts'
import { assert, VERIFY } from '../../base/index.ts'
import {
  BRANCH_CHILD_WORD,
  bitCount16,
  CHILDREN_SHIFT,
  HASH_WORDS,
  KEY_WORD,
  KIND_MASK,
  NodeKind,
  NUMBER_WORD,
} from './nodeLayout.ts'

// Copies of imported numbers: the loop below took them from other modules at 1.9 times the time.
const SHIFT = 15
const MASK = 0x7fff
const KIND = 0xff
const BRANCH = 1
const CHILDREN = 16
assert(
  SHIFT === SEGMENT_SHIFT &&
    MASK === SEGMENT_MASK &&
    KIND === KIND_MASK &&
    BRANCH === NodeKind.Branch &&
    CHILDREN === CHILDREN_SHIFT &&
    BRANCH_CHILD_WORD === 2 &&
    KEY_WORD === 2 &&
    HASH_WORDS === 8,
  'trie reader: its numbers are those of the layout',
)

/** A node, and the newest layer that wrote beneath it: `NO_REFERENCE` is below every layer. */
export type NodeReference = { readonly handle: ChunkHandle; readonly number: number }

export const NO_REFERENCE: NodeReference = { handle: NO_CHUNK, number: 0 }

/**
 * The leaf of a key that was written above the base, or 0. No allocation.
 * @param key 8 words, most significant first
 */
export function findLeaf(
  segments: readonly Uint32Array[],
  root: ChunkHandle,
  rootNumber: number,
  baseNumber: number,
  key: Uint32Array,
): ChunkHandle {
  let handle: number = root
  let number = rootNumber
  for (let depth = 0; number > baseNumber; depth++) {
    const words = segments[handle >>> SHIFT]!
    const word = (handle & MASK) * 2
    const header = words[word]!
    if (VERIFY) checkNode(words, word, number)
    if ((header & KIND) !== BRANCH) {
      for (let index = 0; index < 8; index++)
        if (words[word + 2 + index] !== key[index]) return NO_CHUNK
      return handle as ChunkHandle
    }
    const bit = 1 << ((key[depth >>> 3]! >>> (28 - (depth & 7) * 4)) & 15)
    const children = header >>> CHILDREN
    if ((children & bit) === 0) return NO_CHUNK
    const child = word + 2 + bitCount16(children & (bit - 1)) * 2
    handle = words[child]!
    number = words[child + 1]!
  }
  return NO_CHUNK
}

/**
 * Visits the leaves above the base in the order of their keys, until `visit` returns true; returns whether it did.
 * Depth is at most 64, so the recursion is bounded.
 */
export function someLeaf(
  segments: readonly Uint32Array[],
  root: NodeReference,
  baseNumber: number,
  visit: LeafVisitor,
): boolean {
  return (
    root.number > baseNumber && someBelow(segments, root.handle, root.number, baseNumber, visit)
  )
}

/** Called with the segment of a leaf and the leaf's first word; true stops. */
export type LeafVisitor = (words: Uint32Array, word: number) => boolean

function someBelow(
  segments: readonly Uint32Array[],
  handle: number,
  number: number,
  baseNumber: number,
  visit: LeafVisitor,
): boolean {
  const words = segments[handle >>> SHIFT]!
  const word = (handle & MASK) * 2
  if (VERIFY) checkNode(words, word, number)
  const header = words[word]!
  if ((header & KIND) !== BRANCH) return visit(words, word)
  const end = word + 2 + bitCount16(header >>> CHILDREN) * 2
  for (let child = word + 2; child < end; child += 2) {
    const childNumber = words[child + 1]!
    if (childNumber <= baseNumber) continue
    if (someBelow(segments, words[child]!, childNumber, baseNumber, visit)) return true
  }
  return false
}

/** The child of a root that holds one shard, 0 to 15. */
export function shardOf(
  segments: readonly Uint32Array[],
  root: NodeReference,
  baseNumber: number,
  shard: number,
): NodeReference {
  if (root.number <= baseNumber) return NO_REFERENCE
  const words = segments[root.handle >>> SHIFT]!
  const word = (root.handle & MASK) * 2
  const header = words[word]!
  if ((header & KIND) !== BRANCH)
    return words[word + KEY_WORD]! >>> 28 === shard ? root : NO_REFERENCE
  const children = header >>> CHILDREN
  if ((children & (1 << shard)) === 0) return NO_REFERENCE
  const child = word + 2 + bitCount16(children & ((1 << shard) - 1)) * 2
  return { handle: words[child]! as ChunkHandle, number: words[child + 1]! }
}

/** A reference is right: the node is live and of the layer that the reference says. For `VERIFY`. */
export function checkNode(words: Uint32Array, word: number, number: number): void {
  const kind = words[word]! & KIND_MASK
  assert(
    kind >= NodeKind.Branch && kind <= NodeKind.Code,
    'layer: a node of a released layer is used',
  )
  assert(words[word + NUMBER_WORD] === number, 'layer: a node of another layer stands here')
}

/** Nibble `depth` of a key in bytes. */
export function byteNibble(key: Uint8Array, depth: number): number {
  const byte = key[depth >>> 1]!
  return (depth & 1) === 0 ? byte >>> 4 : byte & 15
}

/** Nibble `depth` of a key that lies in words. */
export function wordNibble(words: Uint32Array, word: number, depth: number): number {
  return (words[word + (depth >>> 3)]! >>> (28 - (depth & 7) * 4)) & 15
}

/** Whether the 8 words at `word` are that key. */
export function keyIs(words: Uint32Array, word: number, key: Uint8Array): boolean {
  for (let index = 0, at = 0; index < HASH_WORDS; index++, at += 4) {
    const part = (key[at]! << 24) | (key[at + 1]! << 16) | (key[at + 2]! << 8) | key[at + 3]!
    if ((words[word + index]! | 0) !== part) return false
  }
  return true
}
