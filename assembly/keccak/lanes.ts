/**
 * Many inputs through two lanes. A lane takes the next input as soon as it is done with one, whatever the other lane
 * is doing, so both stay busy for any mixture of lengths without sorting inputs first:
 *
 *     lane A  [ input 0 : 4 blocks            ][ input 3 : 2 blocks ] …
 *     lane B  [ input 1 : 1 ][ input 2 : 3 blocks         ][ input 4 ] …
 *
 * The last input, once alone, moves to the scalar permutation, which takes 0.8 of the time of a half-empty pair.
 */
import { BLOCK_A_OFFSET, BLOCK_B_OFFSET, RATE, STATE_OFFSET } from './layout'
import { complement, permute2 } from './permutation'
import { absorbPair, finish, hashOne, padBlock, squeezeLane } from './sponge'

/** A record: input offset, length, output offset, each a u32. */
const RECORD_BYTES: usize = 12

/**
 * Hashes `count` inputs named by records at `records`. The order in which outputs are written is not defined, so no
 * output may overlap an input, a record, or the scratch.
 */
export function hashMany(records: usize, count: usize, scratch: usize): void {
  if (count === 0) return
  if (count === 1) {
    hashOne(load<u32>(records), load<u32>(records, 4), load<u32>(records, 8), scratch)
    return
  }
  const state = scratch + STATE_OFFSET
  const end = records + count * RECORD_BYTES
  let inputA: usize = load<u32>(records)
  let leftA: usize = load<u32>(records, 4)
  let outputA: usize = load<u32>(records, 8)
  let inputB: usize = load<u32>(records, 12)
  let leftB: usize = load<u32>(records, 16)
  let outputB: usize = load<u32>(records, 20)
  records += 2 * RECORD_BYTES
  // 0 where the lane starts a new input, -1 where it goes on.
  let keepA: i64 = 0
  let keepB: i64 = 0

  while (true) {
    let blockA = inputA
    let blockB = inputB
    const lastA = leftA < RATE
    const lastB = leftB < RATE
    if (lastA) padBlock(inputA, leftA, (blockA = scratch + BLOCK_A_OFFSET))
    if (lastB) padBlock(inputB, leftB, (blockB = scratch + BLOCK_B_OFFSET))
    absorbPair(blockA, blockB, keepA, keepB, scratch)
    permute2(state, scratch)

    if (lastA) squeezeLane(state, outputA)
    if (lastB) squeezeLane(state + 8, outputB)
    inputA += RATE
    leftA -= RATE
    keepA = -1
    inputB += RATE
    leftB -= RATE
    keepB = -1
    if (lastA) {
      if (records === end) {
        if (!lastB) finishLane(state + 8, inputB, leftB, outputB, scratch)
        return
      }
      inputA = load<u32>(records)
      leftA = load<u32>(records, 4)
      outputA = load<u32>(records, 8)
      records += RECORD_BYTES
      keepA = 0
    }
    if (lastB) {
      if (records === end) {
        if (lastA) hashOne(inputA, leftA, outputA, scratch)
        else finishLane(state, inputA, leftA, outputA, scratch)
        return
      }
      inputB = load<u32>(records)
      leftB = load<u32>(records, 4)
      outputB = load<u32>(records, 8)
      records += RECORD_BYTES
      keepB = 0
    }
  }
}

/** Moves the lane whose first word is at `lane` to the scalar state and hashes the rest of its input there. */
function finishLane(lane: usize, input: usize, left: usize, output: usize, scratch: usize): void {
  const state = scratch + STATE_OFFSET
  // In place: word n moves down from 2n or 2n + 1, which no earlier move has overwritten.
  for (let word: usize = 0; word < 200; word += 8) {
    store<u64>(state + word, load<u64>(lane + (word << 1)))
  }
  complement(state)
  finish(input, left, output, scratch)
}
