/**
 * How much a state holds, exactly, kept from version to version: each write says what was there before. The bytes are
 * those of the flat rows (`flatState.ts`), keys included; codes, which states share and never drop, are not counted.
 */
import { assert, HASH_BYTES, leadingZeroCount } from '../base/index.ts'
import { type Account, accountHasCode } from './account.ts'
import type { StateDelta } from './delta.ts'

export type StateUsage = {
  readonly accountCount: number
  readonly slotCount: number
  /** Bytes of the rows of accounts and slots, with their keys of 32 and 64 bytes. */
  readonly byteCount: number
}

export const EMPTY_USAGE: StateUsage = { accountCount: 0, slotCount: 0, byteCount: 0 }

/** The usage after a complete delta, on the state that it was made on. Cost: its writes. */
export function usageAfter(usage: StateUsage, delta: StateDelta): StateUsage {
  let { accountCount, slotCount, byteCount } = usage
  for (const change of delta.accounts) {
    if (change.before !== undefined) {
      accountCount--
      byteCount -= accountRowBytes(change.before)
    }
    if (change.after !== undefined) {
      accountCount++
      byteCount += accountRowBytes(change.after)
    }
    for (const slot of change.slots) {
      if (slot.before !== undefined) {
        slotCount--
        byteCount -= slotRowBytes(slot.before)
      }
      if (slot.after !== undefined) {
        slotCount++
        byteCount += slotRowBytes(slot.after)
      }
    }
  }
  assert(accountCount >= 0 && slotCount >= 0, 'usage: no state holds less than nothing')
  return { accountCount, slotCount, byteCount }
}

/** Bytes of an account's row with its key: RLP of nonce, balance, code hash or nothing. */
export function accountRowBytes(account: Account): number {
  const payload =
    integerBytes(account.nonce) +
    integerBytes(account.balance) +
    1 +
    (accountHasCode(account) ? HASH_BYTES : 0)
  return HASH_BYTES + (payload < 56 ? 1 : 2) + payload
}

/** Bytes of a slot's row with its key. */
export function slotRowBytes(value: Uint8Array): number {
  return 2 * HASH_BYTES + value.length - leadingZeroCount(value)
}

/** Bytes of an integer in RLP: one below 128, else a prefix and the integer. */
function integerBytes(value: bigint): number {
  if (value < 128n) return 1
  let bytes = 1
  let rest = value
  for (; rest >= 0x1_0000_0000_0000n; rest >>= 48n) bytes += 6
  for (let low = Number(rest); low > 0; low = Math.floor(low / 256)) bytes++
  return bytes
}
