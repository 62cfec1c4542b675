/**
 * A Merkle Patricia trie over a node arena (Yellow Paper, appendix D). Keys are 0 to 255 bytes, values are not empty.
 *
 *       update ──▶ root ──▶ commit ──▶ NodeSet ──▶ (the caller's store)
 *                                                        │
 *       get, entries, prove ◀── nodes as needed ◀── NodeReader
 *
 * Everything is synchronous. Reading loads nodes and changes no content. An update that fails changes nothing.
 * One thread owns a trie; many tries may share one arena.
 *
 * Not here: hashing of keys (a "secure" trie is one whose caller hashes them), accounts, and where nodes are kept.
 */
import { NO_NODE, type NodeArena, type NodeHandle } from '../arena/index.ts'
import {
  assert,
  bytesEqual,
  EMPTY_TRIE_ROOT,
  HASH_BYTES,
  TRIE_KEY_BYTES_MAX,
  toBareHex,
} from '../base/index.ts'
import { trieNodeKernel } from '../kernels/index.ts'
import type { TrieChange } from './batch.ts'
import type { ChangePiece } from './changeList.ts'
import type { ColumnNodeSet } from './columnSet.ts'
import { type CommitOptions, commitInPieces, commitTold, commitTree, OpenCommit } from './commit.ts'
import {
  copyBytes,
  freeSubtree,
  freeUncommitted,
  hashOf,
  type NodeReader,
  newStub,
  type TrieCore,
} from './core.ts'
import { dirtyNodes } from './dirtyNodes.ts'
import { keyInvalid, trieBusy, trieDisposed } from './faults.ts'
import { HandleList } from './handleList.ts'
import { hashTree } from './hashTree.ts'
import { type IterationOptions, type TrieEntry, TrieIterator } from './iterate.ts'
import { dropLinks } from './load.ts'
import { Guesses, lookUp, prefetch, type ValueVisitor, type Wanted } from './lookup.ts'
import type { NodeSink } from './nodeSet.ts'
import { findLeaf, findNode, leafValue } from './read.ts'
import { shrinkTree } from './shrink.ts'
import { fitsHelpers, type TrieHelpers } from './subtree.ts'
import { applyChanges } from './update.ts'

/** A reader with nothing to read, for a trie that starts empty and stays in memory. */
export const NO_READER: NodeReader = { readNode: () => undefined }

export type TrieOptions = {
  readonly arena: NodeArena
  /** Root hash of the state to open; the empty trie without it. Nothing is read until it is needed. */
  readonly root?: Uint8Array
  readonly reader?: NodeReader
  /** Threads that may help to hash and to commit. Results do not depend on them. */
  readonly helpers?: TrieHelpers
}

export class Trie {
  private readonly core: TrieCore
  private isDisposed = false

  constructor(options: TrieOptions) {
    const { arena, root = EMPTY_TRIE_ROOT, reader = NO_READER, helpers } = options
    assert(root.length === HASH_BYTES, 'trie: a root is 32 bytes')
    this.core = {
      arena,
      kernel: trieNodeKernel(arena),
      reader,
      guesses: new Guesses(),
      helpers,
      root: NO_NODE,
      committedRoot: NO_NODE,
      retired: [],
      linkCount: 0,
      usedBytes: 0,
      shapeVersion: 0,
      unhashedCount: 0,
      uncommittedCount: 0,
      valueBytesMax: 0,
      isCommitOpen: false,
    }
    if (bytesEqual(root, EMPTY_TRIE_ROOT)) return
    this.core.root = newStub(this.core, root, 0)
    this.core.committedRoot = this.core.root
  }

  /** Bytes of the arena that this trie holds. */
  get usedBytes(): number {
    return this.core.usedBytes
  }

  /** Whether there are changes since the last commit; they may cancel out. */
  get isChanged(): boolean {
    return this.core.root !== this.core.committedRoot
  }

  /**
   * The value of `key`, copied, or `undefined`.
   * @throws VarveError TRIE_NODE_MISSING, TRIE_NODE_INVALID, TRIE_DISPOSED, ARENA_FULL
   */
  get(key: Uint8Array): Uint8Array | undefined {
    const core = this.live()
    const leaf = findLeaf(core, key)
    return leaf === NO_NODE ? undefined : leafValue(core, leaf)
  }

  /**
   * Reads many keys in one walk and visits the values of those that are there, in any order. Best sorted by key. After
   * it the nodes on the way to all of them are in memory.
   * @throws VarveError TRIE_NODE_MISSING, TRIE_NODE_INVALID, TRIE_DISPOSED, ARENA_FULL
   */
  lookUp(wanted: readonly Wanted[], visit: ValueVisitor = noVisit): void {
    lookUp(this.live(), wanted, visit)
  }

  /** Loads what a later `lookUp` of the keys will have to read. Changes no content. @throws as `lookUp` */
  prefetch(keys: readonly Uint8Array[]): void {
    prefetch(this.live(), keys)
  }

  /**
   * Applies changes given in any order; a later one of the same key wins. An `undefined` or empty value deletes.
   * Puts count before deletes, so no more is read than the net change needs. All or nothing: where this throws, the
   * trie is as it was. Cost: best in big batches, sorted by key; values and keys are copied.
   * @throws VarveError TRIE_NODE_MISSING, TRIE_NODE_INVALID, TRIE_KEY_INVALID, TRIE_VALUE_INVALID, TRIE_DISPOSED,
   *   ARENA_FULL
   */
  update(changes: readonly TrieChange[]): void {
    applyChanges(this.live(), changes)
  }

  /** `update` with one value. */
  put(key: Uint8Array, value: Uint8Array): void {
    this.update([{ key, value }])
  }

  /** `update` with one delete. Deleting what is not there changes nothing. */
  delete(key: Uint8Array): void {
    this.update([{ key, value: undefined }])
  }

  /**
   * The root hash, 32 fresh bytes. Hashes what is dirty; content does not change.
   * @throws VarveError TRIE_DISPOSED, ARENA_FULL
   */
  root(): Uint8Array {
    const core = this.live()
    hashTree(core)
    return core.root === NO_NODE ? Uint8Array.from(EMPTY_TRIE_ROOT) : hashOf(core, core.root)
  }

  /**
   * As `root`, and visits the path of each node that it hashes and that stands by itself: what changes since the last
   * hash have made. Paths have one nibble a byte and may be kept. Cost: that of `root` and an array a node.
   * @throws VarveError TRIE_DISPOSED, ARENA_FULL
   */
  rootWatched(visit: (path: Uint8Array) => void): Uint8Array {
    const core = this.live()
    const dirty = dirtyNodes(core)
    const root = this.root()
    for (const { node, path } of dirty) if (isStored(core, node)) visit(path)
    return root
  }

  /**
   * The net change since the last commit, or since the trie was opened. The trie counts it as stored from here on:
   * the caller makes it so before nodes are next read. The trie stays usable.
   * @throws VarveError TRIE_DISPOSED, ARENA_FULL; nothing is committed then
   */
  commit(options?: CommitOptions): ColumnNodeSet {
    return commitTree(this.live(), options)
  }

  /**
   * As `commit`, for a consumer that works while the walk goes on, on a thread of its own perhaps: `take` gets the
   * change in pieces, which `encodeChanges` turns into nodes wherever the arena's memory is. The trie is closed, with
   * TRIE_BUSY, until the commit that is returned is told to `finish` or to `cancel`.
   * @throws VarveError TRIE_DISPOSED, ARENA_FULL, and what `take` throws; nothing is committed then
   */
  commitInPieces(take: (piece: ChangePiece) => void, options?: CommitOptions): OpenCommit {
    return commitInPieces(this.live(), take, options)
  }

  /**
   * As `commit`, and tells a sink the change. The trie counts it as stored once the commit that is returned is told to
   * `finish`; until then it is closed.
   * @throws VarveError TRIE_DISPOSED, ARENA_FULL, and what the sink throws; nothing is committed then
   */
  commitTold(sink: NodeSink, options?: CommitOptions): OpenCommit {
    return commitTold(this.live(), sink, options)
  }

  /** Closes the trie until the commit that is returned is told to `cancel`: another thread reads its nodes. */
  hold(): OpenCommit {
    return new OpenCommit(this.live(), EMPTY_TRIE_ROOT, undefined)
  }

  /** Changes since the last commit, as many as were asked for; some may cancel out. */
  get changeCount(): number {
    return this.core.uncommittedCount
  }

  /** Whether other threads may encode its nodes: no value in memory is, or was, above 128 KiB. */
  get fitsHelpers(): boolean {
    return fitsHelpers(this.core)
  }

  /** Gives up all changes since the last commit. */
  rollback(): void {
    const core = this.live()
    core.unhashedCount = 0
    core.uncommittedCount = 0
    if (core.root === core.committedRoot) return
    for (const handle of core.retired) dropLinks(core, handle)
    core.retired.length = 0
    freeUncommitted(core, core.root)
    core.root = core.committedRoot
    core.shapeVersion++
    assert(core.linkCount === 0, 'trie: every link belongs to a node that was retired')
  }

  /**
   * Entries in key order. The trie may change in the middle: entries not yet given are then those of the changed
   * trie. What the iteration loads it lets go again, so memory is bounded by the longest path.
   * @throws VarveError TRIE_NODE_MISSING, TRIE_NODE_INVALID, TRIE_DISPOSED, ARENA_FULL, from the iterator
   */
  *entries(options?: IterationOptions): Generator<TrieEntry, void, undefined> {
    const iterator = new TrieIterator(this.live(), options)
    try {
      for (;;) {
        this.live()
        const entry = iterator.next()
        if (entry === undefined) return
        yield entry
      }
    } finally {
      if (!this.isDisposed) iterator.close()
    }
  }

  /**
   * The nodes that decide the presence or absence of `keys` under `root()`: for one key from the root down, as in
   * `eth_getProof`; for more, each node once, in the order of first use, also where equal subtrees stand at several
   * paths. No node for the empty trie; embedded nodes lie in their parents.
   * @throws VarveError TRIE_NODE_MISSING, TRIE_NODE_INVALID, TRIE_KEY_INVALID, TRIE_DISPOSED, ARENA_FULL
   */
  prove(keys: readonly Uint8Array[]): Uint8Array[] {
    const core = this.live()
    hashTree(core)
    const seen = new Set<NodeHandle>()
    for (const key of keys) {
      if (key.length > TRIE_KEY_BYTES_MAX) throw keyInvalid(key, TRIE_KEY_BYTES_MAX)
      findLeaf(core, key, (node) => seen.add(node))
    }
    return encodeAll(core, distinctNodes(core, seen))
  }

  /**
   * The encoding of the node that stands at a path under `root()`, or `undefined` where none does or it is embedded
   * in its parent. So a trie is a `NodeReader` of other tries.
   * @param path one nibble a byte, from the root to the node
   * @throws VarveError TRIE_NODE_MISSING, TRIE_NODE_INVALID, TRIE_DISPOSED, ARENA_FULL
   */
  nodeAt(path: Uint8Array): Uint8Array | undefined {
    const core = this.live()
    hashTree(core)
    const node = findNode(core, path)
    if (node === NO_NODE || !isStored(core, node)) return undefined
    const handles = new HandleList()
    handles.push(node)
    return encodeAll(core, handles)[0]
  }

  /**
   * Lets loaded nodes go, deepest levels first, until the trie holds at most `bytesMax` bytes; its top always stays.
   * Does nothing while there are uncommitted changes. Returns the bytes given back.
   * @throws VarveError TRIE_DISPOSED
   */
  shrink(bytesMax: number): number {
    return shrinkTree(this.live(), bytesMax)
  }

  /** Frees all nodes. The trie is dead from here on; a second call does nothing. */
  dispose(): void {
    if (this.isDisposed) return
    this.rollback()
    const { core } = this
    freeSubtree(core, core.root)
    core.root = NO_NODE
    core.committedRoot = NO_NODE
    this.isDisposed = true
    assert(core.usedBytes === 0, 'trie: a node was lost')
  }

  private live(): TrieCore {
    if (this.isDisposed) throw trieDisposed()
    if (this.core.isCommitOpen) throw trieBusy()
    return this.core
  }
}

function noVisit(): void {}

/** Encodings of nodes, in their order, copied. */
function encodeAll(core: TrieCore, nodes: HandleList): Uint8Array[] {
  const encodings: Uint8Array[] = []
  core.kernel.encodeNodes(nodes.handles, nodes.count, (bytes, start, lengths, count) => {
    let at = start
    for (let index = 0; index < count; index++) {
      const end = at + lengths[index]!
      encodings.push(copyBytes(bytes, at, end))
      at = end
    }
  })
  return encodings
}

/** The hashed nodes that stand by themselves, those of equal content once: a proof's reader finds nodes by hash. */
function distinctNodes(core: TrieCore, nodes: Iterable<NodeHandle>): HandleList {
  const distinct = new HandleList()
  const hashes = new Set<string>()
  for (const node of nodes) {
    if (!isStored(core, node)) continue
    const hash = toBareHex(hashOf(core, node))
    if (hashes.has(hash)) continue
    hashes.add(hash)
    distinct.push(node)
  }
  return distinct
}

/** Whether a hashed node stands in the store by itself. */
function isStored(core: TrieCore, node: NodeHandle): boolean {
  return ((core.arena.words[node * 2]! >>> 16) & 0xff) === HASH_BYTES
}
