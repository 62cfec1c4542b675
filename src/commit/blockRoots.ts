/**
 * State roots within one block. Before Byzantium each receipt has the root after its transaction, so a summary follows
 * the block step by step; its last step is the block's end, whatever the fork.
 */
import { deltaBetween, EMPTY_DELTA, type StateDelta } from '../state/index.ts'
import type { StateSummary } from './stateSummary.ts'

/** Leads a summary from the parent's state through one block. The summary is the block's from the first call on. */
export class BlockRoots {
  private readonly summary: StateSummary
  private reached: StateDelta = EMPTY_DELTA
  private count = 0

  constructor(summary: StateSummary) {
    this.summary = summary
  }

  /** True once the summary holds anything of the block. */
  get hasStarted(): boolean {
    return this.count > 0
  }

  /** What the summary holds of the block: the delta of the last call. */
  get delta(): StateDelta {
    return this.reached
  }

  /**
   * Root after all that the block has changed so far.
   * @param delta from the parent's state; clears what earlier ones of the block clear
   * Cost: what changed since the last call, and a look at all else.
   */
  rootAfter(delta: StateDelta): Uint8Array {
    const step = this.count++ === 0 ? delta : deltaBetween(this.reached, delta)
    this.reached = delta
    return this.summary.update(step)
  }
}
