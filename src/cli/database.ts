/** Opening a database folder for a command, and closing it whatever happens. */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isVarveError } from '../base/index.ts'
import { type Engine, type EngineOptions, openEngine, readBacklog } from '../engine/index.ts'
import {
  type BlockJournal,
  dataFile,
  type JournalSync,
  META,
  openBlockJournal,
  openLmdbStore,
  type Store,
} from '../store/index.ts'
import { UsageError } from './exit.ts'

/**
 * Whether a folder holds a database with a chain. One whose making was cut off, and that holds no table yet, does not.
 * Nor does what is no folder: opening it for writing says so.
 * @throws VarveError STORE_* where it holds something else: a database is not put among other files
 * @throws UsageError for an empty path, which would mean the folder at hand
 */
export function databaseHasChain(folder: string): boolean {
  if (folder === '') throw new UsageError('--db: expected the path of a folder, got nothing')
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return false
  if (readdirSync(folder).length === 0) return false
  try {
    return withStore(folder, (store) => store.get('meta', META.schemaVersion) !== undefined)
  } catch (error) {
    if (isVarveError(error, 'STORE_NOT_FOUND') && existsSync(dataFile(folder))) return false
    throw error
  }
}

/** Runs `work` on the store in `folder`, which must exist. Reads only. @throws VarveError STORE_* */
export function withStore<Result>(folder: string, work: (store: Store) => Result): Result {
  const store = openLmdbStore(folder, { readOnly: true })
  try {
    return work(store)
  } finally {
    store.close()
  }
}

/** Runs `work` on the chain in `folder`, which must exist. Reads only. @throws VarveError STORE_*, ENGINE_* */
export async function withEngine<Result>(
  folder: string,
  work: (engine: Engine, store: Store) => Result,
): Promise<Result> {
  const store = openLmdbStore(folder, { readOnly: true })
  try {
    return work(await openEngine({ store }), store)
  } finally {
    store.close()
  }
}

/** Where a database folder has its block journal. */
export function journalFolder(folder: string): string {
  return join(folder, 'journal')
}

/** Tells on stderr what the journal has beyond a database that is only read, as after a kill: it is not looked into. */
export function tellBacklog(folder: string, store: Store): void {
  let text: string
  try {
    const { beyondCount, last } = readBacklog(journalFolder(folder), store, 'count')
    if (beyondCount === 0) return
    text = `the journal has ${beyondCount} records more, up to ${last}: the next import takes them in`
  } catch (error) {
    if (!isVarveError(error)) throw error
    text = `its journal: ${error.message} [${error.code}]`
  }
  console.error(`note: the answer is of the database; ${text}`)
}

/** The journal makes blocks durable, so the store is written when memory asks for it, or after so long. */
export const BATCH_MS = 30_000

/** A database that blocks are executed into. */
export type WritableDatabase = {
  readonly store: Store
  readonly journal: BlockJournal
  close(): void
}

/** Opens a database with its journal. @throws VarveError STORE_*, JOURNAL_* */
export function openDatabase(folder: string, sync: JournalSync): WritableDatabase {
  // Whatever the mode of the journal: what is gone from it must be on the disk in the store, and whole after a power cut.
  const store = openLmdbStore(folder)
  try {
    const journal = openBlockJournal(journalFolder(folder), { sync })
    const close = (): void => {
      journal.close()
      store.close()
    }
    return { store, journal, close }
  } catch (error) {
    store.close()
    throw error
  }
}

/**
 * Runs `work` on a chain that may be written to, making the folder where there is none. Where nothing was written in
 * the end, a folder that was made for it is taken away again.
 */
export async function withWritableEngine<Result>(
  folder: string,
  { sync, ...options }: Omit<EngineOptions, 'store' | 'journal'> & { readonly sync: JournalSync },
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  const existed = existsSync(folder)
  const { store, journal, close } = openDatabase(folder, sync)
  try {
    return await work(await openEngine({ store, journal, batchMilliseconds: BATCH_MS, ...options }))
  } finally {
    const isEmpty = store.tableStats().every(({ entryCount }) => entryCount === 0)
    close()
    if (!existed && isEmpty) rmSync(folder, { recursive: true, force: true })
  }
}
