/** BLS12-381 by mcl: the two maps of EIP-2537 and the pairing check of EIP-4844, on top of `MclCurve`. */
import { isBelow } from '../input.ts'
import type { PrecompileFailure } from '../precompile.ts'
import { BLS_FORMAT, type BlsEngine, fieldFault, type Group } from './curveEngine.ts'
import {
  areScalarsCanonical,
  G1_BASE,
  G2_BASE_NEGATED,
  type KzgClaim,
  readCompressedG1,
  TAU_G2,
  Y_LARGER_MIN,
} from './kzgClaim.ts'
import { MclCurve } from './mclCurve.ts'
import { expectMcl, FP_BYTES, FR_BYTES, G1_BYTES, type MclModule } from './mclModule.ts'

const FIELD_BYTES = BLS_FORMAT.fieldBytes

export class MclBls extends MclCurve implements BlsEngine {
  private readonly commitment: number
  private readonly proof: number
  private readonly generator: number
  private readonly scalar: number
  /** Lines of the Miller loops of the two constant points. */
  private readonly linesBase: number
  private readonly linesTau: number

  constructor(mcl: MclModule) {
    super(BLS_FORMAT, mcl)
    this.commitment = mcl.allocate(G1_BYTES)
    this.proof = mcl.allocate(G1_BYTES)
    this.generator = mcl.allocate(G1_BYTES)
    this.scalar = mcl.allocate(FR_BYTES)
    const isRead = this.read(this.groups[1], this.generator, G1_BASE, 0) === undefined
    expectMcl(isRead, 'the generator is a point')
    this.linesBase = this.precomputeLines(G2_BASE_NEGATED)
    this.linesTau = this.precomputeLines(TAU_G2)
  }

  map(group: Group, input: Uint8Array): Uint8Array | PrecompileFailure {
    const fault = fieldFault(BLS_FORMAT, input, 0, group)
    if (fault !== undefined) return fault
    const { calls } = this.mcl
    this.readCoordinate(group, this.term, input, 0)
    const status =
      group === 1
        ? calls._mclBnFp_mapToG1(this.sum, this.term)
        : calls._mclBnFp2_mapToG2(this.sum, this.term)
    expectMcl(status === 0, 'every field element maps to a point')
    return this.write(this.groups[group], this.sum)
  }

  verifyKzg(claim: KzgClaim): boolean {
    if (!areScalarsCanonical(claim)) return false
    if (!this.decompress(this.commitment, claim.commitment)) return false
    if (!this.decompress(this.proof, claim.proof)) return false
    const { calls } = this.mcl
    this.mcl.readFr(this.scalar, claim.y, 0)
    calls._mclBnG1_mul(this.term, this.generator, this.scalar)
    calls._mclBnG1_sub(this.sum, this.commitment, this.term)
    this.mcl.readFr(this.scalar, claim.z, 0)
    calls._mclBnG1_mul(this.term, this.proof, this.scalar)
    calls._mclBnG1_add(this.sum, this.sum, this.term)
    calls._mclBn_precomputedMillerLoop2(
      this.gtSum,
      this.sum,
      this.linesBase,
      this.proof,
      this.linesTau,
    )
    calls._mclBn_finalExp(this.gtSum, this.gtSum)
    return calls._mclBnGT_isOne(this.gtSum) === 1
  }

  protected override isSubgroupWhole(_group: Group): boolean {
    return false
  }

  /** Reads a compressed point of the subgroup; false where the bytes are none. */
  private decompress(target: number, bytes: Uint8Array): boolean {
    const { calls } = this.mcl
    const parsed = readCompressedG1(bytes)
    if (parsed.kind === 'invalid') return false
    if (parsed.kind === 'infinity') {
      calls._mclBnG1_clear(target)
      return true
    }
    const y = target + FP_BYTES
    this.mcl.readFp(target, parsed.x, 0, FIELD_BYTES)
    // y^2 = x^3 + 4
    calls._mclBnFp_sqr(y, target)
    calls._mclBnFp_mul(y, y, target)
    calls._mclBnFp_setInt32(this.term, 4)
    calls._mclBnFp_add(y, y, this.term)
    if (calls._mclBnFp_squareRoot(y, y) !== 0) return false
    const root = new Uint8Array(FIELD_BYTES)
    this.mcl.writeFp(y, root, 0, FIELD_BYTES)
    const isLarger = !isBelow(root, 0, Y_LARGER_MIN)
    if (isLarger !== parsed.isLarger) calls._mclBnFp_neg(y, y)
    this.setOne(1, target + 2 * FP_BYTES)
    return calls._mclBnG1_isValidOrder(target) === 1
  }

  private precomputeLines(point: Uint8Array): number {
    const { calls } = this.mcl
    const lines = this.mcl.allocate(calls._mclBn_getUint64NumToPrecompute() * 8)
    const isRead = this.read(this.groups[2], this.term, point, 0) === undefined
    expectMcl(isRead, 'the constants of the check are points')
    calls._mclBn_precomputeG2(lines, this.term)
    return lines
  }
}
