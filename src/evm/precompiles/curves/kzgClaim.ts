/**
 * The bytes of a KZG point evaluation (EIP-4844) and its constants. The check that both engines make is
 *
 *     e(C - y*G1 + z*proof, -G2) * e(proof, tau*G2) = 1
 *
 * which is the specification's e(C - y*G1, -G2) * e(proof, tau*G2 - z*G2) = 1 with the product by z moved to G1: both
 * points of G2 are then constants, and no trusted-setup file is needed.
 */
import { fromBareHex } from '../../../base/index.ts'
import { isBelow, isZero } from '../input.ts'

/** Points are compressed (48 bytes), scalars are 32 bytes; nothing is checked yet. */
export type KzgClaim = {
  readonly commitment: Uint8Array
  readonly proof: Uint8Array
  readonly z: Uint8Array
  readonly y: Uint8Array
}

/** Order of the base field of BLS12-381, 48 bytes. */
export const BLS_FIELD_MODULUS = fromBareHex(
  '1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab',
)
/** (p+1)/2, 48 bytes: a y at or above it is the larger of the two roots. */
export const Y_LARGER_MIN = fromBareHex(
  '0d0088f51cbff34d258dd3db21a5d66bb23ba5c279c2895fb39869507b587b120f55ffff58a9ffffdcff7fffffffd556',
)
/** Order of the groups of BLS12-381, 32 bytes: scalars of a claim are below it. */
export const BLS_GROUP_ORDER = fromBareHex(
  '73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001',
)

const PADDING = '00'.repeat(16)
/**
 * tau*G2 of the ceremony, encoded as in EIP-2537: second G2 element of the trusted setup that EIP-4844 fixes
 * (compressed: b5bfd7dd…1def2; a test compares).
 */
export const TAU_G2 = fromBareHex(
  [
    '',
    '185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2',
    '15bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72',
    '014353bdb96b626dd7d5ee8599d1fca2131569490e28de18e82451a496a9c9794ce26d105941f383ee689bfbbb832a99',
    '1666c54b0a32529503432fcae0181b4bef79de09fc63671fda5ed1ba9bfa07899495346f3d7ac9cd23048ef30d0a154f',
  ].join(PADDING),
)
/** The generator of G2, negated, encoded as in EIP-2537. */
export const G2_BASE_NEGATED = fromBareHex(
  [
    '',
    '024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8',
    '13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e',
    '0d1b3cc2c7027888be51d9ef691d77bcb679afda66c73f17f9ee3837a55024f78c71363275a75d75d86bab79f74782aa',
    '13fa4d4a0ad8b1ce186ed5061789213d993923066dddaf1040bc3ff59f825c78df74f2d75467e25e0f55f8a00fa030ed',
  ].join(PADDING),
)
/** The generator of G1, encoded as in EIP-2537. */
export const G1_BASE = fromBareHex(
  [
    '',
    '17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb',
    '08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1',
  ].join(PADDING),
)

/** Flags in the first byte of a compressed point (ZCash serialisation). */
const COMPRESSED_FLAG = 0x80
const INFINITY_FLAG = 0x40
const SIGN_FLAG = 0x20
const FLAGS = COMPRESSED_FLAG | INFINITY_FLAG | SIGN_FLAG

/** A compressed G1 point as far as bytes tell: infinity, or an x below the modulus and which root y is; or neither. */
export type CompressedG1 =
  | { readonly kind: 'infinity' }
  | { readonly kind: 'point'; readonly x: Uint8Array; readonly isLarger: boolean }
  | { readonly kind: 'invalid' }

const INVALID: CompressedG1 = { kind: 'invalid' }

/** @param bytes 48 bytes */
export function readCompressedG1(bytes: Uint8Array): CompressedG1 {
  const flags = bytes[0]! & FLAGS
  const x = new Uint8Array(bytes)
  x[0]! &= ~FLAGS
  if (flags === (COMPRESSED_FLAG | INFINITY_FLAG))
    return isZero(x, 0, x.length) ? { kind: 'infinity' } : INVALID
  if ((flags & ~SIGN_FLAG) !== COMPRESSED_FLAG) return INVALID
  if (!isBelow(x, 0, BLS_FIELD_MODULUS)) return INVALID
  return { kind: 'point', x, isLarger: (flags & SIGN_FLAG) !== 0 }
}

/** Whether both scalars of a claim are below the group order. */
export function areScalarsCanonical(claim: KzgClaim): boolean {
  return isBelow(claim.z, 0, BLS_GROUP_ORDER) && isBelow(claim.y, 0, BLS_GROUP_ORDER)
}
