/**
 * What a walk over two trees found: nodes to write, paths to delete, leaves that are new, in the order in which they
 * are to be told. Nodes are named by handle, so a list is good while the arena keeps them.
 *
 *     entry i   path, node to write or 0, stored node that was there or 0
 *     leaves    those that the node of entry i holds come right after it: up to leafEnds[i]
 */
import type { NodeHandle } from '../arena/index.ts'
import { HandleList } from './handleList.ts'

/** The entries of a list in arrays of their own, which may be posted to another thread. */
export type ChangePiece = {
  /** Paths, one nibble a byte, one behind the other. */
  readonly paths: Uint8Array<ArrayBuffer>
  readonly pathEnds: Uint32Array<ArrayBuffer>
  /** Nodes to write; 0 deletes. */
  readonly writes: Uint32Array<ArrayBuffer>
  /** Nodes that the parent state has stored at these paths, or 0. */
  readonly formers: Uint32Array<ArrayBuffer>
  /** Leaves told before entry i + 1. */
  readonly leafEnds: Uint32Array<ArrayBuffer>
  readonly leaves: Uint32Array<ArrayBuffer>
}

/** Keeps its memory when it is emptied. */
export class ChangeList {
  private paths = new Uint8Array(1024)
  private pathBytes = 0
  private readonly pathEnds = new HandleList()
  private readonly writes = new HandleList()
  private readonly formers = new HandleList()
  private readonly leafEnds = new HandleList()
  private readonly leaves = new HandleList()

  /** Entries. */
  get count(): number {
    return this.writes.count
  }

  clear(): void {
    this.pathBytes = 0
    const { pathEnds, writes, formers, leafEnds, leaves } = this
    for (const list of [pathEnds, writes, formers, leafEnds, leaves]) list.count = 0
  }

  /** @param write 0 deletes @param former 0 where nothing was stored; not both */
  add(path: Uint8Array, depth: number, write: NodeHandle, former: NodeHandle): void {
    const start = this.pathBytes
    const end = start + depth
    if (end > this.paths.length) this.growPaths(end)
    const { paths } = this
    for (let index = 0; index < depth; index++) paths[start + index] = path[index]!
    this.pathBytes = end
    this.pathEnds.push(end)
    this.writes.push(write)
    this.formers.push(former)
    this.leafEnds.push(this.leaves.count)
  }

  /** Adds a leaf to those that the last entry's node holds. */
  addLeaf(leaf: number): void {
    this.leaves.push(leaf)
    this.leafEnds.handles[this.leafEnds.count - 1] = this.leaves.count
  }

  /** A copy of what is listed. */
  piece(): ChangePiece {
    return {
      paths: this.paths.slice(0, this.pathBytes),
      pathEnds: this.pathEnds.slice(),
      writes: this.writes.slice(),
      formers: this.formers.slice(),
      leafEnds: this.leafEnds.slice(),
      leaves: this.leaves.slice(),
    }
  }

  private growPaths(end: number): void {
    const paths = new Uint8Array(Math.max(end, 2 * this.paths.length))
    paths.set(this.paths)
    this.paths = paths
  }
}

/** The buffers of a piece, to be transferred with it. */
export function pieceBuffers(piece: ChangePiece): ArrayBuffer[] {
  const { paths, pathEnds, writes, formers, leafEnds, leaves } = piece
  return [paths, pathEnds, writes, formers, leafEnds, leaves].map(({ buffer }) => buffer)
}
