/**
 * What was lately read from the persisted state, or written to it, in front of the store. It moves forward with the
 * store: `advance` takes the delta of each write, so nothing that it holds is ever out of date.
 *
 *     reads ─▶ layers ─▶ StateCache ─▶ store
 *
 * Two maps take turns: what is used goes to the young one; when that is full it becomes the old one, and what was left
 * in the old one is forgotten. So a read costs one or two look-ups and no list is kept in order.
 *
 * Not here: codes, which a host keeps as analysed, and lists of slots, which are read for what ends.
 */
import type { Account } from './account.ts'
import type { AccountUpdate } from './delta.ts'
import { type HashKey, hashKey } from './key.ts'
import type { ListingView, StoredSlot } from './view.ts'

/** About 250 bytes each: 16 MB. */
const ACCOUNT_COUNT_MAX = 65_536
/** About 250 bytes each: 64 MB. */
const SLOT_COUNT_MAX = 262_144

export type StateCacheOptions = {
  /** Most accounts kept, 2 up. That there is none counts as one. */
  readonly accountCountMax?: number
  /** Most slots kept, 2 up. That one is zero counts as one. */
  readonly slotCountMax?: number
}

/** How often a cache had to ask the store. */
export type CacheMisses = {
  accounts: number
  slots: number
  codes: number
  codeBytes: number
}

export class StateCache implements ListingView {
  /** Since it was made. Counted where the store is read, so a hit pays nothing for it. */
  readonly misses: CacheMisses = { accounts: 0, slots: 0, codes: 0, codeBytes: 0 }
  private readonly view: ListingView
  private readonly accounts: RecentMap<Account>
  private readonly slotValues: RecentMap<Uint8Array>

  constructor(
    view: ListingView,
    { accountCountMax = ACCOUNT_COUNT_MAX, slotCountMax = SLOT_COUNT_MAX }: StateCacheOptions = {},
  ) {
    this.view = view
    this.accounts = new RecentMap(accountCountMax)
    this.slotValues = new RecentMap(slotCountMax)
  }

  account(addressHash: Uint8Array): Account | undefined {
    const key = hashKey(addressHash)
    const known = this.accounts.get(key)
    if (known !== undefined) return known ?? undefined
    const account = this.view.account(addressHash)
    this.misses.accounts++
    this.accounts.set(key, account ?? null)
    return account
  }

  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    const key = slotKey(hashKey(addressHash), slotHash)
    const known = this.slotValues.get(key)
    if (known !== undefined) return known ?? undefined
    const value = this.view.storage(addressHash, slotHash)
    this.misses.slots++
    this.slotValues.set(key, value ?? null)
    return value
  }

  /** @throws VarveError STATE_CODE_MISSING */
  code(codeHash: Uint8Array): Uint8Array {
    const code = this.view.code(codeHash)
    this.misses.codes++
    this.misses.codeBytes += code.length
    return code
  }

  hasStorage(addressHash: Uint8Array): boolean {
    return this.view.hasStorage(addressHash)
  }

  slots(addressHash: Uint8Array): Iterable<StoredSlot> {
    return this.view.slots(addressHash)
  }

  /**
   * Tells that an account below has moved with a write: right after that, before any other read.
   * @param update of a complete delta: a clearing that lists no slots would leave them here
   */
  advance({ addressHash, after, slots }: AccountUpdate): void {
    const key = hashKey(addressHash)
    this.accounts.set(key, after ?? null)
    for (const slot of slots) this.slotValues.set(slotKey(key, slot.slotHash), slot.after ?? null)
  }

  /** Forgets everything, for an engine that falls idle or a store that moved in a way unknown. */
  clear(): void {
    this.accounts.clear()
    this.slotValues.clear()
  }
}

/** A map that keeps what was used last, at most as many as its limit. `null` is a value that is known not to be. */
class RecentMap<Value> {
  private readonly youngCountMax: number
  private young = new Map<string, Value | null>()
  private old = new Map<string, Value | null>()

  constructor(countMax: number) {
    this.youngCountMax = Math.max(1, countMax >>> 1)
  }

  get(key: string): Value | null | undefined {
    const value = this.young.get(key)
    if (value !== undefined) return value
    const older = this.old.get(key)
    if (older !== undefined) this.set(key, older)
    return older
  }

  set(key: string, value: Value | null): void {
    if (this.young.size >= this.youngCountMax && !this.young.has(key)) {
      this.old = this.young
      this.young = new Map()
    }
    this.young.set(key, value)
  }

  clear(): void {
    this.young.clear()
    this.old.clear()
  }
}

function slotKey(addressKey: HashKey, slotHash: Uint8Array): string {
  return addressKey + hashKey(slotHash)
}
