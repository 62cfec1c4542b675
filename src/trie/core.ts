/**
 * What all parts of a trie share: its arena, its roots, and the making, moving and freeing of single nodes.
 *
 * Nodes of the last commit (flag `committed`) are never changed. An update copies the nodes on its way, so that the
 * tree of the last commit stays whole beside the current one until the next commit compares the two:
 *
 *       committedRoot            root
 *            B  ◀── retired       B'        new, `committed` unset
 *          / | \                / | \
 *         a  b  c ◀─ retired   a  b  c'     a, b shared by handle
 *
 * One kind of write to a committed node is allowed, as it changes no content: putting a loaded node in the place of
 * its stub. Where an older version of the parent still names the stub, the stub becomes a link to the loaded node; it
 * is owned, and in the end freed, by the committed parent.
 *
 * Not here: how updates, hashing, commits walk; those are files of their own.
 */
import {
  BODY_WORD,
  BRANCH_BYTES,
  BRANCH_SLOT_COUNT,
  DETAIL_WORD,
  FLAG_COMMITTED,
  FLAG_DIRTY,
  HANDLE_BYTES,
  HANDLE_WORDS,
  KEY_OFFSET,
  KIND_MASK,
  NO_NODE,
  type NodeArena,
  type NodeHandle,
  NodeKind,
  REFERENCE_BYTES,
  REFERENCE_LENGTH_SHIFT,
  REFERENCE_OFFSET,
  STUB_BYTES,
} from '../arena/index.ts'
import { assert, VERIFY } from '../base/index.ts'
import type { TrieNodeKernel } from '../kernels/index.ts'
import type { Guesses } from './lookup.ts'
import type { TrieHelpers } from './subtree.ts'

/**
 * Where a trie gets the nodes that are not in memory.
 * @param path one nibble a byte, from the root to the node
 * @param hash 32 bytes, for readers that find nodes by hash. Both arguments are the reader's to keep.
 * Returns the node's bytes as they were in a node set, or `undefined` where there is none. It is called in the middle
 * of reads and updates and must not use the trie that calls it; other tries of the same arena it may.
 */
export type NodeReader = {
  readNode(path: Uint8Array, hash: Uint8Array): Uint8Array | undefined
}

/** State of one trie. Fields are for the files of this folder. */
export type TrieCore = {
  readonly arena: NodeArena
  readonly kernel: TrieNodeKernel
  readonly reader: NodeReader
  readonly guesses: Guesses
  /** Threads that may help. */
  readonly helpers: TrieHelpers | undefined
  /** The current tree; a stub where nothing of it is loaded; 0 where it is empty. */
  root: NodeHandle
  /** The tree of the last commit. */
  committedRoot: NodeHandle
  /** Committed nodes that are no longer part of the current tree. */
  readonly retired: NodeHandle[]
  /** Links alive. */
  linkCount: number
  /** Bytes of the slots this trie holds. */
  usedBytes: number
  /** Rises with every change to the shape in memory that ends the life of handles which an iterator may hold. */
  shapeVersion: number
  /** Changes since the last hash, and since the last commit; they may cancel out. */
  unhashedCount: number
  uncommittedCount: number
  /** Most bytes of a value that was ever in memory. */
  valueBytesMax: number
  /** Pieces of a commit are out: nodes may not be freed. */
  isCommitOpen: boolean
}

/** Allocates for a trie. @throws VarveError ARENA_FULL */
export function allocateNode(core: TrieCore, byteCount: number): NodeHandle {
  const handle = core.arena.allocate(byteCount)
  core.usedBytes += core.arena.slotBytes(handle)
  return handle
}

export function freeNode(core: TrieCore, handle: NodeHandle): void {
  core.usedBytes -= core.arena.slotBytes(handle)
  core.arena.free(handle)
}

/** A dirty leaf with a copy of the given key and value; its path in the tree begins at `depth` nibbles. */
export function newLeaf(
  core: TrieCore,
  key: Uint8Array,
  keyOffset: number,
  keyBytes: number,
  value: Uint8Array,
  depth: number,
): NodeHandle {
  const valueLength = value.length
  if (valueLength > core.valueBytesMax) core.valueBytesMax = valueLength
  const handle = allocateNode(core, KEY_OFFSET + keyBytes + valueLength)
  const { bytes, words } = core.arena
  const word = handle * HANDLE_WORDS
  words[word]! |= NodeKind.Leaf | FLAG_DIRTY
  words[word + DETAIL_WORD] = depth | (keyBytes << 16)
  words[word + BODY_WORD] = valueLength
  const target = handle * HANDLE_BYTES + KEY_OFFSET
  for (let index = 0; index < keyBytes; index++) bytes[target + index] = key[keyOffset + index]!
  bytes.set(value, target + keyBytes)
  return handle
}

/** A dirty extension over nibbles `start` to `end` of the packed path at `pathOffset` of `path`. */
export function newExtension(
  core: TrieCore,
  path: Uint8Array,
  pathOffset: number,
  start: number,
  end: number,
  child: NodeHandle,
): NodeHandle {
  const pathBytes = (end + 1) >> 1
  const handle = allocateNode(core, KEY_OFFSET + pathBytes)
  const { bytes, words } = core.arena
  const word = handle * HANDLE_WORDS
  words[word]! |= NodeKind.Extension | FLAG_DIRTY
  words[word + DETAIL_WORD] = start | (end << 16)
  words[word + BODY_WORD] = child
  const target = handle * HANDLE_BYTES + KEY_OFFSET
  for (let index = 0; index < pathBytes; index++) bytes[target + index] = path[pathOffset + index]!
  return handle
}

/** A dirty branch without children. */
export function newBranch(core: TrieCore): NodeHandle {
  const handle = allocateNode(core, BRANCH_BYTES)
  const { words } = core.arena
  const word = handle * HANDLE_WORDS
  words[word]! |= NodeKind.Branch | FLAG_DIRTY
  words[word + DETAIL_WORD] = 0
  for (let slot = 0; slot < BRANCH_SLOT_COUNT; slot++) words[word + BODY_WORD + slot] = 0
  return handle
}

/** A dirty copy of a branch with the same children. */
export function copyBranch(core: TrieCore, source: NodeHandle): NodeHandle {
  const handle = allocateNode(core, BRANCH_BYTES)
  const { words } = core.arena
  const word = handle * HANDLE_WORDS
  const from = source * HANDLE_WORDS
  words[word]! |= NodeKind.Branch | FLAG_DIRTY
  words[word + DETAIL_WORD] = words[from + DETAIL_WORD]!
  for (let at = BODY_WORD; at < BODY_WORD + BRANCH_SLOT_COUNT; at++)
    words[word + at] = words[from + at]!
  return handle
}

/** A dirty copy of a leaf whose path begins at another depth. */
export function copyLeaf(core: TrieCore, source: NodeHandle, depth: number): NodeHandle {
  const words = core.arena.words
  const from = source * HANDLE_WORDS
  const keyBytes = words[from + DETAIL_WORD]! >>> 16
  const byteCount = KEY_OFFSET + keyBytes + words[from + BODY_WORD]!
  const handle = copyTail(core, source, byteCount)
  core.arena.words[handle * HANDLE_WORDS]! |= NodeKind.Leaf | FLAG_DIRTY
  core.arena.words[handle * HANDLE_WORDS + DETAIL_WORD] = depth | (keyBytes << 16)
  return handle
}

/** A dirty copy of an extension that begins at another depth and has another child. */
export function copyExtension(
  core: TrieCore,
  source: NodeHandle,
  start: number,
  child: NodeHandle,
): NodeHandle {
  const end = core.arena.words[source * HANDLE_WORDS + DETAIL_WORD]! >>> 16
  const handle = copyTail(core, source, KEY_OFFSET + ((end + 1) >> 1))
  const { words } = core.arena
  const word = handle * HANDLE_WORDS
  words[word]! |= NodeKind.Extension | FLAG_DIRTY
  words[word + DETAIL_WORD] = start | (end << 16)
  words[word + BODY_WORD] = child
  return handle
}

/** Allocates and copies what follows the reference. */
function copyTail(core: TrieCore, source: NodeHandle, byteCount: number): NodeHandle {
  const handle = allocateNode(core, byteCount)
  const { bytes } = core.arena
  const from = source * HANDLE_BYTES
  bytes.copyWithin(handle * HANDLE_BYTES + STUB_BYTES, from + STUB_BYTES, from + byteCount)
  return handle
}

/** A stub with a hash. */
export function newStub(core: TrieCore, hash: Uint8Array, hashOffset: number): NodeHandle {
  const handle = allocateNode(core, STUB_BYTES)
  const { bytes, words } = core.arena
  const word = handle * HANDLE_WORDS
  words[word]! |= NodeKind.Stub | FLAG_COMMITTED | (REFERENCE_BYTES << REFERENCE_LENGTH_SHIFT)
  words[word + DETAIL_WORD] = 0
  const target = handle * HANDLE_BYTES + REFERENCE_OFFSET
  for (let index = 0; index < REFERENCE_BYTES; index++)
    bytes[target + index] = hash[hashOffset + index]!
  return handle
}

/** The 32 bytes of a node's reference, copied. */
export function hashOf(core: TrieCore, handle: NodeHandle): Uint8Array {
  const start = handle * HANDLE_BYTES + REFERENCE_OFFSET
  return copyBytes(core.arena.bytes, start, start + REFERENCE_BYTES)
}

const SHORT_COPY_BYTES = 160

/** A copy outside of shared memory, whatever the source is. */
export function copyBytes(source: Uint8Array, start: number, end: number): Uint8Array<ArrayBuffer> {
  const length = end - start
  const copy = new Uint8Array(length)
  // A view costs more than copying a short string byte by byte.
  if (length > SHORT_COPY_BYTES) copy.set(source.subarray(start, end))
  else for (let index = 0; index < length; index++) copy[index] = source[start + index]!
  return copy
}

/** Follows a link to the node it stands for. */
export function followLink(core: TrieCore, handle: NodeHandle): NodeHandle {
  if (handle === NO_NODE) return handle
  const { words } = core.arena
  const word = handle * HANDLE_WORDS
  if ((words[word]! & KIND_MASK) !== NodeKind.Link) return handle
  return words[word + DETAIL_WORD] as NodeHandle
}

/** Frees a node and all below it. Every node of the subtree belongs to this tree alone. */
export function freeSubtree(core: TrieCore, handle: NodeHandle): void {
  if (handle === NO_NODE) return
  const { arena } = core
  const word = handle * HANDLE_WORDS
  switch (arena.kindOf(handle)) {
    case NodeKind.Branch:
      for (let slot = 0; slot < BRANCH_SLOT_COUNT; slot++)
        freeSubtree(core, arena.words[word + BODY_WORD + slot] as NodeHandle)
      break
    case NodeKind.Extension:
      freeSubtree(core, arena.words[word + BODY_WORD] as NodeHandle)
      break
    default:
      if (VERIFY)
        assert(arena.kindOf(handle) !== NodeKind.Link, 'trie: a link in a tree of one version')
  }
  freeNode(core, handle)
}

/** Frees the nodes of the current tree that no commit has taken. */
export function freeUncommitted(core: TrieCore, node: NodeHandle): void {
  if (node === NO_NODE) return
  const { words } = core.arena
  const word = node * HANDLE_WORDS
  if ((words[word]! & FLAG_COMMITTED) !== 0) return
  const kind = core.arena.kindOf(node)
  if (kind === NodeKind.Branch)
    for (let slot = 0; slot < BRANCH_SLOT_COUNT; slot++)
      freeUncommitted(core, words[word + BODY_WORD + slot] as NodeHandle)
  else if (kind === NodeKind.Extension) freeUncommitted(core, words[word + BODY_WORD] as NodeHandle)
  freeNode(core, node)
}
