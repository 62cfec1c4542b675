/** Puts stored nodes in the place of their stubs, and takes them out again. */
import {
  BODY_WORD,
  DETAIL_WORD,
  FLAG_COMMITTED,
  HANDLE_BYTES,
  HANDLE_WORDS,
  KIND_MASK,
  NO_NODE,
  type NodeHandle,
  NodeKind,
  REFERENCE_OFFSET,
} from '../arena/index.ts'
import { assert } from '../base/index.ts'
import { freeNode, freeSubtree, hashOf, newStub, type TrieCore } from './core.ts'
import { decodeNode } from './decode.ts'
import { nodeInvalid, nodeMissing } from './faults.ts'
import { unpackNibbles } from './nibbles.ts'

/**
 * The child in `slot` of `parent` (0 for an extension's), loaded. The path to the child is the first `depth` nibbles
 * at `pathOffset` of `path`.
 * @throws VarveError TRIE_NODE_MISSING, TRIE_NODE_INVALID, ARENA_FULL; the tree is unchanged then
 */
export function loadedChild(
  core: TrieCore,
  parent: NodeHandle,
  slot: number,
  path: Uint8Array,
  pathOffset: number,
  depth: number,
): NodeHandle {
  const { words } = core.arena
  const child = words[parent * HANDLE_WORDS + BODY_WORD + slot] as NodeHandle
  if (child === NO_NODE) return child
  if ((words[child * HANDLE_WORDS]! & KIND_MASK) !== NodeKind.Stub) return child
  return loadChild(core, parent, slot, unpackNibbles(path, pathOffset, depth))
}

/** The root, loaded; 0 where the trie is empty. @throws as `loadedChild` */
export function loadedRoot(core: TrieCore): NodeHandle {
  const stub = core.root
  if (stub === NO_NODE || core.arena.kindOf(stub) !== NodeKind.Stub) return stub
  // A root that is a stub is the committed one: every update loads the root first.
  assert(core.committedRoot === stub, 'trie: a changed root is not loaded')
  const node = loadNode(core, stub, new Uint8Array(0), false)
  core.root = node
  core.committedRoot = node
  freeNode(core, stub)
  return node
}

/** Loads the child whose place is known to hold a stub. `path` is the child's, one nibble a byte. */
export function loadChild(
  core: TrieCore,
  parent: NodeHandle,
  slot: number,
  path: Uint8Array,
): NodeHandle {
  const place = parent * HANDLE_WORDS + BODY_WORD + slot
  const stub = core.arena.words[place] as NodeHandle
  const isExtension = core.arena.kindOf(parent) === NodeKind.Extension
  const node = loadNode(core, stub, path, isExtension)
  putLoaded(core, parent, slot, node)
  return node
}

/** Puts a node in the place of its stub, in the child of `parent` in `slot`. Allocates nothing. */
export function putLoaded(
  core: TrieCore,
  parent: NodeHandle,
  slot: number,
  node: NodeHandle,
): void {
  const { words } = core.arena
  const place = parent * HANDLE_WORDS + BODY_WORD + slot
  const stub = words[place] as NodeHandle
  words[place] = node
  if ((words[parent * HANDLE_WORDS]! & FLAG_COMMITTED) !== 0) freeNode(core, stub)
  else {
    // A committed parent names the stub too, and owns it. It finds the node through the link.
    const stubWord = stub * HANDLE_WORDS
    words[stubWord] = (words[stubWord]! & ~KIND_MASK) | NodeKind.Link
    words[stubWord + DETAIL_WORD] = node
    core.linkCount++
  }
}

function loadNode(
  core: TrieCore,
  stub: NodeHandle,
  path: Uint8Array,
  isBelowExtension: boolean,
): NodeHandle {
  const hash = hashOf(core, stub)
  const bytes = core.reader.readNode(path, hash)
  if (bytes === undefined) throw nodeMissing(path, hash)
  if (!core.kernel.isHashOf(bytes, hash))
    throw nodeInvalid(path, hash, `its ${bytes.length} bytes have another hash`)
  return decodeNode({ core, path, hash, isBelowExtension }, bytes)
}

/**
 * Puts a stub in the place of a stored child of a committed node and frees the child's subtree, none of which may be
 * part of an uncommitted tree.
 */
export function unloadChild(core: TrieCore, parent: NodeHandle, slot: number): void {
  const place = parent * HANDLE_WORDS + BODY_WORD + slot
  const child = core.arena.words[place] as NodeHandle
  const hash = hashOf(core, child)
  // Freed first: the slots given back are enough for the stub even where the arena is full.
  freeSubtree(core, child)
  core.arena.words[place] = newStub(core, hash, 0)
}

/** Frees the links that a committed node owns, or, where it lives on, puts the loaded nodes in their place. */
export function dropLinks(core: TrieCore, parent: NodeHandle): void {
  if (core.linkCount === 0) return
  const { words } = core.arena
  const word = parent * HANDLE_WORDS
  const kind = words[word]! & KIND_MASK
  const slotCount = kind === NodeKind.Branch ? 16 : kind === NodeKind.Extension ? 1 : 0
  for (let slot = 0; slot < slotCount; slot++) {
    const place = word + BODY_WORD + slot
    const child = words[place] as NodeHandle
    if (child === NO_NODE || (words[child * HANDLE_WORDS]! & KIND_MASK) !== NodeKind.Link) continue
    words[place] = words[child * HANDLE_WORDS + DETAIL_WORD]!
    freeNode(core, child)
    core.linkCount--
  }
}

/** Offset of a node's reference in the arena's bytes. */
export function referenceOffset(handle: NodeHandle): number {
  return handle * HANDLE_BYTES + REFERENCE_OFFSET
}
