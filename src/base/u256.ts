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
  assert(value >= 0n, 'an unsigned integer is not negative')
  if (value === 0n) return EMPTY_BYTES
  const digits = value.toString(16)
  return writeDigits(digits, new Uint8Array((digits.length + 1) >> 1))
}

/** Big-endian bytes of fixed width, filled with zeros on the left. */
export function bigintToBytes(value: bigint, width: number): Uint8Array {
  assert(value >= 0n, 'an unsigned integer is not negative')
  const digits = value.toString(16)
  assert(digits.length <= width * 2, 'the integer fits its width')
  return value === 0n ? new Uint8Array(width) : writeDigits(digits, new Uint8Array(width))
}

function writeDigits(digits: string, target: Uint8Array): Uint8Array {
  let at = target.length - 1
  for (let end = digits.length; end > 0; end -= 2, at--)
    target[at] = Number.parseInt(digits.slice(Math.max(0, end - 2), end), 16)
  return target
}
