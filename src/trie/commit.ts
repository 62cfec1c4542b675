/**
 * The net change since the last commit, by comparing the tree of that commit with the current one. Updates copy what
 * they change and share the rest by handle, so the comparison stops wherever both trees name the same node.
 *
 * Both trees are walked along the same path. A cursor is a node that covers the path: it starts there, or is an
 * extension that passes through. Nodes that start at the path are written, deleted or found equal:
 *
 *        old     new      stored at this path
 *         -       S       written
 *         S       S'      written, with the old bytes as `previous`, unless the hashes agree
 *         S       e       deleted: the new node is embedded in its parent
 *         S       -       deleted, also where a longer extension now passes through
 *
 * S: stored, that is the root or 32 bytes and more. e: embedded.
 */
import {
  BODY_WORD,
  DETAIL_WORD,
  FLAG_COMMITTED,
  HANDLE_BYTES,
  HANDLE_WORDS,
  KEY_OFFSET,
  KIND_MASK,
  NO_NODE,
  type NodeHandle,
  NodeKind,
  REFERENCE_BYTES,
  REFERENCE_LENGTH_SHIFT,
  REFERENCE_OFFSET,
  VALUE_SLOT,
} from '../arena/index.ts'
import { assert, EMPTY_BYTES, EMPTY_TRIE_ROOT, TRIE_KEY_BYTES_MAX, VERIFY } from '../base/index.ts'
import { copyBytes, followLink, freeNode, hashOf, type TrieCore } from './core.ts'
import { HandleList } from './handleList.ts'
import { hashTree } from './hashTree.ts'
import { dropLinks } from './load.ts'
import { nibbleAt } from './nibbles.ts'
import {
  ColumnNodeSet,
  type LeafWrite,
  NO_ENCODING,
  NodeShape,
  SHAPE_SHIFT,
  type WalkableNodeSet,
} from './nodeSet.ts'

// Numbers of the layout, in this file for speed.
const LEAF = 1
const EXTENSION = 2
const BRANCH = 3
const KIND = 0xff
const COMMITTED = 0x200
const WORDS = 2
const DETAIL = 1
const BODY = 10
assert(
  LEAF === NodeKind.Leaf && EXTENSION === NodeKind.Extension && BRANCH === NodeKind.Branch,
  'commit: node kinds',
)
assert(KIND === KIND_MASK && COMMITTED === FLAG_COMMITTED, 'commit: flags')
assert(WORDS === HANDLE_WORDS && DETAIL === DETAIL_WORD && BODY === BODY_WORD, 'commit: layout')

export type CommitOptions = {
  /** List the leaves that are new, for consumers that follow values to other data. */
  readonly leaves?: boolean
  /** False leaves the bytes from before out of the set, which spares their encoding. */
  readonly previous?: boolean
}

/**
 * Hashes what is dirty, takes the net change, and makes the current tree the committed one. An unchanged trie gives
 * an empty set.
 * @throws VarveError ARENA_FULL; the trie is as before then, and a later commit gives the whole change
 */
export function commitTree(core: TrieCore, options: CommitOptions = {}): WalkableNodeSet {
  hashTree(core)
  const root = core.root === NO_NODE ? Uint8Array.from(EMPTY_TRIE_ROOT) : hashOf(core, core.root)
  const commit = new Commit(core, options)
  if (core.root !== core.committedRoot) {
    commit.compare(core.committedRoot, core.root, 0)
    // Encoding may find the arena full, so it comes before anything is given up.
    commit.encode()
    if (options.leaves === true) commit.collectLeaves()
    commit.finish()
  }
  return commit.nodeSet(root)
}

/**
 * Lists that keep their memory from one commit to the next. No reader is called in the middle of a commit, so one
 * commit uses them at a time.
 */
const scratch = {
  /** Path of the cursors, one nibble a byte. */
  path: new Uint8Array(2 * TRIE_KEY_BYTES_MAX + 1),
  /** Paths of the entries, one behind the other. */
  paths: new Uint8Array(4096),
  /** Nodes to encode. */
  encoded: new HandleList(),
  /** Nodes of the current tree that are not committed yet. */
  fresh: new HandleList(),
  /** The leaves among them, and for each the written node that holds it. */
  leaves: new HandleList(),
  holders: new HandleList(),
}

class Commit {
  private readonly core: TrieCore
  private readonly words: Uint32Array
  private readonly wantsLeaves: boolean
  private readonly wantsPrevious: boolean
  private readonly path = scratch.path
  private readonly encoded = scratch.encoded
  private readonly fresh = scratch.fresh
  private pathBytes = 0
  // The columns of the node set.
  private readonly pathEnds: number[] = []
  private readonly encodingIndexes: number[] = []
  private readonly previousIndexes: number[] = []
  private readonly shapes: number[] = []
  private readonly chunks: Uint8Array[] = []
  private readonly encodingChunks: number[] = []
  private readonly encodingEnds: number[] = []
  private readonly leaves: LeafWrite[] = []
  private hashes = EMPTY_BYTES

  constructor(core: TrieCore, { leaves = false, previous = true }: CommitOptions) {
    this.core = core
    this.words = core.arena.words
    this.wantsLeaves = leaves
    this.wantsPrevious = previous
    scratch.encoded.count = 0
    scratch.fresh.count = 0
    scratch.leaves.count = 0
    scratch.holders.count = 0
  }

  nodeSet(root: Uint8Array): WalkableNodeSet {
    return new ColumnNodeSet(root, {
      paths: scratch.paths.slice(0, this.pathBytes),
      pathEnds: this.pathEnds,
      encodingIndexes: this.encodingIndexes,
      previousIndexes: this.previousIndexes,
      shapes: this.shapes,
      hashes: this.hashes,
      chunks: this.chunks,
      encodingChunks: this.encodingChunks,
      encodingEnds: this.encodingEnds,
      leaves: this.leaves,
    })
  }

  /** Compares two cursors at `depth`; either may be 0. `holder` is the written node in which the new one lies. */
  compare(
    former: NodeHandle,
    current: NodeHandle,
    depth: number,
    holder: NodeHandle = NO_NODE,
  ): void {
    if (former === current) return
    if (former === NO_NODE) {
      this.addTree(current, depth, holder)
      return
    }
    if (current === NO_NODE) {
      this.dropTree(former, depth)
      return
    }
    const formerStored = this.isStoredAt(former, depth)
    const currentStored = this.isStoredAt(current, depth)
    const equal = formerStored && currentStored && this.sameReference(former, current)
    // Where the hash is the same nothing is written, so no leaf below is new to anybody.
    const holds = currentStored ? (equal ? NO_NODE : current) : holder
    if (this.startsAt(current, depth)) this.visitFresh(current, holds)
    this.compareBelow(former, current, depth, holds)
    if (equal) return
    if (currentStored) this.addWrite(current, depth, formerStored ? former : NO_NODE)
    else if (formerStored) this.addDeletion(former, depth)
  }

  /** Encodes all that was listed, in one pass over big regions, and copies the hashes. */
  encode(): void {
    const { encoded, core, chunks, encodingChunks, encodingEnds } = this
    core.kernel.encodeNodes(encoded.handles, encoded.count, (bytes, start, lengths, count) => {
      let end = 0
      for (let index = 0; index < count; index++) {
        end += lengths[index]!
        encodingChunks.push(chunks.length)
        encodingEnds.push(end)
      }
      chunks.push(copyBytes(bytes, start, start + end))
    })
    const hashes = new Uint32Array((REFERENCE_BYTES / 4) * encoded.count)
    const { words } = core.arena
    let target = 0
    for (let index = 0; index < encoded.count; index++) {
      const reference = encoded.handles[index]! * WORDS + REFERENCE_OFFSET / 4
      for (let word = reference; word < reference + REFERENCE_BYTES / 4; word++)
        hashes[target++] = words[word]!
    }
    this.hashes = new Uint8Array(hashes.buffer)
  }

  /** Copies keys and values of the leaves found. */
  collectLeaves(): void {
    const { core } = this
    const { leaves, holders } = scratch
    const { bytes, words } = core.arena
    for (let index = 0; index < leaves.count; index++) {
      const leaf = leaves.handles[index]!
      const key = leaf * HANDLE_BYTES + KEY_OFFSET
      const value = key + (words[leaf * WORDS + DETAIL]! >>> 16)
      this.leaves.push({
        key: copyBytes(bytes, key, value),
        value: copyBytes(bytes, value, value + words[leaf * WORDS + BODY]!),
        parentHash: hashOf(core, holders.handles[index] as NodeHandle),
      })
    }
  }

  /** Makes the current tree the committed one and frees what only the former one used. */
  finish(): void {
    const { core, fresh } = this
    const { words } = core.arena
    for (let index = 0; index < fresh.count; index++)
      words[fresh.handles[index]! * WORDS]! |= FLAG_COMMITTED
    for (const handle of core.retired) dropLinks(core, handle)
    for (const handle of core.retired) freeNode(core, handle)
    core.retired.length = 0
    core.committedRoot = core.root
    core.shapeVersion++
    assert(core.linkCount === 0, 'commit: every link belongs to a node that was retired')
  }

  private compareBelow(
    former: NodeHandle,
    current: NodeHandle,
    depth: number,
    holder: NodeHandle,
  ): void {
    const { words } = this
    const formerKind = words[former * WORDS]! & KIND
    const currentKind = words[current * WORDS]! & KIND
    if (currentKind === LEAF && formerKind === LEAF) return
    if (currentKind === BRANCH && words[current * WORDS + BODY + VALUE_SLOT] !== 0)
      this.visitValue(current, holder)
    for (let nibble = 0; nibble < 16; nibble++) {
      const before = followLink(this.core, this.childAlong(former, formerKind, depth, nibble))
      const after = this.childAlong(current, currentKind, depth, nibble)
      if (before === after) continue
      this.path[depth] = nibble
      this.compare(before, after, depth + 1, holder)
    }
  }

  /** The cursor one nibble further along `nibble`, or 0. */
  private childAlong(node: NodeHandle, kind: number, depth: number, nibble: number): NodeHandle {
    const { words } = this
    const word = node * WORDS
    if (kind === BRANCH) return words[word + BODY + nibble] as NodeHandle
    if (kind !== EXTENSION) return NO_NODE
    if (nibbleAt(this.core.arena.bytes, node * HANDLE_BYTES + KEY_OFFSET, depth) !== nibble)
      return NO_NODE
    return depth + 1 === words[word + DETAIL]! >>> 16 ? (words[word + BODY] as NodeHandle) : node
  }

  /** A cursor of the new tree where the former one had nothing. */
  private addTree(node: NodeHandle, depth: number, holder: NodeHandle): void {
    const { words } = this
    const word = node * WORDS
    if (VERIFY)
      assert(
        (words[word]! & COMMITTED) === 0,
        'commit: a shared node has no place in the former tree',
      )
    const kind = words[word]! & KIND
    const stored = this.isStoredAt(node, depth)
    const holds = stored ? node : holder
    if (this.startsAt(node, depth)) this.visitFresh(node, holds)
    if (kind === BRANCH) {
      if (words[word + BODY + VALUE_SLOT] !== 0) this.visitValue(node, holds)
      for (let mask = words[word + DETAIL]! & 0xffff; mask !== 0; mask &= mask - 1) {
        const nibble = 31 - Math.clz32(mask & -mask)
        this.path[depth] = nibble
        this.addTree(words[word + BODY + nibble] as NodeHandle, depth + 1, holds)
      }
    } else if (kind === EXTENSION) {
      const end = this.followPath(node, depth)
      this.addTree(words[word + BODY] as NodeHandle, end, holds)
    }
    if (stored) this.addWrite(node, depth, NO_NODE)
  }

  /** A cursor of the former tree where the new one has nothing. */
  private dropTree(node: NodeHandle, depth: number): void {
    const { words } = this
    const word = node * WORDS
    const kind = words[word]! & KIND
    if (VERIFY) assert(kind <= BRANCH, 'commit: what was deleted had been loaded')
    if (kind === BRANCH) {
      for (let nibble = 0; nibble < 16; nibble++) {
        const child = followLink(this.core, words[word + BODY + nibble] as NodeHandle)
        if (child === NO_NODE) continue
        this.path[depth] = nibble
        this.dropTree(child, depth + 1)
      }
    } else if (kind === EXTENSION) {
      const end = this.followPath(node, depth)
      this.dropTree(followLink(this.core, words[word + BODY] as NodeHandle), end)
    }
    if (this.isStoredAt(node, depth)) this.addDeletion(node, depth)
  }

  /** Appends the rest of an extension to the path; returns its end. */
  private followPath(node: NodeHandle, depth: number): number {
    const end = this.words[node * WORDS + DETAIL]! >>> 16
    const offset = node * HANDLE_BYTES + KEY_OFFSET
    for (let index = depth; index < end; index++)
      this.path[index] = nibbleAt(this.core.arena.bytes, offset, index)
    return end
  }

  /** Whether a cursor's node begins at `depth`, and is not only passing. */
  private startsAt(node: NodeHandle, depth: number): boolean {
    const word = node * WORDS
    const kind = this.words[word]! & KIND
    return kind > EXTENSION || (this.words[word + DETAIL]! & 0xffff) === depth
  }

  private isStoredAt(node: NodeHandle, depth: number): boolean {
    if (!this.startsAt(node, depth)) return false
    const length = (this.words[node * WORDS]! >>> REFERENCE_LENGTH_SHIFT) & 0xff
    return length === REFERENCE_BYTES
  }

  private sameReference(a: NodeHandle, b: NodeHandle): boolean {
    const { words } = this
    for (let word = REFERENCE_OFFSET / 4; word < BODY; word++)
      if (words[a * WORDS + word] !== words[b * WORDS + word]) return false
    return true
  }

  private visitFresh(node: NodeHandle, holder: NodeHandle): void {
    if ((this.words[node * WORDS]! & COMMITTED) !== 0) return
    this.fresh.push(node)
    if ((this.words[node * WORDS]! & KIND) === LEAF) this.visitLeaf(node, holder)
  }

  private visitValue(branch: NodeHandle, holder: NodeHandle): void {
    const leaf = this.words[branch * WORDS + BODY + VALUE_SLOT] as NodeHandle
    if ((this.words[leaf * WORDS]! & COMMITTED) !== 0) return
    this.fresh.push(leaf)
    this.visitLeaf(leaf, holder)
  }

  private visitLeaf(leaf: NodeHandle, holder: NodeHandle): void {
    if (!this.wantsLeaves || holder === NO_NODE) return
    scratch.leaves.push(leaf)
    scratch.holders.push(holder)
  }

  private addWrite(node: NodeHandle, depth: number, former: NodeHandle): void {
    this.addPath(depth)
    this.encodingIndexes.push(this.encoded.count)
    this.encoded.push(node)
    this.shapes.push(this.shapeOf(node) | (this.shapeOf(former) << SHAPE_SHIFT))
    this.addPrevious(former)
  }

  private addDeletion(former: NodeHandle, depth: number): void {
    this.addPath(depth)
    this.encodingIndexes.push(NO_ENCODING)
    this.shapes.push(this.shapeOf(former) << SHAPE_SHIFT)
    this.addPrevious(former)
  }

  private shapeOf(node: NodeHandle): NodeShape {
    if (node === NO_NODE) return NodeShape.None
    return (this.words[node * WORDS]! & KIND) === LEAF ? NodeShape.Leaf : NodeShape.Inner
  }

  private addPrevious(former: NodeHandle): void {
    const isListed = former !== NO_NODE && this.wantsPrevious
    this.previousIndexes.push(isListed ? this.encoded.count : NO_ENCODING)
    if (isListed) this.encoded.push(former)
  }

  private addPath(depth: number): void {
    const start = this.pathBytes
    const end = start + depth
    let { paths } = scratch
    if (end > paths.length) {
      paths = new Uint8Array(Math.max(end, 2 * paths.length))
      paths.set(scratch.paths)
      scratch.paths = paths
    }
    for (let index = 0; index < depth; index++) paths[start + index] = this.path[index]!
    this.pathBytes = end
    this.pathEnds.push(end)
  }
}
