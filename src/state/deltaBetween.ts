/**
 * The way from one state to another, where both are known as deltas from a third: what a block has done since one of its
 * transactions, from what it had done by then and what it has done by now.
 *
 *     base ──earlier──▶ A
 *       └────later────▶ B        deltaBetween(earlier, later): A ──▶ B
 */
import { assert, bytesCompare } from '../base/index.ts'
import type { AccountChange, SlotChange, StateDelta } from './delta.ts'
import { sealDelta } from './delta.ts'
import { type HashKey, hashKey } from './key.ts'

/**
 * @param later names every account whose storage `earlier` clears: what was cleared stays so for the rest of a block
 * Cost: one map entry an account and slot of both.
 */
export function deltaBetween(earlier: StateDelta, later: StateDelta): StateDelta {
  const remaining = new Map<HashKey, AccountChange>()
  for (const change of earlier.accounts) remaining.set(hashKey(change.addressHash), change)
  const changes: AccountChange[] = []
  for (const change of later.accounts) {
    const key = hashKey(change.addressHash)
    const known = remaining.get(key)
    remaining.delete(key)
    changes.push(known === undefined ? change : changeBetween(known, change))
  }
  for (const change of remaining.values()) changes.push(undone(change))
  return sealDelta(changes, later.codes)
}

/** Both name the account. */
function changeBetween(earlier: AccountChange, later: AccountChange): AccountChange {
  const { addressHash, after } = later
  const before = earlier.after
  const isCleared = later.storageCleared || after === undefined
  assert(
    isCleared || earlier.before === undefined || !(earlier.storageCleared || before === undefined),
    'what an earlier delta clears, a later one clears too',
  )
  if (isCleared) {
    const slots = later.slots.map((slot) => ({ ...slot, before: undefined }))
    return { addressHash, before, after, storageCleared: true, slots }
  }
  return {
    addressHash,
    before,
    after,
    storageCleared: false,
    slots: slotsBetween(earlier.slots, later.slots),
  }
}

function slotsBetween(earlier: readonly SlotChange[], later: readonly SlotChange[]): SlotChange[] {
  if (earlier.length === 0) return [...later]
  const remaining = new Map<HashKey, SlotChange>()
  for (const slot of earlier) remaining.set(hashKey(slot.slotHash), slot)
  const slots: SlotChange[] = []
  for (const slot of later) {
    const key = hashKey(slot.slotHash)
    const known = remaining.get(key)
    remaining.delete(key)
    slots.push(known === undefined ? slot : { ...slot, before: known.after })
  }
  for (const slot of remaining.values()) slots.push(undoneSlot(slot))
  return slots.sort((a, b) => bytesCompare(a.slotHash, b.slotHash))
}

/** Only `earlier` names the account: it is as it was again. */
function undone(change: AccountChange): AccountChange {
  const { addressHash, before, after, storageCleared, slots } = change
  assert(
    before === undefined || !(storageCleared || after === undefined),
    'what an earlier delta clears, a later one clears too',
  )
  if (before === undefined)
    return { addressHash, before: after, after: before, storageCleared: true, slots: [] }
  return {
    addressHash,
    before: after,
    after: before,
    storageCleared: false,
    slots: slots.map(undoneSlot),
  }
}

function undoneSlot({ slotHash, before, after }: SlotChange): SlotChange {
  return { slotHash, before: after, after: before }
}
