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
 */
import { bytesCompare } from '../base/index.ts'
import { type Account, accountsEqual } from './account.ts'

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
  kept.sort((a, b) => bytesCompare(a.addressHash, b.addressHash))
  return { accounts: kept, codes }
}
