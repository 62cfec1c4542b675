/** Addition (0x06), multiplication (0x07) and the pairing check (0x08) on bn254: EIP-196, EIP-197. */
import { bn254Slot } from './engines.ts'
import { readPadded, wordOf } from './input.ts'
import { failure, type PrecompileFailure } from './precompile.ts'

const ADD_BYTES = 128
const MUL_BYTES = 96
/** A G1 point and a G2 point. */
export const BN254_PAIR_BYTES = 192

const PAIRING_SIZE_INVALID = failure('bad elliptic curve pairing size')

/** Sum of two points; the input is cut or filled with zeros. 64 bytes. */
export function bn254Add(input: Uint8Array): Uint8Array | PrecompileFailure {
  const operands = readPadded(input, 0, ADD_BYTES)
  return bn254Slot.call((engine) => engine.add(1, operands))
}

/** A point times a scalar of any size; the input is cut or filled with zeros. 64 bytes. */
export function bn254Mul(input: Uint8Array): Uint8Array | PrecompileFailure {
  const operands = readPadded(input, 0, MUL_BYTES)
  return bn254Slot.call((engine) => engine.multiply(1, operands))
}

/** The word 1 where the product of pairings is one, else the word 0. */
export function bn254Pairing(input: Uint8Array): Uint8Array | PrecompileFailure {
  if (input.length % BN254_PAIR_BYTES !== 0) return PAIRING_SIZE_INVALID
  const isOne = bn254Slot.call((engine) => engine.pairing(input))
  return typeof isOne === 'boolean' ? wordOf(isOne) : isOne
}
