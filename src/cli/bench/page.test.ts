/**
 * Aim: the report stands by itself, draws both arms of a case on one axis, tells what is void, and states machine and
 * noise. Method: pages of made-up results.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { axisFlags, drawnAxes, judge, Prng, planTurns, type Turn } from '../../measure/index.ts'
import { type BenchReport, type ComparisonReport, noiseOf } from './benchReport.ts'
import { benchPage } from './page.ts'

const MACHINE = {
  cpu: 'a <fast> processor',
  coreCount: 2,
  memoryGib: 8,
  system: 'Linux',
  runtime: 'node v20',
}

function comparison(name: string, size: number, factor: number, counted = size): ComparisonReport {
  const random = new Prng(size)
  const turns = planTurns(8, true).map(
    ({ role, round, place }): Turn => ({
      role,
      subject: role === 'head' ? 'new' : 'old',
      round,
      place,
      machine: MACHINE,
      samples: Array.from({ length: 20 }, () => {
        const noise = 1 + random.below(100) / 10_000
        return size * (role === 'head' ? factor : 1) * noise
      }),
      claimed: size,
      counted,
      digest: 'd',
      bytes: 12,
    }),
  )
  const judgement = judge(turns, { fraction: () => random.uint32() / 2 ** 32 })
  const texts = { about: 'what <it> does', operation: 'leaf', sizeUnit: 'accounts' }
  return { case: name, size, ...texts, fault: null, judgement, turns }
}

function reportOf(comparisons: readonly ComparisonReport[]): BenchReport {
  return {
    schema: 'varve-bench/1',
    startedAt: '2026-01-02T03:04:05.000Z',
    seconds: 60,
    machine: MACHINE,
    clock: 'wall',
    load: { before: 0.1, after: 0.2 },
    against: null,
    noise: noiseOf(comparisons),
    comparisons,
    leftOut: [],
  }
}

test('both series of a case on one axis, other cases on theirs (row G15)', () => {
  const cases = ['trie/one', 'trie/two'].map((name, index) =>
    [10, 1000].map((size) => comparison(name, size * (index + 1), 0.5)),
  )
  const html = benchPage(reportOf(cases.flat()))
  const drawn = html.split('<article>').slice(1).map(drawnAxes)
  assert.deepEqual(
    drawn.map((axes) => axes.map(({ series }) => series)),
    [
      ['new', 'old'],
      ['new', 'old'],
    ],
  )
  for (const axes of drawn) assert.deepEqual(axisFlags(axes), [])
})

test('the page needs no other file, names machine and noise, and escapes what it is told', () => {
  const html = benchPage(reportOf([comparison('trie/one', 10, 0.5)]))
  assert.ok(!/<script|<link|src=|url\(|https?:/.test(html))
  assert.ok(html.includes('a &lt;fast&gt; processor, 2 cores'))
  assert.ok(html.includes('what &lt;it&gt; does'))
  assert.match(html, /noise floor/)
  assert.match(html, /name="viewport"/)
  assert.match(html, /<b class="faster">faster<\/b>/)
})

test('a "10" that means 20 is shown as void, with the reason (row G14)', () => {
  const html = benchPage(reportOf([comparison('trie/one', 10, 0.5, 20)]))
  assert.match(html, /<b class="void">void<\/b>/)
  assert.match(html, /operations-beyond<\/b> at 10: new: expected 10 operations a run, its result/)
})
