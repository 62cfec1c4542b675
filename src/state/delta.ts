/**
 * The difference between two states, with the values from before. Everything later is derived from it: trie update,
 * flat state, reverse diff, change stream. Sealed: nobody writes to a delta once it was handed over.
 *
 *     StateDelta
 *     ├── accounts, in the order of addressHash (= trie order)
 *     │     ├── before, after          undefined = no account
 *     │     ├── storageCleared         older slots of this account are gone, whatever `slots` says
 *     │     └── slots, in the order of slotHash: before, after   (undefined = zero)
 *     └── codes that came into being
 *
 * A *complete* delta lists every slot that a clearing took away, so it leads backwards as well as forwards, and slots
 * it does not list are the same in both states. `completeDelta` makes one, `invertDelta` turns one round.
 */
import { bytesCompare, bytesEqual } from '../base/index.ts'
import { type Account, accountsEqual } from './account.ts'
import { sortedByHash } from './hashSort.ts'
import { hashKey } from './key.ts'
import type { ListingView } from './view.ts'

/** One slot whose value differs. Values are 32 bytes and never zero; zero is `undefined`. */
export type SlotChange = {
  readonly slotHash: Uint8Array
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
}

/** One account of which anything differs. */
export type AccountChange = {
  readonly addressHash: Uint8Array
  readonly before: Account | undefined
  readonly after: Account | undefined
  /**
   * True where all slots of the state before are gone; `slots` then lists only what was set afterwards. An account
   * that is gone (`after` is `undefined`) has lost its slots either way.
   */
  readonly storageCleared: boolean
  readonly slots: readonly SlotChange[]
}

/** A code that an account of the delta names for the first time. */
export type CodeChange = { readonly codeHash: Uint8Array; readonly code: Uint8Array }

export type StateDelta = {
  readonly accounts: readonly AccountChange[]
  readonly codes: readonly CodeChange[]
}

export const EMPTY_DELTA: StateDelta = { accounts: [], codes: [] }

/** What a slot becomes, and where it is known, what it was. */
export type SlotUpdate = Pick<SlotChange, 'slotHash' | 'after'> &
  Partial<Pick<SlotChange, 'before'>>

/** What an account becomes, and where it is known, what it was. */
export type AccountUpdate = Pick<AccountChange, 'addressHash' | 'after' | 'storageCleared'> &
  Partial<Pick<AccountChange, 'before'>> & { readonly slots: readonly SlotUpdate[] }

/** Where a delta leads, for whoever needs no origins. Every `StateDelta` is one. */
export type StateUpdate = { readonly accounts: readonly AccountUpdate[] }

/** Sorts the changes into trie order and drops those that change nothing. */
export function sealDelta(
  accounts: readonly AccountChange[],
  codes: readonly CodeChange[] = [],
): StateDelta {
  const kept = accounts.filter(
    (change) =>
      change.storageCleared ||
      change.slots.length > 0 ||
      !accountsEqual(change.before, change.after),
  )
  return { accounts: sortedByHash(kept, ({ addressHash }) => addressHash), codes }
}

/**
 * The same delta with every slot that it takes away. Cost: nothing where no storage is cleared, else one read a slot
 * that the account had.
 * @param view the state before
 */
export function completeDelta(delta: StateDelta, view: ListingView): StateDelta {
  if (!delta.accounts.some(dropsStorage)) return delta
  const accounts = delta.accounts.map((change) =>
    dropsStorage(change) ? { ...change, slots: allSlots(change, view) } : change,
  )
  return { accounts, codes: delta.codes }
}

/** The way back of a complete delta. Codes stay where they are: nobody names them any more. */
export function invertDelta(delta: StateDelta): StateDelta {
  const accounts = delta.accounts.map(({ addressHash, before, after, storageCleared, slots }) => ({
    addressHash,
    before: after,
    after: before,
    storageCleared,
    slots: slots.map((slot) => ({
      slotHash: slot.slotHash,
      before: slot.after,
      after: slot.before,
    })),
  }))
  return { accounts, codes: [] }
}

/** Whether two values of a slot are the same; `undefined` is zero. */
export function slotsEqual(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && bytesEqual(a, b))
}

/** Whether slots of the state before may be gone without being listed. What did not exist had none. */
function dropsStorage({ before, after, storageCleared }: AccountChange): boolean {
  return before !== undefined && (storageCleared || after === undefined)
}

/** All slots before, joined with those set afterwards, in their order. */
function allSlots(change: AccountChange, view: ListingView): readonly SlotChange[] {
  const set = new Map(change.slots.map((slot) => [hashKey(slot.slotHash), slot]))
  const slots: SlotChange[] = []
  for (const { slotHash, value } of view.slots(change.addressHash)) {
    const key = hashKey(slotHash)
    const after = change.after === undefined ? undefined : set.get(key)?.after
    set.delete(key)
    slots.push({ slotHash, before: value, after })
  }
  for (const { slotHash, after } of set.values()) slots.push({ slotHash, before: undefined, after })
  return slots.sort((a, b) => bytesCompare(a.slotHash, b.slotHash))
}
