/**
 * The store in memory: for tests, browsers, and chains that need not outlive their process.
 *
 * Every table is an immutable `MemoryTable`; a write builds new ones and then swaps the whole set, so that it is atomic
 * without undo, and an iteration keeps the table it began with.
 */

import {
  EMPTY_TABLE,
  entryCount,
  type MemoryChange,
  type MemoryTable,
  pageKey,
  pageValue,
  tableApply,
  tableBytes,
  tableDeleteRange,
  tableGet,
  tableSeek,
} from './memoryPage.ts'
import {
  closedFault,
  type KeyInterval,
  keyInterval,
  type RangeBounds,
  type Store,
  type StoreEntry,
  type TableStats,
} from './store.ts'
import { TABLE_INDEX, TABLES, type Table } from './tables.ts'
import type { WriteBatch } from './writeBatch.ts'

/** A new, empty store. Cost of a read: two binary searches and a copy. */
export function memoryStore(): Store {
  return new MemoryStore()
}

class MemoryStore implements Store {
  readonly description = 'memory'
  private tables: readonly MemoryTable[] = TABLES.map(() => EMPTY_TABLE)
  private isClosed = false

  get(table: Table, key: Uint8Array): Uint8Array | undefined {
    return tableGet(this.tableOf(table), key)?.slice()
  }

  has(table: Table, key: Uint8Array): boolean {
    return tableGet(this.tableOf(table), key) !== undefined
  }

  range(table: Table, bounds: RangeBounds = {}): Iterable<StoreEntry> {
    this.tableOf(table)
    const interval = keyInterval(bounds)
    return { [Symbol.iterator]: () => this.iterate(table, interval) }
  }

  private *iterate(table: Table, interval: KeyInterval): Generator<StoreEntry> {
    const snapshot = this.tableOf(table)
    const entries = interval.reverse
      ? entriesDown(snapshot, interval)
      : entriesUp(snapshot, interval)
    for (const entry of entries) {
      yield entry
      if (this.isClosed) throw closedFault(this.description)
    }
  }

  write(batch: WriteBatch): void {
    if (this.isClosed) throw closedFault(this.description)
    const tables = [...this.tables]
    for (const { table, gte, lt } of batch.ranges)
      tables[table] = tableDeleteRange(tables[table]!, gte, lt)
    const changes: MemoryChange[][] = TABLES.map(() => [])
    for (const operation of batch.operationsSorted())
      changes[batch.tableAt(operation)]!.push({
        key: batch.keyAt(operation),
        value: batch.valueAt(operation),
      })
    changes.forEach((list, index) => {
      tables[index] = tableApply(tables[index]!, list)
    })
    this.tables = tables
  }

  refresh(): void {
    if (this.isClosed) throw closedFault(this.description)
  }

  tableStats(): readonly TableStats[] {
    return TABLES.map((table) => {
      const content = this.tableOf(table)
      return { table, entryCount: content.entryCount, bytes: tableBytes(content) }
    })
  }

  close(): void {
    this.isClosed = true
    this.tables = TABLES.map(() => EMPTY_TABLE)
  }

  private tableOf(table: Table): MemoryTable {
    if (this.isClosed) throw closedFault(this.description)
    return this.tables[TABLE_INDEX[table]]!
  }
}

function* entriesUp(table: MemoryTable, interval: KeyInterval): Generator<StoreEntry> {
  const { lower, upper, limit } = interval
  const end = upper === undefined ? undefined : tableSeek(table, upper)
  const start = lower === undefined ? { page: 0, entry: 0 } : tableSeek(table, lower)
  let left = limit
  for (let pageIndex = start.page; pageIndex < table.pages.length; pageIndex++) {
    const page = table.pages[pageIndex]!
    const first = pageIndex === start.page ? start.entry : 0
    if (end !== undefined && pageIndex > end.page) return
    const last = pageIndex === end?.page ? end.entry : entryCount(page)
    for (let entry = first; entry < last; entry++) {
      if (left-- <= 0) return
      yield { key: pageKey(page, entry).slice(), value: pageValue(page, entry).slice() }
    }
  }
}

function* entriesDown(table: MemoryTable, interval: KeyInterval): Generator<StoreEntry> {
  const { lower, upper, limit } = interval
  const end = lower === undefined ? { page: 0, entry: 0 } : tableSeek(table, lower)
  const start =
    upper === undefined ? { page: table.pages.length - 1, entry: -1 } : tableSeek(table, upper)
  let left = limit
  for (let pageIndex = start.page; pageIndex >= end.page; pageIndex--) {
    const page = table.pages[pageIndex]
    if (page === undefined) return
    const above = pageIndex === start.page && start.entry >= 0 ? start.entry : entryCount(page)
    const lowest = pageIndex === end.page ? end.entry : 0
    for (let entry = above - 1; entry >= lowest; entry--) {
      if (left-- <= 0) return
      yield { key: pageKey(page, entry).slice(), value: pageValue(page, entry).slice() }
    }
  }
}
