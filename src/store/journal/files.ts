/**
 * What the journal asks of a disk, and the real one. A test puts another in its place, to fill it, to break it, or to
 * cut its power.
 */
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  unlinkSync,
  writevSync,
} from 'node:fs'

/** A file, addressed by position. Every call throws the system's error. */
export interface JournalFile {
  size(): number
  /** Fills `target` from `position` on; returns the count of bytes there were. */
  read(target: Uint8Array, position: number): number
  /** Writes all parts one after the other. Where it throws, any of the bytes may be there. */
  write(parts: readonly Uint8Array[], position: number): void
  truncate(size: number): void
  /** Forces to the disk what was written before. */
  syncNow(): void
  /** As `syncNow`, off this thread. */
  sync(done: (error: Error | null) => void): void
  close(): void
}

/** One folder of files. */
export interface JournalFiles {
  /** For messages. */
  readonly folder: string
  /** Names in the folder; none where there is no folder. */
  list(): string[]
  /** Makes the folder where it is missing, with those above it. */
  makeFolder(): void
  /** A new, empty file. */
  create(name: string): JournalFile
  open(name: string, isWritten: boolean): JournalFile
  remove(name: string): void
  /** Forces to the disk which files there are. */
  syncFolder(): void
}

/** Opens a file for as long as some work takes. */
export function withFile<Result>(
  files: JournalFiles,
  name: string,
  isWritten: boolean,
  work: (file: JournalFile) => Result,
): Result {
  const file = files.open(name, isWritten)
  try {
    return work(file)
  } finally {
    file.close()
  }
}

/** The files of a folder on the disk. */
export function diskFiles(folder: string): JournalFiles {
  const pathOf = (name: string): string => `${folder}/${name}`
  return {
    folder,
    list: () => {
      try {
        return readdirSync(folder)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
        throw error
      }
    },
    makeFolder: () => {
      mkdirSync(folder, { recursive: true })
      syncFolder(`${folder}/..`)
    },
    create: (name) => new DiskFile(openSync(pathOf(name), 'wx+')),
    open: (name, isWritten) => new DiskFile(openSync(pathOf(name), isWritten ? 'r+' : 'r')),
    remove: (name) => unlinkSync(pathOf(name)),
    syncFolder: () => syncFolder(folder),
  }
}

class DiskFile implements JournalFile {
  private readonly descriptor: number

  constructor(descriptor: number) {
    this.descriptor = descriptor
  }

  size(): number {
    return fstatSync(this.descriptor).size
  }

  read(target: Uint8Array, position: number): number {
    let count = 0
    while (count < target.length) {
      const step = readSync(this.descriptor, target, count, target.length - count, position + count)
      if (step === 0) break
      count += step
    }
    return count
  }

  write(parts: readonly Uint8Array[], position: number): void {
    let rest = parts.filter((part) => part.length > 0)
    let at = position
    while (rest.length > 0) {
      // The system may take less than it is given, and takes a limited count of parts.
      const step = writevSync(this.descriptor, rest.slice(0, PARTS_MAX), at)
      at += step
      rest = after(rest, step)
    }
  }

  truncate(size: number): void {
    ftruncateSync(this.descriptor, size)
  }

  syncNow(): void {
    fdatasyncSync(this.descriptor)
  }

  sync(done: (error: Error | null) => void): void {
    fdatasync(this.descriptor, done)
  }

  close(): void {
    closeSync(this.descriptor)
  }
}

/** Parts of one call; POSIX promises 16, Linux takes 1,024. */
const PARTS_MAX = 16

/** What is left of the parts behind their first bytes. */
function after(parts: readonly Uint8Array[], byteCount: number): Uint8Array[] {
  let skip = byteCount
  const rest: Uint8Array[] = []
  for (const part of parts) {
    if (skip < part.length) rest.push(skip === 0 ? part : part.subarray(skip))
    skip = Math.max(0, skip - part.length)
  }
  return rest
}

function syncFolder(path: string): void {
  // There a folder can not be opened; its entries are durable without.
  if (process.platform === 'win32') return
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
