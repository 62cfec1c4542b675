/** What a process holds: the pages that are its own, and what is alive in its heap. */
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type MemorySample, type MemoryTrend, memoryTrend } from './memoryTrend.ts'

export type MemoryReport = {
  /** Resident pages of the process's own, all threads together. Pages of the database's file are not among them. */
  readonly resident: MemoryTrend
  /** What is alive on this thread after a collection: objects, array buffers, shared ones too. */
  readonly alive: MemoryTrend
  readonly isFlat: boolean
}

/** Samples of a run, at most: each takes a collection. */
const SAMPLE_COUNT = 200

export class MemoryMeter {
  private readonly resident: MemorySample[] = []
  private readonly alive: MemorySample[] = []
  private readonly startMs = performance.now()
  private readonly onSample: (sample: MemorySample) => void
  private lastShare = -1

  /** @param onSample told of resident memory */
  constructor(onSample: (sample: MemorySample) => void) {
    this.onSample = onSample
  }

  get seconds(): number {
    return (performance.now() - this.startMs) / 1000
  }

  /** Takes a sample where one is due. @param share of the run that is done, 0 to 1 */
  sample(share: number): void {
    if (share - this.lastShare < 1 / SAMPLE_COUNT) return
    const { seconds } = this
    this.lastShare = share
    const sample = { seconds, bytes: residentBytes() }
    this.resident.push(sample)
    collectGarbage()
    const { heapUsed, external } = process.memoryUsage()
    this.alive.push({ seconds, bytes: heapUsed + external })
    this.onSample(sample)
  }

  report(): MemoryReport {
    const [resident, alive] = [memoryTrend(this.resident), memoryTrend(this.alive)]
    return { resident, alive, isFlat: resident.isFlat && alive.isFlat }
  }
}

/**
 * A database is mapped into memory, and its pages count as resident while the system has nothing better to do with
 * them: they are left out where the system tells them apart.
 */
function residentBytes(): number {
  try {
    const status = readFileSync('/proc/self/status', 'utf8')
    const own = ['RssAnon', 'RssShmem'].map((name) =>
      Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]),
    )
    const bytes = own.reduce((sum, kib) => sum + kib * 1024, 0)
    if (Number.isSafeInteger(bytes)) return bytes
  } catch {
    // Not a Linux.
  }
  return process.memoryUsage.rss()
}

const collectGarbage: () => void = exposedCollector()

function exposedCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
