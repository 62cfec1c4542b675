/** What a run is told as: rates, stages, latencies, memory; for a person and as one JSON object. */
import type { GateReport } from './calibrationFile.ts'
import type { TransactionKind } from './kinds.ts'

/** Bytes. `peakRss` is the most that the process has held so far. */
export type MemoryReport = {
  readonly rss: number
  readonly peakRss: number
  readonly heapUsed: number
}

export type StageReport = {
  readonly seconds: number
  /** All transactions by this stage's time alone. */
  readonly tps: number
  /** Of the time of the whole run; stages on other threads, and what was done ahead, come on top of it. */
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
  readonly database: { readonly accounts: number; readonly signers: number }
  readonly executor: 'evm' | 'native'
  readonly kinds: readonly TransactionKind[]
  /** How the checkpoint was made; `null` where the run went on the database itself. */
  readonly checkpoint: 'reflink' | 'copy' | null
  readonly blocks: number
  readonly transactions: number
  readonly seconds: number
  /** Until the last block is in the store. */
  readonly tps: number
  /** Until the last block was accepted, with its root, and durable: in the journal, or else in the store. */
  readonly durableSeconds: number
  readonly durableTps: number
  readonly gas: bigint
  readonly gasPerSecond: number
  /** Of a block, from its transactions to its root and place in the chain. */
  readonly latencyMs: Latency
  readonly stages: Readonly<Record<string, StageReport>>
  /** State root after each block, in their order. */
  readonly roots: readonly string[]
  /** Accounts whose nonces were compared with what was sent; `null` where that was not asked for. */
  readonly noncesVerified: number | null
  readonly memory: MemoryReport
  /** Where the run was held against earlier ones. */
  readonly gate?: GateReport
}

export function memoryOf(): MemoryReport {
  const { rss, heapUsed } = process.memoryUsage()
  return { rss, peakRss: process.resourceUsage().maxRSS * 1024, heapUsed }
}

/** Percentiles by nearest rank. @param milliseconds at least one */
export function latencyOf(milliseconds: readonly number[]): Latency {
  const sorted = Float64Array.from(milliseconds).sort()
  const rank = (percent: number) => sorted[Math.ceil((percent / 100) * sorted.length) - 1]!
  return { p50: rank(50), p90: rank(90), p99: rank(99), max: sorted.at(-1)! }
}

/** Stages as rates and shares; those that took no time are left out. */
export function stagesOf(
  seconds: Readonly<Record<string, number>>,
  transactions: number,
  total: number,
): Record<string, StageReport> {
  const stages: Record<string, StageReport> = {}
  for (const [name, value] of Object.entries(seconds))
    if (value > 0)
      stages[name] = { seconds: value, tps: transactions / value, share: value / total }
  return stages
}

/** Lines for a person. */
export function describeRun(report: RunReport): string {
  const { blocks, transactions, seconds, tps, gasPerSecond, latencyMs, stages, memory } = report
  const { p50, p90, p99, max } = latencyMs
  const what = `${report.kinds.join(' + ')} by ${report.executor}`
  const lines = [
    `${count(transactions)} transactions (${what}) in ${blocks} blocks, ${seconds.toFixed(2)} s`,
    `rate     ${count(tps)} TPS, ${(gasPerSecond / 1e6).toFixed(1)} Mgas/s, every root computed and written`,
    `latency  P50 ${p50.toFixed(1)} ms, P90 ${p90.toFixed(1)} ms, P99 ${p99.toFixed(1)} ms, longest ${max.toFixed(1)} ms`,
  ]
  for (const [name, stage] of Object.entries(stages))
    lines.push(
      `  ${name.padEnd(9)}${stage.seconds.toFixed(2).padStart(9)} s ${(100 * stage.share).toFixed(1).padStart(6)} % ${count(stage.tps).padStart(12)} TPS`,
    )
  lines.push(`memory   ${megabytes(memory.rss)} MB, at most ${megabytes(memory.peakRss)} MB`)
  lines.push(`root     ${report.roots.at(-1)}`)
  const { gate } = report
  if (gate !== undefined)
    lines.push(
      `gate     ${gate.verdict}: expected ${count(gate.low)} to ${count(gate.high)} TPS after ${gate.runs} runs`,
    )
  return lines.join('\n')
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function megabytes(bytes: number): string {
  return Math.round(bytes / 2 ** 20).toLocaleString('en')
}
