// Aim: a merged state answers as a plain map of maps would, whatever was applied and cleared.
// Method: random deltas on few accounts and slots; after each, every account and slot is asked of both.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesCompare, EMPTY_CODE_HASH } from '../base/index.ts'
import { memoryStore } from '../store/index.ts'
import { Prng } from '../testing/index.ts'
import type { Account } from './account.ts'
import { type AccountChange, type SlotChange, sealDelta } from './delta.ts'
import { FlatState } from './flatState.ts'
import { FlatView } from './flatView.ts'
import { addressHashOf, hashKey, slotHashOf } from './key.ts'
import { MergedState } from './mergedState.ts'

const ADDRESSES = Array.from({ length: 5 }, (_, index) =>
  addressHashOf(new Uint8Array(20).fill(index)),
)
const SLOTS = Array.from({ length: 5 }, (_, index) => slotHashOf(new Uint8Array(32).fill(index)))

type ModelAccount = { account: Account | undefined; slots: Map<string, Uint8Array> }

test('a merged state equals a map of maps over random deltas and clears', () => {
  const seed = 7
  const prng = new Prng(seed)
  const merged = new MergedState(new FlatView(new FlatState(memoryStore())))
  const model = ADDRESSES.map((): ModelAccount => ({ account: undefined, slots: new Map() }))
  for (let step = 0; step < 3000; step++) {
    const changes = ADDRESSES.flatMap((hash, index) =>
      prng.oneIn(2) ? [randomChange(prng, hash, model[index]!)] : [],
    )
    merged.apply(sealDelta(changes))
    compare(merged, model, `seed ${seed} step ${step}`)
  }
})

/** Makes a change that is right for the model, and carries it out there. */
function randomChange(prng: Prng, addressHash: Uint8Array, model: ModelAccount): AccountChange {
  const before = model.account
  const after = prng.oneIn(6) ? undefined : randomAccount(prng)
  const storageCleared = after === undefined || prng.oneIn(5)
  if (storageCleared) model.slots.clear()
  const slots: SlotChange[] = []
  if (after !== undefined)
    for (const slotHash of SLOTS) {
      if (!prng.oneIn(3)) continue
      const key = hashKey(slotHash)
      const value = prng.oneIn(3) ? undefined : prng.bytes(32)
      slots.push({ slotHash, before: model.slots.get(key), after: value })
      if (value === undefined) model.slots.delete(key)
      else model.slots.set(key, value)
    }
  model.account = after
  return { addressHash, before, after, storageCleared, slots }
}

function randomAccount(prng: Prng): Account {
  return { nonce: prng.bigint(64), balance: prng.bigint(256), codeHash: EMPTY_CODE_HASH }
}

function compare(merged: MergedState, model: readonly ModelAccount[], where: string): void {
  ADDRESSES.forEach((addressHash, index) => {
    const { account, slots } = model[index]!
    assert.deepEqual(merged.account(addressHash), account, where)
    assert.equal(merged.hasStorage(addressHash), slots.size > 0, where)
    for (const slotHash of SLOTS)
      assert.deepEqual(merged.storage(addressHash, slotHash), slots.get(hashKey(slotHash)), where)
  })
}

test('a sealed delta is in trie order and holds no change that changes nothing', () => {
  const account: Account = { nonce: 1n, balance: 2n, codeHash: EMPTY_CODE_HASH }
  const delta = sealDelta(
    ADDRESSES.map((addressHash, index) => ({
      addressHash,
      before: account,
      after: index === 0 ? { ...account } : { ...account, balance: 3n },
      storageCleared: false,
      slots: [],
    })),
  )
  assert.equal(delta.accounts.length, ADDRESSES.length - 1)
  for (let index = 1; index < delta.accounts.length; index++)
    assert.ok(
      bytesCompare(delta.accounts[index - 1]!.addressHash, delta.accounts[index]!.addressHash) < 0,
    )
})
