/**
 * The history accumulator of an epoch: SSZ hash_tree_root of List[HeaderRecord, 8192], where a record is a block's
 * hash and its total difficulty (consensus-specs, ssz/simple-serialize; portal-network-specs, history).
 */
import { hash } from 'node:crypto'
import { assert, bigintToBytes } from '../base/index.ts'

/** Depth of a tree over 8192 records. */
const DEPTH = 13
const RECORD_COUNT_MAX = 2 ** DEPTH

/** Collects the records of an epoch and computes their root. Memory: 32 bytes a record. */
export class Era1Accumulator {
  private readonly roots: Uint8Array[] = []

  /** @param totalDifficulty up to and with the block, below 2^256 */
  add(blockHash: Uint8Array, totalDifficulty: bigint): void {
    assert(this.roots.length < RECORD_COUNT_MAX, 'an epoch holds 8192 records')
    this.roots.push(sha256Pair(blockHash, bigintToBytes(totalDifficulty, 32).reverse()))
  }

  /** Root over what was added so far, 32 bytes. Cost: one SHA-256 a record. */
  root(): Uint8Array {
    let level = this.roots
    let zero: Uint8Array = new Uint8Array(32)
    for (let depth = 0; depth < DEPTH; depth++) {
      const above: Uint8Array[] = []
      for (let index = 0; index < level.length; index += 2)
        above.push(sha256Pair(level[index]!, level[index + 1] ?? zero))
      zero = sha256Pair(zero, zero)
      level = above.length > 0 ? above : [zero]
    }
    return sha256Pair(level[0]!, bigintToBytes(BigInt(this.roots.length), 32).reverse())
  }
}

const pair = new Uint8Array(64)

/** One call instead of a hash object takes half the time (Node 20.20). */
function sha256Pair(left: Uint8Array, right: Uint8Array): Uint8Array {
  pair.set(left, 0)
  pair.set(right, 32)
  return hash('sha256', pair, 'buffer')
}
