/**
 * Complete deltas against full copies: random deltas go forwards over a pending state; every state ever reached is
 * kept as a plain map of maps. The state at each version, seen from the newest one, and the newest one after going back
 * and forth, must answer as the copies do, also where the deltas went through their encoding.
 */
import assert from 'node:assert/strict'
import { bytesCompare, EMPTY_CODE_HASH, toHex } from '../base/index.ts'
import { memoryStore } from '../store/index.ts'
import { Prng } from '../testing/index.ts'
import type { Account } from './account.ts'
import {
  type AccountChange,
  completeDelta,
  invertDelta,
  type SlotChange,
  type StateDelta,
  sealDelta,
} from './delta.ts'
import { decodeDelta, encodeDelta } from './deltaCodec.ts'
import { FlatState } from './flatState.ts'
import { FlatView } from './flatView.ts'
import { addressHashOf, slotHashOf } from './key.ts'
import { MergedState } from './mergedState.ts'
import { OlderState } from './olderState.ts'
import type { ListingView } from './view.ts'

const ADDRESSES = Array.from({ length: 6 }, (_, index) =>
  addressHashOf(new Uint8Array(20).fill(index)),
)
const SLOTS = Array.from({ length: 6 }, (_, index) => slotHashOf(new Uint8Array(32).fill(index)))

type ModelAccount = {
  readonly account: Account | undefined
  readonly slots: Map<number, Uint8Array>
}
type Model = readonly ModelAccount[]

export function fuzzOlderState(seed: number, stepCount: number): void {
  const prng = new Prng(seed)
  const pending = new MergedState(new FlatView(new FlatState(memoryStore())))
  const copies: Model[] = [ADDRESSES.map(() => ({ account: undefined, slots: new Map() }))]
  const deltas: StateDelta[] = []
  for (let step = 0; step < stepCount; step++) {
    const where = `seed ${seed} step ${step}`
    const { delta, model } = randomDelta(prng, copies.at(-1)!)
    const complete = completeDelta(delta, pending)
    // What the store gives back is as good as what was made.
    const bytes = encodeDelta(complete)
    const stored = decodeDelta(bytes, where)
    assert.deepEqual(encodeDelta(stored), bytes, where)
    deltas.push(prng.oneIn(2) ? complete : stored)
    pending.apply(prng.oneIn(2) ? delta : deltas.at(-1)!)
    copies.push(model)
    compare(pending, model, where)
    if (deltas.length > 12) {
      deltas.shift()
      copies.shift()
    }
    const depth = prng.below(deltas.length + 1)
    const kept = deltas.length - depth
    const older = new OlderState(
      pending,
      deltas.slice(kept).map((each) => ({ delta: each, direction: 'back' as const })),
    )
    compare(older, copies[kept]!, `${where}, ${depth} back`)
    if (prng.oneIn(4)) {
      for (const each of deltas.slice(kept).reverse()) pending.apply(invertDelta(each))
      compare(pending, copies[kept]!, `${where}, undone ${depth}`)
      const newer = new OlderState(
        pending,
        deltas
          .slice(kept)
          .reverse()
          .map((each) => ({ delta: each, direction: 'forward' as const })),
      )
      compare(newer, copies.at(-1)!, `${where}, ahead of ${depth}`)
      for (const each of deltas.slice(kept)) pending.apply(each)
      compare(pending, copies.at(-1)!, `${where}, redone ${depth}`)
    }
  }
}

/** A delta as an executor makes it, and the state after it. */
function randomDelta(prng: Prng, model: Model): { delta: StateDelta; model: Model } {
  const after = model.map(({ account, slots }) => ({ account, slots: new Map(slots) }))
  const changes = ADDRESSES.flatMap((addressHash, index): AccountChange[] => {
    if (prng.oneIn(2)) return []
    const entry = after[index]!
    const { account: before } = entry
    entry.account = prng.oneIn(5) ? undefined : randomAccount(prng)
    const storageCleared = before !== undefined && prng.oneIn(4)
    if (storageCleared || entry.account === undefined) entry.slots.clear()
    const slots = entry.account === undefined ? [] : randomSlots(prng, entry.slots)
    return [{ addressHash, before, after: entry.account, storageCleared, slots }]
  })
  return { delta: sealDelta(changes), model: after }
}

function randomSlots(prng: Prng, values: Map<number, Uint8Array>): SlotChange[] {
  const changes: SlotChange[] = []
  SLOTS.forEach((slotHash, index) => {
    if (!prng.oneIn(3)) return
    const before = values.get(index)
    const after = prng.oneIn(3) ? undefined : prng.bytes(32)
    if (after === undefined) values.delete(index)
    else values.set(index, after)
    changes.push({ slotHash, before, after })
  })
  return changes.sort((a, b) => bytesCompare(a.slotHash, b.slotHash))
}

function randomAccount(prng: Prng): Account {
  return { nonce: prng.bigint(8), balance: prng.bigint(64), codeHash: EMPTY_CODE_HASH }
}

function compare(view: ListingView, model: Model, where: string): void {
  ADDRESSES.forEach((addressHash, index) => {
    const { account, slots } = model[index]!
    assert.deepEqual(view.account(addressHash), account, `${where}, account ${index}`)
    assert.equal(view.hasStorage(addressHash), slots.size > 0, `${where}, storage of ${index}`)
    const listed = new Map<string, string>()
    for (const { slotHash, value } of view.slots(addressHash))
      listed.set(toHex(slotHash), toHex(value))
    SLOTS.forEach((slotHash, slot) => {
      const value = slots.get(slot)
      assert.deepEqual(view.storage(addressHash, slotHash), value, `${where}, ${index}/${slot}`)
      assert.equal(listed.get(toHex(slotHash)), value && toHex(value), `${where}, listed`)
    })
    assert.equal(listed.size, slots.size, where)
  })
}
