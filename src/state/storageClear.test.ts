/**
 * Aim: an account's storage that was cleared is gone for every reader, warm or cold, what is missing is zero without a
 * question, and the way back brings all of it (N10). Method: one account with slots below, a delta that clears it and
 * sets a slot anew, read through cache and layers that know the old values; then the delta's inverse.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_CODE_HASH } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { completeDelta, invertDelta, type StateDelta, sealDelta } from './delta.ts'
import { hashKey } from './key.ts'
import { ModelBase, makeKeys, modelApply, modelUsage } from './layers/model.suite.ts'
import { StateLayers } from './layers/stateLayers.ts'
import { StateCache } from './stateCache.ts'
import type { StateView } from './view.ts'

const ACCOUNT = { nonce: 1n, balance: 5n, codeHash: EMPTY_CODE_HASH }
const [ADDRESS] = makeKeys(new Prng(1), 'spread', 1) as [Uint8Array]
const SLOTS = makeKeys(new Prng(2), 'lastNibble', 8)

const valueAt = (number: number): Uint8Array => new Uint8Array(32).fill(number, 31)
const valuesIn = (view: StateView) => SLOTS.map((slot) => view.storage(ADDRESS, slot)?.[31] ?? 0)

/** Sets the first four slots to 1 to 4. */
function filled(): ModelBase {
  const base = new ModelBase()
  const slots = SLOTS.slice(0, 4)
    .map((slotHash, index) => ({ slotHash, before: undefined, after: valueAt(index + 1) }))
    .sort((a, b) => (hashKey(a.slotHash) < hashKey(b.slotHash) ? -1 : 1))
  const change = {
    addressHash: ADDRESS,
    before: undefined,
    after: ACCOUNT,
    storageCleared: false,
    slots,
  }
  base.state = modelApply(base.state, sealDelta([change]))
  return base
}

/** Clears the storage, then sets the second slot and one that was never there; or ends the account. */
function clearing(isEnd: boolean): StateDelta {
  const slots = [SLOTS[1]!, SLOTS[5]!]
    .map((slotHash) => ({ slotHash, before: undefined, after: valueAt(9) }))
    .sort((a, b) => (hashKey(a.slotHash) < hashKey(b.slotHash) ? -1 : 1))
  const after = isEnd ? undefined : ACCOUNT
  const change = { addressHash: ADDRESS, before: ACCOUNT, after, storageCleared: true }
  return sealDelta([{ ...change, slots: isEnd ? [] : slots }])
}

const FULL = [1, 2, 3, 4, 0, 0, 0, 0]
const SET_AGAIN = [0, 9, 0, 0, 0, 9, 0, 0]
const NONE = [0, 0, 0, 0, 0, 0, 0, 0]

for (const isEnd of [false, true]) {
  const what = isEnd ? 'the end of an account' : 'a clear'

  test(`N10: ${what} reaches slots that a cache has read and those that it has not, and comes back`, () => {
    const base = filled()
    const cache = new StateCache(base)
    cache.storage(ADDRESS, SLOTS[0]!)
    cache.storage(ADDRESS, SLOTS[6]!)
    const delta = completeDelta(clearing(isEnd), base)
    base.state = modelApply(base.state, delta)
    for (const change of delta.accounts) cache.advance(change)
    assert.deepEqual(valuesIn(cache), isEnd ? NONE : SET_AGAIN)
    assert.equal(cache.hasStorage(ADDRESS), !isEnd)
    const back = invertDelta(delta)
    base.state = modelApply(base.state, back)
    for (const change of back.accounts) cache.advance(change)
    assert.deepEqual(valuesIn(cache), FULL)
  })

  test(`N10: after ${what} a layer answers without the state below, and the layers before still have all`, () => {
    const base = filled()
    const layers = new StateLayers({ persisted: base, usage: modelUsage(base.state) })
    const first = layers.open()
    const delta = completeDelta(clearing(isEnd), first)
    const next = first.apply(delta)
    const asked = base.readCount
    assert.deepEqual(valuesIn(next), isEnd ? NONE : SET_AGAIN)
    assert.equal(base.readCount, asked, 'missing means zero')
    assert.deepEqual(valuesIn(first), FULL)
    const back = next.apply(invertDelta(delta))
    assert.deepEqual(valuesIn(back), FULL)
    for (const state of [back, next, first]) state.release()
  })
}
