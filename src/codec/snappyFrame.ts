/**
 * Snappy's framing format, strictly as writers make it:
 *
 *   stream   ff 06 00 00 "sNaPpY", then one chunk for each 65,536 plain bytes (the last one may be shorter)
 *   chunk    type (00 packed, 01 plain), length of 3 bytes little-endian, masked CRC-32C of the plain bytes, data
 *   packed   length of the plain bytes (a varint), then one snappy block
 *
 * The format also allows chunks that readers skip; no checksum covers them and no writer of era1 makes them, so they
 * are refused. The blocks themselves are unpacked by the library `snappyjs`.
 */
import snappy from 'snappyjs'
import { crc32c, EMPTY_BYTES, maskCrc32c, SNAPPY_BYTES_MAX, VarveError } from '../base/index.ts'
import { isWriterBlock } from './snappyWriter.ts'

const STREAM_IDENTIFIER = [0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59] as const
const CHUNK_HEADER_BYTES = 4
const CHECKSUM_BYTES = 4
const CHUNK_PACKED = 0
const CHUNK_PLAIN = 1
/** Plain bytes of every chunk but the last. */
const CHUNK_PLAIN_BYTES = 65_536
/** The longest block that a writer can make of a chunk, by snappy's bound: 32 + n + n/6. */
const CHUNK_PACKED_BYTES_MAX = 32 + CHUNK_PLAIN_BYTES + Math.ceil(CHUNK_PLAIN_BYTES / 6)

/** An unpacked stream. */
export type SnappyStream = {
  /** The plain bytes, in a buffer of their own. */
  readonly bytes: Uint8Array
  /** Whether every chunk is byte for byte what the common writer makes (`snappyWriter.ts`). */
  readonly isFromWriter: boolean
}

/**
 * Unpacks a framed stream and checks all of it: framing, lengths, checksums.
 * @param checkWriter whether to find out `isFromWriter`, which costs about as much again; false where it is left out
 * @throws VarveError SNAPPY_* with `offset` from the start of `stream`
 */
export function unpackSnappyStream(stream: Uint8Array, checkWriter = false): SnappyStream {
  for (let index = 0; index < STREAM_IDENTIFIER.length; index++)
    if (stream[index] !== STREAM_IDENTIFIER[index])
      throw frameFault(index, 'the stream identifier ff060000 "sNaPpY"', byteText(stream[index]))
  const parts: Uint8Array[] = []
  let isFromWriter = checkWriter
  let plainBytes = 0
  let at: number = STREAM_IDENTIFIER.length
  while (at < stream.length) {
    const before = parts.at(-1)
    if (before !== undefined && before.length !== CHUNK_PLAIN_BYTES)
      throw frameFault(
        at,
        `${CHUNK_PLAIN_BYTES} bytes in all chunks but the last`,
        `${before.length}`,
      )
    const end = chunkEnd(stream, at)
    const plain = unpackChunk(stream, at, end)
    if (isFromWriter) isFromWriter = isWriterChunk(stream, at, end, plain)
    plainBytes += plain.length
    if (plainBytes > SNAPPY_BYTES_MAX)
      throw frameFault(at, `at most ${SNAPPY_BYTES_MAX} plain bytes`, `${plainBytes}`)
    parts.push(plain)
    at = end
  }
  return { bytes: parts.length === 1 ? parts[0]! : join(parts, plainBytes), isFromWriter }
}

/** Checks a chunk's header and returns the offset after the chunk. */
function chunkEnd(stream: Uint8Array, at: number): number {
  const type = stream[at]!
  if (type !== CHUNK_PACKED && type !== CHUNK_PLAIN)
    throw frameFault(at, 'a chunk of type 0x00 or 0x01', byteText(type))
  if (at + CHUNK_HEADER_BYTES > stream.length)
    throw frameFault(at, 'a chunk header of 4 bytes', `${stream.length - at} bytes`)
  const length = stream[at + 1]! | (stream[at + 2]! << 8) | (stream[at + 3]! << 16)
  const left = stream.length - at - CHUNK_HEADER_BYTES
  if (length > left) throw frameFault(at, `a chunk of ${length} bytes`, `${left} bytes`)
  const dataBytes = length - CHECKSUM_BYTES
  const dataBytesMax = type === CHUNK_PLAIN ? CHUNK_PLAIN_BYTES : CHUNK_PACKED_BYTES_MAX
  if (dataBytes < 1 || dataBytes > dataBytesMax)
    throw frameFault(at, `1 to ${dataBytesMax} bytes of data in a chunk`, `${dataBytes}`)
  return at + CHUNK_HEADER_BYTES + length
}

function unpackChunk(stream: Uint8Array, at: number, end: number): Uint8Array {
  const dataStart = at + CHUNK_HEADER_BYTES + CHECKSUM_BYTES
  const plain =
    stream[at] === CHUNK_PLAIN ? stream.slice(dataStart, end) : unpackBlock(stream, dataStart, end)
  const checksumAt = dataStart - CHECKSUM_BYTES
  const stored =
    (stream[checksumAt]! |
      (stream[checksumAt + 1]! << 8) |
      (stream[checksumAt + 2]! << 16) |
      (stream[checksumAt + 3]! << 24)) >>>
    0
  const computed = maskCrc32c(crc32c(plain))
  if (stored !== computed)
    throw new VarveError<SnappyErrorCode>(
      'SNAPPY_CHECKSUM',
      `snappy chunk at byte ${at}: expected checksum 0x${computed.toString(16)} of its data, got 0x${stored.toString(16)}`,
      { offset: at, expected: computed, found: stored },
    )
  return plain
}

function unpackBlock(stream: Uint8Array, start: number, end: number): Uint8Array {
  // A plain Uint8Array, since the library answers a Buffer with a Buffer.
  const block = new Uint8Array(stream.buffer, stream.byteOffset + start, end - start)
  try {
    return snappy.uncompress(block, CHUNK_PLAIN_BYTES)
  } catch (error) {
    throw frameFault(start, 'a snappy block of up to 65,536 bytes', (error as Error).message)
  }
}

/** Whether the writer would have made this chunk: its choice of type, and the block itself. */
function isWriterChunk(stream: Uint8Array, at: number, end: number, plain: Uint8Array): boolean {
  const dataStart = at + CHUNK_HEADER_BYTES + CHECKSUM_BYTES
  const { length } = plain
  if (stream[at] === CHUNK_PLAIN) return true
  // It keeps a chunk packed only where that saves more than an eighth.
  if (end - dataStart >= length - (length >> 3)) return false
  let blockStart = dataStart
  for (let rest = length; ; rest >>>= 7) {
    const isLast = rest < 0x80
    if (stream[blockStart++] !== (isLast ? rest : (rest & 0x7f) | 0x80)) return false
    if (isLast) break
  }
  return isWriterBlock(plain, stream, blockStart, end)
}

function join(parts: readonly Uint8Array[], length: number): Uint8Array {
  if (length === 0) return EMPTY_BYTES
  const joined = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

function byteText(byte: number | undefined): string {
  return byte === undefined ? 'the end' : `0x${byte.toString(16).padStart(2, '0')}`
}

function frameFault(offset: number, expected: string, found: string): VarveError<SnappyErrorCode> {
  return new VarveError(
    'SNAPPY_FRAME',
    `snappy stream at byte ${offset}: expected ${expected}, got ${found}`,
    { offset, expected, found },
  )
}

/** Error codes of this module. */
export type SnappyErrorCode =
  /** The framing or a block is not valid. */
  | 'SNAPPY_FRAME'
  /** The plain bytes of a chunk do not have its checksum. */
  | 'SNAPPY_CHECKSUM'
