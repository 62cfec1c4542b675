/**
 * The newest state: sealed deltas that are not in the store yet, merged into one map each for accounts and slots,
 * over what the store holds. One delta is applied a block; `markPersisted` empties the maps once the store has them.
 *
 *     reads ─▶ changed since the last write ─▶ recently read ─▶ store
 *
 * Not here: older states and side branches. `OlderState` lays the deltas between over this one.
 */
import { bytesEqual, EMPTY_BYTES, EMPTY_CODE_HASH } from '../base/index.ts'

import type { Account } from './account.ts'
import { type ChangedAccount, ChangeMap } from './changeMap.ts'
import type { StateDelta, StateUpdate } from './delta.ts'
import type { FlatState } from './flatState.ts'
import { codeMissing } from './flatView.ts'
import { type HashKey, hashKey } from './key.ts'
import type { ListingView, StoredSlot } from './view.ts'

/** Accounts kept from the store. At about 200 bytes each this bounds the cache to some 13 MB. */
const READ_ACCOUNT_COUNT_MAX = 65_536

export class PendingState implements ListingView {
  private readonly flat: FlatState
  private readonly changed = new ChangeMap()
  private readonly codes = new Map<HashKey, Uint8Array>()
  private readonly readAccounts = new Map<HashKey, Account | undefined>()

  constructor(flat: FlatState) {
    this.flat = flat
  }

  account(addressHash: Uint8Array): Account | undefined {
    const key = hashKey(addressHash)
    const pending = this.changed.get(key)
    if (pending !== undefined) return pending.account
    const known = this.readAccounts.get(key)
    if (known !== undefined || this.readAccounts.has(key)) return known
    const account = this.flat.account(addressHash)
    this.rememberRead(key, account)
    return account
  }

  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    const pending = this.changed.get(hashKey(addressHash))
    if (pending !== undefined) {
      const slot = pending.slots.get(hashKey(slotHash))
      if (slot !== undefined) return slot.value
      if (pending.isStorageCleared) return undefined
    }
    return this.flat.storage(addressHash, slotHash)
  }

  code(codeHash: Uint8Array): Uint8Array {
    if (bytesEqual(codeHash, EMPTY_CODE_HASH)) return EMPTY_BYTES
    const code = this.codes.get(hashKey(codeHash)) ?? this.flat.code(codeHash)
    if (code === undefined) throw codeMissing(codeHash)
    return code
  }

  hasStorage(addressHash: Uint8Array): boolean {
    const pending = this.changed.get(hashKey(addressHash))
    if (pending === undefined) return this.flat.hasStorage(addressHash)
    for (const slot of pending.slots.values()) if (slot.value !== undefined) return true
    if (pending.isStorageCleared) return false
    for (const { slotHash } of this.flat.slots(addressHash))
      if (!pending.slots.has(hashKey(slotHash))) return true
    return false
  }

  *slots(addressHash: Uint8Array): Iterable<StoredSlot> {
    const pending = this.changed.get(hashKey(addressHash))
    if (pending !== undefined)
      for (const { slotHash, value } of pending.slots.values())
        if (value !== undefined) yield { slotHash, value }
    if (pending?.isStorageCleared === true) return
    for (const slot of this.flat.slots(addressHash))
      if (pending?.slots.has(hashKey(slot.slotHash)) !== true) yield slot
  }

  /** Puts a sealed delta on top. The deltas of consecutive blocks are applied in their order. */
  apply(delta: StateDelta): void {
    this.changed.apply(delta)
    this.addCodes(delta)
  }

  /** Keeps the codes of a delta and nothing else: those of a side block, which may be asked for all the same. */
  addCodes({ codes }: StateDelta): void {
    for (const { codeHash, code } of codes) this.codes.set(hashKey(codeHash), code)
  }

  /** What differs from the store, as the update that leads from there to here. */
  update(): StateUpdate {
    return this.changed.update()
  }

  /** What differs from the store, in no order. Valid until the next `apply`. */
  changes(): Iterable<ChangedAccount> {
    return this.changed.accounts()
  }

  /** Codes that the store may lack. */
  *newCodes(): Iterable<{ codeHash: HashKey; code: Uint8Array }> {
    for (const [codeHash, code] of this.codes) yield { codeHash, code }
  }

  /** Tells that the store now holds everything that was pending. */
  markPersisted(): void {
    for (const { addressHash, account } of this.changed.accounts())
      this.rememberRead(hashKey(addressHash), account)
    this.changed.clear()
    this.codes.clear()
  }

  private rememberRead(key: HashKey, account: Account | undefined): void {
    // Dropping everything at the limit is coarse, but it needs no bookkeeping on each read.
    if (this.readAccounts.size >= READ_ACCOUNT_COUNT_MAX) this.readAccounts.clear()
    this.readAccounts.set(key, account)
  }
}
