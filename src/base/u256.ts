/** Unsigned integers between `bigint` and big-endian bytes. The hot paths keep limbs in an arena instead. */
import { assert } from './assert.ts'
import { EMPTY_BYTES } from './bytes.ts'

export const U64_MAX = (1n << 64n) - 1n
export const U256_MAX = (1n << 256n) - 1n

/** Reads any number of big-endian bytes; the empty string is 0. */
export function bigintFromBytes(bytes: Uint8Array): bigint {
  const length = bytes.length
  if (length <= 6) {
    let small = 0
    for (let index = 0; index < length; index++) small = small * 256 + bytes[index]!
    return BigInt(small)
  }
  let value = 0n
  let index = 0
  const head = length % 6
  if (head > 0) {
    let small = 0
    for (; index < head; index++) small = small * 256 + bytes[index]!
    value = BigInt(small)
  }
  for (; index < length; index += 6) {
    let small = 0
    for (let step = 0; step < 6; step++) small = small * 256 + bytes[index + step]!
    value = (value << 48n) | BigInt(small)
  }
  return value
}

/** Big-endian bytes without leading zeros; 0 is the empty string, as in RLP. */
export function bigintToMinimalBytes(value: bigint): Uint8Array {
  if (value === 0n) return EMPTY_BYTES
  const bytes = bigEndian(value)
  return bytes.slice(leadingZeroCount(bytes))
}

/** Bytes that the integer takes without leading zeros: 0 for 0. Allocates nothing up to 256 bits. */
export function bigintByteCount(value: bigint): number {
  if (isShort(value)) return shortByteCount()
  const bytes = bigEndian(value)
  return bytes.length - leadingZeroCount(bytes)
}

/** Writes the integer without leading zeros at `offset`; returns the offset behind it. */
export function writeMinimalBigint(target: Uint8Array, offset: number, value: bigint): number {
  if (isShort(value)) return writeShort(target, offset)
  const bytes = bigEndian(value)
  let from = leadingZeroCount(bytes)
  let at = offset
  while (from < bytes.length) target[at++] = bytes[from++]!
  return at
}

/** Big-endian bytes of fixed width, filled with zeros on the left. */
export function bigintToBytes(value: bigint, width: number): Uint8Array {
  const bytes = bigEndian(value)
  assert(bytes.length - leadingZeroCount(bytes) <= width, 'the integer fits its width')
  if (width <= bytes.length) return bytes.slice(bytes.length - width)
  const wide = new Uint8Array(width)
  wide.set(bytes, width - bytes.length)
  return wide
}

const LIMB = new BigUint64Array(1)
const LIMB_WORDS = new Uint32Array(LIMB.buffer)
const LOW_WORD = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1

/** Whether an integer has at most 64 bits; it then lies in the limb, for the functions below. */
function isShort(value: bigint): boolean {
  // The array takes the lowest 64 bits of what is put into it.
  LIMB[0] = value
  return LIMB[0] === value
}

function shortByteCount(): number {
  const high = LIMB_WORDS[1 ^ LOW_WORD]!
  return high === 0
    ? (39 - Math.clz32(LIMB_WORDS[LOW_WORD]!)) >> 3
    : 4 + ((39 - Math.clz32(high)) >> 3)
}

/** Writes the integer in the limb without leading zeros; returns the offset behind it. */
function writeShort(target: Uint8Array, offset: number): number {
  const end = offset + shortByteCount()
  let word = LIMB_WORDS[LOW_WORD]!
  for (let at = end - 1, step = 0; at >= offset; at--, step++) {
    if (step === 4) word = LIMB_WORDS[1 ^ LOW_WORD]!
    target[at] = word
    word >>>= 8
  }
  return end
}

const SCRATCH = new Uint8Array(32)
const SCRATCH_VIEW = new DataView(SCRATCH.buffer)

/**
 * The integer right-aligned in at least as many bytes as it has; up to 256 bits they lie in the scratch, so copy them.
 * Eight bytes a step: an integer up to 2^64 takes one, which is four times as fast as by hexadecimal text.
 */
function bigEndian(value: bigint): Uint8Array {
  assert(value >= 0n, 'an unsigned integer is not negative')
  if (value > U256_MAX) return wideBigEndian(value)
  SCRATCH.fill(0)
  for (let rest = value, at = 24; rest > 0n; rest >>= 64n, at -= 8)
    SCRATCH_VIEW.setBigUint64(at, BigInt.asUintN(64, rest))
  return SCRATCH
}

function wideBigEndian(value: bigint): Uint8Array {
  const digits = value.toString(16)
  const bytes = new Uint8Array((digits.length + 1) >> 1)
  for (let end = digits.length, at = bytes.length - 1; end > 0; end -= 2, at--)
    bytes[at] = Number.parseInt(digits.slice(Math.max(0, end - 2), end), 16)
  return bytes
}

/** How many zero bytes stand in front of the first other one. */
export function leadingZeroCount(bytes: Uint8Array): number {
  let count = 0
  while (count < bytes.length && bytes[count] === 0) count++
  return count
}
