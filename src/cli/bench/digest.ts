/** Hashes of results, as cases state them. */
import { toBareHex } from '../../base/index.ts'
import { createKeccakHasher } from '../../kernels/index.ts'

/** The plain hash, so that no kernel that is measured vouches for itself. */
const hasher = createKeccakHasher({ implementation: 'reference' })

/** 16 hex digits of the keccak-256 of bytes, or of a text. */
export function digestOf(result: Uint8Array | string): string {
  const bytes = typeof result === 'string' ? new TextEncoder().encode(result) : result
  return toBareHex(hasher.keccak256(bytes)).slice(0, 16)
}

/** `digestOf` of parts one behind the other, of which there may be millions. */
export function digestOfAll(parts: readonly Uint8Array[]): string {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return digestOf(bytes)
}
