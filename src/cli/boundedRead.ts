/** Reads what a person named, and never more than a bound: a device or a pipe has no size to ask beforehand. */
import { closeSync, openSync, readSync } from 'node:fs'

const CHUNK_BYTES = 1024 * 1024

/** More bytes than the bound. */
export class FileTooLargeError extends Error {
  override readonly name = 'FileTooLargeError'
}

/**
 * Reads a file, pipe or descriptor to its end.
 * @param source a path, or an open descriptor, which stays open
 * @throws FileTooLargeError above `bytesMax`; system errors as `node:fs` throws them
 */
export function readBounded(source: string | number, bytesMax: number): Buffer {
  const descriptor = typeof source === 'number' ? source : openSync(source, 'r')
  try {
    const chunks: Buffer[] = []
    let byteCount = 0
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      const readCount = readSync(descriptor, chunk)
      if (readCount === 0) return Buffer.concat(chunks, byteCount)
      byteCount += readCount
      if (byteCount > bytesMax) throw new FileTooLargeError(`larger than ${bytesMax} bytes`)
      chunks.push(chunk.subarray(0, readCount))
    }
  } finally {
    if (typeof source === 'string') closeSync(descriptor)
  }
}
