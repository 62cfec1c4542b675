/** Faults of the journal, and their codes. */
import { VarveError } from '../../base/index.ts'

/** Fault of bytes that were whole once: of the file at `path`, from `offset` on. */
export function corruptJournal(
  path: string,
  offset: number,
  expected: string,
  found: string,
): VarveError<JournalErrorCode> {
  return new VarveError(
    'JOURNAL_CORRUPT',
    `journal ${path}: byte ${offset}: expected ${expected}, got ${found}`,
    { path, offset },
  )
}

/** Fault of a file of another layout. */
export function wrongVersion(path: string, found: number): VarveError<JournalErrorCode> {
  return new VarveError(
    'JOURNAL_VERSION',
    `journal ${path}: expected version 1 of the layout, got ${found}`,
    { path, found },
  )
}

/** Names an error of the disk; passes on what is none. */
export function diskFault(folder: string, cause: unknown): unknown {
  if (!(cause instanceof Error) || cause instanceof VarveError || !('syscall' in cause))
    return cause
  const { code, message } = cause as NodeJS.ErrnoException
  const isFull = code === 'ENOSPC' || code === 'EDQUOT'
  const expected = isFull ? 'room for a record' : 'the disk to do its work'
  return new VarveError<JournalErrorCode>(
    isFull ? 'JOURNAL_FULL' : 'JOURNAL_IO',
    `journal ${folder}: expected ${expected}, got ${message}`,
    { folder },
    { cause },
  )
}

/** Error codes of this module. */
export type JournalErrorCode =
  /** A record that was durable, or a header, is damaged: `path` and `offset` say where. */
  | 'JOURNAL_CORRUPT'
  /** A segment was written by another version of the layout. */
  | 'JOURNAL_VERSION'
  /** The disk is full. The journal takes nothing more until it is opened again. */
  | 'JOURNAL_FULL'
  /** The disk refused to read, write or sync. The journal takes nothing more until it is opened again. */
  | 'JOURNAL_IO'
  /** A record is longer than 128 MiB. */
  | 'JOURNAL_RECORD_TOO_LARGE'
  /** A call after `close`. */
  | 'JOURNAL_CLOSED'
