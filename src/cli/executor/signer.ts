/**
 * Signatures of benchmark transactions. All are made with one nonce point, which costs no multiplication on the curve,
 * and gives away every key that signs twice. The keys are 1, 2, 3, …, so there is nothing to give away.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bigintFromBytes } from '../../base/index.ts'

type Signature = { readonly yParity: 0 | 1; readonly r: bigint; readonly s: bigint }

/** What stands in the place of a signature where the sender is known: in the form of one, and of nobody's. */
export const NO_SIGNATURE: Signature = { yParity: 0, r: 1n, s: 1n }

const { Point } = secp256k1
const ORDER = Point.Fn.ORDER
const NONCE = 0x76_61_72_76_65n
const NONCE_INVERSE = Point.Fn.inv(NONCE)
const NONCE_POINT = Point.BASE.multiply(NONCE).toAffine()

/** Signs a hash of 32 bytes; the lower s is taken (EIP-2). Cost: some us. */
export function signForBenchmark(hash: Uint8Array, privateKey: bigint): Signature {
  const r = NONCE_POINT.x % ORDER
  const s = (NONCE_INVERSE * ((bigintFromBytes(hash) + r * privateKey) % ORDER)) % ORDER
  const isOdd = (NONCE_POINT.y & 1n) === 1n
  const isHigh = s > ORDER / 2n
  return { yParity: isOdd === isHigh ? 0 : 1, r, s: isHigh ? ORDER - s : s }
}
