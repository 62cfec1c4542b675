/**
 * The bytes of the journal's files, each of which is a segment: a header, then records without a gap.
 *
 * ```
 *  0000000000000421.journal            the name: sequence of the first record, 16 digits
 *
 *  segment header   "VRVJ" | version u32 | first u64 | salt u32 | crc u32                                  24 bytes
 *  record header    "VJRr" | payload bytes u32 | sequence u64 | durable u64 | kind u32 | crc u32 | crc u32  36 bytes
 *                                                                            payload's ┘         └ of what lies before
 *  payload          as many bytes as its header says
 * ```
 * Numbers are big-endian. A checksum is CRC-32, a record's begun with its segment's salt: a payload comes from
 * strangers, and must not be able to hold what passes for a record.
 *
 * `durable` is the newest record that was known to be on the disk when this one was written. It tells a torn tail from
 * damage: a bad record that a later one calls durable was whole once.
 */
import { crc32 } from 'node:zlib'
import {
  assert,
  readUint32BE,
  readUint64BE,
  writeUint32BE,
  writeUint64BE,
} from '../../base/index.ts'

export const SEGMENT_HEADER_BYTES = 24
export const RECORD_HEADER_BYTES = 36
/** Longest payload: 128 MiB, twice the largest block that a chain file may hold, so that its senders fit too. */
export const PAYLOAD_BYTES_MAX = 128 * 1024 * 1024

const VERSION = 1
const SEGMENT_MAGIC = 0x5652_564a
const RECORD_MAGIC = 0x564a_5272
const NAME_DIGITS = 16

export type SegmentHeader = { readonly first: number; readonly salt: number }

export type RecordHeader = {
  readonly payloadBytes: number
  readonly sequence: number
  readonly durable: number
  readonly kind: number
  readonly payloadCrc: number
}

/** Name of the segment whose first record has this sequence. Names order as sequences do. */
export function segmentName(first: number): string {
  return `${String(first).padStart(NAME_DIGITS, '0')}.journal`
}

/** The first sequence of a segment by its name; `undefined` for a name that is none. */
export function firstOfName(name: string): number | undefined {
  const digits = /^(\d{16})\.journal$/.exec(name)?.[1]
  if (digits === undefined) return undefined
  const first = Number(digits)
  return Number.isSafeInteger(first) && first > 0 ? first : undefined
}

export function encodeSegmentHeader({ first, salt }: SegmentHeader): Uint8Array {
  const bytes = new Uint8Array(SEGMENT_HEADER_BYTES)
  writeUint32BE(bytes, 0, SEGMENT_MAGIC)
  writeUint32BE(bytes, 4, VERSION)
  writeUint64BE(bytes, 8, first)
  writeUint32BE(bytes, 16, salt)
  writeUint32BE(bytes, 20, crc32(bytes.subarray(0, 20)))
  return bytes
}

/** `undefined` where the bytes are no header; the number of a version that is not ours. */
export function decodeSegmentHeader(bytes: Uint8Array): SegmentHeader | number | undefined {
  if (bytes.length < SEGMENT_HEADER_BYTES || readUint32BE(bytes, 0) !== SEGMENT_MAGIC)
    return undefined
  if (readUint32BE(bytes, 20) !== crc32(bytes.subarray(0, 20))) return undefined
  const version = readUint32BE(bytes, 4)
  if (version !== VERSION) return version
  return { first: readUint64BE(bytes, 8), salt: readUint32BE(bytes, 16) }
}

export function encodeRecordHeader(header: RecordHeader, salt: number): Uint8Array {
  const { payloadBytes, sequence, durable, kind, payloadCrc } = header
  assert(durable < sequence, 'a record is written before it is durable')
  const bytes = new Uint8Array(RECORD_HEADER_BYTES)
  writeUint32BE(bytes, 0, RECORD_MAGIC)
  writeUint32BE(bytes, 4, payloadBytes)
  writeUint64BE(bytes, 8, sequence)
  writeUint64BE(bytes, 16, durable)
  writeUint32BE(bytes, 24, kind)
  writeUint32BE(bytes, 28, payloadCrc)
  writeUint32BE(bytes, 32, crc32(bytes.subarray(0, 32), salt))
  return bytes
}

/** The header at `offset`, or `undefined` where there is none that is whole. */
export function decodeRecordHeader(
  bytes: Uint8Array,
  offset: number,
  salt: number,
): RecordHeader | undefined {
  if (offset + RECORD_HEADER_BYTES > bytes.length) return undefined
  if (readUint32BE(bytes, offset) !== RECORD_MAGIC) return undefined
  if (readUint32BE(bytes, offset + 32) !== crc32(bytes.subarray(offset, offset + 32), salt))
    return undefined
  const payloadBytes = readUint32BE(bytes, offset + 4)
  if (payloadBytes > PAYLOAD_BYTES_MAX) return undefined
  return {
    payloadBytes,
    sequence: readUint64BE(bytes, offset + 8),
    durable: readUint64BE(bytes, offset + 16),
    kind: readUint32BE(bytes, offset + 24),
    payloadCrc: readUint32BE(bytes, offset + 28),
  }
}

/** Checksum of a payload that lies in several parts. */
export function payloadCrcOf(parts: readonly Uint8Array[], salt: number): number {
  let crc = salt
  // Of no bytes at all the library gives 0, whatever it is told to begin with.
  for (const part of parts) if (part.length > 0) crc = crc32(part, crc)
  return crc
}
