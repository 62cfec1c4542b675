/**
 * The history accumulator of an epoch: SSZ hash_tree_root of List[HeaderRecord, 8192], where a record is a block's
 * hash and its total difficulty (consensus-specs, ssz/simple-serialize; portal-network-specs, history).
 */
import { assert, bigintToBytes } from '../base/index.ts'
import { merkleRoot, mixInLength, sha256Pair } from './ssz.ts'

const RECORD_COUNT_MAX = 8192

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
    return mixInLength(merkleRoot(this.roots, RECORD_COUNT_MAX), this.roots.length)
  }
}
