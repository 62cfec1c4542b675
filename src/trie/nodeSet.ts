/**
 * What a commit changed, net: the nodes to write and the paths to delete. Applying a set to a store keyed by path
 * leaves there exactly the nodes that the new root reaches.
 *
 * The bytes of all nodes lie in a few big arrays; entries are views on them, made when first asked for. Treat them as
 * read-only: a set may be shared by many consumers.
 */
import { EMPTY_BYTES, VarveError } from '../base/index.ts'
import { pathText } from './faults.ts'

/** A node to write. Embedded nodes (shorter than 32 bytes) are part of their parents and never listed. */
export type NodeWrite = {
  /** From the root, one nibble a byte. */
  readonly path: Uint8Array
  readonly hash: Uint8Array
  readonly bytes: Uint8Array
  /** Bytes stored at this path in the parent state; `undefined` where there were none, or the commit left them out. */
  readonly previous: Uint8Array | undefined
}

/** A path at which no node is stored any more. */
export type NodeDeletion = {
  readonly path: Uint8Array
  /** Bytes that were stored there; `undefined` where the commit left them out. */
  readonly previous: Uint8Array | undefined
}

/** A leaf or branch value that is new, and the hash of the written node that holds it. */
export type LeafWrite = {
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly parentHash: Uint8Array
}

export type NodeSet = {
  /** Root of the trie after the commit. */
  readonly root: Uint8Array
  /** Children before parents. */
  readonly nodes: readonly NodeWrite[]
  /** Children before parents. */
  readonly deletions: readonly NodeDeletion[]
  /** In key order; empty unless the commit was asked for leaves. */
  readonly leaves: readonly LeafWrite[]
}

/** What stands at a path, or stood there. */
export const NodeShape = { None: 0, Leaf: 1, Inner: 2 } as const
export type NodeShape = (typeof NodeShape)[keyof typeof NodeShape]

/** One entry of a node set where it lies, without views. The same object comes again with the next entry. */
export type NodeEntry = {
  /** The path lies here from `pathStart` to `pathEnd`, one nibble a byte. */
  paths: Uint8Array
  pathStart: number
  pathEnd: number
  /** The node lies here from `start` to `end`; of no length for a deletion. */
  bytes: Uint8Array
  start: number
  end: number
  /** None for a deletion. */
  shape: NodeShape
  /** Of the node that was stored there before. */
  formerShape: NodeShape
}

/** A node set that can be walked without an object an entry. */
export type WalkableNodeSet = NodeSet & {
  /** Visits writes and deletions in the order in which they were found: children before parents. */
  readonly walk: (visit: (entry: Readonly<NodeEntry>) => void) => void
}

/**
 * The net set of two commits in a row. For each path the newer node wins and the older origin stays, so that
 * `previous` remains the bytes in the parent state; a node that is back to its origin is left out.
 */
export function mergeNodeSets(older: NodeSet, newer: NodeSet): NodeSet {
  const changes = new Map<string, NodeChange>()
  for (const set of [older, newer]) {
    for (const write of set.nodes) put(changes, write.path, write, write.previous)
    for (const deletion of set.deletions) put(changes, deletion.path, undefined, deletion.previous)
  }
  return setFrom(newer.root, changes, mergedLeaves(older.leaves, newer.leaves))
}

/**
 * The union of the sets of subtrees that share no path.
 * @param root of the trie that holds them all
 * @throws VarveError NODE_SET_OVERLAP
 */
export function joinDisjointNodeSets(root: Uint8Array, sets: readonly NodeSet[]): NodeSet {
  const seen = new Set<string>()
  const claim = (path: Uint8Array): void => {
    const key = pathText(path)
    if (seen.has(key))
      throw new VarveError<NodeSetErrorCode>(
        'NODE_SET_OVERLAP',
        `node sets to be joined both change path "${key}"`,
        { path: key },
      )
    seen.add(key)
  }
  for (const { nodes, deletions } of sets) {
    for (const { path } of nodes) claim(path)
    for (const { path } of deletions) claim(path)
  }
  return {
    root,
    nodes: sets.flatMap((set) => set.nodes),
    deletions: sets.flatMap((set) => set.deletions),
    leaves: sets.flatMap((set) => set.leaves),
  }
}

type NodeChange = {
  readonly path: Uint8Array
  readonly origin: Uint8Array | undefined
  write: NodeWrite | undefined
}

function put(
  changes: Map<string, NodeChange>,
  path: Uint8Array,
  write: NodeWrite | undefined,
  previous: Uint8Array | undefined,
): void {
  const key = pathText(path)
  const known = changes.get(key)
  if (known === undefined) {
    changes.set(key, { path, origin: previous, write })
    return
  }
  known.write = write
  // The last writer of a path goes last, after the children it was written with.
  changes.delete(key)
  changes.set(key, known)
}

function setFrom(
  root: Uint8Array,
  changes: Map<string, NodeChange>,
  leaves: readonly LeafWrite[],
): NodeSet {
  const nodes: NodeWrite[] = []
  const deletions: NodeDeletion[] = []
  for (const { path, origin, write } of changes.values()) {
    if (write === undefined) {
      if (origin !== undefined) deletions.push({ path, previous: origin })
    } else if (origin === undefined || !sameBytes(origin, write.bytes))
      nodes.push({ path, hash: write.hash, bytes: write.bytes, previous: origin })
  }
  return { root, nodes, deletions, leaves }
}

/** A leaf written again replaces the older one; keys that were deleted since are still listed. */
function mergedLeaves(
  older: readonly LeafWrite[],
  newer: readonly LeafWrite[],
): readonly LeafWrite[] {
  if (older.length === 0) return newer
  const leaves = new Map<string, LeafWrite>()
  for (const leaf of [...older, ...newer]) leaves.set(pathText(leaf.key), leaf)
  return [...leaves.values()]
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}

/** In place of the index of an encoding: there is none. */
export const NO_ENCODING = -1

/** Columns of the writes: entry i has path, hash, an encoding, and perhaps the encoding it replaces. */
export type NodeSetColumns = {
  /** Paths, one behind the other, writes and deletions in the order they were found. */
  readonly paths: Uint8Array
  readonly pathEnds: readonly number[]
  /** Index of the new bytes among the encodings, or NO_ENCODING for a deletion. */
  readonly encodingIndexes: readonly number[]
  /** Index of the previous bytes among the encodings, or NO_ENCODING. */
  readonly previousIndexes: readonly number[]
  /** Shape of the new node, and that of the former one shifted left by SHAPE_SHIFT. */
  readonly shapes: readonly number[]
  /** Hash of encoding i at 32 x i. */
  readonly hashes: Uint8Array
  /** Encodings in their order, one behind the other within a chunk. */
  readonly chunks: readonly Uint8Array[]
  /** Chunk of encoding i, and its end there. */
  readonly encodingChunks: readonly number[]
  readonly encodingEnds: readonly number[]
  readonly leaves: readonly LeafWrite[]
}

/** Of the former shape in a column of shapes. */
export const SHAPE_SHIFT = 2
const SHAPE_MASK = 3

/** A node set over columns: entries are made when first asked for. */
export class ColumnNodeSet implements WalkableNodeSet {
  readonly root: Uint8Array
  readonly leaves: readonly LeafWrite[]
  private readonly columns: NodeSetColumns
  private entries: { nodes: NodeWrite[]; deletions: NodeDeletion[] } | undefined

  constructor(root: Uint8Array, columns: NodeSetColumns) {
    this.root = root
    this.leaves = columns.leaves
    this.columns = columns
  }

  get nodes(): readonly NodeWrite[] {
    return this.materialize().nodes
  }

  get deletions(): readonly NodeDeletion[] {
    return this.materialize().deletions
  }

  walk(visit: (entry: Readonly<NodeEntry>) => void): void {
    const { paths, pathEnds, encodingIndexes, shapes, chunks } = this.columns
    const { encodingChunks, encodingEnds } = this.columns
    const entry: NodeEntry = {
      paths,
      pathStart: 0,
      pathEnd: 0,
      bytes: EMPTY_BYTES,
      start: 0,
      end: 0,
      shape: NodeShape.None,
      formerShape: NodeShape.None,
    }
    for (let index = 0; index < pathEnds.length; index++) {
      entry.pathStart = entry.pathEnd
      entry.pathEnd = pathEnds[index]!
      const encoding = encodingIndexes[index]!
      if (encoding === NO_ENCODING) {
        entry.start = 0
        entry.end = 0
      } else {
        entry.bytes = chunks[encodingChunks[encoding]!]!
        entry.start = this.encodingStart(encoding)
        entry.end = encodingEnds[encoding]!
      }
      entry.shape = (shapes[index]! & SHAPE_MASK) as NodeShape
      entry.formerShape = ((shapes[index]! >> SHAPE_SHIFT) & SHAPE_MASK) as NodeShape
      visit(entry)
    }
  }

  private materialize(): { nodes: NodeWrite[]; deletions: NodeDeletion[] } {
    if (this.entries !== undefined) return this.entries
    const { paths, pathEnds, hashes, encodingIndexes, previousIndexes } = this.columns
    const nodes: NodeWrite[] = []
    const deletions: NodeDeletion[] = []
    let pathStart = 0
    for (let index = 0; index < pathEnds.length; index++) {
      const pathEnd = pathEnds[index]!
      const path = paths.subarray(pathStart, pathEnd)
      pathStart = pathEnd
      const encodingIndex = encodingIndexes[index]!
      const previous = this.encoding(previousIndexes[index]!)
      const bytes = this.encoding(encodingIndex)
      if (bytes === undefined) {
        deletions.push({ path, previous })
        continue
      }
      const hash = hashes.subarray(32 * encodingIndex, 32 * encodingIndex + 32)
      nodes.push({ path, hash, bytes, previous })
    }
    this.entries = { nodes, deletions }
    return this.entries
  }

  private encoding(index: number): Uint8Array | undefined {
    if (index === NO_ENCODING) return undefined
    const { chunks, encodingChunks, encodingEnds } = this.columns
    return chunks[encodingChunks[index]!]!.subarray(this.encodingStart(index), encodingEnds[index]!)
  }

  private encodingStart(index: number): number {
    const { encodingChunks, encodingEnds } = this.columns
    const isFirst = index === 0 || encodingChunks[index - 1] !== encodingChunks[index]
    return isFirst ? 0 : encodingEnds[index - 1]!
  }
}

/** Error codes of this module. */
export type NodeSetErrorCode =
  /** Sets that should be of separate subtrees change the same path. */
  'NODE_SET_OVERLAP'
