/**
 * The database folder before LMDB sees it. LMDB maps the file into memory and trusts it: a file that is no database, or
 * one that was cut, ends the process with a signal instead of an error. So the header is read here first.
 *
 * ```
 *  data.mdb   meta page 0 | meta page 1 | pages …
 *  meta page  flags u16 at 18 (8 = meta), magic u32 at 24, version u32 at 28, page size u32 at 48,
 *             last page u64 at 144, transaction u64 at 152, in the byte order of the machine (little-endian)
 * ```
 */
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { VarveError } from '../base/index.ts'
import type { StoreErrorCode } from './store.ts'

const META_BYTES = 168
const FLAGS_META = 0x08
const MAGIC = 0xbeefc0de
/** Data version of the LMDB in use (lmdb 3.x). */
const DATA_VERSION = 2
/** Where other builds of LMDB, of data version 1, keep the magic number. */
const MAGIC_OFFSET_V1 = 16

/** The file with the data in a database folder. */
export function dataFile(folder: string): string {
  return join(folder, 'data.mdb')
}

/**
 * Makes the folder and what is missing above it. (The recursive mode of Node 20 never returns below /proc.)
 * @throws VarveError STORE_UNWRITABLE
 */
export function makeFolder(folder: string): void {
  try {
    makeWithParents(folder)
  } catch (error) {
    throw unwritable(folder, error)
  }
}

function makeWithParents(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  const parent = dirname(folder)
  if (parent !== folder) makeWithParents(parent)
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another process may have made it meanwhile.
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST' || !statSync(folder).isDirectory()) throw error
  }
}

/** Fault of a folder that can not be made or written to. */
export function unwritable(folder: string, cause: unknown): VarveError<StoreErrorCode> {
  return new VarveError(
    'STORE_UNWRITABLE',
    `database ${folder}: expected a folder to write to, got ${(cause as Error).message}`,
    { folder },
    { cause },
  )
}

/**
 * Throws unless the folder holds a database that LMDB may map, or, for writing, none at all.
 *
 * A file shorter than its header says was cut, or ended in pages that were free and never written. Cut within a page, or
 * opened for reading, it is refused; for writing it is filled up with zeros, so that a missing page reads as an error.
 * @throws VarveError STORE_NOT_FOUND, STORE_CORRUPT, STORE_VERSION, STORE_UNWRITABLE
 */
export function checkDataFile(folder: string, readOnly: boolean): void {
  const path = dataFile(folder)
  let file: number
  try {
    file = openSync(path, readOnly ? 'r' : 'r+')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw unwritable(folder, error)
    if (readOnly) throw notFound(folder, 'no data.mdb')
    return
  }
  try {
    const { size } = fstatSync(file)
    if (size === 0) {
      if (readOnly) throw notFound(folder, 'an empty data.mdb')
      return
    }
    const { pageBytes, pageCount } = readHeader(file, folder, size)
    if (size >= pageBytes * pageCount) return
    if (readOnly || size % pageBytes !== 0)
      throw corrupt(folder, `${pageCount} pages of ${pageBytes} bytes`, `a file of ${size} bytes`)
    ftruncateSync(file, pageBytes * pageCount)
  } finally {
    closeSync(file)
  }
}

/** Page size and count of pages according to the newer of the two meta pages. */
function readHeader(
  file: number,
  folder: string,
  size: number,
): { pageBytes: number; pageCount: number } {
  const first = readMeta(file, 0, folder)
  if (size < 2 * first.pageBytes) throw corrupt(folder, 'two meta pages', `a file of ${size} bytes`)
  const second = readMeta(file, first.pageBytes, folder)
  const newer = second.transaction > first.transaction ? second : first
  if (newer.pageLast > Number.MAX_SAFE_INTEGER / first.pageBytes)
    throw corrupt(folder, 'a plausible count of pages', `${newer.pageLast}`)
  return { pageBytes: first.pageBytes, pageCount: newer.pageLast + 1 }
}

function readMeta(file: number, offset: number, folder: string) {
  const bytes = new Uint8Array(META_BYTES)
  const found = readSync(file, bytes, 0, META_BYTES, offset)
  const view = new DataView(bytes.buffer)
  const where = `a meta page of LMDB at byte ${offset} of data.mdb`
  if (found < META_BYTES) throw corrupt(folder, where, `${found} bytes`)
  if (view.getUint32(MAGIC_OFFSET_V1, true) === MAGIC) throw versionFault(folder, 1)
  if (view.getUint32(24, true) !== MAGIC || (view.getUint16(18, true) & FLAGS_META) === 0)
    throw corrupt(folder, where, 'other bytes')
  const version = view.getUint32(28, true) & 0xffff
  if (version !== DATA_VERSION) throw versionFault(folder, version)
  const pageBytes = view.getUint32(48, true)
  if (pageBytes < 512 || pageBytes > 65_536 || (pageBytes & (pageBytes - 1)) !== 0)
    throw corrupt(folder, 'a page size of 512 to 65536', `${pageBytes}`)
  return {
    pageBytes,
    pageLast: Number(view.getBigUint64(144, true)),
    transaction: view.getBigUint64(152, true),
  }
}

/** Fault of a folder without a database. */
export function notFound(folder: string, found: string): VarveError<StoreErrorCode> {
  return new VarveError(
    'STORE_NOT_FOUND',
    `database ${folder}: expected a database, got ${found}`,
    {
      folder,
    },
  )
}

/** Fault of a file that is no database, or is damaged. */
export function corrupt(
  folder: string,
  expected: string,
  found: string,
  cause?: unknown,
): VarveError<StoreErrorCode> {
  return new VarveError(
    'STORE_CORRUPT',
    `database ${folder}: expected ${expected}, got ${found}`,
    { folder },
    { cause },
  )
}

function versionFault(folder: string, version: number): VarveError<StoreErrorCode> {
  return new VarveError(
    'STORE_VERSION',
    `database ${folder}: expected LMDB data version ${DATA_VERSION}, got ${version}`,
    { folder, version },
  )
}
