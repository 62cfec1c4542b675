/**
 * The summary of a pipeline, on whatever thread: leads the tries along the layers of blocks, and hands over what is to
 * be written. Between that and the end of the write the store lacks those nodes; where memory makes the tries give them
 * up all the same, they are read back from here.
 */
import { StateSummary, storedNodes } from '../../commit/index.ts'
import {
  type DiffSource,
  diffAccounts,
  eachAccountChange,
  hashKey,
  invertDelta,
} from '../../state/index.ts'
import { type PackedBatch, type Store, type Table, WriteBatch } from '../../store/index.ts'
import { type NodeRows, putNodes } from '../stateBatch.ts'

export class SummaryWork {
  private readonly store: Store
  private readonly summary: StateSummary
  private readonly unwritten: UnwrittenNodes
  private readonly nodeBytesMax: number

  /** @param root of the state that the store holds */
  constructor(store: Store, root: Uint8Array, nodeBytesMax: number) {
    this.store = store
    this.nodeBytesMax = nodeBytesMax
    this.unwritten = new UnwrittenNodes(store)
    this.summary = new StateSummary(storedNodes(this.unwritten), root, { guessesLeaves: true })
  }

  advance(source: DiffSource): Uint8Array {
    return this.summary.updateEach((visit) => eachAccountChange(source, visit))
  }

  retreat(source: DiffSource): void {
    this.summary.update(invertDelta({ accounts: diffAccounts(source), codes: [] }))
  }

  collect(): PackedBatch {
    const set = this.summary.collect()
    const batch = new WriteBatch()
    putNodes(batch, set)
    if (this.summary.nodeBytes > this.nodeBytesMax) {
      putNodes(this.unwritten, set)
      this.summary.shrink(this.nodeBytesMax)
    }
    return batch.pack()
  }

  markPersisted(): void {
    // Requests that wait are answered within one turn, so reads would go on from the state before the write.
    this.store.refresh()
    this.unwritten.clear()
  }
}

/**
 * Rows of nodes that were collected and are not in the store, over those that are. Tries ask for nodes of their newest
 * state alone, and each of these was put here after whatever was at its path; so what is deleted need not be known.
 */
class UnwrittenNodes implements NodeRows {
  private readonly store: Store
  private readonly rows: Partial<Record<Table, Map<string, Uint8Array>>> = {}

  constructor(store: Store) {
    this.store = store
  }

  get(table: Table, key: Uint8Array): Uint8Array | undefined {
    const rows = this.rows[table]
    if (rows === undefined || rows.size === 0) return this.store.get(table, key)
    return rows.get(hashKey(key)) ?? this.store.get(table, key)
  }

  put(table: Table, key: Uint8Array, value: Uint8Array): void {
    this.rows[table] ??= new Map()
    this.rows[table].set(hashKey(key), value)
  }

  delete(): void {}

  deleteRange(): void {}

  clear(): void {
    for (const rows of Object.values(this.rows)) rows.clear()
  }
}
