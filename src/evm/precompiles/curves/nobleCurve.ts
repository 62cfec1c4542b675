/** The curves on BigInt, by `@noble/curves`: always there, slow, and the oracle of the WebAssembly engine. */
import type { BlsCurvePair } from '@noble/curves/abstract/bls.js'
import type { IField } from '@noble/curves/abstract/modular.js'
import type { WeierstrassPoint, WeierstrassPointCons } from '@noble/curves/abstract/weierstrass.js'
import { assert, bigintFromBytes, bigintToBytes } from '../../../base/index.ts'
import { noble } from '../noble.ts'
import type { PrecompileFailure } from '../precompile.ts'
import {
  BLS_FORMAT,
  type BlsEngine,
  BN254_FORMAT,
  type CurveEngine,
  type CurveFormat,
  fieldFault,
  fieldWidth,
  type Group,
  partOffset,
  pointWidth,
  SCALAR_BYTES,
} from './curveEngine.ts'
import { areScalarsCanonical, type KzgClaim, readCompressedG1, TAU_G2 } from './kzgClaim.ts'

type Fp2 = { c0: bigint; c1: bigint }
type PointOf<Field> = WeierstrassPoint<Field>

/** One group: how its coordinates are read and written, and its points. */
type GroupOps<Field> = {
  readonly group: Group
  readonly Point: WeierstrassPointCons<Field>
  readonly field: IField<Field>
  readonly b: Field
  join(parts: readonly bigint[]): Field
  split(value: Field): readonly bigint[]
}

export class NobleCurve implements CurveEngine {
  protected readonly format: CurveFormat
  protected readonly curve: BlsCurvePair
  protected readonly groups: { 1: GroupOps<bigint>; 2: GroupOps<Fp2> }

  constructor(format: CurveFormat, curve: BlsCurvePair) {
    this.format = format
    this.curve = curve
    const { G1, G2, fields } = curve
    this.groups = {
      1: {
        group: 1,
        Point: G1.Point,
        field: fields.Fp,
        b: G1.Point.CURVE().b,
        join: ([value]) => value!,
        split: (value) => [value],
      },
      2: {
        group: 2,
        Point: G2.Point as WeierstrassPointCons<Fp2>,
        field: fields.Fp2 as unknown as IField<Fp2>,
        b: G2.Point.CURVE().b as Fp2,
        join: ([c0, c1]) => ({ c0: c0!, c1: c1! }),
        split: ({ c0, c1 }) => [c0, c1],
      },
    }
  }

  add(group: Group, input: Uint8Array): Uint8Array | PrecompileFailure {
    return group === 1 ? this.addIn(this.groups[1], input) : this.addIn(this.groups[2], input)
  }

  multiply(group: Group, input: Uint8Array): Uint8Array | PrecompileFailure {
    return group === 1
      ? this.multiplyIn(this.groups[1], input)
      : this.multiplyIn(this.groups[2], input)
  }

  pairing(input: Uint8Array): boolean | PrecompileFailure {
    const g1Bytes = pointWidth(this.format, 1)
    const pairBytes = g1Bytes + pointWidth(this.format, 2)
    const pairs: { g1: PointOf<bigint>; g2: PointOf<Fp2> }[] = []
    for (let offset = 0; offset < input.length; offset += pairBytes) {
      const g1 = this.readInSubgroup(this.groups[1], input, offset)
      if ('kind' in g1) return g1
      const g2 = this.readInSubgroup(this.groups[2], input, offset + g1Bytes)
      if ('kind' in g2) return g2
      if (!g1.is0() && !g2.is0()) pairs.push({ g1, g2 })
    }
    return this.isProductOne(pairs)
  }

  protected isProductOne(pairs: { g1: PointOf<bigint>; g2: PointOf<Fp2> }[]): boolean {
    if (pairs.length === 0) return true
    const { Fp12 } = this.curve.fields
    const product = this.curve.pairingBatch(pairs as Parameters<BlsCurvePair['pairingBatch']>[0])
    return Fp12.eql(product, Fp12.ONE)
  }

  private addIn<Field>(ops: GroupOps<Field>, input: Uint8Array): Uint8Array | PrecompileFailure {
    const a = this.read(ops, input, 0)
    if ('kind' in a) return a
    const b = this.read(ops, input, pointWidth(this.format, ops.group))
    if ('kind' in b) return b
    return this.write(ops, a.add(b))
  }

  private multiplyIn<Field>(
    ops: GroupOps<Field>,
    input: Uint8Array,
  ): Uint8Array | PrecompileFailure {
    const pointBytes = pointWidth(this.format, ops.group)
    let sum = ops.Point.ZERO
    for (let offset = 0; offset < input.length; offset += pointBytes + SCALAR_BYTES) {
      const point = this.readInSubgroup(ops, input, offset)
      if ('kind' in point) return point
      const scalarOffset = offset + pointBytes
      const scalar = bigintFromBytes(input.subarray(scalarOffset, scalarOffset + SCALAR_BYTES))
      sum = sum.add(point.multiplyUnsafe(scalar % ops.Point.Fn.ORDER))
    }
    return this.write(ops, sum)
  }

  private readInSubgroup<Field>(
    ops: GroupOps<Field>,
    input: Uint8Array,
    offset: number,
  ): PointOf<Field> | PrecompileFailure {
    const point = this.read(ops, input, offset)
    if ('kind' in point || point.is0() || point.isTorsionFree()) return point
    return this.format.subgroupFaults[ops.group]
  }

  protected read<Field>(
    ops: GroupOps<Field>,
    input: Uint8Array,
    offset: number,
  ): PointOf<Field> | PrecompileFailure {
    const fault = fieldFault(this.format, input, offset, 2 * ops.group)
    if (fault !== undefined) return fault
    const x = this.readCoordinate(ops, input, offset)
    const y = this.readCoordinate(ops, input, offset + ops.group * fieldWidth(this.format))
    const { field, Point } = ops
    if (field.is0(x) && field.is0(y)) return Point.ZERO
    const right = field.add(field.mul(field.sqr(x), x), ops.b)
    return field.eql(field.sqr(y), right) ? Point.fromAffine({ x, y }) : this.format.curveFault
  }

  protected readCoordinate<Field>(ops: GroupOps<Field>, input: Uint8Array, offset: number): Field {
    const parts: bigint[] = []
    for (let part = 0; part < ops.group; part++) {
      const start = offset + partOffset(this.format, ops.group, part) + this.format.paddingBytes
      parts.push(bigintFromBytes(input.subarray(start, start + this.format.fieldBytes)))
    }
    return ops.join(parts)
  }

  protected write<Field>(ops: GroupOps<Field>, point: PointOf<Field>): Uint8Array {
    const output = new Uint8Array(pointWidth(this.format, ops.group))
    if (point.is0()) return output
    const { x, y } = point.toAffine()
    const { fieldBytes, paddingBytes } = this.format
    for (const [coordinate, value] of [x, y].entries())
      for (const [part, number] of ops.split(value).entries()) {
        const offset =
          coordinate * ops.group * fieldWidth(this.format) +
          partOffset(this.format, ops.group, part) +
          paddingBytes
        output.set(bigintToBytes(number, fieldBytes), offset)
      }
    return output
  }
}

class NobleBls extends NobleCurve implements BlsEngine {
  private readonly library = noble.bls12_381

  map(group: Group, input: Uint8Array): Uint8Array | PrecompileFailure {
    const fault = fieldFault(this.format, input, 0, group)
    if (fault !== undefined) return fault
    if (group === 1) {
      // The library takes one number for G1, whatever its type says.
      const element = this.readCoordinate(this.groups[1], input, 0)
      return this.writeMapped(1, this.library.G1.mapToCurve(element as unknown as bigint[]))
    }
    const { c0, c1 } = this.readCoordinate(this.groups[2], input, 0)
    return this.writeMapped(2, this.library.G2.mapToCurve([c0, c1]))
  }

  verifyKzg(claim: KzgClaim): boolean {
    if (!areScalarsCanonical(claim)) return false
    const commitment = decompress(this.library, claim.commitment)
    const proof = decompress(this.library, claim.proof)
    if (commitment === undefined || proof === undefined) return false
    const { Point } = this.groups[1]
    const y = Point.BASE.multiplyUnsafe(bigintFromBytes(claim.y))
    const z = proof.multiplyUnsafe(bigintFromBytes(claim.z))
    const tauG2 = this.read(this.groups[2], TAU_G2, 0)
    assert(!('kind' in tauG2), 'the constant of the ceremony is a point')
    const pairs = [
      { g1: commitment.subtract(y).add(z), g2: this.groups[2].Point.BASE.negate() },
      { g1: proof, g2: tauG2 },
    ]
    return this.isProductOne(pairs.filter(({ g1 }) => !g1.is0()))
  }

  private writeMapped(group: Group, point: unknown): Uint8Array {
    return group === 1
      ? this.write(this.groups[1], point as PointOf<bigint>)
      : this.write(this.groups[2], point as PointOf<Fp2>)
  }
}

/** A point of the subgroup of G1, or `undefined`. */
function decompress(curve: BlsCurvePair, bytes: Uint8Array): PointOf<bigint> | undefined {
  const { Point } = curve.G1
  const parsed = readCompressedG1(bytes)
  if (parsed.kind === 'invalid') return undefined
  if (parsed.kind === 'infinity') return Point.ZERO
  const { Fp } = curve.fields
  const x = bigintFromBytes(parsed.x)
  const square = Fp.add(Fp.mul(Fp.sqr(x), x), 4n)
  try {
    const root = Fp.sqrt(square)
    const isLarger = root > (Fp.ORDER - 1n) / 2n
    const point = Point.fromAffine({ x, y: isLarger === parsed.isLarger ? root : Fp.neg(root) })
    return point.isTorsionFree() ? point : undefined
  } catch {
    // No square root: no point has this x.
    return undefined
  }
}

export function nobleBn254(): CurveEngine {
  return new NobleCurve(BN254_FORMAT, noble.bn254)
}

export function nobleBls(): BlsEngine {
  return new NobleBls(BLS_FORMAT, noble.bls12_381)
}
