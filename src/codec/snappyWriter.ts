/**
 * Recognizes blocks that the common writer of snappy made (Google's, and its Go version, which geth and so nearly all
 * era1 files use). That writer is deterministic: plain bytes have one compressed form. Compressed bytes can be changed
 * and still mean the same (a copy inside a run of zeros may come from one place or another), and then no checksum of
 * the plain bytes finds it; running the writer again does.
 *
 * The writer: a table of hashes of four bytes gives the last place where they stood; the longest match from there
 * becomes a copy, what lies between copies a literal; where nothing matches the step grows. Nothing is written here,
 * only compared, so the check needs no buffer and stops at the first difference.
 *
 *   literal  tag 00: length-1 in 6 bits up to 59, else 60 or 61 and one or two bytes
 *   copy     tag 01: length 4 to 11, offset below 2048     tag 10: length 1 to 64, offset of two bytes
 */

/** Most plain bytes of one block. */
const BLOCK_BYTES_MAX = 65_536
/** Within this many bytes of the end the writer looks for no match. */
const MARGIN_BYTES = 15
/** Blocks shorter than this are one literal. */
const MATCH_BLOCK_BYTES_MIN = 17
const TABLE_SIZE_MIN = 256
const TABLE_SIZE_MAX = 16_384
const HASH_FACTOR = 0x1e35a7bd
/** Step between lookups, in 32nds of a byte, when a search starts. */
const SKIP_START = 32

/** Place of the last four bytes with each hash. Cleared as far as a block uses it. */
const table = new Uint16Array(TABLE_SIZE_MAX)

/**
 * Whether `compressed` (without its length header, between two offsets) is what the writer makes of `plain`.
 * @param plain 1 to 65,536 bytes
 * Cost: about that of compressing; no allocation.
 */
export function isWriterBlock(
  plain: Uint8Array,
  compressed: Uint8Array,
  start: number,
  end: number,
): boolean {
  const { length } = plain
  if (length === 0 || length > BLOCK_BYTES_MAX) return false
  if (length < MATCH_BLOCK_BYTES_MIN)
    return matchLiteral(plain, 0, length, compressed, start, end) === end
  return matchBlock(plain, compressed, start, end) === end
}

/** Follows the writer over one block. Returns the offset after what matched, or -1 at the first difference. */
function matchBlock(
  plain: Uint8Array,
  packed: Uint8Array,
  start: number,
  packedEnd: number,
): number {
  const end = plain.length
  const limit = end - MARGIN_BYTES
  const shift = prepareTable(end)
  let packedAt = start
  let emitted = 0
  let at = 1
  let nextHash = hash(load32(plain, at), shift)
  for (;;) {
    let skip = SKIP_START
    let next = at
    let candidate = 0
    do {
      at = next
      const step = skip >>> 5
      next = at + step
      skip += step
      if (next > limit) return matchLiteral(plain, emitted, end, packed, packedAt, packedEnd)
      candidate = table[nextHash]!
      table[nextHash] = at
      nextHash = hash(load32(plain, next), shift)
    } while (load32(plain, at) !== load32(plain, candidate))
    packedAt = matchLiteral(plain, emitted, at, packed, packedAt, packedEnd)
    if (packedAt < 0) return -1
    for (;;) {
      const base = at
      at = matchEnd(plain, candidate + 4, at + 4)
      packedAt = matchCopy(base - candidate, at - base, packed, packedAt, packedEnd)
      if (packedAt < 0) return -1
      emitted = at
      if (at >= limit) return matchLiteral(plain, emitted, end, packed, packedAt, packedEnd)
      table[hash(load32(plain, at - 1), shift)] = at - 1
      const word = load32(plain, at)
      const slot = hash(word, shift)
      candidate = table[slot]!
      table[slot] = at
      if (word !== load32(plain, candidate)) break
    }
    at++
    nextHash = hash(load32(plain, at), shift)
  }
}

/** Clears the table for a block and returns the shift of its hashes. */
function prepareTable(plainBytes: number): number {
  let size = TABLE_SIZE_MIN
  let shift = 24
  while (size < TABLE_SIZE_MAX && size < plainBytes) {
    size *= 2
    shift--
  }
  table.fill(0, 0, size)
  return shift
}

/** End of the run at `at` that repeats the bytes from `from` on. */
function matchEnd(plain: Uint8Array, from: number, at: number): number {
  const end = plain.length
  let source = from
  let target = at
  while (target < end && plain[source] === plain[target]) {
    source++
    target++
  }
  return target
}

/** Compares one literal; returns the offset after it, or -1. An empty one is not written at all. */
function matchLiteral(
  plain: Uint8Array,
  from: number,
  to: number,
  packed: Uint8Array,
  packedAt: number,
  packedEnd: number,
): number {
  const length = to - from
  if (length === 0) return packedAt
  const rest = length - 1
  let at = packedAt
  if (rest < 60) {
    if (packed[at++] !== rest << 2) return -1
  } else if (rest < 256) {
    if (packed[at++] !== 60 << 2 || packed[at++] !== rest) return -1
  } else if (
    packed[at++] !== 61 << 2 ||
    packed[at++] !== (rest & 255) ||
    packed[at++] !== rest >> 8
  )
    return -1
  if (at + length > packedEnd) return -1
  for (let index = from; index < to; index++, at++) if (plain[index] !== packed[at]) return -1
  return at
}

/** Compares one match, which the writer cuts into copies of 64 and leaves at least four bytes for the last. */
function matchCopy(
  offset: number,
  length: number,
  packed: Uint8Array,
  packedAt: number,
  packedEnd: number,
): number {
  let at = packedAt
  let left = length
  while (left > 64) {
    const piece = left >= 68 ? 64 : 60
    at = matchLongCopy(offset, piece, packed, at)
    if (at < 0) return -1
    left -= piece
  }
  if (left >= 12 || offset >= 2048) at = matchLongCopy(offset, left, packed, at)
  else {
    const tag = ((offset >> 8) << 5) | ((left - 4) << 2) | 1
    at = packed[at] === tag && packed[at + 1] === (offset & 255) ? at + 2 : -1
  }
  return at > packedEnd ? -1 : at
}

function matchLongCopy(offset: number, length: number, packed: Uint8Array, at: number): number {
  const isSame =
    packed[at] === (((length - 1) << 2) | 2) &&
    packed[at + 1] === (offset & 255) &&
    packed[at + 2] === offset >> 8
  return isSame ? at + 3 : -1
}

function load32(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

function hash(word: number, shift: number): number {
  return Math.imul(word, HASH_FACTOR) >>> shift
}
