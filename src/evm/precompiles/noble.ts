/**
 * noble's modules, each loaded when it is first used. Together they take some 85 ms to load, and a process whose faster
 * libraries answer, or that runs no block at all, never needs them. Precompiles are synchronous, so the loading has to
 * be: Node's `require` takes ES modules from 20.19 on.
 */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

export const noble = {
  get bn254(): typeof import('@noble/curves/bn254.js')['bn254'] {
    return require('@noble/curves/bn254.js').bn254
  },
  get bls12_381(): typeof import('@noble/curves/bls12-381.js')['bls12_381'] {
    return require('@noble/curves/bls12-381.js').bls12_381
  },
  get secp256k1(): typeof import('@noble/curves/secp256k1.js')['secp256k1'] {
    return require('@noble/curves/secp256k1.js').secp256k1
  },
  /** The general curve: y^2 = x^3 + ax + b over a prime field. */
  get weierstrass(): typeof import('@noble/curves/abstract/weierstrass.js')['weierstrass'] {
    return require('@noble/curves/abstract/weierstrass.js').weierstrass
  },
  get ripemd160(): typeof import('@noble/hashes/legacy.js')['ripemd160'] {
    return require('@noble/hashes/legacy.js').ripemd160
  },
}
