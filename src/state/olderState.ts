/**
 * Another state than the newest one: the complete deltas between the two, over the newest.
 *
 *     this state ◀── step ◀── step ◀── … ◀── base            a read takes the first step that names its key
 *
 *     back:     the base lies after the delta; its `before` counts     (an ancestor of the base)
 *     forward:  the base lies before the delta; its `after` counts     (a block of a side branch)
 *
 * Nothing is merged or copied: a step is a map that belongs to its delta. Cost of a read: one look-up a step.
 */
import type { Account } from './account.ts'
import type { StateDelta } from './delta.ts'
import { type IndexedChange, indexDelta } from './deltaIndex.ts'
import { type HashKey, hashKey } from './key.ts'
import type { ListingView, StoredSlot } from './view.ts'

/** A complete delta and the direction in which it leads from the base to the state asked for. */
export type StateStep = { readonly delta: StateDelta; readonly direction: 'back' | 'forward' }

type IndexedStep = {
  readonly accounts: ReadonlyMap<HashKey, IndexedChange>
  readonly side: 'before' | 'after'
}

export class OlderState implements ListingView {
  private readonly base: ListingView
  private readonly steps: readonly IndexedStep[]

  /**
   * @param base must stay what it is as long as this state is read
   * @param steps from this state to the base, the nearest first
   */
  constructor(base: ListingView, steps: readonly StateStep[]) {
    this.base = base
    this.steps = steps.map(({ delta, direction }) => ({
      accounts: indexDelta(delta),
      side: direction === 'back' ? 'before' : 'after',
    }))
  }

  account(addressHash: Uint8Array): Account | undefined {
    const key = hashKey(addressHash)
    for (const { accounts, side } of this.steps) {
      const found = accounts.get(key)
      if (found !== undefined) return found.change[side]
    }
    return this.base.account(addressHash)
  }

  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    const key = hashKey(addressHash)
    const slotKey = hashKey(slotHash)
    for (const { accounts, side } of this.steps) {
      const slot = accounts.get(key)?.slot(slotKey)
      if (slot !== undefined) return slot[side]
    }
    return this.base.storage(addressHash, slotHash)
  }

  /** @throws VarveError STATE_CODE_MISSING */
  code(codeHash: Uint8Array): Uint8Array {
    return this.base.code(codeHash)
  }

  hasStorage(addressHash: Uint8Array): boolean {
    for (const _ of this.slots(addressHash)) return true
    return false
  }

  *slots(addressHash: Uint8Array): Iterable<StoredSlot> {
    const key = hashKey(addressHash)
    const seen = new Set<HashKey>()
    for (const { accounts, side } of this.steps)
      for (const slot of accounts.get(key)?.change.slots ?? []) {
        const slotKey = hashKey(slot.slotHash)
        if (seen.has(slotKey)) continue
        seen.add(slotKey)
        const value = slot[side]
        if (value !== undefined) yield { slotHash: slot.slotHash, value }
      }
    for (const slot of this.base.slots(addressHash))
      if (!seen.has(hashKey(slot.slotHash))) yield slot
  }
}
