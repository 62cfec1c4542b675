/** The two curves as cases of the suite, with points outside the subgroups found by trying abscissas. */
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bn254 } from '@noble/curves/bn254.js'
import { bigintToBytes } from '../../../base/index.ts'
import type { CurveCase } from './curveEngine.suite.ts'
import {
  BLS_FORMAT,
  BN254_FORMAT,
  type CurveFormat,
  fieldWidth,
  partOffset,
} from './curveEngine.ts'

type Fp2 = { c0: bigint; c1: bigint }

/** Encodes coordinates, each as its parts, real first. */
export function encodePoint(format: CurveFormat, coordinates: readonly bigint[][]): Uint8Array {
  const group = coordinates[0]!.length as 1 | 2
  const bytes = new Uint8Array(2 * group * fieldWidth(format))
  for (const [index, parts] of coordinates.entries())
    for (const [part, value] of parts.entries())
      bytes.set(
        bigintToBytes(value, fieldWidth(format)),
        index * group * fieldWidth(format) + partOffset(format, group, part),
      )
  return bytes
}

/** A point on the curve with an abscissa at or after `start`: almost never in the subgroup, where that is smaller. */
export function blsStranger1(start: bigint): Uint8Array {
  const { Fp } = bls12_381.fields
  for (let x = start; ; x++) {
    const y = rootOf(() => Fp.sqrt(Fp.add(Fp.pow(x, 3n), 4n)))
    if (y !== undefined) return encodePoint(BLS_FORMAT, [[x], [y]])
  }
}

export function blsStranger2(start: bigint): Uint8Array {
  const { Fp2 } = bls12_381.fields
  return stranger2(
    BLS_FORMAT,
    start,
    Fp2 as unknown as Fp2Field,
    bls12_381.G2.Point.CURVE().b as Fp2,
  )
}

export function bn254Stranger2(start: bigint): Uint8Array {
  const { Fp2 } = bn254.fields
  return stranger2(BN254_FORMAT, start, Fp2 as unknown as Fp2Field, bn254.G2.Point.CURVE().b as Fp2)
}

type Fp2Field = {
  add(a: Fp2, b: Fp2): Fp2
  mul(a: Fp2, b: Fp2): Fp2
  sqr(a: Fp2): Fp2
  sqrt(a: Fp2): Fp2
}

function stranger2(format: CurveFormat, start: bigint, field: Fp2Field, b: Fp2): Uint8Array {
  for (let c0 = start; ; c0++) {
    const x = { c0, c1: 1n }
    const y = rootOf(() => field.sqrt(field.add(field.mul(field.sqr(x), x), b)))
    if (y !== undefined)
      return encodePoint(format, [
        [x.c0, x.c1],
        [y.c0, y.c1],
      ])
  }
}

function rootOf<Value>(root: () => Value): Value | undefined {
  try {
    return root()
  } catch {
    return undefined
  }
}

const blsBase1 = bls12_381.G1.Point.BASE.toAffine()
const blsBase2 = bls12_381.G2.Point.BASE.toAffine() as { x: Fp2; y: Fp2 }
const bnBase1 = bn254.G1.Point.BASE.toAffine()
const bnBase2 = bn254.G2.Point.BASE.toAffine() as { x: Fp2; y: Fp2 }
const parts = ({ c0, c1 }: Fp2): bigint[] => [c0, c1]

export const BLS_CASE: CurveCase = {
  format: BLS_FORMAT,
  order: bls12_381.fields.Fr.ORDER,
  generators: {
    1: encodePoint(BLS_FORMAT, [[blsBase1.x], [blsBase1.y]]),
    2: encodePoint(BLS_FORMAT, [parts(blsBase2.x), parts(blsBase2.y)]),
  },
  groups: [1, 2],
  strangers: { 1: blsStranger1(5n), 2: blsStranger2(5n) },
}

export const BN254_CASE: CurveCase = {
  format: BN254_FORMAT,
  order: bn254.fields.Fr.ORDER,
  generators: {
    1: encodePoint(BN254_FORMAT, [[bnBase1.x], [bnBase1.y]]),
    2: encodePoint(BN254_FORMAT, [parts(bnBase2.x), parts(bnBase2.y)]),
  },
  groups: [1, 2],
  strangers: { 2: bn254Stranger2(5n) },
}
