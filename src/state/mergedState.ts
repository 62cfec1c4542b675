/**
 * A state with deltas merged on top, for a walk that goes on and never back: one map each for accounts and slots,
 * whatever the number of deltas.
 *
 * Not here: versions side by side (`layers/`), and what is written (`engine/`).
 */
import { bytesEqual, EMPTY_BYTES, EMPTY_CODE_HASH } from '../base/index.ts'

import type { Account } from './account.ts'
import { ChangeMap } from './changeMap.ts'
import type { StateDelta } from './delta.ts'
import { type HashKey, hashKey } from './key.ts'
import type { ListingView, StoredSlot } from './view.ts'

export class MergedState implements ListingView {
  private readonly base: ListingView
  private readonly changed = new ChangeMap()
  private readonly codes = new Map<HashKey, Uint8Array>()

  /** @param base stays what it is */
  constructor(base: ListingView) {
    this.base = base
  }

  account(addressHash: Uint8Array): Account | undefined {
    const changed = this.changed.get(hashKey(addressHash))
    return changed === undefined ? this.base.account(addressHash) : changed.account
  }

  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    const changed = this.changed.get(hashKey(addressHash))
    if (changed !== undefined) {
      const slot = changed.slots.get(hashKey(slotHash))
      if (slot !== undefined) return slot.value
      if (changed.isStorageCleared) return undefined
    }
    return this.base.storage(addressHash, slotHash)
  }

  code(codeHash: Uint8Array): Uint8Array {
    if (bytesEqual(codeHash, EMPTY_CODE_HASH)) return EMPTY_BYTES
    return this.codes.get(hashKey(codeHash)) ?? this.base.code(codeHash)
  }

  hasStorage(addressHash: Uint8Array): boolean {
    const changed = this.changed.get(hashKey(addressHash))
    if (changed === undefined) return this.base.hasStorage(addressHash)
    for (const slot of changed.slots.values()) if (slot.value !== undefined) return true
    if (changed.isStorageCleared) return false
    for (const { slotHash } of this.base.slots(addressHash))
      if (!changed.slots.has(hashKey(slotHash))) return true
    return false
  }

  *slots(addressHash: Uint8Array): Iterable<StoredSlot> {
    const changed = this.changed.get(hashKey(addressHash))
    if (changed !== undefined)
      for (const { slotHash, value } of changed.slots.values())
        if (value !== undefined) yield { slotHash, value }
    if (changed?.isStorageCleared === true) return
    for (const slot of this.base.slots(addressHash))
      if (changed?.slots.has(hashKey(slot.slotHash)) !== true) yield slot
  }

  /** Puts a sealed delta on top. The deltas of consecutive states are applied in their order. */
  apply(delta: StateDelta): void {
    this.changed.apply(delta)
    for (const { codeHash, code } of delta.codes) this.codes.set(hashKey(codeHash), code)
  }
}
