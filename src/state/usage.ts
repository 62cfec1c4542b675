/**
 * How much a state holds, exactly, kept from version to version: each write says what was there before. The bytes are
 * those of the flat rows (`flatState.ts`), keys included; codes, which states share and never drop, are not counted.
 */
import { assert, HASH_BYTES, leadingZeroCount } from '../base/index.ts'
import type { Account } from './account.ts'
import type { AccountChange, StateDelta } from './delta.ts'
import { flatAccountBytes } from './flatState.ts'

export type StateUsage = {
  readonly accountCount: number
  readonly slotCount: number
  /** Bytes of the rows of accounts and slots, with their keys of 32 and 64 bytes. */
  readonly byteCount: number
}

/** A usage that is being counted; of a difference it may be negative. */
export type UsageSum = { -readonly [Name in keyof StateUsage]: StateUsage[Name] }

export const EMPTY_USAGE: StateUsage = { accountCount: 0, slotCount: 0, byteCount: 0 }

/** The usage after a complete delta, on the state that it was made on. Cost: its writes. */
export function usageAfter(usage: StateUsage, delta: StateDelta): StateUsage {
  const sum = { ...usage }
  for (const change of delta.accounts) addUsage(sum, change)
  assert(sum.accountCount >= 0 && sum.slotCount >= 0, 'usage: no state holds less than nothing')
  return sum
}

/** Adds to a sum what one account's part of a complete difference makes more, or less. */
export function addUsage(sum: UsageSum, { before, after, slots }: AccountChange): void {
  if (before !== undefined) {
    sum.accountCount--
    sum.byteCount -= accountRowBytes(before)
  }
  if (after !== undefined) {
    sum.accountCount++
    sum.byteCount += accountRowBytes(after)
  }
  for (const slot of slots) {
    if (slot.before !== undefined) {
      sum.slotCount--
      sum.byteCount -= slotRowBytes(slot.before)
    }
    if (slot.after !== undefined) {
      sum.slotCount++
      sum.byteCount += slotRowBytes(slot.after)
    }
  }
}

/** Bytes of an account's row with its key. */
export function accountRowBytes(account: Account): number {
  return HASH_BYTES + flatAccountBytes(account)
}

/** Bytes of a slot's row with its key. */
export function slotRowBytes(value: Uint8Array): number {
  return 2 * HASH_BYTES + value.length - leadingZeroCount(value)
}
