/** Signatures of test transactions, deterministic (RFC 6979) as geth's are. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bigintFromBytes } from '../../base/index.ts'

export type Signature = { readonly yParity: 0 | 1; readonly r: bigint; readonly s: bigint }

/** Whether 32 bytes are a private key of the curve. */
export function isPrivateKey(key: Uint8Array): boolean {
  return secp256k1.utils.isValidSecretKey(key)
}

/** Signs a hash of 32 bytes. The lower s is taken (EIP-2). */
export function sign(hash: Uint8Array, key: Uint8Array): Signature {
  // Recovery byte, then r and s.
  const bytes = secp256k1.sign(hash, key, { prehash: false, lowS: true, format: 'recovered' })
  return {
    yParity: bytes[0] === 0 ? 0 : 1,
    r: bigintFromBytes(bytes.subarray(1, 33)),
    s: bigintFromBytes(bytes.subarray(33, 65)),
  }
}
