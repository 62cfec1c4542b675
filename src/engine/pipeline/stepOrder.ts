/**
 * The order of what a pipeline makes true of a block, declared as a graph and held at run time. A step may be reached
 * for block n only once every step it needs was reached for n.
 *
 *     executed ─▶ rooted ─▶ accepted ─▶ journaled
 *                    └─▶ collected ─▶ written ─▶ summaryPublished ─▶ statePublished ─▶ journalCut
 *                           accepted ──┘
 *
 * Published is the summary before the state: whoever takes the newer state as a base must find the nodes below it.
 * The journal is cut last: until the store has a block and says so, its record is the block.
 */
import { assert } from '../../base/index.ts'

/** What each step needs. */
export const STEP_NEEDS = {
  executed: [],
  rooted: ['executed'],
  accepted: ['rooted'],
  journaled: ['accepted'],
  collected: ['rooted'],
  written: ['collected', 'accepted'],
  summaryPublished: ['written'],
  statePublished: ['summaryPublished'],
  journalCut: ['statePublished'],
} as const satisfies Record<string, readonly string[]>

export type Step = keyof typeof STEP_NEEDS

/** Steps after which a process that dies must find at least that much again. Crash tests kill at each of them. */
export const DURABLE_STEPS = [
  'journaled',
  'written',
  'journalCut',
] as const satisfies readonly Step[]

/** Told of each step, right after it is true of every block up to a number. */
export type StepListener = (step: Step, number: number) => void

export class StepOrder {
  private readonly reached = new Map<Step, number>()
  private readonly listener: StepListener | undefined

  /** @param number the newest block of which everything is true already */
  constructor(number: number, listener?: StepListener) {
    for (const step of Object.keys(STEP_NEEDS) as Step[]) this.reached.set(step, number)
    this.listener = listener
  }

  /** The newest block that a step was reached for. */
  at(step: Step): number {
    return this.reached.get(step)!
  }

  /** Says that a step is true of all blocks up to a number. Out of its order it is a fault of this program. */
  reach(step: Step, number: number): void {
    for (const needed of STEP_NEEDS[step])
      assert(
        this.at(needed) >= number,
        `pipeline: ${step} of block ${number} needs ${needed}, which is at ${this.at(needed)}`,
      )
    this.reached.set(step, number)
    this.listener?.(step, number)
  }

  /** Begins anew, where the head was moved by other means: everything is true up to a number. */
  reset(number: number): void {
    for (const step of this.reached.keys()) this.reached.set(step, number)
  }

  /** Takes back what was said of refused blocks, and of blocks built on them: all above a number. */
  withdrawAbove(number: number): void {
    assert(this.at('accepted') <= number, 'pipeline: what was accepted is not withdrawn')
    for (const [step, at] of this.reached) if (at > number) this.reached.set(step, number)
  }
}
