/**
 * A copy of a database folder, so that runs start from the same state and leave the original as it was. The file is
 * shared block by block where the file system can (copy on write), and copied where it cannot. A hard link would not do:
 * a store changes its file in place.
 */
import { constants, copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { dataFile, openLmdbStore } from '../../store/index.ts'
import { UsageError } from '../exit.ts'

/**
 * Copies the database in `from`, which exists and stays locked meanwhile, into `to`, which is empty or not there.
 * @throws UsageError, VarveError STORE_LOCKED
 */
export function copyDatabase(from: string, to: string): 'reflink' | 'copy' {
  if (existsSync(to) && readdirSync(to).length > 0)
    throw new UsageError(`--checkpoint-dir ${to}: expected an empty folder or none`)
  mkdirSync(to, { recursive: true })
  const store = openLmdbStore(from)
  try {
    return copyFile(dataFile(from), dataFile(to))
  } finally {
    store.close()
  }
}

function copyFile(from: string, to: string): 'reflink' | 'copy' {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE_FORCE)
    return 'reflink'
  } catch {
    copyFileSync(from, to)
    return 'copy'
  }
}
