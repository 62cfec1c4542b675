/** Axes of charts. A chart has one for its values, made from all its series; no series can have its own. */
import { type Flag, voidFlag } from './flags.ts'

/** From value to place, 0 at `low` and 1 at `high`. */
export type Axis = {
  readonly unit: string
  readonly low: number
  readonly high: number
  readonly isLogarithmic: boolean
  /** Values worth a line, rising, within the axis. */
  readonly ticks: readonly number[]
}

/** Values that differ by more than this are drawn by their logarithm. */
const LINEAR_RATIO_MAX = 20

/** The axis that holds `values`, none negative: linear from 0, or logarithmic where they are positive and far apart. */
export function axisOf(values: readonly number[], unit: string): Axis {
  const finite = values.filter(Number.isFinite)
  if (finite.length === 0) return { unit, low: 0, high: 1, isLogarithmic: false, ticks: [0, 1] }
  const least = Math.min(...finite)
  const most = Math.max(...finite)
  if (least > 0 && most / least > LINEAR_RATIO_MAX) {
    const [low, high] = [least / 1.3, most * 1.3]
    return { unit, low, high, isLogarithmic: true, ticks: tensBetween(low, high) }
  }
  const high = most > 0 ? most * 1.08 : 1
  const step = stepOf(high / 4)
  const ticks = Array.from({ length: Math.floor(high / step) + 1 }, (_, index) => index * step)
  return { unit, low: 0, high, isLogarithmic: false, ticks }
}

/** A linear axis that holds `values` and 0, some of them below it. */
export function signedAxis(values: readonly number[], unit: string): Axis {
  const finite = values.filter(Number.isFinite)
  const reach = [0, ...finite].reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1
  const isBelow = finite.some((value) => value < 0)
  const isAbove = finite.some((value) => value > 0)
  const least = finite.reduce((low, value) => Math.min(low, value), 0)
  const most = finite.reduce((high, value) => Math.max(high, value), 0)
  const margin = 0.08 * reach
  const low = isBelow ? least - margin : 0
  const high = isAbove || !isBelow ? (most || 1) + margin : 0
  const step = stepOf((high - low) / 4)
  const first = Math.ceil(low / step)
  const count = Math.floor(high / step) - first + 1
  const ticks = Array.from({ length: count }, (_, index) => (first + index) * step)
  return { unit, low, high, isLogarithmic: false, ticks }
}

/** A logarithmic axis of ratios, with 1 in its middle. */
export function ratioAxis(ratios: readonly number[]): Axis {
  const finite = ratios.filter((ratio) => ratio > 0 && Number.isFinite(ratio))
  const reach = Math.max(1.25, ...finite.map((ratio) => Math.max(ratio, 1 / ratio) * 1.08))
  const near = reach < 2.2 ? [0.8, 1, 1.25] : [0.5, 1, 2]
  const ticks = reach < 10 ? near : tensBetween(1 / reach, reach)
  return { unit: 'ratio', low: 1 / reach, high: reach, isLogarithmic: true, ticks }
}

/** 0 to 1; what lies beyond the axis is put at its end. */
export function placeOn({ low, high, isLogarithmic }: Axis, value: number): number {
  const share = isLogarithmic
    ? Math.log(value / low) / Math.log(high / low)
    : (value - low) / (high - low)
  return Math.min(1, Math.max(0, share))
}

/** What a drawn chart says of one of its series. */
export type DrawnAxis = {
  readonly series: string
  readonly unit: string
  readonly low: number
  readonly high: number
}

/** Series that are to be compared by eye must be drawn on one axis. */
export function axisFlags(drawn: readonly DrawnAxis[]): Flag[] {
  const [first] = drawn
  const odd = drawn.find(
    ({ unit, low, high }) => unit !== first?.unit || low !== first.low || high !== first.high,
  )
  if (first === undefined || odd === undefined) return []
  const show = ({ series, low, high, unit }: DrawnAxis) => `${series} on ${low} to ${high} ${unit}`
  return [voidFlag('unlike-axes', `expected one axis, got ${show(first)} and ${show(odd)}`)]
}

/** Powers of ten between two values, every second or third where there are many; their halves too where there are few. */
function tensBetween(low: number, high: number): number[] {
  const first = Math.ceil(Math.log10(low))
  const last = Math.floor(Math.log10(high))
  const step = Math.max(1, Math.ceil((last - first + 1) / 6))
  const ticks: number[] = []
  for (let power = first; power <= last; power += step) ticks.push(10 ** power)
  if (ticks.length > 2) return ticks
  const finer = [first - 1, first, last].flatMap((power) =>
    [1, 2, 5].map((digit) => digit * 10 ** power),
  )
  return [...new Set(finer)].filter((tick) => tick >= low && tick <= high).sort((a, b) => a - b)
}

/** 1, 2, 5 or 10 times a power of ten, at least `rough`. */
function stepOf(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  return power * ([1, 2, 5].find((step) => step * power >= rough) ?? 10)
}
