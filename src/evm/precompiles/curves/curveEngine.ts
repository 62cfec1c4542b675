/**
 * What the precompiles ask of a pairing-friendly curve, over the byte encodings of the EIPs. Two engines answer:
 * `MclCurve` (WebAssembly, fast) and `NobleCurve` (BigInt, always there, the oracle). Both read fields through
 * `fieldFault`, so that ranges are checked in one place and never by a library.
 *
 *     G1 point   | x | y |              fields of `format.fieldBytes`, big-endian, `format.paddingBytes` zeros
 *     G2 point   | x0 | x1 | y0 | y1 |  in front of each; x1 before x0 where `isImaginaryFirst`
 *     infinity   all bytes zero
 */
import { fromBareHex } from '../../../base/index.ts'
import { isBelow, isZero } from '../input.ts'
import { failure, type PrecompileFailure } from '../precompile.ts'
import { BLS_FIELD_MODULUS, type KzgClaim } from './kzgClaim.ts'

/** Which group a point is of: over the base field (1) or over its quadratic extension (2). */
export type Group = 1 | 2

/** Encoding of one curve's points and the wording of its refusals. */
export type CurveFormat = {
  readonly fieldBytes: number
  readonly paddingBytes: number
  readonly isImaginaryFirst: boolean
  /** Order of the base field, `fieldBytes` wide. */
  readonly fieldModulus: Uint8Array
  readonly paddingFault: PrecompileFailure
  readonly fieldFault: PrecompileFailure
  readonly curveFault: PrecompileFailure
  readonly subgroupFaults: Readonly<Record<Group, PrecompileFailure>>
}

/**
 * Operations on one curve. The caller has checked the length of the input; the engine checks the fields, the curve
 * and, where said, the subgroup, in the order of the bytes. Outputs are fresh.
 */
export type CurveEngine = {
  /** Sum of two points of `group`. Points need not be in the subgroup. */
  add(group: Group, input: Uint8Array): Uint8Array | PrecompileFailure
  /** Sum of `scalar * point` over pairs (point, 32 bytes of scalar), at least one. Checks the subgroup. */
  multiply(group: Group, input: Uint8Array): Uint8Array | PrecompileFailure
  /** Whether the product of pairings over (G1 point, G2 point) is one; true for none. Checks both subgroups. */
  pairing(input: Uint8Array): boolean | PrecompileFailure
}

/** BLS12-381 has two more operations. */
export type BlsEngine = CurveEngine & {
  /** The point of `group` that a field element maps to (RFC 9380 map with cofactor cleared, EIP-2537). */
  map(group: Group, input: Uint8Array): Uint8Array | PrecompileFailure
  /** Whether `proof` shows that the polynomial of `commitment` is `y` at `z` (EIP-4844). */
  verifyKzg(claim: KzgClaim): boolean
}

export const SCALAR_BYTES = 32

/** Bytes of one encoded field element, with its padding. */
export function fieldWidth(format: CurveFormat): number {
  return format.paddingBytes + format.fieldBytes
}

export function pointWidth(format: CurveFormat, group: Group): number {
  return 2 * group * fieldWidth(format)
}

/** Byte offset, within an encoded extension element or coordinate, of its `part` (0 real, 1 imaginary). */
export function partOffset(format: CurveFormat, group: Group, part: number): number {
  const place = group === 2 && format.isImaginaryFirst ? 1 - part : part
  return place * fieldWidth(format)
}

/** Why one of `count` field elements from `offset` is not one, or `undefined`. */
export function fieldFault(
  format: CurveFormat,
  input: Uint8Array,
  offset: number,
  count: number,
): PrecompileFailure | undefined {
  for (let index = 0, at = offset; index < count; index++, at += fieldWidth(format)) {
    if (!isZero(input, at, format.paddingBytes)) return format.paddingFault
    if (!isBelow(input, at + format.paddingBytes, format.fieldModulus)) return format.fieldFault
  }
  return undefined
}

const FIELD_ENCODING_FAULT = failure('invalid fp.Element encoding')

/** EIP-196 and EIP-197. */
export const BN254_FORMAT: CurveFormat = {
  fieldBytes: 32,
  paddingBytes: 0,
  isImaginaryFirst: true,
  fieldModulus: fromBareHex('30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47'),
  paddingFault: FIELD_ENCODING_FAULT,
  fieldFault: FIELD_ENCODING_FAULT,
  curveFault: failure('point is not on curve'),
  subgroupFaults: {
    1: failure('point is not in correct subgroup'),
    2: failure('point is not in correct subgroup'),
  },
}

/** EIP-2537. */
export const BLS_FORMAT: CurveFormat = {
  fieldBytes: 48,
  paddingBytes: 16,
  isImaginaryFirst: false,
  fieldModulus: BLS_FIELD_MODULUS,
  paddingFault: failure('invalid field element top bytes'),
  fieldFault: FIELD_ENCODING_FAULT,
  curveFault: failure('invalid point: not on curve'),
  subgroupFaults: {
    1: failure('g1 point is not on correct subgroup'),
    2: failure('g2 point is not on correct subgroup'),
  },
}
