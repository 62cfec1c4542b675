/**
 * Header and price of modexp (0x05). The header declares three lengths of up to 2^256-1 bytes, so prices are
 * computed on exact big integers and nothing is allocated by them.
 *
 *     0         32        64        96      96+B     96+B+E    96+B+E+M
 *     | B: u256 | E: u256 | M: u256 | base  | exponent | modulus |        the input may end anywhere: zeros follow
 *
 * Rules: EIP-198 (Byzantium), EIP-2565 (Berlin), EIP-7883 (Osaka).
 */
import { bigintFromBytes } from '../../base/index.ts'
import { MODEXP_MIN_GAS } from './gas.ts'
import { readPadded } from './input.ts'

export const MODEXP_HEADER_BYTES = 96

/** The declared lengths in bytes, 0 to 2^256-1 each. */
export type ModexpLengths = {
  readonly base: bigint
  readonly exponent: bigint
  readonly modulus: bigint
}

export function readModexpLengths(input: Uint8Array): ModexpLengths {
  return {
    base: bigintFromBytes(readPadded(input, 0, 32)),
    exponent: bigintFromBytes(readPadded(input, 32, 32)),
    modulus: bigintFromBytes(readPadded(input, 64, 32)),
  }
}

/** EIP-198: `complexity * max(adjusted exponent length, 1) / 20`. */
export function modexpGasByzantium(input: Uint8Array): bigint {
  const lengths = readModexpLengths(input)
  const iterations = exponentIterations(input, lengths, 8n)
  return (complexityByzantium(longer(lengths)) * iterations) / 20n
}

/** EIP-2565: `max(200, words^2 * iterations / 3)`. */
export function modexpGasBerlin(input: Uint8Array): bigint {
  const lengths = readModexpLengths(input)
  const words = (longer(lengths) + 7n) / 8n
  const gas = (words * words * exponentIterations(input, lengths, 8n)) / 3n
  return gas > MODEXP_MIN_GAS.berlin ? gas : MODEXP_MIN_GAS.berlin
}

/** EIP-7883: `max(500, complexity * iterations)`, complexity 16 up to 32 bytes, else `2 * words^2`. */
export function modexpGasOsaka(input: Uint8Array): bigint {
  const lengths = readModexpLengths(input)
  const length = longer(lengths)
  const words = (length + 7n) / 8n
  const complexity = length <= 32n ? 16n : 2n * words * words
  const gas = complexity * exponentIterations(input, lengths, 16n)
  return gas > MODEXP_MIN_GAS.osaka ? gas : MODEXP_MIN_GAS.osaka
}

function longer(lengths: ModexpLengths): bigint {
  // Math.max takes no bigint.
  if (lengths.base > lengths.modulus) return lengths.base
  return lengths.modulus
}

/** EIP-198's estimate of one multiplication of `length` bytes. */
function complexityByzantium(length: bigint): bigint {
  if (length <= 64n) return length * length
  if (length <= 1024n) return (length * length) / 4n + 96n * length - 3072n
  return (length * length) / 16n + 480n * length - 199_680n
}

/**
 * At least 1: the bit length of the exponent's first 32 bytes less one, and `tailFactor` for each byte after them.
 */
function exponentIterations(input: Uint8Array, lengths: ModexpLengths, tailFactor: bigint): bigint {
  const headBytes = lengths.exponent < 32n ? Number(lengths.exponent) : 32
  const headBits = exponentHeadBits(input, lengths.base, headBytes)
  let iterations = headBits > 0 ? BigInt(headBits - 1) : 0n
  if (lengths.exponent > 32n) iterations += tailFactor * (lengths.exponent - 32n)
  return iterations > 1n ? iterations : 1n
}

/** Bit length of the first `headBytes` (0 to 32) of the exponent; 0 where the input ends before it. */
function exponentHeadBits(input: Uint8Array, baseLength: bigint, headBytes: number): number {
  if (baseLength >= BigInt(input.length)) return 0
  const start = MODEXP_HEADER_BYTES + Number(baseLength)
  for (let index = 0; index < headBytes; index++) {
    const byte = start + index < input.length ? input[start + index]! : 0
    if (byte !== 0) return (headBytes - index) * 8 - Math.clz32(byte) + 24
  }
  return 0
}
