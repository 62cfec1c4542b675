/**
 * Recovery of secp256k1 public keys, by the native binding of libsecp256k1 where it loads (57 us a key) and by its
 * WASM build elsewhere (170 us). The package `secp256k1` also has a JavaScript fallback on `elliptic`, thirty times
 * slower and with a history of faults; it is never used: the binding is loaded past the package's entry.
 */
import { createRequire } from 'node:module'
import { assert, VarveError } from '../base/index.ts'

/** One implementation of the curve. */
export type Secp256k1 = {
  readonly kind: 'native' | 'wasm'
  /**
   * Recovers the key that signed.
   * @param signature r and s, 32 big-endian bytes each
   * @param yParity 0 or 1
   * @param hash the 32 bytes that were signed
   * @returns 64 bytes x and y, or `undefined` where no key made this signature
   */
  recover(signature: Uint8Array, yParity: 0 | 1, hash: Uint8Array): Uint8Array | undefined
}

/**
 * Opens an implementation: the native one if it loads, unless a kind is asked for.
 * @throws VarveError SECP256K1_UNAVAILABLE where the kind that was asked for does not load
 */
export async function openSecp256k1(kind: 'auto' | 'native' | 'wasm' = 'auto'): Promise<Secp256k1> {
  if (kind !== 'wasm') {
    const native = openNative()
    if (native !== undefined) return native
    if (kind === 'native')
      throw new VarveError<Secp256k1ErrorCode>(
        'SECP256K1_UNAVAILABLE',
        'secp256k1: expected the native binding (optional dependency "secp256k1"), found none that loads',
      )
  }
  return openWasm()
}

/** What is used of the native package. */
type NativeBinding = {
  ecdsaRecover(
    signature: Uint8Array,
    recoveryId: number,
    hash: Uint8Array,
    compressed: boolean,
    output: Uint8Array,
  ): Uint8Array
}

function openNative(): Secp256k1 | undefined {
  let binding: NativeBinding
  try {
    // The package's main module would hide a failed binding behind `elliptic`; this one throws.
    binding = createRequire(import.meta.url)('secp256k1/bindings.js') as NativeBinding
  } catch {
    return undefined
  }
  return {
    kind: 'native',
    recover(signature, yParity, hash) {
      const key = new Uint8Array(65)
      try {
        binding.ecdsaRecover(signature, yParity, hash, false, key)
      } catch {
        assert(
          signature.length === 64 && hash.length === 32,
          'a signature and hash have fixed widths',
        )
        return undefined
      }
      return key.subarray(1)
    },
  }
}

async function openWasm(): Promise<Secp256k1> {
  const { instantiateSecp256k1 } = await import('@bitauth/libauth')
  const wasm = await instantiateSecp256k1()
  return {
    kind: 'wasm',
    recover(signature, yParity, hash) {
      assert(
        signature.length === 64 && hash.length === 32,
        'a signature and hash have fixed widths',
      )
      const key = wasm.recoverPublicKeyUncompressed(signature, yParity, hash)
      return typeof key === 'string' ? undefined : key.subarray(1)
    },
  }
}

/** Error codes of this module. */
export type Secp256k1ErrorCode =
  /** The implementation that was asked for cannot be loaded here. */
  'SECP256K1_UNAVAILABLE'
