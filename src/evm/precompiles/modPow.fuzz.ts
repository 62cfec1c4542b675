/** Random and edge operands through every way of `modPow`, against plain square-and-multiply. Accepts no error. */
import assert from 'node:assert/strict'
import { bigintToBytes } from '../../base/index.ts'
import { Prng } from '../../testing/index.ts'
import { modPow, modPowBigint } from './modPow.ts'
import { modPowNative } from './modPowNative.ts'

/** Right to left, one bit at a time: nothing to get wrong. */
export function modPowNaive(base: bigint, exponent: bigint, modulus: bigint): bigint {
  if (modulus <= 1n) return 0n
  let result = 1n
  let power = base % modulus
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * power) % modulus
    power = (power * power) % modulus
  }
  return result
}

/** Sizes around the borders of the ways: doubles, BigInt, OpenSSL's least size, words. */
const MODULUS_BITS = [
  1, 2, 8, 25, 26, 27, 32, 64, 127, 256, 440, 477, 504, 511, 512, 513, 1024, 1100,
]
const EXPONENT_BITS = [0, 1, 2, 8, 39, 40, 41, 48, 64, 255, 256, 257, 300]

export function fuzzModPow(seed: number, stepCount: number): void {
  const random = new Prng(seed)
  for (let step = 0; step < stepCount; step++) {
    const modulus = drawModulus(random)
    const base = drawBase(random, modulus)
    const exponent = random.oneIn(20)
      ? 1n << BigInt(random.below(300))
      : drawBits(random, random.pick(EXPONENT_BITS))
    const digits = Math.ceil(exponent.toString(16).length / 2)
    const bytes = bigintToBytes(exponent, digits + random.below(3))
    const expected = modPowNaive(base, exponent, modulus)
    const where = `seed ${seed}, step ${step}: ${base} ** ${exponent} % ${modulus}`
    assert.equal(modPow(base, bytes, modulus), expected, where)
    if (modulus <= 1n) continue
    assert.equal(modPowBigint(base, bytes, modulus), expected, `${where} (BigInt)`)
    const reduced = base % modulus
    if (modulus < 3n || modulus % 2n === 0n || reduced < 2n || exponent === 0n) continue
    const native = modPowNative(reduced, bytes, modulus)
    assert.ok(native === undefined || native === expected, `${where} (OpenSSL): ${native}`)
  }
}

function drawBits(random: Prng, bits: number): bigint {
  if (bits === 0) return 0n
  let value = 0n
  for (let have = 0; have < bits; have += 32) value = (value << 32n) | BigInt(random.uint32())
  return BigInt.asUintN(bits, value) | (1n << BigInt(bits - 1))
}

function drawModulus(random: Prng): bigint {
  const any = drawBits(random, random.pick(MODULUS_BITS))
  switch (random.below(8)) {
    case 0:
      return any >> BigInt(random.below(600))
    case 1:
      return any << BigInt(random.below(80))
    case 2:
      return 1n << BigInt(random.below(600))
    case 3:
      // Powers of small numbers: bases that share a factor reach 0, and OpenSSL refuses to say so.
      return BigInt(random.pick([3, 9, 15, 6, 67_108_187])) ** BigInt(random.between(1, 40))
    case 4:
      return (1n << BigInt(random.between(1, 600))) - 1n
    default:
      return any | 1n
  }
}

function drawBase(random: Prng, modulus: bigint): bigint {
  switch (random.below(8)) {
    case 0:
      return BigInt(random.below(4))
    case 1:
      return modulus - BigInt(Math.min(random.below(3), Number(BigInt.asUintN(8, modulus))))
    case 2:
      return modulus + BigInt(random.below(3))
    case 3:
      return 1n << BigInt(random.below(600))
    case 4:
      return 3n ** BigInt(random.below(50))
    default:
      return random.bigint(1200)
  }
}
