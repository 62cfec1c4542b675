/**
 * The complete delta of every block in the tree: its layer until that is written, then in the table `deltas`, with the
 * ones used last in a cache. A delta whose block leaves the tree before the write is never encoded.
 */
import { toHex } from '../../base/index.ts'
import {
  type DiffSource,
  decodeDelta,
  type LayeredMap,
  type StateDelta,
} from '../../state/index.ts'
import { blockKey, type Store, type WriteBatch } from '../../store/index.ts'
import { blockMissing } from '../chainRecords.ts'
import type { BlockNode } from './blockTree.ts'

/** Encoded bytes of the deltas in the cache. Decoded and indexed they take about six times as much. */
const CACHE_BYTES_MAX = 16 * 1024 * 1024

/** What the row of a delta is made from, on any thread. */
export type DeltaRow = {
  readonly number: number
  readonly hash: Uint8Array
  readonly source: DiffSource
}

export class DeltaKeeper {
  private readonly store: Store
  /** The layer of each block that no write has taken yet. */
  private unwritten = new Map<BlockNode, LayeredMap>()
  /** The same of those that a write has taken and not finished. */
  private writing = new Map<BlockNode, LayeredMap>()
  private readonly written = new Set<BlockNode>()
  /** Least recently used first. */
  private readonly cache = new Map<BlockNode, { delta: StateDelta; byteCount: number }>()
  private cacheBytes = 0

  constructor(store: Store) {
    this.store = store
  }

  /** Keeps a block's delta as its layer alone. Takes that over. */
  add(node: BlockNode, layer: LayeredMap): void {
    this.unwritten.set(node, layer)
  }

  /** Tells of a block whose delta lies in the store. */
  addWritten(node: BlockNode): void {
    this.written.add(node)
  }

  /** The delta of a block in the tree, not the floor. @throws VarveError ENGINE_BLOCK_MISSING, STATE_DELTA_INVALID */
  get(node: BlockNode): StateDelta {
    const layer = this.unwritten.get(node) ?? this.writing.get(node)
    if (layer !== undefined) return layer.diff()
    const cached = this.cached(node)
    if (cached !== undefined) return cached
    const { number, hash } = node.header
    const row = this.store.get('deltas', blockKey(number, hash))
    if (row === undefined) throw blockMissing('delta', number, hash)
    const decoded = decodeDelta(row, `block ${number} ${toHex(hash)}`)
    this.remember(node, decoded, row.length)
    return decoded
  }

  /** Gives up a block's delta, and its row with the write that comes next. */
  drop(node: BlockNode, batch: WriteBatch): void {
    this.unwritten.get(node)?.close()
    this.unwritten.delete(node)
    this.forget(node)
    if (this.written.delete(node) || this.writing.has(node))
      batch.delete('deltas', blockKey(node.header.number, node.header.hash))
  }

  /** The layers whose deltas the store lacks, for a write; they stay open until it is finished. */
  beginWrite(): DeltaRow[] {
    this.writing = this.unwritten
    this.unwritten = new Map()
    return Array.from(this.writing, ([{ header }, layer]) => {
      const { number, hash } = header
      return { number, hash, source: layer.diffSource() }
    })
  }

  /** Tells that the store has what `beginWrite` gave. */
  finishWrite(): void {
    for (const [node, layer] of this.writing) {
      if (node.isKept) this.written.add(node)
      layer.close()
    }
    this.writing.clear()
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
