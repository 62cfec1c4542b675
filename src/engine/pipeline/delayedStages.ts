/**
 * Stages whose work is done late and told late, so that tests meet timings that a fast machine never shows. Each keeps
 * its order, as a thread keeps it; the two of them do not wait for each other.
 */
import type { Stages } from './stages.ts'

/** @param wait called before a piece of work and again before its answer; how long, is the caller's */
export function delayedStages({ summary, commit }: Stages, wait: () => Promise<void>): Stages {
  const summaryLane = new LateLane(wait)
  const commitLane = new LateLane(wait)
  return {
    summary: {
      advance: (source) => summaryLane.run(() => summary.advance(source)),
      retreat: (source) => summaryLane.run(() => summary.retreat(source)),
      prefetch: (block, senders) => summary.prefetch(block, senders),
      collect: () => summaryLane.run(() => summary.collect()),
      markPersisted: () => summary.markPersisted(),
      close: () => summary.close(),
    },
    commit: {
      write: (work) => commitLane.run(() => commit.write(work)),
      close: () => commit.close(),
    },
  }
}

/** One piece of work after the other. */
class LateLane {
  private readonly wait: () => Promise<void>
  private last: Promise<unknown> = Promise.resolve()

  constructor(wait: () => Promise<void>) {
    this.wait = wait
  }

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.last.then(async () => {
      await this.wait()
      const done = await work()
      await this.wait()
      return done
    })
    // Whoever asked is told of a failure; what follows is done all the same.
    this.last = result.catch(() => undefined)
    return result
  }
}
