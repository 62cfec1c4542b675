/** Opening a database folder for a command, and closing it whatever happens. */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { isVarveError } from '../base/index.ts'
import { type Engine, type EngineOptions, openEngine } from '../engine/index.ts'
import { dataFile, META, openLmdbStore, type Store } from '../store/index.ts'
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
  work: (engine: Engine) => Result,
): Promise<Result> {
  const store = openLmdbStore(folder, { readOnly: true })
  try {
    return work(await openEngine({ store }))
  } finally {
    store.close()
  }
}

/**
 * Runs `work` on a chain that may be written to, making the folder where there is none. Where nothing was written in
 * the end, a folder that was made for it is taken away again.
 */
export async function withWritableEngine<Result>(
  folder: string,
  options: Omit<EngineOptions, 'store'>,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  const existed = existsSync(folder)
  const store = openLmdbStore(folder, { sync: 'always' })
  try {
    return await work(await openEngine({ store, ...options }))
  } finally {
    const isEmpty = store.tableStats().every(({ entryCount }) => entryCount === 0)
    store.close()
    if (!existed && isEmpty) rmSync(folder, { recursive: true, force: true })
  }
}
