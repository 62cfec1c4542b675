/**
 * The single steps of an update: nodes made, moved and given up, and the ranges of its batch. All allocate through
 * `created`, so that a failed update can take everything back.
 */
import {
  BODY_WORD,
  DETAIL_WORD,
  HANDLE_BYTES,
  HANDLE_WORDS,
  KEY_OFFSET,
  NO_NODE,
  type NodeHandle,
  NodeKind,
  VALUE_SLOT,
} from '../arena/index.ts'
import { assert } from '../base/index.ts'
import type { Batch } from './batch.ts'
import { copyExtension, copyLeaf, newExtension, newLeaf, type TrieCore } from './core.ts'
import { commonNibbles, nibbleAt } from './nibbles.ts'

// Numbers of the layout, in this file for speed.
const LEAF = 1
const EXTENSION = 2
const BRANCH = 3
const VALUE = 16
const WORDS = 2
const BYTES = 8
const DETAIL = 1
const BODY = 10
const KEY = 44
assert(
  LEAF === NodeKind.Leaf && EXTENSION === NodeKind.Extension && BRANCH === NodeKind.Branch,
  'update nodes: node kinds',
)
assert(VALUE === VALUE_SLOT && KEY === KEY_OFFSET && BODY === BODY_WORD, 'update nodes: layout')
assert(
  WORDS === HANDLE_WORDS && BYTES === HANDLE_BYTES && DETAIL === DETAIL_WORD,
  'update nodes: units',
)

/** One update under way. */
export type Update = {
  readonly core: TrieCore
  readonly batch: Batch
  /** New nodes, freed where the update fails. */
  readonly created: NodeHandle[]
  /** Nodes that the new tree does without: former ones, and new ones that did not last. */
  readonly superseded: NodeHandle[]
}

/** The only child of a branch at `depth`, loaded, moved to the branch's place. `path` runs to the child. */
export function joinLoaded(
  u: Update,
  child: NodeHandle,
  path: Uint8Array,
  depth: number,
): NodeHandle {
  switch (u.core.arena.kindOf(child)) {
    case LEAF:
      return movedLeaf(u, child, depth, false)
    case EXTENSION:
      return movedExtension(u, child, depth)
    default:
      return created(u, newExtension(u.core, path, 0, depth, depth + 1, child))
  }
}

/** What is left of an extension from `depth` on: a shorter extension, or its child. */
export function extensionFrom(u: Update, node: NodeHandle, depth: number): NodeHandle {
  const word = node * WORDS
  const child = u.core.arena.words[word + BODY] as NodeHandle
  if (depth === u.core.arena.words[word + DETAIL]! >>> 16) return child
  return created(u, copyExtension(u.core, node, depth, child))
}

function movedExtension(u: Update, node: NodeHandle, depth: number): NodeHandle {
  const word = node * WORDS
  if ((u.core.arena.words[word + DETAIL]! & 0xffff) === depth) return node
  supersede(u, node)
  const child = u.core.arena.words[word + BODY] as NodeHandle
  return created(u, copyExtension(u.core, node, depth, child))
}

/** The leaf with its path beginning at `depth`. `changesRole`: it becomes the value of a branch, or was one. */
export function movedLeaf(
  u: Update,
  leaf: NodeHandle,
  depth: number,
  changesRole: boolean,
): NodeHandle {
  const start = u.core.arena.words[leaf * WORDS + DETAIL]! & 0xffff
  if (start === depth && !changesRole) return leaf
  supersede(u, leaf)
  return created(u, copyLeaf(u.core, leaf, depth))
}

/** A new leaf of the put at `index`, its path beginning at `depth`. */
export function leafOf(u: Update, index: number, depth: number): NodeHandle {
  const { keys, keyOffsets, keyLengths, values } = u.batch
  const offset = keyOffsets[index]!
  return created(u, newLeaf(u.core, keys, offset, keyLengths[index]!, values[index]!, depth))
}

/** `branch` at `fork`, behind an extension where its place is further up. */
export function extend(
  u: Update,
  branch: NodeHandle,
  low: number,
  depth: number,
  fork: number,
): NodeHandle {
  if (fork === depth) return branch
  const { keys, keyOffsets } = u.batch
  return created(u, newExtension(u.core, keys, keyOffsets[low]!, depth, fork, branch))
}

/** Notes a new node, to be freed where the update fails. */
export function created(u: Update, handle: NodeHandle): NodeHandle {
  u.created.push(handle)
  return handle
}

/** Notes a node that the new tree does without, to be freed or retired where the update succeeds. */
export function supersede(u: Update, handle: NodeHandle): void {
  u.superseded.push(handle)
}

/** Sets a slot of a new branch; the caller keeps the mask. */
export function setSlot(u: Update, branch: NodeHandle, slot: number, child: NodeHandle): void {
  u.core.arena.words[branch * WORDS + BODY + slot] = child
}

/** Sets a slot and its bit. */
export function setChild(u: Update, branch: NodeHandle, slot: number, child: NodeHandle): void {
  const { words } = u.core.arena
  const word = branch * WORDS
  words[word + BODY + slot] = child
  if (child === NO_NODE) words[word + DETAIL]! &= ~(1 << slot)
  else words[word + DETAIL]! |= 1 << slot
}

/** End of the changes from `at` on with `nibble` at `depth`. */
export function rangeEnd(
  batch: Batch,
  at: number,
  high: number,
  depth: number,
  nibble: number,
): number {
  const { keys, keyOffsets } = batch
  let end = at + 1
  while (end < high && nibbleAt(keys, keyOffsets[end]!, depth) === nibble) end++
  return end
}

/** Moves the puts of a range to its front, in order, and returns their end. The range is nobody else's. */
export function dropDeletes(batch: Batch, low: number, high: number): number {
  if (batch.deleteCount === 0) return high
  let end = low
  for (let at = low; at < high; at++)
    if (batch.values[at] !== undefined) moveChange(batch, at, end++)
  return end
}

/** Drops the deletes whose keys do not run along the whole extension: there is nothing to delete. */
export function dropStrayDeletes(
  u: Update,
  node: NodeHandle,
  low: number,
  high: number,
  depth: number,
  nodeEnd: number,
): number {
  const { batch } = u
  if (batch.deleteCount === 0) return high
  let end = low
  for (let at = low; at < high; at++) {
    const isStray =
      batch.values[at] === undefined && commonWithNode(u, node, at, depth, nodeEnd) < nodeEnd
    if (!isStray) moveChange(batch, at, end++)
  }
  return end
}

function moveChange(batch: Batch, from: number, to: number): void {
  if (from === to) return
  batch.keyOffsets[to] = batch.keyOffsets[from]!
  batch.keyLengths[to] = batch.keyLengths[from]!
  batch.values[to] = batch.values[from]
}

/** Nibbles that the key at `index` shares with a leaf or extension, up to `limit`. */
export function commonWithNode(
  u: Update,
  node: NodeHandle,
  index: number,
  depth: number,
  limit: number,
): number {
  const { keys, keyOffsets, keyLengths } = u.batch
  const reach = Math.min(limit, 2 * keyLengths[index]!)
  return commonNibbles(
    keys,
    keyOffsets[index]!,
    u.core.arena.bytes,
    node * BYTES + KEY,
    depth,
    reach,
  )
}

/** Index of the change with the leaf's key, or -1. */
export function findLeafKey(u: Update, leaf: NodeHandle, low: number, high: number): number {
  let from = low
  let to = high
  while (from < to) {
    const middle = (from + to) >> 1
    const order = compareKey(u, middle, leaf)
    if (order === 0) return middle
    if (order < 0) from = middle + 1
    else to = middle
  }
  return -1
}

function compareKey(u: Update, index: number, leaf: NodeHandle): number {
  const { bytes, words } = u.core.arena
  const { keys, keyOffsets, keyLengths } = u.batch
  const offset = keyOffsets[index]!
  const length = keyLengths[index]!
  const leafLength = words[leaf * WORDS + DETAIL]! >>> 16
  const leafKey = leaf * BYTES + KEY
  const shared = Math.min(length, leafLength)
  for (let at = 0; at < shared; at++) {
    const difference = keys[offset + at]! - bytes[leafKey + at]!
    if (difference !== 0) return difference
  }
  return length - leafLength
}

/** Whether a leaf's value is `value` already. */
export function leafHasValue(u: Update, leaf: NodeHandle, value: Uint8Array): boolean {
  const { bytes, words } = u.core.arena
  const word = leaf * WORDS
  if (words[word + BODY] !== value.length) return false
  const start = leaf * BYTES + KEY + (words[word + DETAIL]! >>> 16)
  for (let index = 0; index < value.length; index++)
    if (bytes[start + index] !== value[index]) return false
  return true
}

/** `node`, which begins at `end`, with the path of an extension from `depth` to `end` in front of it. */
export function joinPath(
  u: Update,
  extension: NodeHandle,
  node: NodeHandle,
  depth: number,
  end: number,
): NodeHandle {
  if (node === NO_NODE || depth === end) return node
  const { arena } = u.core
  switch (arena.kindOf(node)) {
    case LEAF:
      return movedLeaf(u, node, depth, false)
    case EXTENSION:
      return movedExtension(u, node, depth)
    default: {
      if (arena.words[extension * WORDS + DETAIL]! >>> 16 === end)
        return created(u, copyExtension(u.core, extension, depth, node))
      const path = arena.bytes.slice(
        extension * BYTES + KEY,
        extension * BYTES + KEY + ((end + 1) >> 1),
      )
      return created(u, newExtension(u.core, path, 0, depth, end, node))
    }
  }
}
