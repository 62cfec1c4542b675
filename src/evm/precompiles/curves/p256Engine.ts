/**
 * ECDSA verification on P-256 (secp256r1) over the input of EIP-7951, by mcl or by noble.
 *
 *     0      32    64    96       128      160
 *     | hash | r   | s   | key x  | key y  |
 */
import type { WeierstrassPointCons } from '@noble/curves/abstract/weierstrass.js'
import { bigintFromBytes, bytesEqual, fromBareHex } from '../../../base/index.ts'
import { isBelow } from '../input.ts'
import { noble } from '../noble.ts'
import { FP_BYTES, FR_BYTES, G1_BYTES, type MclModule } from './mclModule.ts'

/**
 * Whether the signature is the key's. The caller has checked that r and s are 1 to n-1 and that x and y are below
 * the field's order and not both zero; the engine checks that they are on the curve.
 */
export type P256Engine = { verify(input: Uint8Array): boolean }

export const P256_INPUT_BYTES = 160
export const R_OFFSET = 32
export const S_OFFSET = 64
export const X_OFFSET = 96
export const Y_OFFSET = 128

/** Order of the field, of the group, and their difference (FIPS 186-5, P-256), 32 bytes each. */
export const P256_FIELD_MODULUS = fromBareHex(
  'ffffffff00000001000000000000000000000000ffffffffffffffffffffffff',
)
export const P256_GROUP_ORDER = fromBareHex(
  'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551',
)
const GROUP_ORDER_GAP = fromBareHex(
  '000000000000000000000000000000004319055358e8617b0c46353d039cdaae',
)
/** The generator: x, then y. */
const GENERATOR = fromBareHex(
  '6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296' +
    '4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5',
)

/** The curve's coefficients are -3 and this (FIPS 186-5, P-256). */
const COEFFICIENT_B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn

/**
 * Portable and slow; the oracle of the other. Built on the library's general curve: its module of NIST curves sets up
 * all of them when it loads, which took 50 ms.
 */
export class NobleP256 implements P256Engine {
  private readonly Point: WeierstrassPointCons<bigint>

  constructor() {
    const p = bigintFromBytes(P256_FIELD_MODULUS)
    const n = bigintFromBytes(P256_GROUP_ORDER)
    const [Gx, Gy] = [readWord(GENERATOR, 0), readWord(GENERATOR, 32)]
    this.Point = noble.weierstrass({ p, n, h: 1n, a: p - 3n, b: COEFFICIENT_B, Gx, Gy })
  }

  verify(input: Uint8Array): boolean {
    const { Point } = this
    const { Fp, Fn } = Point
    const [x, y] = [readWord(input, X_OFFSET), readWord(input, Y_OFFSET)]
    const right = Fp.add(Fp.mul(Fp.add(Fp.sqr(x), Fp.ORDER - 3n), x), COEFFICIENT_B)
    if (!Fp.eql(Fp.sqr(y), right)) return false
    const inverse = Fn.inv(readWord(input, S_OFFSET))
    const u1 = Fn.mul(readWord(input, 0) % Fn.ORDER, inverse)
    const r = readWord(input, R_OFFSET)
    const u2 = Fn.mul(r, inverse)
    const key = Point.fromAffine({ x, y })
    const sum = Point.BASE.multiplyUnsafe(u1).add(key.multiplyUnsafe(u2))
    return !sum.is0() && sum.toAffine().x % Fn.ORDER === r
  }
}

function readWord(bytes: Uint8Array, offset: number): bigint {
  return bigintFromBytes(bytes.subarray(offset, offset + 32))
}

export class MclP256 implements P256Engine {
  private readonly mcl: MclModule
  /** Generator and key, then their scalars: the operands of one joint product. */
  private readonly points: number
  private readonly scalars: number
  private readonly sum: number
  private readonly inverse: number
  private readonly abscissa = new Uint8Array(32)

  constructor(mcl: MclModule) {
    this.mcl = mcl
    this.points = mcl.allocate(2 * G1_BYTES)
    this.scalars = mcl.allocate(2 * FR_BYTES)
    this.sum = mcl.allocate(G1_BYTES)
    this.inverse = mcl.allocate(FR_BYTES)
    this.readPoint(this.points, GENERATOR, 0)
  }

  verify(input: Uint8Array): boolean {
    const { mcl, points, scalars, sum, inverse } = this
    const { calls } = mcl
    const key = points + G1_BYTES
    this.readPoint(key, input, X_OFFSET)
    if (calls._mclBnG1_isValid(key) !== 1) return false
    // u1 = hash / s, u2 = r / s; the hash may be above the order and counts modulo it.
    mcl.readFr(inverse, input, S_OFFSET)
    calls._mclBnFr_inv(inverse, inverse)
    mcl.readFr(scalars, input, 0)
    calls._mclBnFr_mul(scalars, scalars, inverse)
    mcl.readFr(scalars + FR_BYTES, input, R_OFFSET)
    calls._mclBnFr_mul(scalars + FR_BYTES, scalars + FR_BYTES, inverse)
    if (calls._mclBnFr_isZero(scalars) === 1) calls._mclBnG1_mul(sum, key, scalars + FR_BYTES)
    else calls._mclBnG1_mulVec(sum, points, scalars, 2)
    if (calls._mclBnG1_isZero(sum) === 1) return false
    calls._mclBnG1_normalize(sum, sum)
    mcl.writeFp(sum, this.abscissa, 0, 32)
    return isCongruent(this.abscissa, input.subarray(R_OFFSET, S_OFFSET))
  }

  private readPoint(target: number, bytes: Uint8Array, offset: number): void {
    this.mcl.readFp(target, bytes, offset, 32)
    this.mcl.readFp(target + FP_BYTES, bytes, offset + 32, 32)
    this.mcl.calls._mclBnFp_setInt32(target + 2 * FP_BYTES, 1)
  }
}

/**
 * Whether x, below the field's order, is r modulo the group's order: x = r, or x = r + n where that is still a field
 * element (r below p - n: about one r in 2^128, but anyone can choose it).
 */
export function isCongruent(x: Uint8Array, r: Uint8Array): boolean {
  if (bytesEqual(x, r)) return true
  if (!isBelow(r, 0, GROUP_ORDER_GAP)) return false
  let carry = 0
  for (let index = 31; index >= 0; index--) {
    const digit = r[index]! + P256_GROUP_ORDER[index]! + carry
    if ((digit & 255) !== x[index]) return false
    carry = digit >> 8
  }
  return carry === 0
}
