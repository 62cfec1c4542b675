/**
 * What the engine asks of a database: named tables of byte keys in byte order, synchronous reads, and one atomic write.
 * Two implementations: `memoryStore.ts` and `lmdbStore.ts`; `store.suite.ts` holds for both.
 *
 * Not here: caching, encoding, retries, and any knowledge of what a value means.
 */
import { VarveError } from '../base/index.ts'
import type { Table } from './tables.ts'
import type { WriteBatch } from './writeBatch.ts'

/** Longest key: 511 bytes, what every build of LMDB can hold. Ours are at most 65. Keys have at least one byte. */
export const KEY_BYTES_MAX = 511
/** Longest value: 64 MiB, as the largest item a chain file may hold. The empty value is a value. */
export const VALUE_BYTES_MAX = 64 * 1024 * 1024

/** How another thread of the process that writes to a store opens it too. A message can carry it. */
export type SharedStore = {
  readonly folder: string
  readonly sync: 'always' | 'os'
  /** Memory of the store's `WriterGate`. */
  readonly gate: Int32Array<SharedArrayBuffer>
}

export interface Store {
  /** One line for a person: the kind of the store and, where it has one, its folder. */
  readonly description: string

  /** For `openSharedStore` on another thread; absent where the store is this thread's alone, or is only read. */
  readonly shared?: SharedStore | undefined

  /** Value of `key`, or `undefined`. The array is a copy that the caller owns. @throws VarveError STORE_CLOSED */
  get(table: Table, key: Uint8Array): Uint8Array | undefined

  /** True where `key` has a value. @throws VarveError STORE_CLOSED */
  has(table: Table, key: Uint8Array): boolean

  /**
   * Entries within the bounds, in byte order of their keys, or in the opposite order. Each iteration sees the table as
   * it was at its first step, whatever is written meanwhile. Keys and values are copies that the caller owns.
   *
   * An iteration holds its snapshot until it is done or left (`break`, `return`): one that is dropped half-way in any
   * other manner keeps old pages from being reused until the store is closed. Memory is bounded by one entry.
   * @throws VarveError STORE_RANGE_INVALID, STORE_CLOSED (also from an iteration that outlives its store)
   */
  range(table: Table, bounds?: RangeBounds): Iterable<StoreEntry>

  /**
   * Applies the whole batch, or nothing. Once it returns, the batch is visible to every read, and as durable as the
   * store was opened to be; when it throws, the store is as it was and may be used on. The batch is left as it is:
   * `clear` it to use it again.
   * @throws VarveError STORE_READ_ONLY, STORE_FULL, STORE_IO, STORE_CLOSED
   */
  write(batch: WriteBatch): void

  /**
   * From here on reads see all that other threads and processes have written. Without it they see one state within one
   * turn of the event loop, and the next turn may be late on a busy thread. Running iterations keep what they see.
   * @throws VarveError STORE_CLOSED
   */
  refresh(): void

  /** Size of every table, in the order of `TABLES`. @throws VarveError STORE_CLOSED */
  tableStats(): readonly TableStats[]

  /** Ends running iterations and gives everything back. Further calls throw STORE_CLOSED; closing twice is fine. */
  close(): void
}

export type StoreEntry = { readonly key: Uint8Array; readonly value: Uint8Array }

/** Bounds of a range: at most one lower and one upper. An empty range, such as `gte` above `lt`, has no entries. */
export type RangeBounds = {
  /** First key that may come. */
  readonly gte?: Uint8Array | undefined
  /** Only keys after this one. */
  readonly gt?: Uint8Array | undefined
  /** Last key that may come. */
  readonly lte?: Uint8Array | undefined
  /** Only keys before this one. */
  readonly lt?: Uint8Array | undefined
  /** From the highest key to the lowest. */
  readonly reverse?: boolean
  /** Most entries to yield, counted from the end where the iteration starts. Integer from 0; without it, all. */
  readonly limit?: number
}

export type TableStats = {
  readonly table: Table
  readonly entryCount: number
  /** Bytes the table takes in the store, with its inner structure: an LMDB table counts whole pages. */
  readonly bytes: number
}

/** A range as the half-open interval `lower` <= key < `upper`; an absent end is open. */
export type KeyInterval = {
  readonly lower: Uint8Array | undefined
  readonly upper: Uint8Array | undefined
  readonly reverse: boolean
  readonly limit: number
}

/**
 * Brings the four kinds of bound to one: the key right after `k` is `k` with a zero byte appended, so "after `k`" is
 * "from `k‖00`", and "up to `k`" is "before `k‖00`". Copies the bounds, so that the caller may reuse its arrays.
 * @throws VarveError STORE_RANGE_INVALID for two lower or two upper bounds, or a limit that is no count
 */
export function keyInterval(bounds: RangeBounds): KeyInterval {
  const { gte, gt, lt, lte, reverse = false, limit = Number.POSITIVE_INFINITY } = bounds
  if (gte !== undefined && gt !== undefined) throw rangeFault('one lower bound, got gte and gt')
  if (lt !== undefined && lte !== undefined) throw rangeFault('one upper bound, got lt and lte')
  if (limit !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(limit) && limit >= 0))
    throw rangeFault(`a limit that is an integer from 0, got ${limit}`)
  for (const bound of [gte, gt, lt, lte])
    if (bound !== undefined && bound.length > KEY_BYTES_MAX)
      throw rangeFault(`bounds of at most ${KEY_BYTES_MAX} bytes, got ${bound.length}`)
  return {
    lower: gt === undefined ? gte?.slice() : keyAfter(gt),
    upper: lte === undefined ? lt?.slice() : keyAfter(lte),
    reverse,
    limit,
  }
}

/** The key that follows `key` with none between. */
function keyAfter(key: Uint8Array): Uint8Array {
  const after = new Uint8Array(key.length + 1)
  after.set(key)
  return after
}

function rangeFault(expected: string): VarveError<StoreErrorCode> {
  return new VarveError('STORE_RANGE_INVALID', `range: expected ${expected}`)
}

/** Fault of every call on a store after `close`. */
export function closedFault(description: string): VarveError<StoreErrorCode> {
  return new VarveError('STORE_CLOSED', `${description}: the store is closed`)
}

/** Error codes of this folder. */
export type StoreErrorCode =
  /** A call on a store after `close`. */
  | 'STORE_CLOSED'
  /** A write on a store that was opened for reading. */
  | 'STORE_READ_ONLY'
  /** A key of no bytes, or of more than `KEY_BYTES_MAX`. */
  | 'STORE_KEY_INVALID'
  /** A value of more than `VALUE_BYTES_MAX` bytes. */
  | 'STORE_VALUE_TOO_LARGE'
  /** More bytes in one batch than `BATCH_BYTES_MAX`. */
  | 'STORE_BATCH_TOO_LARGE'
  /** Bounds of a range that contradict each other. */
  | 'STORE_RANGE_INVALID'
  /** No database where one was to be read. */
  | 'STORE_NOT_FOUND'
  /** A folder that can not be made or written to. */
  | 'STORE_UNWRITABLE'
  /** A file that is no database, or a damaged one. */
  | 'STORE_CORRUPT'
  /** A database written by another version of the library. */
  | 'STORE_VERSION'
  /** Another process, or another store of this one, has the database open for writing. */
  | 'STORE_LOCKED'
  /** No room: the disk is full, or the map size is reached. */
  | 'STORE_FULL'
  /** Any other failure of the disk or the library. */
  | 'STORE_IO'
