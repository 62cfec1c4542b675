// Aim: a cache in front of a moving state answers as the state does, however little it keeps, and asks it less.
// Method: random reads and complete deltas over a model, with limits from two entries up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Prng } from '../testing/index.ts'
import { completeDelta } from './delta.ts'
import { DeltaSource, ModelBase, modelApply } from './layers/model.suite.ts'
import { StateCache } from './stateCache.ts'

function run(seed: number, countMax: number): { askedCount: number; readCount: number } {
  const prng = new Prng(seed)
  const base = new ModelBase()
  const source = new DeltaSource(prng, 'spread', 6)
  const cache = new StateCache(base, { accountCountMax: countMax, slotCountMax: countMax })
  let askedCount = 0
  let readCount = 0
  for (let step = 0; step < 3000; step++) {
    if (prng.oneIn(20)) {
      const delta = completeDelta(source.next(base.state), base)
      base.state = modelApply(base.state, delta)
      for (const change of delta.accounts) cache.advance(change)
    }
    if (prng.oneIn(500)) cache.clear()
    const address = prng.pick(source.addresses)
    const slot = prng.pick(source.slots)
    const before = base.readCount
    const found = [cache.account(address), cache.storage(address, slot)]
    askedCount += 2
    readCount += base.readCount - before
    const expected = [base.account(address), base.storage(address, slot)]
    assert.deepEqual(found, expected, `seed ${seed} limit ${countMax} step ${step}`)
    assert.equal(cache.hasStorage(address), base.hasStorage(address))
  }
  return { askedCount, readCount }
}

test('a cache over a moving state answers as the state does', () => {
  for (const countMax of [2, 5, 20, 1000]) run(countMax, countMax)
})

test('what fits is read once, and what does not is forgotten', () => {
  const large = run(1, 1000)
  assert(large.readCount < large.askedCount / 10)
  const small = run(1, 4)
  assert(small.readCount > large.readCount * 3)
})
