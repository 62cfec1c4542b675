/** Reads ranges of a file through one window of memory, so that a file of any size costs the same. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { VarveError } from '../base/index.ts'

const WINDOW_BYTES = 1024 * 1024

/** Bytes that are read in ranges. */
export type ByteWindow = {
  readonly byteCount: number
  /** `length` bytes from `offset` on, or fewer at the end; a view that the next call may overwrite. */
  read(offset: number, length: number): Uint8Array
  close(): void
}

/** Bytes in memory as a window. */
export function memoryWindow(bytes: Uint8Array): ByteWindow {
  return {
    byteCount: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
    close: () => {},
  }
}

/** A file opened for reading. Close it when done. Not for files that grow or shrink meanwhile. */
export class FileWindow implements ByteWindow {
  readonly path: string
  /** Length of the file in bytes when it was opened. */
  readonly byteCount: number
  private descriptor: number
  private window = new Uint8Array(0)
  /** Offset in the file of the window's first byte, and how many of its bytes are filled. */
  private windowStart = 0
  private windowBytes = 0

  /** @throws VarveError FILE_UNREADABLE */
  constructor(path: string) {
    this.path = path
    try {
      // Before opening, since that waits for a writer where the path is a pipe.
      if (!statSync(path).isFile()) throw new Error('it is no regular file')
      this.descriptor = openSync(path, 'r')
    } catch (error) {
      throw unreadable(path, error)
    }
    this.byteCount = fstatSync(this.descriptor).size
  }

  /**
   * Returns `length` bytes from `offset` on, or fewer at the end of the file.
   * The result is a view of the window: the next call may overwrite it.
   * @throws VarveError FILE_UNREADABLE
   */
  read(offset: number, length: number): Uint8Array {
    const isInside =
      offset >= this.windowStart && offset + length <= this.windowStart + this.windowBytes
    if (!isInside) this.fill(offset, length)
    const start = offset - this.windowStart
    return this.window.subarray(start, Math.min(start + length, this.windowBytes))
  }

  close(): void {
    if (this.descriptor >= 0) closeSync(this.descriptor)
    this.descriptor = -1
  }

  private fill(offset: number, length: number): void {
    const wanted = Math.max(length, Math.min(WINDOW_BYTES, Math.max(this.byteCount - offset, 0)))
    if (this.window.length < wanted) this.window = new Uint8Array(wanted)
    this.windowStart = offset
    this.windowBytes = 0
    try {
      while (this.windowBytes < wanted) {
        const at = this.windowBytes
        const count = readSync(this.descriptor, this.window, at, wanted - at, offset + at)
        if (count === 0) break
        this.windowBytes += count
      }
    } catch (error) {
      throw unreadable(this.path, error)
    }
  }
}

function unreadable(path: string, cause: unknown): VarveError<FileErrorCode> {
  const problem = (cause as Error).message
  return new VarveError(
    'FILE_UNREADABLE',
    `${path}: expected a readable file, got ${problem}`,
    { path },
    { cause },
  )
}

/** Error codes of this module. */
export type FileErrorCode =
  /** The file does not exist, is no regular file, or cannot be read. */
  'FILE_UNREADABLE'
