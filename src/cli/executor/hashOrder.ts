/** Hashes of many addresses, and their order. 36 bytes an address, so that ten million fit beside everything else. */
import { bytesCompare, HASH_BYTES } from '../../base/index.ts'
import { keccak256 } from '../../kernels/index.ts'

/** Buckets of the first pass: the first two bytes of a hash. */
const BUCKET_COUNT = 65_536

export type HashOrder = {
  /** By index, 32 bytes each. */
  readonly hashes: Uint8Array
  /** Indexes in ascending order of their hashes. */
  readonly order: Uint32Array
}

/** Hash of one index, a view. */
export function hashAt({ hashes }: HashOrder, index: number): Uint8Array {
  return hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES)
}

/** Hashes and sorts: by two bytes in one pass, and what falls together by comparison. */
export function hashOrderOf(count: number, bytesOf: (index: number) => Uint8Array): HashOrder {
  const hashes = new Uint8Array(count * HASH_BYTES)
  const ends = new Uint32Array(BUCKET_COUNT + 1)
  for (let index = 0; index < count; index++) {
    const hash = keccak256(bytesOf(index))
    hashes.set(hash, index * HASH_BYTES)
    ends[1 + bucketOf(hashes, index)]!++
  }
  for (let bucket = 1; bucket <= BUCKET_COUNT; bucket++) ends[bucket]! += ends[bucket - 1]!
  const order = new Uint32Array(count)
  // From here on an entry is the place of its bucket's next member, in the end the start of the bucket after it.
  for (let index = 0; index < count; index++) order[ends[bucketOf(hashes, index)]!++] = index
  const found: HashOrder = { hashes, order }
  let start = 0
  for (let bucket = 0; bucket < BUCKET_COUNT; bucket++) {
    const end = ends[bucket]!
    if (end - start > 1)
      order.subarray(start, end).sort((a, b) => bytesCompare(hashAt(found, a), hashAt(found, b)))
    start = end
  }
  return found
}

function bucketOf(hashes: Uint8Array, index: number): number {
  const at = index * HASH_BYTES
  return (hashes[at]! << 8) | hashes[at + 1]!
}
