/**
 * The store on disk: LMDB, one named database a table, reads straight from the memory map, one transaction a write.
 *
 * Named databases and one database with a table byte before the key were equally fast (batches of 1,000 blocks, 6,250
 * entries: 14 to 16 ms unsynced, 25 to 27 ms durable, either way); names give the size of each table at no cost.
 * No write map: a stray write of any native code would go straight into the database.
 *
 * Traps of the library that this file steps around, each seen:
 * - A transaction whose callback returns what `put` returns stays open, since that is a promise; closing then hangs.
 * - A value that lies in a SharedArrayBuffer is stored as zeros. `WriteBatch` copies, so none arrives here.
 * - A file that is no database is a segmentation fault: see `lmdbFile.ts`.
 * - An iteration that outlives `close` reads freed memory: `close` ends them.
 *
 * Several processes: one writer (`writerLock.ts`), any number of readers. Several threads of the writer's process share
 * its map, and each may write; LMDB lets them take turns. Within one turn of the event loop, a reading process or thread
 * sees one state of another's writes, until it calls `refresh`.
 */
import { realpathSync, statfsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ABORT, type Database, open, type RangeOptions, type RootDatabase } from 'lmdb'
import { assert, bytesCompare, EMPTY_BYTES, toHex, VarveError } from '../base/index.ts'
import { checkDataFile, corrupt, makeFolder, notFound, unwritable } from './lmdbFile.ts'
import {
  closedFault,
  KEY_BYTES_MAX,
  type KeyInterval,
  keyInterval,
  type RangeBounds,
  type SharedStore,
  type Store,
  type StoreEntry,
  type StoreErrorCode,
  type TableStats,
} from './store.ts'
import { TABLE_INDEX, TABLES, type Table } from './tables.ts'
import type { BatchRange, WriteBatch } from './writeBatch.ts'
import { WriterGate } from './writerGate.ts'
import { acquireWriterLock, checkWriterLock } from './writerLock.ts'

export type LmdbStoreOptions = {
  /**
   * When a write is durable. `always` (default): on the disk when `write` returns; survives a power cut. `os`: handed to
   * the operating system; survives the end of the process in any manner, but a power cut can damage the database, so
   * use it for data that can be made again, or behind a journal.
   */
  readonly sync?: 'always' | 'os'
  /** Opens an existing database for reading beside a writer. Default false. */
  readonly readOnly?: boolean
  /** Address space to map at first, in bytes; it grows by itself. Default: the library's. */
  readonly mapSize?: number
}

/**
 * Opens the database in `folder`; makes both where they are missing, unless `readOnly`.
 * @throws VarveError STORE_NOT_FOUND, STORE_UNWRITABLE, STORE_CORRUPT, STORE_VERSION, STORE_LOCKED, STORE_FULL, STORE_IO
 */
export function openLmdbStore(folder: string, options: LmdbStoreOptions = {}): Store {
  const { sync = 'always', readOnly = false, mapSize } = options
  assert(sync === 'always' || sync === 'os', 'sync is always or os')
  let path = resolve(folder)
  if (!readOnly) makeFolder(path)
  checkDataFile(path, readOnly)
  path = realpathSync(path)
  if (!readOnly) {
    checkWriterLock(path)
    // The library shares one environment within a process: opened for reading, it can not be written to.
    if (readersHere.has(path))
      throw new VarveError<StoreErrorCode>(
        'STORE_LOCKED',
        `database ${path}: expected to open it for writing first, but this process has it open for reading`,
        { folder: path },
      )
  }
  const shared = { folder: path, sync, gate: new WriterGate().words }
  return new LmdbStore(shared, readOnly ? 'reader' : 'writer', mapSize)
}

/**
 * Opens a database on a further thread of the process that has it open for writing. It may be read and written to
 * there, each write after the other; the lock stays the first one's, which closes last. A thread that is ended from
 * outside while it writes never ends (`writerGate.ts`): let it answer first.
 * @throws VarveError as `openLmdbStore`
 */
export function openSharedStore(shared: SharedStore): Store {
  return new LmdbStore(shared, 'further thread', undefined)
}

/**
 * What a handle is for: `writer` takes the folder's lock; `reader` reads beside another process's writer; `further
 * thread` shares the writer of its own process.
 */
type LmdbRole = 'writer' | 'reader' | 'further thread'

const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const
/** Keys that one step of a range deletion holds in memory. */
const DELETE_STEP_COUNT = 4096
/** Less free space than this after a failed write: the disk is full, whatever the error said. */
const FREE_BYTES_MIN = 16 * 1024 * 1024

/** Folders that this process has open for reading, and how often. */
const readersHere = new Map<string, number>()

type LmdbRoot = RootDatabase<Uint8Array, Uint8Array>
type LmdbTable = Database<Uint8Array, Uint8Array>

class LmdbStore implements Store {
  readonly description: string
  private readonly sharing: SharedStore
  private readonly gate: WriterGate
  private readonly role: LmdbRole
  private readonly folder: string
  private readonly readOnly: boolean
  private readonly root: LmdbRoot
  private readonly tables: readonly LmdbTable[]
  private readonly releaseLock: () => void
  private readonly iterations = new Set<Iterator<StoreEntry>>()
  private isClosed = false
  /** The library's buffer for values as it last was, and the same memory without Buffer's class. */
  private valueBuffer: Uint8Array | undefined
  private valueView: Uint8Array = EMPTY_BYTES
  /** Set by a failure after which the library must not be written to. */
  private writeFault: unknown

  constructor(shared: SharedStore, role: LmdbRole, mapSize: number | undefined) {
    const { folder, sync } = shared
    const readOnly = role === 'reader'
    this.folder = folder
    this.readOnly = readOnly
    this.role = role
    this.sharing = shared
    this.gate = new WriterGate(shared.gate)
    this.description = `lmdb ${folder}${readOnly ? ' (read-only)' : ''}`
    try {
      this.root = open<Uint8Array, Uint8Array>({
        path: folder,
        noSubdir: false,
        maxDbs: TABLES.length + 5,
        readOnly,
        // With overlapping sync, a commit may return before it is on the disk.
        overlappingSync: false,
        noSync: sync === 'os',
        ...(mapSize === undefined ? {} : { mapSize }),
        ...BINARY,
      })
    } catch (error) {
      throw this.openFault(error)
    }
    let releaseLock = () => {}
    try {
      if (role === 'writer') {
        checkTableNames(this.root, folder)
        releaseLock = acquireWriterLock(folder, (work) => {
          this.root.transactionSync(() => {
            work()
            return ABORT
          })
        })
      }
      this.tables = this.openTables()
    } catch (error) {
      releaseLock()
      void this.root.close()
      throw this.openFault(error)
    }
    this.releaseLock = releaseLock
    if (readOnly) readersHere.set(folder, (readersHere.get(folder) ?? 0) + 1)
  }

  get shared(): SharedStore | undefined {
    if (this.role === 'reader') return undefined
    // Whoever asks hands it to a thread, which may write from then on.
    if (this.role === 'writer' && !this.isClosed) this.gate.guardExit()
    return this.sharing
  }

  get(table: Table, key: Uint8Array): Uint8Array | undefined {
    const bytes = this.peek(table, key)
    if (bytes === undefined) return undefined
    // The library returns its one buffer, with `length` set by hand; a large value comes as a view of the map.
    const length = bytes.length
    if (bytes !== this.valueBuffer) {
      this.valueBuffer = bytes
      this.valueView = new Uint8Array(bytes.buffer)
    }
    return this.valueView.slice(bytes.byteOffset, bytes.byteOffset + length)
  }

  has(table: Table, key: Uint8Array): boolean {
    return this.peek(table, key) !== undefined
  }

  range(table: Table, bounds: RangeBounds = {}): Iterable<StoreEntry> {
    const database = this.tableOf(table)
    const interval = keyInterval(bounds)
    return { [Symbol.iterator]: () => this.iterate(database, interval) }
  }

  write(batch: WriteBatch): void {
    this.checkOpen()
    if (this.readOnly)
      throw new VarveError<StoreErrorCode>(
        'STORE_READ_ONLY',
        `${this.description}: expected a store opened for writing`,
        { folder: this.folder },
      )
    this.checkSound()
    if (batch.entryCount === 0) return
    const operations = batch.operationsSorted()
    try {
      this.transact(() => {
        for (const range of batch.ranges) deleteRange(this.tables[range.table]!, range)
        putAll(this.tables, batch, operations)
      })
    } catch (error) {
      throw this.failedWrite(error)
    }
  }

  refresh(): void {
    this.checkOpen()
    this.root.resetReadTxn()
  }

  tableStats(): readonly TableStats[] {
    this.checkOpen()
    return TABLES.map((table, index) => {
      const stats = this.tables[index]!.getStats() as LmdbStats
      const pageCount = stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages
      return { table, entryCount: stats.entryCount, bytes: pageCount * stats.pageSize }
    })
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    for (const iteration of this.iterations) iteration.return?.()
    this.iterations.clear()
    // Nothing is pending, so the library closes before it returns its promise.
    void this.root.close()
    this.gate.unguard()
    this.releaseLock()
    if (!this.readOnly) return
    const readerCount = readersHere.get(this.folder)! - 1
    if (readerCount > 0) readersHere.set(this.folder, readerCount)
    else readersHere.delete(this.folder)
  }

  /** Runs one transaction. @param work must not return what a put returns: mind the braces */
  private transact(work: () => void): void {
    if (this.role === 'writer') this.root.transactionSync(work)
    else this.gate.within(() => this.root.transactionSync(work))
  }

  private checkSound(): void {
    if (this.writeFault !== undefined) throw this.writeFault
    if (!this.gate.isBroken) return
    throw new VarveError<StoreErrorCode>(
      'STORE_IO',
      `database ${this.folder}: expected to write, but a write of another thread has failed`,
      { folder: this.folder },
    )
  }

  /** Value in the library's buffer, good until the next read. */
  private peek(table: Table, key: Uint8Array): Uint8Array | undefined {
    const database = this.tableOf(table)
    if (key.length === 0 || key.length > KEY_BYTES_MAX) return undefined
    try {
      return database.getBinaryFast(key)
    } catch (error) {
      throw this.fault(error)
    }
  }

  private iterate(database: LmdbTable, interval: KeyInterval): IterableIterator<StoreEntry> {
    this.checkOpen()
    const inner = entries(database, interval)
    this.iterations.add(inner)
    const iterator: IterableIterator<StoreEntry> = {
      next: () => {
        this.checkOpen()
        try {
          const step = inner.next()
          if (step.done) this.iterations.delete(inner)
          return step
        } catch (error) {
          this.iterations.delete(inner)
          throw this.fault(error)
        }
      },
      return: () => {
        this.iterations.delete(inner)
        inner.return(undefined)
        return { done: true, value: undefined }
      },
      [Symbol.iterator]: () => iterator,
    }
    return iterator
  }

  /** All tables in one transaction, so that a database has every table or none. */
  private openTables(): LmdbTable[] {
    const openAll = () =>
      TABLES.map((table) => this.root.openDB<Uint8Array, Uint8Array>(table, BINARY))
    if (this.readOnly) {
      const tables = openAll() as (LmdbTable | undefined)[]
      if (tables.includes(undefined)) throw notFound(this.folder, 'a file without our tables')
      return tables as LmdbTable[]
    }
    let tables: LmdbTable[] = []
    this.transact(() => {
      tables = openAll()
    })
    return tables
  }

  private tableOf(table: Table): LmdbTable {
    this.checkOpen()
    return this.tables[TABLE_INDEX[table]]!
  }

  private checkOpen(): void {
    if (this.isClosed) throw closedFault(this.description)
  }

  private openFault(error: unknown): unknown {
    const fault = this.fault(error)
    const code = (error as { code?: number | string }).code
    if (typeof code === 'number' && UNWRITABLE_CODES.includes(code))
      return unwritable(this.folder, error)
    return fault
  }

  private failedWrite(error: unknown): unknown {
    const fault = this.fault(error)
    // After a failure of the disk the library refuses every transaction in a way that ends the process.
    if (fault instanceof VarveError && fault.code === 'STORE_IO') {
      this.writeFault = fault
      this.gate.markBroken()
    }
    return fault
  }

  /** Names an error of the library; passes on what is none. */
  private fault(error: unknown): unknown {
    if (error instanceof VarveError || !(error instanceof Error)) return error
    const { code } = error as { code?: unknown }
    if (typeof code !== 'number') return error
    const { folder } = this
    if (CORRUPT_CODES.includes(code)) return corrupt(folder, 'sound pages', error.message, error)
    const isFull = FULL_CODES.includes(code) || (code === EIO && this.isDiskFull())
    const problem = isFull ? 'expected room for the write' : 'expected the disk to do its work'
    return new VarveError<StoreErrorCode>(
      isFull ? 'STORE_FULL' : 'STORE_IO',
      `database ${folder}: ${problem}, got ${error.message}`,
      { folder },
      { cause: error },
    )
  }

  /** A full disk can show as a short write, which the library reports as an I/O error. */
  private isDiskFull(): boolean {
    try {
      const { bavail, bsize } = statfsSync(this.folder)
      return bavail * bsize < FREE_BYTES_MIN
    } catch {
      return false
    }
  }
}

type LmdbStats = {
  readonly pageSize: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
  readonly entryCount: number
}

// Numbers of errno.h, the same on Linux, macOS and in LMDB's translation on Windows, and LMDB's own.
const EIO = 5
/** ENOSPC, EDQUOT (Linux, macOS), MDB_MAP_FULL */
const FULL_CODES = [28, 122, 69, -30792]
/** EPERM, ENOENT, EACCES, ENOTDIR, EISDIR, EROFS */
const UNWRITABLE_CODES = [1, 2, 13, 20, 21, 30]
/** MDB_PAGE_NOTFOUND, MDB_CORRUPTED, MDB_VERSION_MISMATCH, MDB_INVALID, MDB_INCOMPATIBLE, MDB_BAD_TXN */
const CORRUPT_CODES = [-30797, -30796, -30794, -30793, -30784]

/**
 * Throws unless a database has all our tables, or nothing, as where its making was cut off: ours are made in one
 * transaction. What another program keeps is not to be written into.
 * @throws VarveError STORE_CORRUPT
 */
function checkTableNames(root: LmdbRoot, folder: string): void {
  const expected = 'our tables or nothing'
  let count = 0
  // The default database lists the named ones; the library ends their names with a zero byte.
  for (const key of root.getKeys()) {
    const name = String.fromCharCode(...key).replace(/\0$/, '')
    if (!Object.hasOwn(TABLE_INDEX, name)) {
      const shown = /^[ -~]+$/.test(name) ? `"${name}"` : toHex(key)
      throw corrupt(folder, expected, `another program's data: entry ${shown}`)
    }
    count++
  }
  if (count !== 0 && count !== TABLES.length)
    throw corrupt(folder, expected, `another program's data: ${count} of ${TABLES.length} tables`)
}

function putAll(tables: readonly LmdbTable[], batch: WriteBatch, operations: Uint32Array): void {
  for (let at = 0; at < operations.length; at++) {
    const operation = operations[at]!
    const table = tables[batch.tableAt(operation)]!
    const value = batch.valueAt(operation)
    if (value === undefined) table.remove(batch.keyAt(operation))
    else table.put(batch.keyAt(operation), value)
  }
}

/** Within a transaction. In steps, so that memory stays bounded however many keys there are. */
function deleteRange(table: LmdbTable, { gte, lt }: BatchRange): void {
  if (lt !== undefined && bytesCompare(gte, lt) >= 0) return
  const options = {
    ...(gte.length === 0 ? {} : { start: gte }),
    ...(lt === undefined ? {} : { end: lt }),
  }
  for (;;) {
    const keys = [...table.getKeys({ ...options, limit: DELETE_STEP_COUNT })]
    for (const key of keys) table.remove(key)
    if (keys.length < DELETE_STEP_COUNT) return
  }
}

function* entries(table: LmdbTable, interval: KeyInterval): Generator<StoreEntry> {
  const { lower, upper, reverse, limit } = interval
  if (limit === 0 || upper?.length === 0) return
  if (lower !== undefined && upper !== undefined && bytesCompare(lower, upper) >= 0) return
  const [start, end] = reverse ? [upper, lower] : [lower, upper]
  const options: RangeOptions = {
    ...(start === undefined || start.length === 0 ? {} : { start }),
    ...(end === undefined || end.length === 0 ? {} : { end }),
    ...(limit === Number.POSITIVE_INFINITY ? {} : { limit }),
    ...(reverse ? { reverse, exclusiveStart: upper !== undefined, inclusiveEnd: true } : {}),
  }
  for (const { key, value } of table.getRange(options))
    yield { key: ownBytes(key), value: ownBytes(value) }
}

/** Plain bytes with memory of their own, from a Buffer that may be a part of Node's pool. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.byteOffset === 0 && bytes.buffer.byteLength === bytes.length)
    return new Uint8Array(bytes.buffer)
  return new Uint8Array(bytes)
}
