/**
 * A small harness for `*.bench.ts` files. A bench has a small size, run by `npm test` so that it keeps working, and
 * its real size, run by `npm run bench`. Every bench prints a digest of its result, so that a short cut cannot pass
 * for speed. Timings never decide a test.
 */
import { test } from 'node:test'
import { median } from '../measure/index.ts'

export { median, quantile } from '../measure/index.ts'

export type BenchMode = 'smoke' | 'full'
/** `full` where the bench runner set VARVE_BENCH=full; else `smoke`. */
export const benchMode: BenchMode = process.env['VARVE_BENCH'] === 'full' ? 'full' : 'smoke'

/** One figure: all samples are kept, the median is quoted. */
export type BenchFigure = {
  readonly name: string
  readonly unit: string
  readonly samples: readonly number[]
  /** Digest or count that shows the work was done; equal for equal work. */
  readonly check: string
}

/** Declares a bench: a test in smoke mode, a measurement in full mode. */
export function bench(name: string, run: (mode: BenchMode) => void | Promise<void>): void {
  if (benchMode === 'smoke') test(`bench ${name} (smoke size)`, () => run('smoke'))
  else benches.push({ name, run })
}

const benches: { name: string; run: (mode: BenchMode) => void | Promise<void> }[] = []

/** Runs what was declared, one after the other. Called by the bench runner. */
export async function runBenches(): Promise<void> {
  for (const { run } of benches) await run('full')
}

/** Prints one figure as a line of text, or of JSON where VARVE_BENCH_JSON=1. */
export function report(figure: BenchFigure): void {
  if (benchMode === 'smoke') return
  const sorted = [...figure.samples].sort((a, b) => a - b)
  const middle = median(sorted)
  const line =
    process.env['VARVE_BENCH_JSON'] === '1'
      ? JSON.stringify({ ...figure, median: middle, min: sorted[0], max: sorted.at(-1) })
      : `${figure.name.padEnd(52)} ${round(middle).padStart(10)} ${figure.unit.padEnd(10)} min ${round(sorted[0]!)}  max ${round(sorted.at(-1)!)}  runs ${sorted.length}  check ${figure.check.slice(0, 18)}`
  console.log(line)
}

/** Nanoseconds a call of `work` took. */
export function timeNs(work: () => void): number {
  const start = process.hrtime.bigint()
  work()
  return Number(process.hrtime.bigint() - start)
}

/** Nanoseconds of processor time that `work` took, all threads of the process; in steps of 1 us. For busy machines. */
export function cpuNs(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) * 1000
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(4)
}
