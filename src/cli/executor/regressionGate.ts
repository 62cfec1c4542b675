/**
 * Whether a rate is what earlier runs of the same workload lead to expect. What is too good fails, too: either the
 * measurement is wrong, or the calibration is out of date and would hide the next loss.
 *
 *     too slow │ slow │        fine        │ fast │ too good
 *            low   warnLow   median   warnHigh   high
 *
 * With n runs from `min` to `max` times their median: low = median x (1 - (1 - min)(1 + 10/n) - 1/n),
 * warnLow = median x min^0.8; upwards alike. Few runs know little, so their range is wider.
 */

/** What calibration has seen of one workload. */
export type Calibration = {
  readonly count: number
  /** Slowest and fastest run, as parts of the median: at most 1, and at least 1. */
  readonly min: number
  readonly max: number
  /** TPS. */
  readonly median: number
}

/** TPS in ascending order: fails below `low` and above `high`, warns outside of the two between. */
export type ExpectedRange = {
  readonly low: number
  readonly warnLow: number
  readonly warnHigh: number
  readonly high: number
}

export type GateVerdict = 'too slow' | 'slow' | 'fine' | 'fast' | 'too good'

/** Runs that a calibration should have. */
export const CALIBRATION_RUNS_MIN = 6
/** Exponent of the warning. */
const WARN_POWER = 0.8
/** Runs that double the distance. */
const DOUBT_RUNS = 10

/** @param rates TPS of runs of one workload, at least one, all above 0 */
export function calibrationOf(rates: readonly number[]): Calibration {
  const sorted = Float64Array.from(rates).sort()
  const { length: count } = sorted
  const middle = count >> 1
  const median = count % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
  return { count, min: sorted[0]! / median, max: sorted[count - 1]! / median, median }
}

/** The warnings lie within the limits, whatever the calibration. */
export function expectedRange({ count, min, max, median }: Calibration): ExpectedRange {
  const doubt = 1 + DOUBT_RUNS / count
  const low = median * Math.max(0, 1 - (1 - min) * doubt - 1 / count)
  const high = median * (1 + (max - 1) * doubt + 1 / count)
  return { low, warnLow: median * min ** WARN_POWER, warnHigh: median * max ** WARN_POWER, high }
}

export function verdictOf(
  tps: number,
  { low, warnLow, warnHigh, high }: ExpectedRange,
): GateVerdict {
  if (tps < low) return 'too slow'
  if (tps > high) return 'too good'
  if (tps < warnLow) return 'slow'
  return tps > warnHigh ? 'fast' : 'fine'
}

/** Whether a run with this verdict fails. */
export function isAlarm(verdict: GateVerdict): boolean {
  return verdict === 'too slow' || verdict === 'too good'
}
