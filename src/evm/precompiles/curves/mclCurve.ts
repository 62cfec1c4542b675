/**
 * The curves by mcl: points are read into its memory, worked on there, and only results come out.
 *
 * Work memory, allocated once (chunks bound it whatever the input's length):
 *
 *     | sum | term | gtSum | gtTerm | points1: CHUNK * G1 | points2: CHUNK * G2 | scalars: CHUNK * Fr |
 */
import type { PrecompileFailure } from '../precompile.ts'
import {
  type CurveEngine,
  type CurveFormat,
  fieldFault,
  fieldWidth,
  type Group,
  partOffset,
  pointWidth,
  SCALAR_BYTES,
} from './curveEngine.ts'
import { FP_BYTES, FR_BYTES, G1_BYTES, G2_BYTES, GT_BYTES, type MclModule } from './mclModule.ts'

/** Points handed to mcl at once: its sums gain little above this. */
const CHUNK = 1024
/** Pairs of one Miller loop. */
const PAIR_CHUNK = 64

/** mcl's functions for one group, picked once. */
type GroupCalls = {
  readonly group: Group
  readonly pointBytes: number
  readonly isZero: (x: number) => number
  readonly isValid: (x: number) => number
  readonly isValidOrder: (x: number) => number
  readonly clear: (z: number) => void
  readonly normalize: (z: number, x: number) => void
  readonly add: (z: number, x: number, y: number) => void
  readonly mul: (z: number, x: number, y: number) => void
  readonly mulVec: (z: number, points: number, scalars: number, count: number) => void
}

export class MclCurve implements CurveEngine {
  protected readonly format: CurveFormat
  protected readonly mcl: MclModule
  protected readonly groups: Readonly<Record<Group, GroupCalls>>
  protected readonly sum: number
  protected readonly term: number
  protected readonly gtSum: number
  private readonly gtTerm: number
  private readonly points1: number
  private readonly points2: number
  private readonly scalars: number

  constructor(format: CurveFormat, mcl: MclModule) {
    this.format = format
    this.mcl = mcl
    this.groups = { 1: groupCalls(mcl, 1), 2: groupCalls(mcl, 2) }
    this.sum = mcl.allocate(G2_BYTES)
    this.term = mcl.allocate(G2_BYTES)
    this.gtSum = mcl.allocate(GT_BYTES)
    this.gtTerm = mcl.allocate(GT_BYTES)
    this.points1 = mcl.allocate(CHUNK * G1_BYTES)
    this.points2 = mcl.allocate(CHUNK * G2_BYTES)
    this.scalars = mcl.allocate(CHUNK * FR_BYTES)
  }

  add(group: Group, input: Uint8Array): Uint8Array | PrecompileFailure {
    const ops = this.groups[group]
    const fault =
      this.read(ops, this.sum, input, 0) ??
      this.read(ops, this.term, input, pointWidth(this.format, group))
    if (fault !== undefined) return fault
    ops.add(this.sum, this.sum, this.term)
    return this.write(ops, this.sum)
  }

  multiply(group: Group, input: Uint8Array): Uint8Array | PrecompileFailure {
    const ops = this.groups[group]
    const pointBytes = pointWidth(this.format, group)
    const points = group === 1 ? this.points1 : this.points2
    ops.clear(this.sum)
    let count = 0
    for (let offset = 0; offset < input.length; offset += pointBytes + SCALAR_BYTES) {
      const target = points + count * ops.pointBytes
      const fault = this.readInSubgroup(ops, target, input, offset)
      if (fault !== undefined) return fault
      const scalar = this.scalars + count * FR_BYTES
      this.mcl.readFr(scalar, input, offset + pointBytes)
      // Terms that are nothing stay away from the joint sum.
      if (ops.isZero(target) === 0 && this.mcl.calls._mclBnFr_isZero(scalar) === 0) count++
      if (count === CHUNK) {
        this.addTerms(ops, points, count)
        count = 0
      }
    }
    this.addTerms(ops, points, count)
    return this.write(ops, this.sum)
  }

  pairing(input: Uint8Array): boolean | PrecompileFailure {
    const { calls } = this.mcl
    const g1Bytes = pointWidth(this.format, 1)
    const pairBytes = g1Bytes + pointWidth(this.format, 2)
    calls._mclBnGT_setInt32(this.gtSum, 1)
    let count = 0
    let isEmpty = true
    for (let offset = 0; offset < input.length; offset += pairBytes) {
      const g1 = this.points1 + count * G1_BYTES
      const g2 = this.points2 + count * G2_BYTES
      const fault =
        this.readInSubgroup(this.groups[1], g1, input, offset) ??
        this.readInSubgroup(this.groups[2], g2, input, offset + g1Bytes)
      if (fault !== undefined) return fault
      // A pair with infinity contributes one.
      if (this.groups[1].isZero(g1) !== 0 || this.groups[2].isZero(g2) !== 0) continue
      isEmpty = false
      count++
      if (count === PAIR_CHUNK) {
        this.multiplyPairs(count)
        count = 0
      }
    }
    if (isEmpty) return true
    this.multiplyPairs(count)
    calls._mclBn_finalExp(this.gtSum, this.gtSum)
    return calls._mclBnGT_isOne(this.gtSum) === 1
  }

  /** Reads a point and checks fields and curve. */
  protected read(
    ops: GroupCalls,
    target: number,
    input: Uint8Array,
    offset: number,
  ): PrecompileFailure | undefined {
    const fault = fieldFault(this.format, input, offset, 2 * ops.group)
    if (fault !== undefined) return fault
    const coordinateBytes = ops.group * FP_BYTES
    const isXZero = this.readCoordinate(ops.group, target, input, offset)
    const isYZero = this.readCoordinate(
      ops.group,
      target + coordinateBytes,
      input,
      offset + ops.group * fieldWidth(this.format),
    )
    if (isXZero && isYZero) {
      ops.clear(target)
      return undefined
    }
    this.setOne(ops.group, target + 2 * coordinateBytes)
    return ops.isValid(target) === 1 ? undefined : this.format.curveFault
  }

  /** Reads one coordinate, whose fields were checked; says whether it is zero. */
  protected readCoordinate(
    group: Group,
    target: number,
    input: Uint8Array,
    offset: number,
  ): boolean {
    const { fieldBytes, paddingBytes } = this.format
    let isAllZero = true
    for (let part = 0; part < group; part++) {
      const start = offset + partOffset(this.format, group, part) + paddingBytes
      this.mcl.readFp(target + part * FP_BYTES, input, start, fieldBytes)
      for (let index = start; isAllZero && index < start + fieldBytes; index++)
        isAllZero = input[index] === 0
    }
    return isAllZero
  }

  protected setOne(group: Group, target: number): void {
    this.mcl.calls._mclBnFp_setInt32(target, 1)
    if (group === 2) this.mcl.calls._mclBnFp_clear(target + FP_BYTES)
  }

  /** Brings the point at `source` to affine form in place and encodes it. */
  protected write(ops: GroupCalls, source: number): Uint8Array {
    const output = new Uint8Array(pointWidth(this.format, ops.group))
    if (ops.isZero(source) === 1) return output
    ops.normalize(source, source)
    const { fieldBytes, paddingBytes } = this.format
    for (let coordinate = 0; coordinate < 2; coordinate++)
      for (let part = 0; part < ops.group; part++) {
        const field = source + (coordinate * ops.group + part) * FP_BYTES
        const offset =
          coordinate * ops.group * fieldWidth(this.format) +
          partOffset(this.format, ops.group, part) +
          paddingBytes
        this.mcl.writeFp(field, output, offset, fieldBytes)
      }
    return output
  }

  private readInSubgroup(
    ops: GroupCalls,
    target: number,
    input: Uint8Array,
    offset: number,
  ): PrecompileFailure | undefined {
    const fault = this.read(ops, target, input, offset)
    if (fault !== undefined) return fault
    if (this.isSubgroupWhole(ops.group) || ops.isZero(target) === 1) return undefined
    return ops.isValidOrder(target) === 1 ? undefined : this.format.subgroupFaults[ops.group]
  }

  /** Whether all points of the curve are in the subgroup: G1 of bn254 has cofactor 1. */
  protected isSubgroupWhole(group: Group): boolean {
    return group === 1
  }

  private addTerms(ops: GroupCalls, points: number, count: number): void {
    if (count === 0) return
    if (count === 1) ops.mul(this.term, points, this.scalars)
    else ops.mulVec(this.term, points, this.scalars, count)
    ops.add(this.sum, this.sum, this.term)
  }

  private multiplyPairs(count: number): void {
    if (count === 0) return
    const { calls } = this.mcl
    calls._mclBn_millerLoopVec(this.gtTerm, this.points1, this.points2, count)
    calls._mclBnGT_mul(this.gtSum, this.gtSum, this.gtTerm)
  }
}

function groupCalls({ calls }: MclModule, group: Group): GroupCalls {
  return group === 1
    ? {
        group,
        pointBytes: G1_BYTES,
        isZero: calls._mclBnG1_isZero,
        isValid: calls._mclBnG1_isValid,
        isValidOrder: calls._mclBnG1_isValidOrder,
        clear: calls._mclBnG1_clear,
        normalize: calls._mclBnG1_normalize,
        add: calls._mclBnG1_add,
        mul: calls._mclBnG1_mul,
        mulVec: calls._mclBnG1_mulVec,
      }
    : {
        group,
        pointBytes: G2_BYTES,
        isZero: calls._mclBnG2_isZero,
        isValid: calls._mclBnG2_isValid,
        isValidOrder: calls._mclBnG2_isValidOrder,
        clear: calls._mclBnG2_clear,
        normalize: calls._mclBnG2_normalize,
        add: calls._mclBnG2_add,
        mul: calls._mclBnG2_mul,
        mulVec: calls._mclBnG2_mulVec,
      }
}
