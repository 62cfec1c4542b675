/** Byte arrays: comparison, joining, and fixed-width big-endian numbers. */

/** The empty byte string. Shared: never write to it (it has no bytes to write). */
export const EMPTY_BYTES = new Uint8Array(0)

export function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

/** Lexicographic order, a prefix before its extensions: negative, zero, or positive. */
export function bytesCompare(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length)
  for (let index = 0; index < shared; index++) {
    const difference = a[index]! - b[index]!
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

export function bytesConcat(...parts: readonly Uint8Array[]): Uint8Array {
  let lengthTotal = 0
  for (const part of parts) lengthTotal += part.length
  const joined = new Uint8Array(lengthTotal)
  let offset = 0
  for (const part of parts) {
    joined.set(part, offset)
    offset += part.length
  }
  return joined
}

export function bytesAreZero(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte !== 0) return false
  return true
}

/** Writes `value` (0 to 2^53-1) as 8 big-endian bytes at `offset`. */
export function writeUint64BE(target: Uint8Array, offset: number, value: number): void {
  const high = Math.floor(value / 0x1_0000_0000)
  writeUint32BE(target, offset, high)
  writeUint32BE(target, offset + 4, value - high * 0x1_0000_0000)
}

/** Reads 8 big-endian bytes; exact up to 2^53-1, above that the nearest double. */
export function readUint64BE(source: Uint8Array, offset: number): number {
  return readUint32BE(source, offset) * 0x1_0000_0000 + readUint32BE(source, offset + 4)
}

export function writeUint32BE(target: Uint8Array, offset: number, value: number): void {
  target[offset] = value >>> 24
  target[offset + 1] = value >>> 16
  target[offset + 2] = value >>> 8
  target[offset + 3] = value
}

export function readUint32BE(source: Uint8Array, offset: number): number {
  return (
    ((source[offset]! << 24) |
      (source[offset + 1]! << 16) |
      (source[offset + 2]! << 8) |
      source[offset + 3]!) >>>
    0
  )
}
