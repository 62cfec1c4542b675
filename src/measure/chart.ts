/**
 * Charts as SVG text for a page that carries its own styles. Drawn 400 units wide, so that a phone shows their type at
 * its own size; colours come from the page's classes: `base`, `head`, `sham`, `rule`, and the verdicts.
 */
import { type Axis, axisOf, type DrawnAxis, placeOn, ratioAxis, signedAxis } from './axis.ts'

/** One arm over the sizes of a bench. `x` is positive. */
export type Series = {
  readonly name: string
  /** Class of its colour. */
  readonly role: 'base' | 'head' | 'sham'
  readonly unit: string
  readonly points: readonly { readonly x: number; readonly y: number }[]
}

export type LineChart = {
  readonly title: string
  readonly xName: string
  readonly series: readonly Series[]
}

/** A ratio with its interval; `noise` is the share that base differs from itself by. */
export type RatioRow = {
  readonly name: string
  readonly ratio: number
  readonly low: number
  readonly high: number
  readonly noise: number
  readonly verdict: string
}

const WIDTH = 400
const LEFT = 56
const MARGIN = 12
const TOP = 24
const BOTTOM = 214
const ROW_HEIGHT = 40
/** Series of more points are lines alone. */
const DOTS_MAX = 40

/** @throws RangeError where the series have not one unit: they could not share an axis */
export function lineChart({ title, xName, series }: LineChart): string {
  const unit = unitOf(title, series)
  const points = series.flatMap((each) => each.points)
  const valueAxis = axisOf(
    points.map(({ y }) => y),
    unit,
  )
  const sizeAxis = sizesAxis(
    points.map(({ x }) => x),
    xName,
  )
  const x = (value: number) => LEFT + (WIDTH - LEFT - MARGIN) * placeOn(sizeAxis, value)
  const y = (value: number) => BOTTOM - (BOTTOM - TOP) * placeOn(valueAxis, value)
  const scale = valueAxis.isLogarithmic ? ', by its logarithm' : ''
  const parts = [
    ...valueRules(valueAxis, y),
    ...sizeAxis.ticks.map((tick) => text(x(tick), BOTTOM + 18, shortNumber(tick), 'middle')),
    text(WIDTH - MARGIN, BOTTOM + 36, `${xName}, by its logarithm`, 'end'),
    text(4, 14, `${unit}${scale}`, 'start'),
    ...series.map((each) => drawSeries(each, valueAxis, x, y)),
  ]
  return svg(title, BOTTOM + 44, parts)
}

/**
 * Series over a count that goes on, such as block numbers, from their first to their last; values may be below 0.
 * @throws RangeError where the series have not one unit
 */
export function timelineChart({ title, xName, series }: LineChart): string {
  const unit = unitOf(title, series)
  const points = series.flatMap((each) => each.points)
  const valueAxis = signedAxis(
    points.map(({ y }) => y),
    unit,
  )
  const least = points.reduce((low, { x }) => Math.min(low, x), Infinity)
  const most = points.reduce((high, { x }) => Math.max(high, x), -Infinity)
  const countAxis = {
    unit: xName,
    low: least,
    high: Math.max(most, least + 1),
    isLogarithmic: false,
  }
  const x = (value: number) =>
    LEFT + (WIDTH - LEFT - MARGIN) * placeOn({ ...countAxis, ticks: [] }, value)
  const y = (value: number) => BOTTOM - (BOTTOM - TOP) * placeOn(valueAxis, value)
  const parts = [
    ...valueRules(valueAxis, y),
    ...[least, most].map((tick, index) =>
      text(x(tick), BOTTOM + 18, shortNumber(tick), index === 0 ? 'start' : 'end'),
    ),
    text((LEFT + WIDTH) / 2, BOTTOM + 18, xName, 'middle'),
    text(4, 14, unit, 'start'),
    ...series.map((each) => drawSeries(each, valueAxis, x, y)),
  ]
  return svg(title, BOTTOM + 26, parts)
}

/** Lines and numbers of the values' axis; 0 stands out where there are values below it. */
const valueRules = (axis: Axis, y: (value: number) => number): string[] =>
  axis.ticks.map((tick) => {
    const kind = tick === 0 && axis.low < 0 ? 'rule strong' : 'rule'
    const rule = line(LEFT, y(tick), WIDTH - MARGIN, y(tick), kind)
    return rule + text(LEFT - 6, y(tick) + 4, shortNumber(tick), 'end')
  })

function unitOf(title: string, series: readonly Series[]): string {
  const units = [...new Set(series.map(({ unit }) => unit))]
  const [unit] = units
  if (unit === undefined || units.length > 1)
    throw new RangeError(`${title}: expected series of one unit, got ${units.join(' and ')}`)
  return unit
}

/** Ratios of many comparisons on one axis: left of 1 head takes less. The band of each row is its noise. */
export function ratioChart(title: string, rows: readonly RatioRow[]): string {
  const axis = ratioAxis(rows.flatMap(({ low, high, noise }) => [low, high, 1 + noise]))
  const x = (value: number) => MARGIN + (WIDTH - 2 * MARGIN) * placeOn(axis, value)
  const bottom = TOP + rows.length * ROW_HEIGHT
  const parts = axis.ticks.flatMap((tick) => [
    line(x(tick), TOP - 2, x(tick), bottom, tick === 1 ? 'rule strong' : 'rule'),
    text(x(tick), 14, `${shortNumber(tick)}×`, 'middle'),
  ])
  rows.forEach(({ name, ratio, low, high, noise, verdict }, index) => {
    const middle = TOP + index * ROW_HEIGHT + 28
    const [from, to] = [x(1 / (1 + noise)), x(1 + noise)]
    const kind = verdict.replace(' ', '-')
    parts.push(
      `<rect class="sham" x="${fixed(from)}" y="${middle - 7}" width="${fixed(to - from)}" height="14"/>`,
      text(MARGIN, middle - 12, name, 'start'),
      line(x(low), middle, x(high), middle, `interval ${kind}`),
      `<circle class="${kind}" cx="${fixed(x(ratio))}" cy="${middle}" r="5"/>`,
    )
  })
  return svg(title, bottom + 8, parts)
}

/** Each series names the axis it is drawn on, so that whoever reads the page can hold them against each other. */
function drawSeries(
  { name, role, unit, points }: Series,
  axis: Axis,
  x: (value: number) => number,
  y: (value: number) => number,
): string {
  const sorted = [...points].sort((a, b) => a.x - b.x)
  const path = sorted.map((point) => `${fixed(x(point.x))},${fixed(y(point.y))}`).join(' ')
  const dotted = sorted.length > DOTS_MAX ? [] : sorted
  const dots = dotted.map((point) => {
    const label = `${name}, ${shortNumber(point.x)}: ${shortNumber(point.y)} ${unit}`
    const place = `cx="${fixed(x(point.x))}" cy="${fixed(y(point.y))}"`
    return `<circle class="${role}" ${place} r="4"><title>${escapeText(label)}</title></circle>`
  })
  const data = `data-series="${escapeText(name)}" data-unit="${escapeText(unit)}" data-low="${axis.low}" data-high="${axis.high}"`
  return `<g ${data}><polyline class="${role}" points="${path}"/>${dots.join('')}</g>`
}

/** What a page's charts say of the axes of their series. */
export function drawnAxes(page: string): DrawnAxis[] {
  const pattern =
    /data-series="([^"]*)" data-unit="([^"]*)" data-low="([^"]*)" data-high="([^"]*)"/g
  return [...page.matchAll(pattern)].map(([, series, unit, low, high]) => ({
    series: series!,
    unit: unit!,
    low: Number(low),
    high: Number(high),
  }))
}

/** Sizes by their logarithm, each a tick, or the first and the last of many. */
function sizesAxis(sizes: readonly number[], unit: string): Axis {
  const all = [...new Set(sizes)].sort((a, b) => a - b)
  const [low = 1, high = low] = [all[0], all.at(-1)]
  const ticks = all.length <= 6 ? all : [low, high]
  const margin = low === high ? 2 : 1
  return { unit, low: low / margin, high: high * margin, isLogarithmic: true, ticks }
}

const svg = (title: string, height: number, parts: readonly string[]): string =>
  `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeText(title)}">${parts.join('')}</svg>`

const line = (x1: number, y1: number, x2: number, y2: number, kind: string): string =>
  `<line class="${escapeText(kind)}" x1="${fixed(x1)}" y1="${fixed(y1)}" x2="${fixed(x2)}" y2="${fixed(y2)}"/>`

const text = (x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end'): string =>
  `<text x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}">${escapeText(content)}</text>`

const fixed = (value: number): string => String(Math.round(value * 10) / 10)

/** Three digits, with k and M. */
export function shortNumber(value: number): string {
  const size = Math.abs(value)
  if (size >= 1e6) return `${threeDigits(value / 1e6)}M`
  if (size >= 1e4) return `${threeDigits(value / 1e3)}k`
  return threeDigits(value)
}

const threeDigits = (value: number): string =>
  Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))

/** For text and attributes of a page. */
export function escapeText(raw: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return raw.replace(/[&<>"]/g, (sign) => entities[sign]!)
}
