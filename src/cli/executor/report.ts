/** What a run is told as: rates, stages, latencies, memory; for a person and as one JSON object. */
import type { AccountCounts } from './accountBook.ts'
import type { GateReport } from './calibrationFile.ts'
import type { TransactionKind } from './kinds.ts'
import type { RunThread, RunTimes } from './stageClock.ts'

/**
 * Bytes. `peakRss` is the most that the process has held so far; heap and arenas are those of the main thread, at the
 * end of the last block and, as peaks, at the ends of all. Arenas are array buffers, shared ones with them, in which
 * layers, trie nodes and batches lie. `layersPeak` is the most of it that layers of blocks took before a write passed them.
 */
export type MemoryReport = {
  readonly rss: number
  readonly peakRss: number
  readonly heapUsed: number
  readonly heapPeak: number
  readonly arenas: number
  readonly arenasPeak: number
  readonly layersPeak: number
}

export type StageReport = {
  readonly thread: RunThread
  /** In which the thread worked on it; what it waited for others is not in them. */
  readonly seconds: number
  /** All transactions by this stage's time alone. */
  readonly tps: number
  readonly gasPerSecond: number
  /** Of the time of the whole run; stages on other threads, and `ahead` of the clock, come on top of it. */
  readonly share: number
}

export type ThreadReport = {
  /** Senders have several threads, whose seconds are added up. */
  readonly busySeconds: number
  /** Of the time of the whole run. */
  readonly share: number
}

export type Latency = {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

/** What a run reports; the shape of `--json`. */
export type RunReport = {
  readonly database: AccountCounts
  readonly executor: 'evm' | 'native'
  readonly pipeline: 'on' | 'off'
  readonly kinds: readonly TransactionKind[]
  /** How the checkpoint was made; `null` where the run went on the database itself. */
  readonly checkpoint: 'reflink' | 'copy' | null
  /** False under `--skip-commit`: the database holds nothing of the run. */
  readonly isCommitted: boolean
  readonly blocks: number
  readonly transactions: number
  readonly seconds: number
  /** Until the last block is in the store, or has its root where nothing is written. */
  readonly tps: number
  /** Until the last block was accepted, with its root, and durable: in the journal, or else in the store. */
  readonly durableSeconds: number | null
  readonly durableTps: number | null
  readonly gas: bigint
  readonly gasPerSecond: number
  /** Of a block, from its transactions to its root and place in the chain. */
  readonly latencyMs: Latency
  readonly stages: Readonly<Record<string, StageReport>>
  readonly threads: Readonly<Partial<Record<RunThread, ThreadReport>>>
  /** State root after each block, in their order. */
  readonly roots: readonly string[]
  /** Accounts whose nonces were compared with what was sent; `null` where that was not asked for. */
  readonly noncesVerified: number | null
  readonly memory: MemoryReport
  /** Where the run was held against earlier ones. */
  readonly gate?: GateReport
}

/** Watches the memory of a run. */
export class MemoryGauge {
  private last = process.memoryUsage()
  private heapPeak = 0
  private arenasPeak = 0
  private layersPeak = 0

  constructor() {
    this.sample()
  }

  /** @param layerBytes as the engine has them. Cost: some 20 us */
  sample(layerBytes = 0): void {
    this.last = process.memoryUsage()
    this.heapPeak = Math.max(this.heapPeak, this.last.heapUsed)
    this.arenasPeak = Math.max(this.arenasPeak, this.last.arrayBuffers)
    this.layersPeak = Math.max(this.layersPeak, layerBytes)
  }

  report(): MemoryReport {
    const { rss, heapUsed, arrayBuffers: arenas } = this.last
    const { heapPeak, arenasPeak, layersPeak } = this
    // The system counts in KiB.
    const peakRss = process.resourceUsage().maxRSS * 1024
    return { rss, peakRss, heapUsed, heapPeak, arenas, arenasPeak, layersPeak }
  }
}

/** Percentiles by nearest rank. @param milliseconds at least one */
export function latencyOf(milliseconds: readonly number[]): Latency {
  const sorted = Float64Array.from(milliseconds).sort()
  const rank = (percent: number) => sorted[Math.ceil((percent / 100) * sorted.length) - 1]!
  return { p50: rank(50), p90: rank(90), p99: rank(99), max: sorted.at(-1)! }
}

/** Stages and threads as rates and shares. */
export function reportTimes(
  { stages, threads }: RunTimes,
  run: { readonly transactions: number; readonly gas: bigint; readonly seconds: number },
): Pick<RunReport, 'stages' | 'threads'> {
  const { transactions, gas } = run
  const stageEntries = stages.map(({ name, thread, seconds }) => {
    const rates = { tps: transactions / seconds, gasPerSecond: Number(gas) / seconds }
    return [name, { thread, seconds, ...rates, share: seconds / run.seconds }] as const
  })
  const threadEntries = Object.entries(threads).map(
    ([name, busySeconds]) => [name, { busySeconds, share: busySeconds / run.seconds }] as const,
  )
  return {
    stages: Object.fromEntries(stageEntries),
    threads: Object.fromEntries(threadEntries),
  }
}

/** Lines for a person. */
export function describeRun(report: RunReport): string {
  const { blocks, transactions, seconds, tps, gasPerSecond, latencyMs, memory } = report
  const { p50, p90, p99, max } = latencyMs
  const what = `${report.kinds.join(' + ')} by ${report.executor}, pipeline ${report.pipeline}`
  const end = report.isCommitted ? 'every root computed and written' : 'every root computed'
  const lines = [
    `${count(transactions)} transactions (${what}) in ${blocks} blocks, ${seconds.toFixed(2)} s`,
    `rate     ${count(tps)} TPS, ${(gasPerSecond / 1e6).toFixed(1)} Mgas/s, ${end}`,
    `latency  P50 ${p50.toFixed(1)} ms, P90 ${p90.toFixed(1)} ms, P99 ${p99.toFixed(1)} ms, longest ${max.toFixed(1)} ms`,
    ...describeStages(report),
    `memory   ${megabytes(memory.rss)} MB, at most ${megabytes(memory.peakRss)} MB; heap ${megabytes(memory.heapPeak)}, arenas ${megabytes(memory.arenasPeak)}, of them layers ${megabytes(memory.layersPeak)}`,
  ]
  if (report.checkpoint !== null)
    lines.push(
      `database ${report.checkpoint === 'reflink' ? 'a copy on write' : 'a full copy'} of the given one, which is as it was`,
    )
  lines.push(`root     ${report.roots.at(-1)}`)
  const { gate } = report
  if (gate !== undefined)
    lines.push(
      `gate     ${gate.verdict}: expected ${count(gate.low)} to ${count(gate.high)} TPS after ${gate.runs} runs`,
    )
  return lines.join('\n')
}

/** A line a thread, and one for each of its stages. */
export function describeStages({ stages, threads }: RunReport): string[] {
  const lines: string[] = []
  for (const [thread, { busySeconds, share }] of Object.entries(threads)) {
    lines.push(`  ${thread.padEnd(9)}${figures(busySeconds, share)} busy`)
    for (const [name, stage] of Object.entries(stages))
      if (stage.thread === thread)
        lines.push(
          `    ${name.padEnd(9)}${figures(stage.seconds, stage.share)} ${count(stage.tps).padStart(12)} TPS`,
        )
  }
  return lines
}

function figures(seconds: number, share: number): string {
  return `${seconds.toFixed(2).padStart(9)} s ${(100 * share).toFixed(1).padStart(6)} %`
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function megabytes(bytes: number): string {
  return Math.round(bytes / 2 ** 20).toLocaleString('en')
}
