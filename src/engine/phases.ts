/**
 * Where the time of an import goes. Each phase is measured where it runs: `decode` is the check of a file, in which its
 * blocks are decoded, the others are the engine's. On one thread the sum is the import's time less what lies between;
 * with a pipeline `root` and `collect` are the summary thread's time and `write` the commit thread's, beside the rest.
 */

/**
 * The stages of a block, in their order, and the write of a batch. `collect` is a pipeline's alone: the nodes of a
 * write as rows; without one that is part of `write`.
 */
export const PHASES = [
  'decode',
  'validate',
  'senders',
  'execute',
  'root',
  'journal',
  'collect',
  'write',
] as const
export type Phase = (typeof PHASES)[number]

/** Seconds spent in each phase, on whatever thread. */
export type PhaseSeconds = Readonly<Record<Phase, number>>

/** A stopwatch over the phases. One per engine, or one of one's own for a part. */
export class PhaseClock {
  private readonly milliseconds = new Float64Array(PHASES.length)

  /** Runs `work` and books its time. Cost: two clock reads, about 0.1 us. */
  measure<Result>(phase: Phase, work: () => Result): Result {
    const start = performance.now()
    try {
      return work()
    } finally {
      this.book(phase, performance.now() - start)
    }
  }

  /** Books time that was measured elsewhere. */
  book(phase: Phase, milliseconds: number): void {
    const index = PHASES.indexOf(phase)
    this.milliseconds[index] = this.milliseconds[index]! + milliseconds
  }

  /** Sums so far. */
  seconds(): PhaseSeconds {
    const entries = PHASES.map((phase, index) => [phase, this.milliseconds[index]! / 1000] as const)
    return Object.fromEntries(entries) as PhaseSeconds
  }
}
