/**
 * A copy of a database folder, so that runs start from the same state and leave the original as it was. Files are
 * shared block by block where the file system can (copy on write), and copied where it cannot. A hard link would not do:
 * a store changes its file in place.
 */
import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { VarveError } from '../../base/index.ts'
import { dataFile, openLmdbStore } from '../../store/index.ts'
import { journalFolder } from '../database.ts'
import { UsageError } from '../exit.ts'

/** How a copy was made: `reflink` where every file of it is shared until it is written to. */
export type CopyKind = 'reflink' | 'copy'

/**
 * Copies the database in `from`, which exists and stays locked meanwhile, into `to`, which is empty or not there: the
 * store, and the journal with the blocks that the store lacks. What was begun and fails is taken away again.
 * @throws UsageError, VarveError STORE_LOCKED, EXECUTOR_COPY_FAILED
 */
export function copyDatabase(from: string, to: string): CopyKind {
  const existed = existsSync(to)
  if (existed && (!statSync(to).isDirectory() || readdirSync(to).length > 0))
    throw new UsageError(`--checkpoint-dir ${to}: expected an empty folder or none`)
  const store = openLmdbStore(from)
  try {
    return copyFiles(from, to)
  } catch (cause) {
    if (existed) for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true })
    else if (existsSync(to)) rmSync(to, { recursive: true })
    throw new VarveError<CheckpointErrorCode>(
      'EXECUTOR_COPY_FAILED',
      `--checkpoint-dir ${to}: expected a copy of ${from}, got: ${(cause as Error).message}`,
      { from, to },
      { cause },
    )
  } finally {
    store.close()
  }
}

function copyFiles(from: string, to: string): CopyKind {
  mkdirSync(to, { recursive: true })
  const kinds = [copyFile(dataFile(from), dataFile(to))]
  const journal = journalFolder(from)
  if (existsSync(journal)) {
    mkdirSync(journalFolder(to))
    for (const name of readdirSync(journal))
      kinds.push(copyFile(join(journal, name), join(journalFolder(to), name)))
  }
  return kinds.includes('copy') ? 'copy' : 'reflink'
}

function copyFile(from: string, to: string): CopyKind {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE_FORCE)
    return 'reflink'
  } catch {
    copyFileSync(from, to)
    return 'copy'
  }
}

/** Error codes of this module. */
export type CheckpointErrorCode =
  /** A database could not be copied: no room, or no right to. */
  'EXECUTOR_COPY_FAILED'
