/**
 * Aim (row A26): the gate's numbers are those of the formula, and it fails on both sides. Method: values worked out by
 * hand; edges from either side; more runs make the range narrower.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calibrationOf, expectedRange, isAlarm, verdictOf } from './regressionGate.ts'

const near = (found: number, expected: number) =>
  assert.ok(Math.abs(found - expected) < 1e-9 * expected, `${found}, expected ${expected}`)

test('A26: a calibration is count, median, and the extremes as parts of it', () => {
  assert.deepEqual(calibrationOf([120, 90, 100]), { count: 3, min: 0.9, max: 1.2, median: 100 })
  assert.deepEqual(calibrationOf([80, 120]), { count: 2, min: 0.8, max: 1.2, median: 100 })
  assert.deepEqual(calibrationOf([7]), { count: 1, min: 1, max: 1, median: 7 })
})

test('A26: limits and warnings are those of the formula', () => {
  const range = expectedRange({ count: 10, min: 0.9, max: 1.05, median: 1000 })
  near(range.low, 1000 * (1 - 0.1 * 2 - 0.1))
  near(range.high, 1000 * (1 + 0.05 * 2 + 0.1))
  near(range.warnLow, 1000 * 0.9 ** 0.8)
  near(range.warnHigh, 1000 * 1.05 ** 0.8)
  // One run that knows nothing: everything up to twice its rate.
  assert.deepEqual(expectedRange(calibrationOf([50])), {
    ...{ low: 0, warnLow: 50, warnHigh: 50, high: 100 },
  })
  // With more runs of the same spread the limits come closer.
  const wider = expectedRange({ count: 6, min: 0.9, max: 1.05, median: 1000 })
  assert.ok(wider.low < range.low && wider.high > range.high)
})

test('A26: too slow and too good fail, and what is near only warns', () => {
  const range = expectedRange({ count: 10, min: 0.9, max: 1.1, median: 1000 })
  const at = (tps: number) => verdictOf(tps, range)
  assert.equal(at(range.low - 1), 'too slow')
  assert.equal(at(range.low), 'slow')
  assert.equal(at(range.warnLow - 1), 'slow')
  assert.equal(at(1000), 'fine')
  assert.equal(at(range.warnHigh + 1), 'fast')
  assert.equal(at(range.high), 'fast')
  assert.equal(at(range.high + 1), 'too good')
  const verdicts = ['too slow', 'slow', 'fine', 'fast', 'too good'] as const
  assert.deepEqual(verdicts.filter(isAlarm), ['too slow', 'too good'])
})
