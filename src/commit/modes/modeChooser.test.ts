/**
 * Aim: the choice ends at the cheapest mode and stays there, whatever the model said at first. Method: a world of known
 * costs with noise, in virtual time; the sum of what was chosen is held against the best fixed mode.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Prng } from '../../testing/index.ts'
import {
  COMMIT_MODES,
  type CommitMode,
  MODEL_DEFAULT,
  ModeChooser,
  type ModeCost,
  type ModeModel,
} from './modeChooser.ts'

type World = Readonly<Record<CommitMode, ModeCost>>
const SIZES = [10, 20, 99, 100, 101, 199, 1000, 10_000, 100_000]

/** What a fit on a busy machine makes of a world: wrong by a half or so, each number in its own way. */
function roughModel(world: World, prng: Prng): ModeModel {
  const rough = (value: number): number => value * (0.65 + prng.below(800) / 1000)
  const costs = COMMIT_MODES.map((mode) => {
    const { fixed, perLeaf } = world[mode]
    return [mode, { fixed: rough(fixed), perLeaf: rough(perLeaf) }] as const
  })
  return { ...MODEL_DEFAULT, sink: Object.fromEntries(costs) }
}

/** Time of `count` operations as chosen, and of each fixed mode, on the same noise. */
function play(
  chooser: ModeChooser,
  world: World,
  leafCount: number,
  count: number,
  prng: Prng,
): { readonly chosen: number; readonly fixed: Record<CommitMode, number> } {
  let chosen = 0
  const fixed: Record<CommitMode, number> = { inline: 0, worker: 0, parallel: 0 }
  for (let step = 0; step < count; step++) {
    const choice = chooser.choose('sink', leafCount, COMMIT_MODES)
    for (const mode of COMMIT_MODES) {
      // A tenth up or down, and now and then a lost time slice.
      const noise = 0.9 + prng.below(2001) / 10_000 + (prng.oneIn(50) ? 3 : 0)
      const took = (world[mode].fixed + world[mode].perLeaf * leafCount) * noise
      fixed[mode] += took
      if (mode !== choice.mode) continue
      chosen += took
      chooser.done(choice, took)
    }
  }
  return { chosen, fixed }
}

const WORLDS: Readonly<Record<string, World>> = {
  'as the model says': MODEL_DEFAULT.sink as World,
  'where a worker is idle': {
    inline: { fixed: 4000, perLeaf: 1400 },
    worker: { fixed: 60_000, perLeaf: 700 },
    parallel: { fixed: 60_000, perLeaf: 900 },
  },
  'where no core is free': {
    inline: { fixed: 4000, perLeaf: 1400 },
    worker: { fixed: 400_000, perLeaf: 1700 },
    parallel: { fixed: 400_000, perLeaf: 1500 },
  },
  'where inline is dear': {
    inline: { fixed: 4000, perLeaf: 9000 },
    worker: { fixed: 60_000, perLeaf: 7000 },
    parallel: { fixed: 60_000, perLeaf: 4000 },
  },
}

for (const [name, world] of Object.entries(WORLDS))
  test(`G4: ${name}: never more than 5% above the best fixed mode, from 10 to 100,000 leaves`, () => {
    for (const leafCount of SIZES) {
      const prng = new Prng(leafCount)
      const chooser = new ModeChooser('auto', roughModel(world, prng))
      // A model that is wrong costs something until it is corrected.
      play(chooser, world, leafCount, 200, prng)
      const { chosen, fixed } = play(chooser, world, leafCount, 1000, prng)
      const best = Math.min(...Object.values(fixed))
      assert.ok(chosen <= 1.05 * best, `${leafCount} leaves: ${(chosen / best).toFixed(3)}`)
    }
  })

test('G4: a world that changes is noticed', () => {
  const prng = new Prng(1)
  const chooser = new ModeChooser()
  play(chooser, WORLDS['where no core is free']!, 10_000, 500, prng)
  assert.equal(chooser.choose('sink', 10_000, COMMIT_MODES).mode, 'inline')
  play(chooser, WORLDS['where a worker is idle']!, 10_000, 500, prng)
  const { chosen, fixed } = play(chooser, WORLDS['where a worker is idle']!, 10_000, 500, prng)
  assert.ok(chosen < 1.05 * fixed.worker)
})

test('G4: modes of equal cost do not take turns', () => {
  const prng = new Prng(2)
  const even: ModeCost = { fixed: 100, perLeaf: 1000 }
  const world: World = { inline: even, worker: even, parallel: even }
  const chooser = new ModeChooser()
  play(chooser, world, 5000, 100, prng)
  let changes = 0
  let last: CommitMode | undefined
  for (let step = 0; step < 1000; step++) {
    play(chooser, world, 5000, 1, prng)
    const choice = chooser.log.at(-1)!
    if (choice.reason === 'trial') continue
    if (last !== undefined && choice.mode !== last) changes++
    last = choice.mode
  }
  assert.ok(changes < 60, `${changes} changes`)
})

test('G4: a forced mode is kept, and where an operation lacks it the work is done here', () => {
  for (const mode of COMMIT_MODES) {
    const chooser = new ModeChooser(mode)
    for (const leafCount of SIZES) {
      assert.equal(chooser.choose('sink', leafCount, COMMIT_MODES).mode, mode)
      const expected = mode === 'worker' ? 'inline' : mode
      assert.equal(chooser.choose('hash', leafCount, ['inline', 'parallel']).mode, expected)
      assert.equal(chooser.choose('sink', leafCount, ['inline']).mode, 'inline')
    }
  }
})

test('G4: every choice that is none of course is in the log, with what was expected and what it took', () => {
  const chooser = new ModeChooser()
  assert.equal(chooser.choose('sink', 10, COMMIT_MODES).reason, 'small')
  assert.equal(chooser.log.length, 0)
  const choice = chooser.choose('sink', 10_000, COMMIT_MODES)
  chooser.done(choice, 123)
  assert.deepEqual(chooser.log, [choice])
  assert.equal(choice.tookNs, 123)
  assert.deepEqual(Object.keys(choice.expectedNs), [...COMMIT_MODES])
  for (let step = 0; step < 300; step++) chooser.choose('sink', 10_000, COMMIT_MODES)
  assert.equal(chooser.log.length, 256)
  assert.equal(chooser.count, 302)
})
