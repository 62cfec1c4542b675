/** What a bench run found, as lines for a person and as one JSON object. */
import {
  caseId,
  type Flag,
  type Judgement,
  type Machine,
  median,
  type Turn,
} from '../../measure/index.ts'
import type { ComparisonResult } from './comparison.ts'
import type { BenchClock } from './gather.ts'

export type BenchReport = {
  readonly schema: 'varve-bench/1'
  readonly startedAt: string
  readonly seconds: number
  readonly machine: Machine
  readonly clock: BenchClock
  /** Processes that wanted to run, on average over a minute: before and at the end. */
  readonly load: { readonly before: number; readonly after: number }
  /** What `--vs` named. */
  readonly against: string | null
  /** Shares by which arms differ from themselves: the middle and the most of all comparisons. */
  readonly noise: { readonly median: number; readonly max: number } | null
  readonly comparisons: readonly ComparisonReport[]
  /** Comparisons for which no time was left. */
  readonly leftOut: readonly string[]
}

export type ComparisonReport = {
  readonly case: string
  readonly about: string
  readonly operation: string
  readonly size: number
  readonly sizeUnit: string
  readonly fault: string | null
  readonly judgement: Judgement
  readonly turns: readonly Turn[]
}

export function comparisonReport({
  comparison: { bench, size },
  judgement,
  turns,
  fault,
}: ComparisonResult): ComparisonReport {
  const { about, operation, sizeUnit } = bench
  return {
    case: caseId(bench),
    about,
    operation,
    size: size.size,
    sizeUnit,
    fault: fault ?? null,
    judgement,
    turns,
  }
}

/** The noise floor of a run. */
export function noiseOf(comparisons: readonly ComparisonReport[]): BenchReport['noise'] {
  const noises = comparisons.flatMap(({ judgement: { noise } }) =>
    noise === undefined ? [] : [noise],
  )
  return noises.length === 0 ? null : { median: median(noises), max: Math.max(...noises) }
}

/** A comparison as lines. */
export function describeComparison(report: ComparisonReport): string {
  const { judgement, operation, size, sizeUnit, fault } = report
  const { base, head, ratio, noise, verdict, flags } = judgement
  const title = `${report.case}, ${size.toLocaleString('en')} ${sizeUnit}`
  if (fault !== null) return `${title}\n  FAILED ${fault}`
  const arms = [head, base].flatMap((arm) => (arm === undefined ? [] : [arm]))
  const width = Math.max(...arms.map(({ subject }) => subject.length))
  const lines = arms.map(({ subject, median: middle, p99, bytes }) => {
    const figures = [
      `${timeText(middle).padStart(9)} a ${operation}`,
      ...(p99 === undefined ? [] : [`P99 ${timeText(p99)}`]),
      ...(bytes === undefined ? [] : [`${byteText(bytes)} allocated`]),
    ]
    return `  ${subject.padEnd(width)} ${figures.join(', ')}`
  })
  const noiseText = noise === undefined ? '' : `noise ${shareText(noise)}`
  if (ratio === undefined) lines.push(`  ${noiseText}`)
  else lines.push(`  ${verdict.toUpperCase()}: ${ratioText(ratio)} of the time, ${noiseText}`)
  return [title, ...lines, ...flags.map(flagText)].join('\n')
}

export const ratioText = ({ ratio, low, high }: NonNullable<Judgement['ratio']>): string =>
  `${threeDigits(ratio)} (${threeDigits(low)} to ${threeDigits(high)})`

export const flagText = ({ kind, isVoid, text }: Flag): string =>
  `  ${isVoid ? 'VOID' : 'doubt'} ${kind}: ${text}`

/** Nanoseconds, shown in a unit that leaves three digits. */
export function timeText(nanoseconds: number): string {
  if (nanoseconds >= 1e9) return `${threeDigits(nanoseconds / 1e9)} s`
  if (nanoseconds >= 1e6) return `${threeDigits(nanoseconds / 1e6)} ms`
  if (nanoseconds >= 1e3) return `${threeDigits(nanoseconds / 1e3)} us`
  return `${threeDigits(nanoseconds)} ns`
}

export function byteText(bytes: number): string {
  if (bytes >= 2 ** 20) return `${threeDigits(bytes / 2 ** 20)} MiB`
  if (bytes >= 2 ** 10) return `${threeDigits(bytes / 2 ** 10)} KiB`
  return `${bytes >= 10 ? Math.round(bytes) : threeDigits(bytes)} B`
}

export const shareText = (share: number): string => `${(100 * share).toFixed(1)}%`

const threeDigits = (value: number): string =>
  value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))

export const machineText = ({ cpu, coreCount, memoryGib, system, runtime }: Machine): string =>
  `${cpu}, ${coreCount} cores, ${memoryGib} GiB, ${system}, ${runtime}`
