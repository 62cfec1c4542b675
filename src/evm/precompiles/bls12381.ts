/** The seven precompiles of BLS12-381 (0x0b to 0x11), and the two that its draft had beside them: EIP-2537. */

import type { Group } from './curves/curveEngine.ts'
import { blsSlot } from './engines.ts'
import { wordOf } from './input.ts'
import { INPUT_LENGTH_INVALID, type PrecompileFailure } from './precompile.ts'

const G1_BYTES = 128
const G2_BYTES = 256
const SCALAR_BYTES = 32
const FIELD_BYTES = 64
export const BLS_G1_TERM_BYTES = G1_BYTES + SCALAR_BYTES
export const BLS_G2_TERM_BYTES = G2_BYTES + SCALAR_BYTES
export const BLS_PAIR_BYTES = G1_BYTES + G2_BYTES

/** Sum of two points of G1, which need not be in the subgroup. 128 bytes. */
export function blsG1Add(input: Uint8Array): Uint8Array | PrecompileFailure {
  return add(1, 2 * G1_BYTES, input)
}

/** Sum of two points of G2, which need not be in the subgroup. 256 bytes. */
export function blsG2Add(input: Uint8Array): Uint8Array | PrecompileFailure {
  return add(2, 2 * G2_BYTES, input)
}

/** Sum of points of G1 times scalars of any size. 128 bytes. */
export function blsG1Msm(input: Uint8Array): Uint8Array | PrecompileFailure {
  return multiply(1, BLS_G1_TERM_BYTES, input)
}

/** Sum of points of G2 times scalars of any size. 256 bytes. */
export function blsG2Msm(input: Uint8Array): Uint8Array | PrecompileFailure {
  return multiply(2, BLS_G2_TERM_BYTES, input)
}

/** A point of G1 times a scalar, of the draft: a sum of one term. 128 bytes. */
export function blsG1Mul(input: Uint8Array): Uint8Array | PrecompileFailure {
  return input.length === BLS_G1_TERM_BYTES ? blsG1Msm(input) : INPUT_LENGTH_INVALID
}

/** A point of G2 times a scalar, of the draft: a sum of one term. 256 bytes. */
export function blsG2Mul(input: Uint8Array): Uint8Array | PrecompileFailure {
  return input.length === BLS_G2_TERM_BYTES ? blsG2Msm(input) : INPUT_LENGTH_INVALID
}

/** The word 1 where the product of pairings is one, else the word 0. At least one pair. */
export function blsPairing(input: Uint8Array): Uint8Array | PrecompileFailure {
  if (!isMultiple(input, BLS_PAIR_BYTES)) return INPUT_LENGTH_INVALID
  const isOne = blsSlot.call((engine) => engine.pairing(input))
  return typeof isOne === 'boolean' ? wordOf(isOne) : isOne
}

/** The point of G1 that a field element maps to. 128 bytes. */
export function blsMapFpToG1(input: Uint8Array): Uint8Array | PrecompileFailure {
  return map(1, input)
}

/** The point of G2 that an element of the quadratic extension maps to. 256 bytes. */
export function blsMapFp2ToG2(input: Uint8Array): Uint8Array | PrecompileFailure {
  return map(2, input)
}

function add(group: Group, length: number, input: Uint8Array): Uint8Array | PrecompileFailure {
  if (input.length !== length) return INPUT_LENGTH_INVALID
  return blsSlot.call((engine) => engine.add(group, input))
}

function multiply(
  group: Group,
  termBytes: number,
  input: Uint8Array,
): Uint8Array | PrecompileFailure {
  if (!isMultiple(input, termBytes)) return INPUT_LENGTH_INVALID
  return blsSlot.call((engine) => engine.multiply(group, input))
}

function map(group: Group, input: Uint8Array): Uint8Array | PrecompileFailure {
  if (input.length !== group * FIELD_BYTES) return INPUT_LENGTH_INVALID
  return blsSlot.call((engine) => engine.map(group, input))
}

function isMultiple(input: Uint8Array, termBytes: number): boolean {
  return input.length > 0 && input.length % termBytes === 0
}
