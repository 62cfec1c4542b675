/**
 * The complete delta of every block in the tree: in memory until it is written, then in the table `deltas`, with the
 * ones used last in a cache. A delta whose block leaves the tree before the write is never encoded.
 */
import { toHex } from '../../base/index.ts'
import { decodeDelta, encodeDelta, type StateDelta } from '../../state/index.ts'
import { blockKey, type Store, type WriteBatch } from '../../store/index.ts'
import { blockMissing } from '../chainRecords.ts'
import type { BlockNode } from './blockTree.ts'

/** Encoded bytes of the deltas in the cache. Decoded and indexed they take about six times as much. */
const CACHE_BYTES_MAX = 16 * 1024 * 1024

export class DeltaKeeper {
  private readonly store: Store
  private readonly unwritten = new Map<BlockNode, StateDelta>()
  private readonly written = new Set<BlockNode>()
  /** Encoded sizes of what `writeTo` gave last. */
  private encodedBytes: number[] = []
  /** Least recently used first. */
  private readonly cache = new Map<BlockNode, { delta: StateDelta; byteCount: number }>()
  private cacheBytes = 0

  constructor(store: Store) {
    this.store = store
  }

  /** Keeps a block's delta. */
  add(node: BlockNode, delta: StateDelta): void {
    this.unwritten.set(node, delta)
  }

  /** Tells of a block whose delta lies in the store. */
  addWritten(node: BlockNode): void {
    this.written.add(node)
  }

  /** The delta of a block in the tree, not the floor. @throws VarveError ENGINE_BLOCK_MISSING, STATE_DELTA_INVALID */
  get(node: BlockNode): StateDelta {
    const delta = this.unwritten.get(node) ?? this.cached(node)
    if (delta !== undefined) return delta
    const { number, hash } = node.header
    const row = this.store.get('deltas', blockKey(number, hash))
    if (row === undefined) throw blockMissing('delta', number, hash)
    const decoded = decodeDelta(row, `block ${number} ${toHex(hash)}`)
    this.remember(node, decoded, row.length)
    return decoded
  }

  /** Gives up a block's delta, and its row with the next write. */
  drop(node: BlockNode, batch: WriteBatch): void {
    this.unwritten.delete(node)
    this.forget(node)
    if (this.written.delete(node))
      batch.delete('deltas', blockKey(node.header.number, node.header.hash))
  }

  /** Adds the rows that the store lacks. */
  writeTo(batch: WriteBatch): void {
    this.encodedBytes = []
    for (const [{ header }, delta] of this.unwritten) {
      const row = encodeDelta(delta)
      this.encodedBytes.push(row.length)
      batch.put('deltas', blockKey(header.number, header.hash), row)
    }
  }

  /** Tells that the store has what `writeTo` gave. */
  markWritten(): void {
    let index = 0
    for (const [node, delta] of this.unwritten) {
      this.written.add(node)
      this.remember(node, delta, this.encodedBytes[index++]!)
    }
    this.unwritten.clear()
  }

  private cached(node: BlockNode): StateDelta | undefined {
    const entry = this.cache.get(node)
    if (entry === undefined) return undefined
    this.cache.delete(node)
    this.cache.set(node, entry)
    return entry.delta
  }

  private remember(node: BlockNode, delta: StateDelta, byteCount: number): void {
    this.cache.set(node, { delta, byteCount })
    this.cacheBytes += byteCount
    for (const oldest of this.cache.keys()) {
      if (this.cacheBytes <= CACHE_BYTES_MAX) break
      this.forget(oldest)
    }
  }

  private forget(node: BlockNode): void {
    this.cacheBytes -= this.cache.get(node)?.byteCount ?? 0
    this.cache.delete(node)
  }
}
