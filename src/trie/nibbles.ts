/**
 * Paths. Inside the trie a path is packed, two nibbles a byte, the high half first; where it leaves the trie (node
 * reader, node set, errors) it is one nibble a byte, so that its length needs no second number and byte order is trie
 * order.
 */

/** The nibble at `index` of a packed path that starts at `offset`. */
export function nibbleAt(bytes: Uint8Array, offset: number, index: number): number {
  const byte = bytes[offset + (index >> 1)]!
  return (index & 1) === 0 ? byte >> 4 : byte & 15
}

/**
 * The first nibble from `start` on in which two packed paths differ, at most `limit`. Both are known to be `limit`
 * nibbles long or longer.
 */
export function commonNibbles(
  a: Uint8Array,
  aOffset: number,
  b: Uint8Array,
  bOffset: number,
  start: number,
  limit: number,
): number {
  let index = start
  if ((index & 1) === 1 && index < limit) {
    if (((a[aOffset + (index >> 1)]! ^ b[bOffset + (index >> 1)]!) & 15) !== 0) return index
    index++
  }
  for (; index < limit; index += 2) {
    const difference = a[aOffset + (index >> 1)]! ^ b[bOffset + (index >> 1)]!
    if (difference === 0) continue
    if ((difference & 0xf0) === 0) index++
    return Math.min(index, limit)
  }
  return limit
}

/** The first `count` nibbles of a packed path, one a byte. */
export function unpackNibbles(bytes: Uint8Array, offset: number, count: number): Uint8Array {
  const nibbles = new Uint8Array(count)
  for (let index = 0; index < count; index++) nibbles[index] = nibbleAt(bytes, offset, index)
  return nibbles
}

/** Packs the first `count` nibbles, one a byte, into `target`; an odd one out is the high half of the last byte. */
export function packNibblesInto(
  nibbles: Uint8Array,
  count: number,
  target: Uint8Array,
  offset: number,
): void {
  for (let index = 0; index < count; index += 2) {
    const low = index + 1 < count ? nibbles[index + 1]! : 0
    target[offset + (index >> 1)] = (nibbles[index]! << 4) | low
  }
}
