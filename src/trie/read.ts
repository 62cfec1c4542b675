/** Reading one key, and the nodes on its way. */
import {
  BODY_WORD,
  DETAIL_WORD,
  HANDLE_BYTES,
  HANDLE_WORDS,
  KEY_OFFSET,
  KIND_MASK,
  NO_NODE,
  type NodeHandle,
  NodeKind,
  VALUE_SLOT,
} from '../arena/index.ts'
import { assert } from '../base/index.ts'
import { copyBytes, type TrieCore } from './core.ts'
import { loadedChild, loadedRoot } from './load.ts'
import { commonNibbles, nibbleAt, packNibblesInto } from './nibbles.ts'

// Numbers of the layout, in this file for speed.
const LEAF = 1
const EXTENSION = 2
const WORDS = 2
const BODY = 10
assert(LEAF === NodeKind.Leaf && EXTENSION === NodeKind.Extension, 'read: node kinds')
assert(WORDS === HANDLE_WORDS && BODY === BODY_WORD, 'read: layout')

/**
 * The leaf that holds `key`, or 0. `visit` sees every node on the way that starts at a path of its own, root first;
 * the walk ends at the first node that decides, so an absent key visits no node below that.
 * @throws VarveError TRIE_NODE_MISSING, TRIE_NODE_INVALID, ARENA_FULL
 */
export function findLeaf(
  core: TrieCore,
  key: Uint8Array,
  visit?: (node: NodeHandle) => void,
): NodeHandle {
  const { arena } = core
  const keyNibbles = 2 * key.length
  let node = loadedRoot(core)
  let depth = 0
  while (node !== NO_NODE) {
    visit?.(node)
    const word = node * WORDS
    const detail = arena.words[word + DETAIL_WORD]!
    const kind = arena.words[word]! & KIND_MASK
    if (kind === LEAF) return leafMatches(core, node, key, depth) ? node : NO_NODE
    if (kind === EXTENSION) {
      const end = detail >>> 16
      if (end > keyNibbles) return NO_NODE
      const path = node * HANDLE_BYTES + KEY_OFFSET
      if (commonNibbles(key, 0, arena.bytes, path, depth, end) < end) return NO_NODE
      node = loadedChild(core, node, 0, key, 0, end)
      depth = end
    } else if (depth === keyNibbles) {
      return arena.words[word + BODY + VALUE_SLOT] as NodeHandle
    } else {
      node = loadedChild(core, node, nibbleAt(key, 0, depth), key, 0, depth + 1)
      depth++
    }
  }
  return NO_NODE
}

/**
 * The node that starts at a path, or 0 where none does.
 * @param path one nibble a byte
 * @throws VarveError TRIE_NODE_MISSING, TRIE_NODE_INVALID, ARENA_FULL
 */
export function findNode(core: TrieCore, path: Uint8Array): NodeHandle {
  const { arena } = core
  const packed = new Uint8Array((path.length + 1) >> 1)
  packNibblesInto(path, path.length, packed, 0)
  let node = loadedRoot(core)
  let depth = 0
  while (node !== NO_NODE && depth < path.length) {
    const word = node * WORDS
    const kind = arena.words[word]! & KIND_MASK
    if (kind === LEAF) return NO_NODE
    if (kind === EXTENSION) {
      const end = arena.words[word + DETAIL_WORD]! >>> 16
      const own = node * HANDLE_BYTES + KEY_OFFSET
      if (end > path.length || commonNibbles(packed, 0, arena.bytes, own, depth, end) < end)
        return NO_NODE
      node = loadedChild(core, node, 0, packed, 0, end)
      depth = end
    } else {
      node = loadedChild(core, node, path[depth]!, packed, 0, depth + 1)
      depth++
    }
  }
  return node
}

/** A leaf's value, copied. */
export function leafValue(core: TrieCore, leaf: NodeHandle): Uint8Array {
  const { bytes, words } = core.arena
  const word = leaf * WORDS
  const start = leaf * HANDLE_BYTES + KEY_OFFSET + (words[word + DETAIL_WORD]! >>> 16)
  return copyBytes(bytes, start, start + words[word + BODY]!)
}

/** A leaf's whole key, copied. */
export function leafKey(core: TrieCore, leaf: NodeHandle): Uint8Array {
  const start = leaf * HANDLE_BYTES + KEY_OFFSET
  const keyBytes = core.arena.words[leaf * WORDS + DETAIL_WORD]! >>> 16
  return copyBytes(core.arena.bytes, start, start + keyBytes)
}

/** `key` agrees with the leaf up to `depth`; does it for the rest? */
export function leafMatches(
  core: TrieCore,
  leaf: NodeHandle,
  key: Uint8Array,
  depth: number,
): boolean {
  const { bytes, words } = core.arena
  if (words[leaf * WORDS + DETAIL_WORD]! >>> 16 !== key.length) return false
  const keyOffset = leaf * HANDLE_BYTES + KEY_OFFSET
  for (let index = depth >> 1; index < key.length; index++)
    if (bytes[keyOffset + index] !== key[index]) return false
  return true
}
