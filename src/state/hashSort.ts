/** Sorting by hashes, as numbers. */
import { bytesCompare } from '../base/index.ts'

/** Bits of an item's place beside the 32 of its hash in one number, so that all are exact. */
const PLACE_COUNT = 2 ** 21

/**
 * The items in ascending order of their hashes, in a fresh array. The first four bytes sort as numbers, without a
 * callback, and what they leave equal is compared whole: 8,000 hashes take a tenth of the time of a comparing sort.
 * Items of one hash keep their order. From 2^21 items on it compares.
 */
export function sortedByHash<Item>(
  items: readonly Item[],
  hashOf: (item: Item) => Uint8Array,
): Item[] {
  const count = items.length
  if (count >= PLACE_COUNT) return [...items].sort((a, b) => bytesCompare(hashOf(a), hashOf(b)))
  const keys = new Float64Array(count)
  for (let place = 0; place < count; place++)
    keys[place] = prefixOf(hashOf(items[place]!)) * PLACE_COUNT + place
  keys.sort()
  const sorted: Item[] = new Array(count)
  for (let at = 0; at < count; at++) {
    const item = items[keys[at]! % PLACE_COUNT]!
    let to = at
    // Neighbours with the same four bytes are one in 2^32 / count by chance, and few even by effort.
    if (at > 0 && samePrefix(keys[at]!, keys[at - 1]!))
      for (; to > 0 && bytesCompare(hashOf(sorted[to - 1]!), hashOf(item)) > 0; to--)
        sorted[to] = sorted[to - 1]!
    sorted[to] = item
  }
  return sorted
}

function prefixOf(hash: Uint8Array): number {
  return hash[0]! * 0x1000000 + (hash[1]! << 16) + (hash[2]! << 8) + hash[3]!
}

function samePrefix(a: number, b: number): boolean {
  return Math.floor(a / PLACE_COUNT) === Math.floor(b / PLACE_COUNT)
}
