/** The figures of one arm in this process: time of each run, what a run allocates, and what it proves. */
import { PerformanceObserver } from 'node:perf_hooks'
import type { BenchProof, PreparedBench } from '../../measure/index.ts'

/** `cpu`: processor time of all threads of the process, which other work on the machine hardly touches. */
export type BenchClock = 'wall' | 'cpu'

export type GatherOptions = {
  readonly warmUpMs: number
  readonly sampleMs: number
  readonly clock: BenchClock
  /** Operations of a run, by which its figures are divided. */
  readonly claimed: number
}

export type GatheredFigures = {
  /** Nanoseconds an operation; of many runs as many order statistics as keep their distribution. */
  readonly samples: readonly number[]
  readonly runCount: number
  readonly proof: BenchProof
  /** Heap and buffers an operation, of the calling thread; absent where a collection came between each time. */
  readonly bytes?: number
}

/** Nanoseconds. A double counts them exactly for a hundred days since the machine started. */
const CLOCKS: Record<BenchClock, () => number> = {
  wall: () => Number(process.hrtime.bigint()),
  cpu() {
    const { user, system } = process.cpuUsage()
    return (user + system) * 1000
  },
}

const SAMPLES_MAX = 400
const SAMPLES_MIN = 3
const RUNS_MAX = 200_000
const WALL_FACTOR = 4
const WINDOW_COUNT = 3
const WINDOW_MS = 2

/** @throws Error where the last run proves other things than the first */
export async function gather(
  prepared: PreparedBench,
  { warmUpMs, sampleMs, clock, claimed }: GatherOptions,
): Promise<GatheredFigures> {
  const first = await provenRun(prepared)
  const warmUp = await timedRuns(prepared, CLOCKS[clock], warmUpMs, 1)
  collectGarbage()
  const samples = await timedRuns(prepared, CLOCKS[clock], sampleMs, SAMPLES_MIN)
  const bytes = await allocated(prepared, warmUp.concat(samples))
  const proof = await provenRun(prepared)
  if (proof.digest !== first.digest || proof.operations !== first.operations)
    throw new Error(
      `expected runs with one result, got ${JSON.stringify(first)} and later ${JSON.stringify(proof)}`,
    )
  return {
    samples: thinned(samples).map((nanoseconds) => nanoseconds / claimed),
    runCount: samples.length,
    proof,
    ...(bytes === undefined ? {} : { bytes: bytes / claimed }),
  }
}

async function provenRun(prepared: PreparedBench): Promise<BenchProof> {
  await prepared.before?.()
  await prepared.run()
  const proof = await prepared.prove()
  await prepared.after?.()
  return proof
}

/**
 * Nanoseconds of each run, until `ms` of processor time are spent, also on what is not timed: on a busy machine code gets
 * as warm as on an idle one. Runs that mostly wait end by the wall.
 */
async function timedRuns(
  prepared: PreparedBench,
  now: () => number,
  ms: number,
  countMin: number,
): Promise<number[]> {
  const samples: number[] = []
  const end = CLOCKS.cpu() + ms * 1e6
  const endByWall = CLOCKS.wall() + WALL_FACTOR * ms * 1e6
  const isOver = () => CLOCKS.cpu() >= end || CLOCKS.wall() >= endByWall
  while (samples.length < RUNS_MAX && (samples.length < countMin || !isOver())) {
    await prepared.before?.()
    const start = now()
    const pending = prepared.run()
    if (pending !== undefined) await pending
    // A clock that did not move would make a ratio infinite.
    samples.push(Math.max(1, now() - start))
    await prepared.after?.()
  }
  return samples
}

/** Bytes of a run: the least of some windows in which nothing was collected. */
async function allocated(
  prepared: PreparedBench,
  samples: readonly number[],
): Promise<number | undefined> {
  const fastest = samples.reduce((a, b) => Math.min(a, b), Infinity)
  const isBare = prepared.before === undefined && prepared.after === undefined
  // What is around a run allocates too, so only bare runs go many to a window.
  const runCount = isBare ? Math.max(1, Math.min(1000, Math.floor((WINDOW_MS * 1e6) / fastest))) : 1
  let collections = 0
  const observer = new PerformanceObserver((list) => {
    collections += list.getEntries().length
  })
  observer.observe({ entryTypes: ['gc'] })
  const overhead = askingBytes()
  let least: number | undefined
  for (let window = 0; window < WINDOW_COUNT; window++) {
    collectGarbage()
    await prepared.before?.()
    await settled()
    collections = 0
    const before = heldBytes()
    for (let run = 0; run < runCount; run++) {
      const pending = prepared.run()
      if (pending !== undefined) await pending
    }
    const taken = heldBytes() - before - overhead
    await settled()
    await prepared.after?.()
    // Less than before: buffers of an earlier collection were still being given back.
    if (collections === 0 && taken >= 0) least = Math.min(least ?? Infinity, taken / runCount)
  }
  observer.disconnect()
  return least
}

/** What asking costs by itself. */
function askingBytes(): number {
  let least = Infinity
  for (let window = 0; window < WINDOW_COUNT; window++) {
    const before = heldBytes()
    least = Math.min(least, heldBytes() - before)
  }
  return Math.max(0, least)
}

function heldBytes(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Records of collections are delivered by then. */
const settled = (): Promise<void> =>
  new Promise((resolve) => setImmediate(() => setImmediate(() => resolve())))

const collectGarbage = (): void => (globalThis as { gc?: () => void }).gc?.()

/** As many order statistics, evenly spaced: median and P99 stay what they were. */
function thinned(samples: readonly number[]): number[] {
  if (samples.length <= SAMPLES_MAX) return [...samples]
  const sorted = Float64Array.from(samples).sort()
  return Array.from(
    { length: SAMPLES_MAX },
    (_, index) => sorted[Math.floor(((index + 0.5) * sorted.length) / SAMPLES_MAX)]!,
  )
}
