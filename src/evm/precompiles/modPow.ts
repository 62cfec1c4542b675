/**
 * Modular exponentiation of non-negative integers of any size.
 *
 *     modulus below 2^26 ──────────────▶ doubles
 *     short exponent ──────────────────▶ BigInt
 *     odd modulus ─────────────────────▶ OpenSSL, by way of Diffie-Hellman (modPowNative.ts)
 *     even modulus 2^s * q ────────────▶ mod q as above, mod 2^s by masks, joined by the Chinese remainder theorem
 *
 * The BigInt way is the oracle of all others and takes over where OpenSSL cannot serve.
 */
import { modPowNative } from './modPowNative.ts'
import { MODULUS_SMALL_MAX, modPowSmall } from './modPowSmall.ts'

/**
 * Bits of exponent up to which BigInt is used although OpenSSL could serve, which costs 20 µs before it starts and
 * works on 512 bits at least: processor time on Node 20 is equal at 320 bits of exponent for moduli of 128 bits, 112
 * for 256, 60 for 384, 30 to 50 from 512 bits on. On a single word BigInt is twice as fast at any length.
 */
function exponentBitsShort(modulus: bigint): number {
  if (modulus >> 64n === 0n) return Number.POSITIVE_INFINITY
  for (const [modulusBits, exponentBits] of CROSSINGS)
    if (modulus >> modulusBits === 0n) return exponentBits
  return EXPONENT_BITS_SHORT
}
const CROSSINGS: readonly (readonly [bigint, number])[] = [
  [128n, 320],
  [192n, 180],
  [256n, 112],
  [384n, 60],
]
const EXPONENT_BITS_SHORT = 40

/**
 * `base ** exponent % modulus`; 0 where `modulus` is 0 or 1; `x ** 0` is 1, also for `x` = 0.
 * @param exponent big-endian, leading zeros allowed
 * Not constant-time: the EVM has no secrets.
 */
export function modPow(base: bigint, exponent: Uint8Array, modulus: bigint): bigint {
  if (modulus <= 1n) return 0n
  const digits = withoutLeadingZeros(exponent)
  if (digits.length === 0) return 1n
  if (modulus < MODULUS_SMALL_MAX)
    return BigInt(modPowSmall(Number(base % modulus), digits, Number(modulus)))
  const reduced = base % modulus
  if (reduced <= 1n) return reduced
  const exponentBits = digits.length * 8 - Math.clz32(digits[0]!) + 24
  if (exponentBits <= exponentBitsShort(modulus)) return modPowBigint(reduced, digits, modulus)
  return (modulus & 1n) === 1n
    ? modPowOdd(reduced, digits, modulus)
    : modPowEven(reduced, digits, modulus)
}

/** The plain way: a window of 4 bits over BigInt. */
export function modPowBigint(base: bigint, exponent: Uint8Array, modulus: bigint): bigint {
  return raiseByWindow(base % modulus, exponent, (value) => value % modulus)
}

function modPowOdd(base: bigint, exponent: Uint8Array, modulus: bigint): bigint {
  if (modulus < MODULUS_SMALL_MAX)
    return BigInt(modPowSmall(Number(base % modulus), exponent, Number(modulus)))
  return modPowNative(base, exponent, modulus) ?? modPowBigint(base, exponent, modulus)
}

function modPowEven(base: bigint, exponent: Uint8Array, modulus: bigint): bigint {
  const twoBits = trailingZeroBits(modulus)
  const odd = modulus >> BigInt(twoBits)
  const residueTwo = modPowTwo(base, exponent, twoBits)
  if (odd === 1n) return residueTwo
  const residueOdd = modPowOdd(base % odd, exponent, odd)
  // x = residueOdd + odd * t with x = residueTwo mod 2^twoBits gives t.
  const t = BigInt.asUintN(twoBits, (residueTwo - residueOdd) * inverseTwo(odd, twoBits))
  return residueOdd + odd * t
}

/** `base ** exponent` modulo 2^bits, bits at least 1. */
function modPowTwo(base: bigint, exponent: Uint8Array, bits: number): bigint {
  const reduced = BigInt.asUintN(bits, base)
  if ((base & 1n) === 0n) {
    // Each factor brings a zero bit, so from `bits` factors on nothing is left.
    if (exponent.length > 4) return 0n
    let count = 0
    for (const byte of exponent) count = count * 256 + byte
    if (count >= bits) return 0n
  }
  // The order of every odd number divides 2^bits: only the exponent's low bits count.
  const tail = (base & 1n) === 1n ? exponent.subarray(-Math.ceil(bits / 8)) : exponent
  return raiseByWindow(reduced, tail, (value) => BigInt.asUintN(bits, value))
}

/** Inverse of an odd number modulo 2^bits: each Newton step doubles the correct bits, from 3 on. */
function inverseTwo(odd: bigint, bits: number): bigint {
  let inverse = odd
  for (let correct = 3; correct < bits; correct *= 2)
    inverse = BigInt.asUintN(Math.min(2 * correct, bits), inverse * (2n - odd * inverse))
  return BigInt.asUintN(bits, inverse)
}

function raiseByWindow(
  base: bigint,
  exponent: Uint8Array,
  reduce: (value: bigint) => bigint,
): bigint {
  const powers: bigint[] = [reduce(1n), base]
  for (let index = 2; index < 16; index++) powers.push(reduce(powers[index - 1]! * base))
  let result = powers[0]!
  const raiseNibble = (nibble: number) => {
    for (let step = 0; step < 4; step++) result = reduce(result * result)
    if (nibble !== 0) result = reduce(result * powers[nibble]!)
  }
  for (const byte of exponent) {
    raiseNibble(byte >> 4)
    raiseNibble(byte & 15)
  }
  return result
}

function trailingZeroBits(value: bigint): number {
  // Blocks of 2^k bits, then single ones: linear where a loop over bits would be quadratic.
  let step = 1
  while (BigInt.asUintN(step, value) === 0n) step *= 2
  let count = 0
  let rest = value
  for (; step >= 1; step = step >> 1)
    if (BigInt.asUintN(step, rest) === 0n) {
      rest >>= BigInt(step)
      count += step
    }
  return count
}

function withoutLeadingZeros(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < bytes.length && bytes[start] === 0) start++
  return start === 0 ? bytes : bytes.subarray(start)
}
