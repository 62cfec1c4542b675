/**
 * A store for tests whose reads stay as they are until `refresh`, as on a thread that another one writes beside, at its
 * worst: whatever forgets to refresh reads what is old.
 */
import {
  memoryStore,
  type RangeBounds,
  type Store,
  TABLES,
  type Table,
  WriteBatch,
} from '../../store/index.ts'

/** A handle on `base`, which others write to. */
export class LateStore implements Store {
  readonly description = 'late'
  private readonly base: Store
  private seen: Store

  constructor(base: Store) {
    this.base = base
    this.seen = copyStore(base)
  }

  get(table: Table, key: Uint8Array): Uint8Array | undefined {
    return this.seen.get(table, key)
  }

  has(table: Table, key: Uint8Array): boolean {
    return this.seen.has(table, key)
  }

  range(table: Table, bounds?: RangeBounds) {
    return this.seen.range(table, bounds)
  }

  write(batch: WriteBatch): void {
    this.base.write(batch)
    this.refresh()
  }

  refresh(): void {
    this.seen = copyStore(this.base)
  }

  tableStats() {
    return this.seen.tableStats()
  }

  close(): void {
    this.seen.close()
  }
}

/** All rows of a store, in memory. */
export function copyStore(store: Store): Store {
  const batch = new WriteBatch()
  for (const table of TABLES)
    for (const { key, value } of store.range(table)) batch.put(table, key, value)
  const copy = memoryStore()
  copy.write(batch)
  return copy
}
