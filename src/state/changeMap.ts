/**
 * Deltas one after the other, merged into what they come to: one entry an account and slot, the last value. The way
 * from the first delta's state to the last one's, without the states between.
 */
import type { Account } from './account.ts'
import type { AccountChange, AccountUpdate, StateDelta, StateUpdate } from './delta.ts'
import { type HashKey, hashKey } from './key.ts'

/** What has become of one account. */
export type ChangedAccount = {
  readonly addressHash: Uint8Array
  account: Account | undefined
  /** Slots from before are gone, whatever `slots` says. */
  isStorageCleared: boolean
  readonly slots: Map<HashKey, { readonly slotHash: Uint8Array; value: Uint8Array | undefined }>
}

export class ChangeMap {
  private readonly changed = new Map<HashKey, ChangedAccount>()

  get(addressKey: HashKey): ChangedAccount | undefined {
    return this.changed.get(addressKey)
  }

  /** Puts a delta on top. */
  apply({ accounts }: StateDelta): void {
    for (const change of accounts) this.applyAccount(change)
  }

  /** All accounts, in no order. Valid until the next `apply`. */
  accounts(): Iterable<ChangedAccount> {
    return this.changed.values()
  }

  /** The same as an update of a summary. */
  update(): StateUpdate {
    const accounts: AccountUpdate[] = []
    for (const { addressHash, account, isStorageCleared, slots } of this.changed.values())
      accounts.push({
        addressHash,
        after: account,
        storageCleared: isStorageCleared,
        slots: Array.from(slots.values(), ({ slotHash, value }) => ({ slotHash, after: value })),
      })
    return { accounts }
  }

  clear(): void {
    this.changed.clear()
  }

  private applyAccount(change: AccountChange): void {
    const key = hashKey(change.addressHash)
    let entry = this.changed.get(key)
    if (entry === undefined) {
      entry = {
        addressHash: change.addressHash,
        account: change.after,
        isStorageCleared: false,
        slots: new Map(),
      }
      this.changed.set(key, entry)
    }
    entry.account = change.after
    if (change.storageCleared || change.after === undefined) {
      entry.isStorageCleared = true
      entry.slots.clear()
    }
    for (const { slotHash, after } of change.slots)
      entry.slots.set(hashKey(slotHash), { slotHash, value: after })
  }
}

/** Where deltas lead, one applied after the other. */
export function mergeDeltas(deltas: readonly StateDelta[]): StateUpdate {
  const [first] = deltas
  if (first !== undefined && deltas.length === 1) return first
  const changes = new ChangeMap()
  for (const delta of deltas) changes.apply(delta)
  return changes.update()
}
