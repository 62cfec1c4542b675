/**
 * The keccak-256 sponge (rate 136 bytes, padding 0x01 … 0x80, 32 bytes out) over bytes lying in memory.
 * Every function takes the scratch of `layout.ts`, prepared once by `prepare`. Inputs may start at any offset and are
 * never read past their end; outputs are 32 bytes anywhere, and must overlap neither an input nor the scratch.
 */
import { RATE, STATE_OFFSET } from './layout'
import { complement, permute1 } from './permutation'

const LAST_BIT: u64 = 0x8000000000000000

/** Starts a hash whose input comes in pieces: `begin`, any number of `absorb`, `finish`. */
export function begin(scratch: usize): void {
  const state = scratch + STATE_OFFSET
  const zero = i64x2.splat(0)
  for (let offset: usize = 0; offset < 192; offset += 16) v128.store(state + offset, zero)
  store<u64>(state, 0, 192)
  complement(state)
}

/** Absorbs `blockCount` whole blocks of 136 bytes. */
export function absorb(input: usize, blockCount: usize, scratch: usize): void {
  const state = scratch + STATE_OFFSET
  for (; blockCount > 0; blockCount--) {
    // Wide stores are read back by narrower loads, which forwards well; the other way round stalls.
    for (let offset: usize = 0; offset < 128; offset += 16) {
      v128.store(state + offset, v128.xor(v128.load(state + offset), v128.load(input + offset)))
    }
    store<u64>(state, load<u64>(state, 128) ^ load<u64>(input, 128), 128)
    permute1(state, scratch)
    input += RATE
  }
}

/** Absorbs the last `length` bytes, any number, and writes the hash to `output`. */
export function finish(input: usize, length: usize, output: usize, scratch: usize): void {
  const blockCount = length / RATE
  if (blockCount > 0) {
    absorb(input, blockCount, scratch)
    input += blockCount * RATE
    length -= blockCount * RATE
  }
  const state = scratch + STATE_OFFSET
  const wholeBytes = length & ~7
  for (let offset: usize = 0; offset < wholeBytes; offset += 8) {
    store<u64>(state + offset, load<u64>(state + offset) ^ load<u64>(input + offset))
  }
  const tail = tailWord(input + wholeBytes, length & 7)
  store<u64>(state + wholeBytes, load<u64>(state + wholeBytes) ^ tail)
  store<u64>(state, load<u64>(state, 128) ^ LAST_BIT, 128)
  permute1(state, scratch)
  // Of the words read here, 1 and 2 are among the complemented lanes.
  store<u64>(output, load<u64>(state), 0)
  store<u64>(output, ~load<u64>(state, 8), 8)
  store<u64>(output, ~load<u64>(state, 16), 16)
  store<u64>(output, load<u64>(state, 24), 24)
}

/** Hashes one input. */
export function hashOne(input: usize, length: usize, output: usize, scratch: usize): void {
  begin(scratch)
  finish(input, length, output, scratch)
}

/**
 * XORs a block of 136 bytes into each of the two interleaved states. A state whose `keep` is 0 is cleared before;
 * one whose `keep` is -1 goes on.
 */
export function absorbPair(
  blockA: usize,
  blockB: usize,
  keepA: i64,
  keepB: i64,
  scratch: usize,
): void {
  const state = scratch + STATE_OFFSET
  const keep = i64x2.replace_lane(i64x2.splat(keepA), 1, keepB)
  for (let word: usize = 0; word < 136; word += 8) {
    const blocks = v128.load_lane<u64>(blockB + word, v128.load_zero<u64>(blockA + word), 1)
    const lane = state + (word << 1)
    v128.store(lane, v128.xor(v128.and(v128.load(lane), keep), blocks))
  }
  if ((keepA & keepB) === -1) return
  for (let lane = state + 272; lane < state + 400; lane += 16) {
    v128.store(lane, v128.and(v128.load(lane), keep))
  }
}

/** Writes the last block of an input, padded to 136 bytes, to `block`; `length` is 0 to 135. */
export function padBlock(input: usize, length: usize, block: usize): void {
  const wholeBytes = length & ~7
  let offset: usize = 0
  for (; offset < wholeBytes; offset += 8) store<u64>(block + offset, load<u64>(input + offset))
  store<u64>(block + offset, tailWord(input + offset, length & 7))
  for (offset += 8; offset < RATE; offset += 8) store<u64>(block + offset, 0)
  store<u64>(block, load<u64>(block, 128) | LAST_BIT, 128)
}

/** Writes the hash of one of two interleaved states: `lane` is its first word. */
export function squeezeLane(lane: usize, output: usize): void {
  store<u64>(output, load<u64>(lane, 0), 0)
  store<u64>(output, load<u64>(lane, 16), 8)
  store<u64>(output, load<u64>(lane, 32), 16)
  store<u64>(output, load<u64>(lane, 48), 24)
}

/** The last 0 to 7 bytes of an input and the first bit of the padding, without a read past the end. */
function tailWord(input: usize, length: usize): u64 {
  let word: u64 = 0
  let shift: u64 = 0
  if (length & 4) {
    word = load<u32>(input)
    input += 4
    shift = 32
  }
  if (length & 2) {
    word |= u64(load<u16>(input)) << shift
    input += 2
    shift += 16
  }
  if (length & 1) {
    word |= u64(load<u8>(input)) << shift
    shift += 8
  }
  return word | (u64(1) << shift)
}
