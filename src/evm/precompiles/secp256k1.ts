/**
 * Public keys from secp256k1 signatures, by the fastest library that is there: native `secp256k1` where its prebuilt
 * addon loads (57 µs a key), else the WebAssembly of `@bitauth/libauth` once it is prepared (170 µs), else noble
 * (1.4 ms), which is also the oracle of both. The JavaScript fallback inside the native package is never loaded.
 */
import { createRequire } from 'node:module'
import { noble } from './noble.ts'

/**
 * Uncompressed public key (65 bytes, first byte 4) that signed `hash`, or `undefined` where there is none.
 * @param hash 32 bytes
 * @param signature r and s, 32 bytes each, both already known to be 1 to n-1
 * @param parity 0 or 1: whether the y of the nonce's point is odd
 */
export type PublicKeyRecovery = (
  hash: Uint8Array,
  signature: Uint8Array,
  parity: 0 | 1,
) => Uint8Array | undefined

type NativeModule = {
  ecdsaRecover(
    signature: Uint8Array,
    recovery: number,
    hash: Uint8Array,
    compressed: boolean,
    output: Uint8Array,
  ): Uint8Array
}

/** `undefined` until the addon was tried; `null` where it does not load. */
let native: PublicKeyRecovery | null | undefined
let portable: PublicKeyRecovery | undefined

/** The best recovery at this moment. Synchronous: the addon loads at the first call. */
export function publicKeyRecovery(): PublicKeyRecovery {
  if (native === undefined) native = loadNativeRecovery() ?? null
  return native ?? portable ?? recoverByNoble
}

/** Loads the WebAssembly library where there is no addon. Repeated calls do nothing more; never rejects. */
export async function prepareRecovery(): Promise<void> {
  if (native === undefined) native = loadNativeRecovery() ?? null
  if (native !== null || portable !== undefined) return
  try {
    portable = await loadPortableRecovery()
  } catch {
    // Without WebAssembly noble stays.
  }
}

export type RecoveryLibrary = 'native' | 'libauth' | 'noble'

export function recoveryLibrary(): RecoveryLibrary {
  if (native === undefined) native = loadNativeRecovery() ?? null
  if (native !== null) return 'native'
  return portable === undefined ? 'noble' : 'libauth'
}

/** The addon, loaded by its own file, so that the package's fallback cannot slip in. */
export function loadNativeRecovery(): PublicKeyRecovery | undefined {
  let library: NativeModule
  try {
    library = createRequire(import.meta.url)('secp256k1/bindings.js') as NativeModule
  } catch {
    return undefined
  }
  return (hash, signature, parity) => {
    try {
      return library.ecdsaRecover(signature, parity, hash, false, new Uint8Array(65))
    } catch {
      return undefined
    }
  }
}

export async function loadPortableRecovery(): Promise<PublicKeyRecovery> {
  // The package's index instantiates five modules when it loads; this file only the one.
  const { instantiateSecp256k1 } = await import('@bitauth/libauth/build/lib/crypto/secp256k1.js')
  const library = await instantiateSecp256k1()
  return (hash, signature, parity) => {
    const key = library.recoverPublicKeyUncompressed(signature, parity, hash)
    return typeof key === 'string' ? undefined : key
  }
}

export const recoverByNoble: PublicKeyRecovery = (hash, signature, parity) => {
  try {
    const parsed = noble.secp256k1.Signature.fromBytes(signature, 'compact').addRecoveryBit(parity)
    return parsed.recoverPublicKey(hash).toBytes(false)
  } catch {
    return undefined
  }
}
