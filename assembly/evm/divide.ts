/**
 * Division of words by a reciprocal (Möller and Granlund, "Improved division by invariant integers", 2011): one
 * 64-bit reciprocal of the divisor's top limbs, then two multiplications a quotient limb. Twice as fast as Knuth's
 * algorithm on 32-bit digits. Loops over limbs in scratch memory; unrolled they were slower.
 */
import { SCRATCH } from './layout'
import { add, copyWord, isZero, lessThan, multiplyHigh, negate, setSmall, subtract } from './word'

/** Dividend: up to 8 limbs, one more for the normalising shift. It becomes the remainder. */
const DIVIDEND: usize = SCRATCH + 256
/** Divisor, normalised: its top bit is set. */
const DIVISOR: usize = SCRATCH + 352
/** Quotient: up to 8 limbs. */
const QUOTIENT: usize = SCRATCH + 384
const MAGNITUDE_A: usize = SCRATCH + 448
const MAGNITUDE_B: usize = SCRATCH + 480

/** floor((2^128 - 1) / `divisor`) - 2^64 for a divisor with its top bit set (algorithm 3 of the paper). */
function reciprocal(divisor: u64): u64 {
  const d9 = divisor >> 55
  const v0 = u64(0x7fd00) / d9
  const d40 = (divisor >> 24) + 1
  const v1 = (v0 << 11) - ((v0 * v0 * d40) >> 40) - 1
  const v2 = (v1 << 13) + ((v1 * ((u64(1) << 60) - v1 * d40)) >> 47)
  const d0 = divisor & 1
  const d63 = (divisor >> 1) + d0
  const e = ((v2 >> 1) & (0 - d0)) - v2 * d63
  const v3 = (multiplyHigh(v2, e) >> 1) + (v2 << 31)
  const low = v3 * divisor
  const high = multiplyHigh(v3, divisor) + u64(low + divisor < divisor)
  return v3 - high - divisor
}

/** The same for a divisor of two limbs (algorithm 6). */
function reciprocal2(d1: u64, d0: u64): u64 {
  let v = reciprocal(d1)
  let p = d1 * v + d0
  if (p < d0) {
    v--
    if (p >= d1) {
      v--
      p -= d1
    }
    p -= d1
  }
  const high = multiplyHigh(v, d0)
  const low = v * d0
  p += high
  if (p < high) {
    v--
    if (p > d1 || (p == d1 && low >= d0)) v--
  }
  return v
}

/** Remainder and quotient by one normalised limb (algorithm 4). */
function divideByOne(limbCount: i32, d: u64): void {
  const v = reciprocal(d)
  let rest = load<u64>(DIVIDEND + ((<usize>limbCount) << 3))
  for (let limb = limbCount - 1; limb >= 0; limb--) {
    const at = (<usize>limb) << 3
    const next = load<u64>(DIVIDEND + at)
    const productLow = v * rest
    let low = productLow + next
    let q = multiplyHigh(v, rest) + rest + u64(low < productLow) + 1
    let r = next - q * d
    if (r > low) {
      q--
      r += d
    }
    if (r >= d) {
      q++
      r -= d
    }
    store<u64>(QUOTIENT + at, q)
    rest = r
  }
  store<u64>(DIVIDEND, rest)
}

/** Quotient and remainder by 2 to 4 normalised limbs; `limbCount` limbs of dividend and one above. */
function divideByMany(limbCount: i32, divisorCount: i32): void {
  const top = DIVISOR + ((<usize>divisorCount) << 3)
  const d1 = load<u64>(top - 8)
  const d0 = load<u64>(top - 16)
  const v = reciprocal2(d1, d0)
  for (let step = limbCount - divisorCount; step >= 0; step--) {
    const base = DIVIDEND + ((<usize>step) << 3)
    const head = base + ((<usize>divisorCount) << 3)
    const u2 = load<u64>(head)
    const u1 = load<u64>(head - 8)
    const u0 = load<u64>(head - 16)
    let q: u64 = u64.MAX_VALUE
    if (u2 != d1 || u1 != d0) {
      // 3 limbs by 2 (algorithm 5); the remainder is not needed, the subtraction below makes it.
      const productLow = v * u2
      const low = productLow + u1
      q = multiplyHigh(v, u2) + u2 + u64(low < productLow)
      let r1 = u1 - q * d1
      const tLow = d0 * q
      const tHigh = multiplyHigh(d0, q)
      let r0 = u0 - tLow
      r1 = r1 - tHigh - u64(u0 < tLow)
      const before = r0
      r0 -= d0
      r1 = r1 - d1 - u64(before < d0)
      q++
      if (r1 >= low) {
        q--
        const sum = r0 + d0
        r1 = r1 + d1 + u64(sum < d0)
        r0 = sum
      }
      if (r1 > d1 || (r1 == d1 && r0 >= d0)) q++
    }
    if (subtractProduct(base, q, divisorCount)) {
      q--
      addBack(base, divisorCount)
    }
    store<u64>(QUOTIENT + ((<usize>step) << 3), q)
  }
}

/** Subtracts `q` times the divisor at `base`; says whether it went below zero. */
// @ts-ignore: decorator
@inline
function subtractProduct(base: usize, q: u64, divisorCount: i32): bool {
  let carry: u64 = 0
  const end = (<usize>divisorCount) << 3
  for (let at: usize = 0; at < end; at += 8) {
    const d = load<u64>(DIVISOR + at)
    const product = d * q
    const low = product + carry
    const have = load<u64>(base + at)
    carry = multiplyHigh(d, q) + u64(low < product) + u64(have < low)
    store<u64>(base + at, have - low)
  }
  const have = load<u64>(base + end)
  store<u64>(base + end, have - carry)
  return have < carry
}

function addBack(base: usize, divisorCount: i32): void {
  let carry: u64 = 0
  const end = (<usize>divisorCount) << 3
  for (let at: usize = 0; at < end; at += 8) {
    const d = load<u64>(DIVISOR + at)
    const sum = load<u64>(base + at) + d
    const over = u64(sum < d)
    const result = sum + carry
    carry = over | u64(result < carry)
    store<u64>(base + at, result)
  }
  store<u64>(base + end, load<u64>(base + end) + carry)
}

/**
 * Divides the `limbCount` limbs at DIVIDEND by `divisor`, which is not 0. Leaves the quotient at QUOTIENT (all 8
 * limbs valid) and the remainder, 4 limbs, at DIVIDEND.
 */
function divideLimbs(limbCount: i32, divisor: usize): void {
  let divisorCount = 4
  while (load<u64>(divisor + ((<usize>(divisorCount - 1)) << 3)) == 0) divisorCount--
  while (limbCount > 0 && load<u64>(DIVIDEND + ((<usize>(limbCount - 1)) << 3)) == 0) limbCount--
  for (let at: usize = 0; at < 64; at += 8) store<u64>(QUOTIENT + at, 0)
  if (limbCount < divisorCount) {
    for (let at = (<usize>limbCount) << 3; at < 32; at += 8) store<u64>(DIVIDEND + at, 0)
    return
  }
  const shift = clz<u64>(load<u64>(divisor + ((<usize>(divisorCount - 1)) << 3)))
  shiftUp(divisor, DIVISOR, divisorCount, shift)
  const over = shiftUp(DIVIDEND, DIVIDEND, limbCount, shift)
  store<u64>(DIVIDEND + ((<usize>limbCount) << 3), over)
  if (divisorCount == 1) divideByOne(limbCount, load<u64>(DIVISOR))
  else divideByMany(limbCount, divisorCount)
  const bytes = (<usize>divisorCount) << 3
  for (let at = bytes; at < 32; at += 8) store<u64>(DIVIDEND + at, 0)
  const rest = 63 - shift
  for (let at: usize = 0; at < bytes; at += 8) {
    const above = at + 8 < bytes ? load<u64>(DIVIDEND + at, 8) : 0
    store<u64>(DIVIDEND + at, (load<u64>(DIVIDEND + at) >> shift) | ((above << 1) << rest))
  }
}

/** Shifts `count` limbs left by 0 to 63 bits; returns what left at the top. */
function shiftUp(from: usize, to: usize, count: i32, shift: u64): u64 {
  let carry: u64 = 0
  const rest = 63 - shift
  const end = (<usize>count) << 3
  for (let at: usize = 0; at < end; at += 8) {
    const limb = load<u64>(from + at)
    store<u64>(to + at, (limb << shift) | carry)
    carry = (limb >> 1) >> rest
  }
  return carry
}

/** Unsigned quotient; 0 where the divisor is 0. */
export function divide(a: usize, b: usize, to: usize): void {
  const high = load<u64>(a, 8) | load<u64>(a, 16) | load<u64>(a, 24)
  const highB = load<u64>(b, 8) | load<u64>(b, 16) | load<u64>(b, 24)
  if ((high | highB) == 0) {
    const d = load<u64>(b)
    setSmall(to, d == 0 ? 0 : load<u64>(a) / d)
    return
  }
  if (isZero(b)) {
    setSmall(to, 0)
    return
  }
  copyWord(DIVIDEND, a)
  divideLimbs(4, b)
  copyWord(to, QUOTIENT)
}

/** Unsigned remainder; 0 where the divisor is 0. */
export function modulo(a: usize, b: usize, to: usize): void {
  const high = load<u64>(a, 8) | load<u64>(a, 16) | load<u64>(a, 24)
  const highB = load<u64>(b, 8) | load<u64>(b, 16) | load<u64>(b, 24)
  if ((high | highB) == 0) {
    const d = load<u64>(b)
    setSmall(to, d == 0 ? 0 : load<u64>(a) % d)
    return
  }
  if (isZero(b)) {
    setSmall(to, 0)
    return
  }
  copyWord(DIVIDEND, a)
  divideLimbs(4, b)
  copyWord(to, DIVIDEND)
}

/** Two's complement quotient, towards zero; -2^255 / -1 stays -2^255. */
export function divideSigned(a: usize, b: usize, to: usize): void {
  const isNegative = (load<i64>(a, 24) ^ load<i64>(b, 24)) < 0
  magnitude(a, MAGNITUDE_A)
  magnitude(b, MAGNITUDE_B)
  divide(MAGNITUDE_A, MAGNITUDE_B, to)
  if (isNegative) negate(to, to)
}

/** Two's complement remainder, with the sign of the dividend. */
export function moduloSigned(a: usize, b: usize, to: usize): void {
  const isNegative = load<i64>(a, 24) < 0
  magnitude(a, MAGNITUDE_A)
  magnitude(b, MAGNITUDE_B)
  modulo(MAGNITUDE_A, MAGNITUDE_B, to)
  if (isNegative) negate(to, to)
}

function magnitude(a: usize, to: usize): void {
  if (load<i64>(a, 24) < 0) negate(a, to)
  else copyWord(to, a)
}

/** (`a` + `b`) mod `m` without overflow; 0 where `m` is 0. */
export function addModulo(a: usize, b: usize, m: usize, to: usize): void {
  if (isZero(m)) {
    setSmall(to, 0)
    return
  }
  if (load<u64>(m, 24) != 0 && lessThan(a, m) && lessThan(b, m)) {
    // The usual case of a field: the sum is below 2m.
    const sum = MAGNITUDE_A
    add(a, b, sum)
    if (lessThan(sum, a) || !lessThan(sum, m)) subtract(sum, m, sum)
    copyWord(to, sum)
    return
  }
  add(a, b, DIVIDEND)
  store<u64>(DIVIDEND, u64(lessThan(DIVIDEND, a)), 32)
  divideLimbs(5, m)
  copyWord(to, DIVIDEND)
}

/** (`a` * `b`) mod `m` by the 512-bit product; 0 where `m` is 0. */
export function multiplyModulo(a: usize, b: usize, m: usize, to: usize): void {
  if (isZero(m)) {
    setSmall(to, 0)
    return
  }
  for (let at: usize = 0; at < 64; at += 8) store<u64>(DIVIDEND + at, 0)
  for (let row: usize = 0; row < 32; row += 8) {
    const x = load<u64>(a + row)
    if (x == 0) continue
    let carry: u64 = 0
    for (let column: usize = 0; column < 32; column += 8) {
      const y = load<u64>(b + column)
      const at = DIVIDEND + row + column
      let low = x * y
      let high = multiplyHigh(x, y)
      low += carry
      high += u64(low < carry)
      const have = load<u64>(at)
      low += have
      carry = high + u64(low < have)
      store<u64>(at, low)
    }
    store<u64>(DIVIDEND + row, carry, 32)
  }
  divideLimbs(8, m)
  copyWord(to, DIVIDEND)
}
