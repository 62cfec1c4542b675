/** SHA-256 (0x02), RIPEMD-160 (0x03) and identity (0x04): Yellow Paper, appendix E.1. */
// The one-shot `hash` takes half the time of a hash object on short input.
import { getHashes, hash } from 'node:crypto'
import { noble } from './noble.ts'

/** SHA-256 of the input: 32 bytes. */
export function sha256(input: Uint8Array): Uint8Array {
  return plainBytes(hash('sha256', input, 'buffer'))
}

/** RIPEMD-160 of the input, with 12 zero bytes in front: 32 bytes. */
export function ripemd160(input: Uint8Array): Uint8Array {
  const word = new Uint8Array(32)
  word.set(hasNativeRipemd() ? hash('ripemd160', input, 'buffer') : noble.ripemd160(input), 12)
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

/** The same bytes without Node's `Buffer` class, which is no part of our interface. */
function plainBytes(buffer: Uint8Array): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
}
