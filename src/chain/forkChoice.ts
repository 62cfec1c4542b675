/**
 * Which of two branches is the chain.
 *
 * Before the merge the heavier branch wins (Yellow Paper, section 4.3.4): total difficulty is the sum of difficulties
 * from genesis on. Of two of equal weight the first seen stays. After it (EIP-3675) a consensus client says which
 * block is the head. The border between the two, as in geth:
 *
 *     block at hand \ head     proof of work                            proof of stake
 *     child of the head        becomes the head                         becomes the head
 *     proof of work            the heavier one, past the terminal       by instruction
 *                              total difficulty too
 *     proof of stake           by instruction                           by instruction
 *
 * So several terminal blocks compete by weight until one has a child, and from then on no weight moves the head.
 */
import { bytesEqual, type ForkSchedule } from '../base/index.ts'
import type { Header } from '../codec/index.ts'

/** A block with the difficulty of the whole chain up to it. */
export type WeighedHeader = { readonly header: Header; readonly totalDifficulty: bigint }

/** Total difficulty of a block from its parent's. */
export function totalDifficulty(parentTotal: bigint, difficulty: bigint): bigint {
  return parentTotal + difficulty
}

/**
 * Whether the block after a parent is under proof of stake; the value for `HeaderContext.isMerged`.
 * `undefined` on a chain without a terminal total difficulty.
 */
export function isMergedAfter(schedule: ForkSchedule, parentTotal: bigint): boolean | undefined {
  const { terminalTotalDifficulty } = schedule
  return terminalTotalDifficulty === undefined ? undefined : parentTotal >= terminalTotalDifficulty
}

/** Whether a valid block takes the place of the head without being told to. */
export function replacesHead(block: WeighedHeader, head: WeighedHeader): boolean {
  if (bytesEqual(block.header.parentHash, head.header.hash)) return true
  if (isProofOfStake(block.header) || isProofOfStake(head.header)) return false
  return block.totalDifficulty > head.totalDifficulty
}

/** EIP-3675 sets the difficulty to 0; proof of work never falls below 131072. */
function isProofOfStake({ difficulty }: Header): boolean {
  return difficulty === 0n
}
