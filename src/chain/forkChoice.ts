/**
 * Total difficulty: the sum of the difficulties from genesis on (Yellow Paper section 4.3.4), which chooses among
 * proof-of-work chains and tells when proof of stake begins (EIP-3675).
 * Not here: choosing between branches; an import follows one chain.
 */
import type { ForkSchedule } from '../base/index.ts'

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
