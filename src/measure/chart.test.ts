/** Aim: what is compared by eye is on one axis, and a page that does otherwise is found out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { axisFlags, axisOf, placeOn, ratioAxis, signedAxis } from './axis.ts'
import {
  drawnAxes,
  lineChart,
  ratioChart,
  type Series,
  shortNumber,
  timelineChart,
} from './chart.ts'

const series = (name: string, unit: string, factor: number): Series => ({
  name,
  role: name === 'old' ? 'base' : 'head',
  unit,
  points: [10, 100, 1000].map((x) => ({ x, y: x * factor })),
})

test('series of one chart share the axis, however far apart (row G15)', () => {
  const both = [series('old', 'ns', 1), series('new', 'ns', 40)]
  const drawn = drawnAxes(lineChart({ title: 'two arms', xName: 'leaves', series: both }))
  assert.deepEqual(
    drawn.map((each) => each.series),
    ['old', 'new'],
  )
  assert.deepEqual(axisFlags(drawn), [])
})

test('two axes: panels that were scaled apart are flagged (row G15)', () => {
  const panels = [series('old', 'ns', 1), series('new', 'ns', 0.6)].flatMap((each) =>
    drawnAxes(lineChart({ title: each.name, xName: 'leaves', series: [each] })),
  )
  assert.equal(axisFlags(panels)[0]?.kind, 'unlike-axes')
})

test('series of two units do not go into one chart', () => {
  const both = [series('old', 'ns', 1), series('new', 'us', 1)]
  assert.throws(() => lineChart({ title: 't', xName: 'x', series: both }), RangeError)
})

test('axes hold their values and their ticks', () => {
  for (const values of [[0], [1, 2], [3, 19], [0.001, 5000], [1e6, 2e6], []]) {
    const axis = axisOf(values, 'ns')
    for (const value of [...values, ...axis.ticks])
      assert.ok(value >= axis.low && value <= axis.high, `${value} of ${values}`)
    assert.ok(axis.ticks.length <= 8)
  }
  assert.ok(Math.abs(placeOn(ratioAxis([0.02, 1.1]), 1) - 0.5) < 1e-9)
})

test('a lead goes below 0 and back, and shares its axis with that of the sham (row G16)', () => {
  const lead = (name: string, role: 'head' | 'sham', ys: readonly number[]): Series => ({
    name,
    role,
    unit: 's',
    points: ys.map((y, index) => ({ x: index * 100, y })),
  })
  const both = [lead('b', 'head', [-2, 1, 35]), lead('a again', 'sham', [0.1, -0.2, 0.3])]
  const drawn = drawnAxes(timelineChart({ title: 'lead', xName: 'block', series: both }))
  assert.equal(drawn.length, 2)
  assert.deepEqual(axisFlags(drawn), [])
  for (const values of [[-2, 35], [-5, -1], [0], [3, 8], []]) {
    const { low, high, ticks } = signedAxis(values, 's')
    for (const value of [0, ...values, ...ticks])
      assert.ok(value >= low - 1e-9 && value <= high + 1e-9, `${value} of ${values}`)
    assert.ok(ticks.length >= 2 && ticks.length <= 10, `${ticks}`)
  }
})

test('ratios of many cases and their noise; names are escaped', () => {
  const row = { ratio: 0.5, low: 0.4, high: 0.6, noise: 0.03, verdict: 'faster' }
  const svg = ratioChart('ratios', [{ ...row, name: '<b>&"' }])
  assert.ok(svg.includes('&lt;b&gt;&amp;&quot;') && !svg.includes('<b>'))
  assert.ok(svg.includes('class="interval faster"'))
})

test('short numbers', () => {
  assert.deepEqual([0.1234, 12.345, 1234.5, 23456, 1.6e7].map(shortNumber), [
    '0.123',
    '12.3',
    '1235',
    '23.5k',
    '16M',
  ])
})
