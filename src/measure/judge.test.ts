/**
 * Aim: the mistakes that misled the authors of published benchmarks are flagged, and a sound comparison gets the verdict
 * that its figures were made with. Method: turns are made up with a seeded noise; each test breaks one thing.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FlagKind, Machine, Turn } from './flags.ts'
import { type Judgement, judge } from './judge.ts'
import { planTurns, type Role } from './turns.ts'

const MACHINE: Machine = {
  cpu: 'a processor',
  coreCount: 2,
  memoryGib: 8,
  system: 'linux 6 x64',
  runtime: 'node 20',
}

/** 0 up to 1; a linear congruential generator is random enough to draw with. */
function fractions(seed: number): () => number {
  let word = seed >>> 0
  return () => {
    word = (Math.imul(word, 1664525) + 1013904223) >>> 0
    return word / 2 ** 32
  }
}

/** Turns of a sound comparison in which head takes `factor` times as long; processes differ by up to `drift`. */
function sound(factor: number, { rounds = 8, drift = 0.01, seed = 1 } = {}): Turn[] {
  const fraction = fractions(seed)
  return planTurns(rounds, true).map(({ role, round, place }) => {
    const level = 100 * (role === 'head' ? factor : 1) * (1 + drift * (2 * fraction() - 1))
    const samples = Array.from({ length: 30 }, () => level * (1 + 0.1 * fraction() ** 3))
    const subject = role === 'head' ? 'new' : 'old'
    const work = { machine: MACHINE, samples, claimed: 10, counted: 10, digest: 'd1' }
    return { role, subject, round, place, ...work }
  })
}

const judged = (turns: readonly Turn[]): Judgement => judge(turns, { fraction: fractions(7) })
const kinds = ({ flags }: Judgement): FlagKind[] => flags.map(({ kind }) => kind)
const changed = (turns: Turn[], role: Role, change: (turn: Turn) => Partial<Turn>): Turn[] =>
  turns.map((turn) => (turn.role === role ? { ...turn, ...change(turn) } : turn))

function assertVoid(turns: readonly Turn[], kind: FlagKind): void {
  const result = judged(turns)
  assert.equal(result.verdict, 'void')
  const isFlagged = result.flags.some((flag) => flag.kind === kind && flag.isVoid)
  assert.ok(isFlagged, `expected ${kind}, got ${kinds(result).join(', ') || 'no flag'}`)
}

test('a sound comparison has no flag, and its verdict is what was put in', () => {
  for (const [factor, verdict] of [
    [0.7, 'faster'],
    [1.3, 'slower'],
    [1, 'no difference'],
    [0.995, 'no difference'],
  ] as const) {
    const result = judged(sound(factor))
    assert.deepEqual(result.flags, [])
    assert.equal(result.verdict, verdict, `factor ${factor}`)
    assert.ok(Math.abs(result.ratio!.ratio - factor) < 0.02)
  }
})

test('A/A: of 200 comparisons of equal arms on an uneasy machine hardly any finds a difference', () => {
  let wrong = 0
  for (let seed = 1; seed <= 200; seed++)
    if (judged(sound(1, { seed, drift: 0.08, rounds: 6 })).verdict !== 'no difference') wrong++
  assert.ok(wrong <= 4, `${wrong} of 200`)
})

test('the interval holds the true ratio about as often as it says', () => {
  let held = 0
  for (let seed = 1; seed <= 200; seed++) {
    const { low, high } = judged(sound(0.8, { seed, drift: 0.08 })).ratio!
    if (low <= 0.8 && 0.8 <= high) held++
  }
  assert.ok(held >= 176, `${held} of 200`)
})

test('unlike machines: figures from two processors, or two runtimes, give no verdict (row N14)', () => {
  for (const other of [{ cpu: 'another processor' }, { runtime: 'node 22' }]) {
    const machine = { ...MACHINE, ...other }
    assertVoid(
      changed(sound(0.7), 'head', () => ({ machine })),
      'unlike-machines',
    )
  }
})

test('short-circuited reads: one read of four is not four, in one arm or in both (row N12)', () => {
  const skipping = { claimed: 4, counted: 1 }
  const whole = sound(0.7).map((turn) => ({ ...turn, claimed: 4, counted: 4 }))
  assertVoid(
    changed(whole, 'head', () => skipping),
    'operations-missing',
  )
  assertVoid(
    whole.map((turn) => ({ ...turn, ...skipping })),
    'operations-missing',
  )
})

test('"10" that means 20: more than the name says is another size (row G14)', () => {
  const both = sound(0.7).map((turn) => ({ ...turn, claimed: 10, counted: 20 }))
  assertVoid(both, 'operations-beyond')
  assertVoid(
    changed(sound(0.7), 'head', () => ({ claimed: 20, counted: 20 })),
    'operations-beyond',
  )
})

test('one run against two: "main main final" is no comparison (row G16)', () => {
  const turns = (['base', 'base', 'head'] as const).map(
    (role, place): Turn => ({ ...sound(0.7)[0]!, role, round: 0, place }),
  )
  assertVoid(turns, 'unequal-runs')
  assertVoid(turns, 'no-sham')
  assertVoid(turns, 'too-few-rounds')
  assertVoid(sound(0.7).slice(0, -1), 'unequal-runs')
})

test('arms that ran one behind the other, and an order that was never swapped (row G16)', () => {
  const rank = { base: 0, sham: 1, head: 2 }
  const inARow = sound(0.7)
    .sort((a, b) => rank[a.role] - rank[b.role] || a.round - b.round)
    .map((turn, place) => ({ ...turn, place }))
  assertVoid(inARow, 'not-interleaved')
  const order = { head: 0, base: 1, sham: 2 }
  const unswapped = sound(0.7).map((turn) => ({
    ...turn,
    place: 3 * turn.round + order[turn.role],
  }))
  assertVoid(unswapped, 'order-not-swapped')
})

test('a result that is not the one on record, though both arms agree on it', () => {
  assertVoid(
    sound(0.7).map((turn) => ({ ...turn, expectedDigest: 'd0' })),
    'unexpected-result',
  )
})

test('results that differ', () => {
  assertVoid(
    changed(sound(0.7), 'head', () => ({ digest: 'd2' })),
    'unlike-results',
  )
})

test('too good is doubted, unless head is a peer', () => {
  assert.deepEqual(kinds(judged(sound(0.05))), ['too-good'])
  assert.deepEqual(judge(sound(0.05), { fraction: fractions(7), isPeer: true }).flags, [])
})

test('a difference within what base shows against itself is none, and the noise is told', () => {
  const shaken = changed(sound(0.7, { drift: 0 }), 'sham', ({ samples }) => ({
    samples: samples.map((sample) => 1.5 * sample),
  }))
  const result = judged(shaken)
  assert.deepEqual(kinds(result), ['noisy'])
  assert.equal(result.verdict, 'no difference')
})

test('without head there is a noise floor and no verdict', () => {
  const { verdict, noise, head } = judged(sound(1).filter(({ role }) => role !== 'head'))
  assert.equal(verdict, 'none')
  assert.equal(head, undefined)
  assert.ok(noise! > 0 && noise! < 0.05)
})

test('P99 is left out where it would be the maximum', () => {
  assert.ok(judged(sound(1)).base.p99! > 0)
  const few = sound(1).map((turn) => ({ ...turn, samples: turn.samples.slice(0, 3) }))
  assert.equal(judged(few).base.p99, undefined)
})
