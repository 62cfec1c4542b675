/**
 * The changes of one delta by key, for reads of the states on either side of it. Maps are made when first asked:
 * most deltas are never read this way.
 */
import type { AccountChange, SlotChange, StateDelta } from './delta.ts'
import { type HashKey, hashKey } from './key.ts'

/** One account's change, with its slots by key. */
export class IndexedChange {
  readonly change: AccountChange
  private bySlot: Map<HashKey, SlotChange> | undefined

  constructor(change: AccountChange) {
    this.change = change
  }

  slot(key: HashKey): SlotChange | undefined {
    const { slots } = this.change
    if (slots.length === 0) return undefined
    this.bySlot ??= new Map(slots.map((slot) => [hashKey(slot.slotHash), slot]))
    return this.bySlot.get(key)
  }
}

const indexes = new WeakMap<StateDelta, ReadonlyMap<HashKey, IndexedChange>>()

/** Accounts of a delta by key. Lives as long as the delta. */
export function indexDelta(delta: StateDelta): ReadonlyMap<HashKey, IndexedChange> {
  let index = indexes.get(delta)
  if (index === undefined) {
    index = new Map(
      delta.accounts.map((change) => [hashKey(change.addressHash), new IndexedChange(change)]),
    )
    indexes.set(delta, index)
  }
  return index
}
