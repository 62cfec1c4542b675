/**
 * Difficulty of a proof-of-work block from its parent: Yellow Paper section 4.3.4, EIP-2 (Homestead), EIP-100
 * (Byzantium, which counts uncles), and the bomb's delays: EIP-649, 1234, 2384, 3554, 4345, 5133.
 *
 *   difficulty = max(131072, parent + parent / 2048 * step) + bomb
 *
 * Where every intermediate is below 2^53 (mainnet to block 4.3 million and all test chains) it is computed in
 * doubles, else in bigints; a test holds the two against each other.
 * Not here: the proof-of-work seal, which Varve does not check.
 */
import { assert, Fork } from '../base/index.ts'

/** Least difficulty (Yellow Paper D_0). */
export const DIFFICULTY_MIN = 131_072
const BOUND_DIVISOR = 2048
const BOMB_PERIOD = 100_000
/** The largest bomb exponent that the double path takes: 2^51 plus a difficulty below 2^52 is exact. */
const BOMB_EXPONENT_FAST_MAX = 51
/** Parents below this take the double path: a step adds at most parent/1024. */
const PARENT_FAST_LIMIT = 2 ** 52 - 2 ** 43

/** What the difficulty of a block depends on. */
export type DifficultyInput = {
  /** The block's own number, 1 up. */
  readonly number: number
  /** Seconds from the parent's time to the block's; positive in a valid block. */
  readonly secondsSinceParent: number
  readonly parentDifficulty: bigint
  /** Whether the parent names uncles; matters from Byzantium on. */
  readonly parentHasUncles: boolean
}

/** Difficulty that a block must state under a fork before Paris. */
export function difficultyAt(fork: Fork, input: DifficultyInput): bigint {
  assert(fork < Fork.Paris, 'difficulty is computed under proof of work only')
  const step = difficultyStep(fork, input.secondsSinceParent, input.parentHasUncles)
  const exponent = bombExponent(fork, input.number)
  if (input.parentDifficulty < PARENT_FAST_LIMIT && exponent <= BOMB_EXPONENT_FAST_MAX) {
    const parent = Number(input.parentDifficulty)
    const moved = Math.max(DIFFICULTY_MIN, parent + Math.floor(parent / BOUND_DIVISOR) * step)
    return BigInt(exponent < 0 ? moved : moved + 2 ** exponent)
  }
  return difficultyExact(input.parentDifficulty, step, exponent)
}

/** The same in bigints, for any size. Exported as the double path's twin in tests. */
export function difficultyExact(parent: bigint, step: number, bombExponentOf2: number): bigint {
  let moved = parent + (parent / BigInt(BOUND_DIVISOR)) * BigInt(step)
  if (moved < BigInt(DIFFICULTY_MIN)) moved = BigInt(DIFFICULTY_MIN)
  return bombExponentOf2 < 0 ? moved : moved + (1n << BigInt(bombExponentOf2))
}

/** How many 2048ths of the parent's difficulty the block moves by: 2 to -99. */
export function difficultyStep(fork: Fork, seconds: number, parentHasUncles: boolean): number {
  if (fork < Fork.Homestead) return seconds < 13 ? 1 : -1
  if (fork < Fork.Byzantium) return Math.max(-99, 1 - Math.floor(seconds / 10))
  return Math.max(-99, (parentHasUncles ? 2 : 1) - Math.floor(seconds / 9))
}

/** Exponent of the bomb's power of two, negative while it adds nothing. */
export function bombExponent(fork: Fork, number: number): number {
  return Math.floor(Math.max(0, number - bombDelay(fork)) / BOMB_PERIOD) - 2
}

/** Blocks by which a fork puts the bomb back. */
export function bombDelay(fork: Fork): number {
  if (fork < Fork.Byzantium) return 0
  if (fork < Fork.Constantinople) return 3_000_000 // EIP-649
  if (fork < Fork.MuirGlacier) return 5_000_000 // EIP-1234
  if (fork < Fork.London) return 9_000_000 // EIP-2384
  if (fork < Fork.ArrowGlacier) return 9_700_000 // EIP-3554
  if (fork < Fork.GrayGlacier) return 10_700_000 // EIP-4345
  return 11_400_000 // EIP-5133
}
