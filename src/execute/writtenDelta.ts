/**
 * The machine's write set as a delta: addresses and slots become hashes, words become the bytes that `state/` keeps,
 * lists become sorted.
 */
import { bigintToBytes, HASH_BYTES } from '../base/index.ts'
import type { AccountWrite, SlotWrite, WriteSet } from '../evm/index.ts'
import {
  type AccountChange,
  addressHashOf,
  type CodeChange,
  type SlotChange,
  type StateDelta,
  sealDelta,
  slotHashOf,
  sortedByHash,
} from '../state/index.ts'

/** Cost: one keccak an account and slot. */
export function deltaOfWrites(writes: WriteSet): StateDelta {
  const codes: CodeChange[] = []
  const accounts = writes.map((write) => accountChange(write, codes))
  return sealDelta(accounts, codes)
}

function accountChange(write: AccountWrite, codes: CodeChange[]): AccountChange {
  const { address, before, after, storageCleared, code } = write
  if (code !== undefined && after !== undefined) codes.push({ codeHash: after.codeHash, code })
  const changes = write.slots.map((slot) => slotChange(slot, storageCleared))
  const slots = sortedByHash(changes, ({ slotHash }) => slotHash)
  return { addressHash: addressHashOf(address), before, after, storageCleared, slots }
}

function slotChange(write: SlotWrite, storageCleared: boolean): SlotChange {
  return {
    slotHash: slotHashOf(write.slot),
    // After a clear only what was set later is listed, and the slot it was set in had become zero.
    before: storageCleared ? undefined : slotBytes(write.before),
    after: slotBytes(write.after),
  }
}

/** A word as `state/` keeps it. */
export function slotBytes(value: bigint): Uint8Array | undefined {
  return value === 0n ? undefined : bigintToBytes(value, HASH_BYTES)
}
