/**
 * 256-bit words: four little-endian u64 limbs at an address. Only u64 loads and stores: mixing widths on one stack
 * slot breaks the processor's store forwarding and cost a third of the interpreter's speed.
 * An output may be the same address as an input.
 */
import { SCRATCH } from './layout'

// @ts-ignore: decorator
@inline
export function copyWord(to: usize, from: usize): void {
  const a = load<u64>(from)
  const b = load<u64>(from, 8)
  const c = load<u64>(from, 16)
  const d = load<u64>(from, 24)
  store<u64>(to, a)
  store<u64>(to, b, 8)
  store<u64>(to, c, 16)
  store<u64>(to, d, 24)
}

// @ts-ignore: decorator
@inline
export function swapWords(first: usize, second: usize): void {
  const a = load<u64>(first)
  const b = load<u64>(first, 8)
  const c = load<u64>(first, 16)
  const d = load<u64>(first, 24)
  const e = load<u64>(second)
  const f = load<u64>(second, 8)
  const g = load<u64>(second, 16)
  const h = load<u64>(second, 24)
  store<u64>(first, e)
  store<u64>(first, f, 8)
  store<u64>(first, g, 16)
  store<u64>(first, h, 24)
  store<u64>(second, a)
  store<u64>(second, b, 8)
  store<u64>(second, c, 16)
  store<u64>(second, d, 24)
}

// @ts-ignore: decorator
@inline
export function setSmall(to: usize, value: u64): void {
  store<u64>(to, value)
  store<u64>(to, 0, 8)
  store<u64>(to, 0, 16)
  store<u64>(to, 0, 24)
}

// @ts-ignore: decorator
@inline
export function isZero(word: usize): bool {
  return (load<u64>(word) | load<u64>(word, 8) | load<u64>(word, 16) | load<u64>(word, 24)) == 0
}

// @ts-ignore: decorator
@inline
export function equals(a: usize, b: usize): bool {
  return (
    ((load<u64>(a) ^ load<u64>(b)) |
      (load<u64>(a, 8) ^ load<u64>(b, 8)) |
      (load<u64>(a, 16) ^ load<u64>(b, 16)) |
      (load<u64>(a, 24) ^ load<u64>(b, 24))) ==
    0
  )
}

/** The word where it fits 64 bits, else the largest u64, which no offset or amount of gas may reach. */
// @ts-ignore: decorator
@inline
export function saturate(word: usize): u64 {
  return (load<u64>(word, 8) | load<u64>(word, 16) | load<u64>(word, 24)) == 0
    ? load<u64>(word)
    : u64.MAX_VALUE
}

// @ts-ignore: decorator
@inline
export function lessThan(a: usize, b: usize): bool {
  const a3 = load<u64>(a, 24)
  const b3 = load<u64>(b, 24)
  if (a3 != b3) return a3 < b3
  const a2 = load<u64>(a, 16)
  const b2 = load<u64>(b, 16)
  if (a2 != b2) return a2 < b2
  const a1 = load<u64>(a, 8)
  const b1 = load<u64>(b, 8)
  if (a1 != b1) return a1 < b1
  return load<u64>(a) < load<u64>(b)
}

/** Two's complement order. */
// @ts-ignore: decorator
@inline
export function signedLessThan(a: usize, b: usize): bool {
  const a3 = load<i64>(a, 24)
  const b3 = load<i64>(b, 24)
  if ((a3 ^ b3) < 0) return a3 < b3
  return lessThan(a, b)
}

// @ts-ignore: decorator
@inline
export function add(a: usize, b: usize, to: usize): void {
  const a0 = load<u64>(a)
  const a1 = load<u64>(a, 8)
  const a2 = load<u64>(a, 16)
  const a3 = load<u64>(a, 24)
  const r0 = a0 + load<u64>(b)
  let carry = u64(r0 < a0)
  let r1 = a1 + load<u64>(b, 8)
  let over = u64(r1 < a1)
  r1 += carry
  carry = over | u64(r1 < carry)
  let r2 = a2 + load<u64>(b, 16)
  over = u64(r2 < a2)
  r2 += carry
  carry = over | u64(r2 < carry)
  const r3 = a3 + load<u64>(b, 24) + carry
  store<u64>(to, r0)
  store<u64>(to, r1, 8)
  store<u64>(to, r2, 16)
  store<u64>(to, r3, 24)
}

// @ts-ignore: decorator
@inline
export function subtract(a: usize, b: usize, to: usize): void {
  const a0 = load<u64>(a)
  const a1 = load<u64>(a, 8)
  const a2 = load<u64>(a, 16)
  const a3 = load<u64>(a, 24)
  const b0 = load<u64>(b)
  const b1 = load<u64>(b, 8)
  const b2 = load<u64>(b, 16)
  const b3 = load<u64>(b, 24)
  let borrow = u64(a0 < b0)
  const t1 = a1 - b1
  let under = u64(a1 < b1)
  const r1 = t1 - borrow
  borrow = under | u64(t1 < borrow)
  const t2 = a2 - b2
  under = u64(a2 < b2)
  const r2 = t2 - borrow
  borrow = under | u64(t2 < borrow)
  store<u64>(to, a0 - b0)
  store<u64>(to, r1, 8)
  store<u64>(to, r2, 16)
  store<u64>(to, a3 - b3 - borrow, 24)
}

/** Two's complement negation. */
export function negate(a: usize, to: usize): void {
  const a0 = load<u64>(a)
  const a1 = load<u64>(a, 8)
  const a2 = load<u64>(a, 16)
  const a3 = load<u64>(a, 24)
  const r0 = ~a0 + 1
  let carry = u64(r0 == 0)
  const r1 = ~a1 + carry
  carry = u64(r1 == 0) & carry
  const r2 = ~a2 + carry
  carry = u64(r2 == 0) & carry
  store<u64>(to, r0)
  store<u64>(to, r1, 8)
  store<u64>(to, r2, 16)
  store<u64>(to, ~a3 + carry, 24)
}

/** High half of a product of two u64; the low half is `a * b`. */
// @ts-ignore: decorator
@inline
export function multiplyHigh(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff
  const aHigh = a >> 32
  const bLow = b & 0xffffffff
  const bHigh = b >> 32
  const low = aLow * bLow
  const middle = aHigh * bLow + (low >> 32)
  const cross = aLow * bHigh + (middle & 0xffffffff)
  return aHigh * bHigh + (middle >> 32) + (cross >> 32)
}

export function multiply(a: usize, b: usize, to: usize): void {
  const a0 = load<u64>(a)
  const a1 = load<u64>(a, 8)
  const a2 = load<u64>(a, 16)
  const a3 = load<u64>(a, 24)
  const b0 = load<u64>(b)
  const b1 = load<u64>(b, 8)
  const b2 = load<u64>(b, 16)
  const b3 = load<u64>(b, 24)
  if ((a1 | a2 | a3 | b1 | b2 | b3) == 0) {
    store<u64>(to, a0 * b0)
    store<u64>(to, multiplyHigh(a0, b0), 8)
    store<u64>(to, 0, 16)
    store<u64>(to, 0, 24)
    return
  }
  // Row by row; a high half is at most 2^64 - 2, so adding one carry to it never overflows.
  const r0 = a0 * b0
  let r1 = multiplyHigh(a0, b0)
  let low = a0 * b1
  let high = multiplyHigh(a0, b1)
  r1 += low
  let r2 = high + u64(r1 < low)
  low = a0 * b2
  high = multiplyHigh(a0, b2)
  r2 += low
  let r3 = high + u64(r2 < low)
  r3 += a0 * b3
  low = a1 * b0
  high = multiplyHigh(a1, b0)
  r1 += low
  high += u64(r1 < low)
  r2 += high
  r3 += u64(r2 < high)
  low = a1 * b1
  high = multiplyHigh(a1, b1)
  r2 += low
  high += u64(r2 < low)
  r3 += high
  r3 += a1 * b2
  low = a2 * b0
  high = multiplyHigh(a2, b0)
  r2 += low
  high += u64(r2 < low)
  r3 += high
  r3 += a2 * b1 + a3 * b0
  store<u64>(to, r0)
  store<u64>(to, r1, 8)
  store<u64>(to, r2, 16)
  store<u64>(to, r3, 24)
}

/** `value` >> `shift`, zeros from the left. */
export function shiftRight(shift: usize, value: usize, to: usize): void {
  const count = saturate(shift)
  if (count >= 256) {
    setSmall(to, 0)
    return
  }
  fillRight(count, value, to, 0)
}

/** `value` >> `shift`, the sign from the left. */
export function shiftRightSigned(shift: usize, value: usize, to: usize): void {
  const sign = u64(load<i64>(value, 24) >> 63)
  let count = saturate(shift)
  if (count >= 256) {
    store<u64>(to, sign)
    store<u64>(to, sign, 8)
    store<u64>(to, sign, 16)
    store<u64>(to, sign, 24)
    return
  }
  fillRight(count, value, to, sign)
}

function fillRight(count: u64, value: usize, to: usize, fill: u64): void {
  const wide = SCRATCH
  copyWord(wide, value)
  store<u64>(wide, fill, 32)
  store<u64>(wide, fill, 40)
  store<u64>(wide, fill, 48)
  store<u64>(wide, fill, 56)
  store<u64>(wide, fill, 64)
  const from = wide + (usize(count >> 6) << 3)
  const bits = count & 63
  // A shift by 64 - 0 would wrap to 0; shifting by 1 first makes it a shift by 64.
  const rest = 63 - bits
  for (let at: usize = 0; at < 32; at += 8) {
    store<u64>(to + at, (load<u64>(from + at) >> bits) | ((load<u64>(from + at, 8) << 1) << rest))
  }
}

export function shiftLeft(shift: usize, value: usize, to: usize): void {
  const count = saturate(shift)
  if (count >= 256) {
    setSmall(to, 0)
    return
  }
  const wide = SCRATCH
  setSmall(wide, 0)
  setSmall(wide + 32, 0)
  copyWord(wide + 40, value)
  const from = wide + 40 - (usize(count >> 6) << 3)
  const bits = count & 63
  const rest = 63 - bits
  for (let at: usize = 0; at < 32; at += 8) {
    store<u64>(to + at, (load<u64>(from + at) << bits) | ((load<u64>(from + at - 8) >> 1) >> rest))
  }
}

/** Byte `index` of `value`, counted from the most significant; 0 from index 32 on. */
export function byteAt(index: usize, value: usize, to: usize): void {
  const at = saturate(index)
  setSmall(to, at < 32 ? u64(load<u8>(value + 31 - usize(at))) : 0)
}

/** Extends the sign of the lowest `index` + 1 bytes. */
export function signExtend(index: usize, value: usize, to: usize): void {
  const at = saturate(index)
  if (at >= 31) {
    copyWord(to, value)
    return
  }
  const sign = u64(i64(load<i8>(value + usize(at))) >> 63)
  const limb = usize(at >> 3) << 3
  const bits = ((at & 7) + 1) << 3
  copyWord(to, value)
  if (bits < 64) {
    const mask = (u64(1) << bits) - 1
    store<u64>(to + limb, (load<u64>(to + limb) & mask) | (sign & ~mask))
  }
  for (let next = limb + 8; next < 32; next += 8) store<u64>(to + next, sign)
}

/** Leading zero bits, 256 for 0 (EIP-7939). */
export function leadingZeros(value: usize, to: usize): void {
  let count: u64 = 0
  for (let at: usize = 24; ; at -= 8) {
    const limb = load<u64>(value + at)
    count += clz<u64>(limb)
    if (limb != 0 || at == 0) break
  }
  setSmall(to, count)
}

/** Bytes of the word without leading zeros. */
export function byteLength(value: usize): u32 {
  for (let at: i32 = 24; at >= 0; at -= 8) {
    const limb = load<u64>(value + <usize>at)
    if (limb != 0) return u32(at) + 8 - u32(clz<u64>(limb) >> 3)
  }
  return 0
}

/** `base` to the power `exponent`, by squaring. */
export function power(base: usize, exponent: usize, to: usize): void {
  const square = SCRATCH + 128
  const rest = SCRATCH + 160
  const result = SCRATCH + 192
  copyWord(square, base)
  copyWord(rest, exponent)
  setSmall(result, 1)
  const bits = i32(byteLength(rest)) << 3
  for (let bit = 0; bit < bits; bit++) {
    if ((load<u8>(rest + (<usize>bit >> 3)) >> (<u8>bit & 7)) & 1) multiply(result, square, result)
    multiply(square, square, square)
  }
  copyWord(to, result)
}

/** Reads 32 big-endian bytes, as memory, call data and hashes hold them. */
// @ts-ignore: decorator
@inline
export function readBytes(from: usize, to: usize): void {
  const high = v128.load(from)
  const low = v128.load(from, 16)
  v128.store(to, i8x16.shuffle(low, low, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0))
  v128.store(
    to,
    i8x16.shuffle(high, high, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
    16,
  )
}

/** Writes the word as 32 big-endian bytes. The lanes are built from u64 loads, see above. */
// @ts-ignore: decorator
@inline
export function writeBytes(from: usize, to: usize): void {
  const low = i64x2.replace_lane(i64x2.splat(load<i64>(from)), 1, load<i64>(from, 8))
  const high = i64x2.replace_lane(i64x2.splat(load<i64>(from, 16)), 1, load<i64>(from, 24))
  v128.store(to, i8x16.shuffle(high, high, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0))
  v128.store(to, i8x16.shuffle(low, low, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), 16)
}
