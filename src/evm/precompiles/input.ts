/** Reading the input of a precompile: it ends where it ends, and reads past the end are zeros (Yellow Paper, E). */

/**
 * `length` bytes from `offset`, zeros where the input has none. A view where all bytes are there, else a copy:
 * treat it as read-only and short-lived.
 */
export function readPadded(input: Uint8Array, offset: number, length: number): Uint8Array {
  if (offset + length <= input.length) return input.subarray(offset, offset + length)
  const padded = new Uint8Array(length)
  if (offset < input.length) padded.set(input.subarray(offset))
  return padded
}

/** Whether the big-endian number at `offset`, as wide as `limit`, is below `limit`. */
export function isBelow(input: Uint8Array, offset: number, limit: Uint8Array): boolean {
  for (let index = 0; index < limit.length; index++) {
    const difference = input[offset + index]! - limit[index]!
    if (difference !== 0) return difference < 0
  }
  return false
}

/** Whether `length` bytes from `offset` are all zero. */
export function isZero(input: Uint8Array, offset: number, length: number): boolean {
  for (let index = offset; index < offset + length; index++) if (input[index] !== 0) return false
  return true
}

/** A truth value as a word, 1 or 0. Fresh, since the caller owns outputs. */
export function wordOf(value: boolean): Uint8Array {
  const word = new Uint8Array(32)
  if (value) word[31] = 1
  return word
}
