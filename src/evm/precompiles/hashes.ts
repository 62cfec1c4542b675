/** SHA-256 (0x02), RIPEMD-160 (0x03) and identity (0x04): Yellow Paper, appendix E.1. */
import { createHash, getHashes } from 'node:crypto'
import { ripemd160 as ripemd160Portable } from '@noble/hashes/legacy.js'

/** SHA-256 of the input: 32 bytes. */
export function sha256(input: Uint8Array): Uint8Array {
  return ownBytes(createHash('sha256').update(input).digest())
}

/** RIPEMD-160 of the input, with 12 zero bytes in front: 32 bytes. */
export function ripemd160(input: Uint8Array): Uint8Array {
  const word = new Uint8Array(32)
  const digest = hasNativeRipemd()
    ? createHash('ripemd160').update(input).digest()
    : ripemd160Portable(input)
  word.set(digest, 12)
  return word
}

/** A copy, since the input may be memory that the caller overwrites. */
export function identity(input: Uint8Array): Uint8Array {
  return new Uint8Array(input)
}

let nativeRipemd: boolean | undefined
/** OpenSSL 3 keeps RIPEMD-160 in a provider that a build may leave out. */
function hasNativeRipemd(): boolean {
  nativeRipemd ??= getHashes().includes('ripemd160')
  return nativeRipemd
}

/** Without Node's `Buffer` class, which is no part of our interface and slices by view. */
function ownBytes(buffer: Uint8Array): Uint8Array {
  return new Uint8Array(buffer)
}
