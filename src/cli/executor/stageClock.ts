/**
 * Where the time of a run goes, by stage and by thread, as busy seconds: what a thread waits is nobody's.
 *
 *     ahead     generate, where blocks are made before the clock starts
 *     main      generate, validate, senders, execute, journal, seal
 *     senders   recover, the sum over all threads
 *     summary   root, collect                 } on the main thread where there is no pipeline,
 *     commit    write                         } or where its stages have no threads
 *
 * `seal` is the rest of the main thread's work: lists' roots, headers, layers, hand-overs between threads.
 */
import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import type { Engine, PhaseSeconds } from '../../engine/index.ts'
import type { BlockFeed } from './blockFeed.ts'

export const RUN_THREADS = ['ahead', 'main', 'senders', 'summary', 'commit'] as const
export type RunThread = (typeof RUN_THREADS)[number]

/** A stage on its thread. */
export type StageTime = {
  readonly name: string
  readonly thread: RunThread
  readonly seconds: number
}

export type RunTimes = {
  /** Those that took no time are left out. */
  readonly stages: readonly StageTime[]
  /** Busy seconds of threads that had something to do. */
  readonly threads: Readonly<Partial<Record<RunThread, number>>>
}

export type StageClockOptions = {
  /** Whether the stages behind execution have threads of their own. */
  readonly isThreaded: boolean
  /** Whether anything is written. */
  readonly isCommitted: boolean
}

export class StageClock {
  private readonly engine: Engine
  private readonly feed: BlockFeed
  private readonly options: StageClockOptions
  private readonly start = performance.now()
  private readonly loop: EventLoopUtilization = performance.eventLoopUtilization()
  private readonly phases: PhaseSeconds
  private readonly isGenerated: boolean

  /** Starts the clock. */
  constructor(engine: Engine, feed: BlockFeed, options: StageClockOptions) {
    this.engine = engine
    this.feed = feed
    this.options = options
    this.phases = engine.phases
    this.isGenerated = feed.seconds.generate > 0
  }

  /** Since the start. */
  get seconds(): number {
    return (performance.now() - this.start) / 1000
  }

  /** Where the time has gone up to now. */
  times(): RunTimes {
    const { feed } = this
    const { isThreaded, isCommitted } = this.options
    const summary = isThreaded ? 'summary' : 'main'
    const commit = isThreaded ? 'commit' : 'main'
    const at = (name: keyof PhaseSeconds) => this.engine.phases[name] - this.phases[name]
    const { generate, recover } = feed.seconds
    const stages: StageTime[] = [
      { name: 'generate', thread: this.isGenerated ? 'ahead' : 'main', seconds: generate },
      { name: 'recover', thread: 'senders', seconds: recover },
      { name: 'validate', thread: 'main', seconds: at('validate') },
      { name: 'senders', thread: 'main', seconds: at('senders') },
      { name: 'execute', thread: 'main', seconds: at('execute') },
      { name: 'journal', thread: 'main', seconds: at('journal') },
      { name: 'root', thread: summary, seconds: at('root') },
    ]
    if (isCommitted)
      stages.push(
        { name: 'collect', thread: summary, seconds: at('collect') },
        { name: 'write', thread: commit, seconds: at('write') },
      )
    const booked = secondsOf(stages, 'main')
    const idle = performance.eventLoopUtilization(this.loop).idle / 1000
    const seal = Math.max(0, this.seconds - idle - booked)
    stages.push({ name: 'seal', thread: 'main', seconds: seal })
    const entries = RUN_THREADS.map((thread) => [thread, secondsOf(stages, thread)] as const)
    return {
      stages: stages.filter(({ seconds }) => seconds > 0),
      threads: Object.fromEntries(entries.filter(([, seconds]) => seconds > 0)),
    }
  }
}

function secondsOf(stages: readonly StageTime[], thread: RunThread): number {
  return stages.reduce((sum, stage) => sum + (stage.thread === thread ? stage.seconds : 0), 0)
}
