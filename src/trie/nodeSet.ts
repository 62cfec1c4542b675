/**
 * What a commit changed, net: the nodes to write and the paths to delete. Applying a set to a store keyed by path
 * leaves there exactly the nodes that the new root reaches.
 *
 * The bytes of all nodes lie in a few big arrays; entries are views on them, made when first asked for. Treat them as
 * read-only: a set may be shared by many consumers.
 */
import { VarveError } from '../base/index.ts'
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
  /** Those of one node side by side, in the order of the nodes; empty unless the commit was asked for leaves. */
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
  /** The hash of the node lies here from `hashStart`, 32 bytes. */
  hashes: Uint8Array
  hashStart: number
  /** Bytes that were stored there; `undefined` where there were none, or the commit left them out. */
  previous: Uint8Array | undefined
  /** None for a deletion. */
  shape: NodeShape
  /** Of the node that was stored there before. */
  formerShape: NodeShape
}

/**
 * Takes the changes of a commit one by one, in an order that does not depend on how the commit was made: children
 * before parents, subtrees in the order of their nibbles, a leaf right after the node that holds it.
 */
export type NodeSink = {
  /** A node is to be written or deleted. The entry is good for the call; the memory that it names may be kept. */
  node(entry: Readonly<NodeEntry>): void
  /** A leaf or branch value is new. @param parentHash of the node just told, which holds it. All may be kept. */
  leaf(value: Uint8Array, parentHash: Uint8Array, key: Uint8Array): void
}

/** A node set that can be walked without an object an entry. */
export type WalkableNodeSet = NodeSet & {
  /** Bytes of all nodes and paths, those from before included. */
  readonly byteCount: number
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

/** Error codes of this module. */
export type NodeSetErrorCode =
  /** Sets that should be of separate subtrees change the same path. */
  'NODE_SET_OVERLAP'
