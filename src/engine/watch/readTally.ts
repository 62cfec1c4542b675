/** Counts what an execution reads, and where that is asked for, by key. */
import {
  type Account,
  accountHasCode,
  type CacheMisses,
  type HashKey,
  hashKey,
  type StateView,
} from '../../state/index.ts'
import type { ReadCounts } from './observer.ts'

/** Keys of one block that are told apart; a block beyond has the rest in one row. */
const KEY_COUNT_MAX = 65_536

/** Reads of one key. */
export type KeyReads = {
  readonly addressHash: Uint8Array
  readonly slotHash: Uint8Array | undefined
  count: number
  milliseconds: number
}

export class ReadTally {
  accounts = 0
  accountMs = 0
  slots = 0
  slotMs = 0
  codes = 0
  codeMs = 0
  codeBytes = 0
  /** By account, or by account and slot. */
  readonly rows: Map<string, KeyReads> | undefined
  readonly others = { count: 0, milliseconds: 0 }
  /** Which account a code was last seen at. */
  private readonly owners = new Map<HashKey, Uint8Array>()

  constructor(hasRows: boolean) {
    this.rows = hasRows ? new Map() : undefined
  }

  /** @param misses since the reads began */
  counts(misses: CacheMisses): ReadCounts {
    const { accounts, accountMs, slots, slotMs, codes, codeMs, codeBytes } = this
    return { accounts, accountMs, slots, slotMs, codes, codeMs, codeBytes, misses }
  }

  noteAccount(addressHash: Uint8Array, account: Account | undefined, milliseconds: number): void {
    this.accounts++
    this.accountMs += milliseconds
    if (this.rows === undefined) return
    this.note(addressHash, undefined, milliseconds)
    if (account !== undefined && accountHasCode(account) && this.owners.size < KEY_COUNT_MAX)
      this.owners.set(hashKey(account.codeHash), addressHash)
  }

  noteSlot(addressHash: Uint8Array, slotHash: Uint8Array, milliseconds: number): void {
    this.slots++
    this.slotMs += milliseconds
    if (this.rows !== undefined) this.note(addressHash, slotHash, milliseconds)
  }

  noteCode(codeHash: Uint8Array, code: Uint8Array, milliseconds: number): void {
    this.codes++
    this.codeMs += milliseconds
    this.codeBytes += code.length
    if (this.rows === undefined) return
    const owner = this.owners.get(hashKey(codeHash))
    if (owner === undefined) this.noteOthers(milliseconds)
    else this.note(owner, undefined, milliseconds)
  }

  private note(
    addressHash: Uint8Array,
    slotHash: Uint8Array | undefined,
    milliseconds: number,
  ): void {
    const rows = this.rows!
    const key = rowKey(addressHash, slotHash)
    let row = rows.get(key)
    if (row === undefined) {
      if (rows.size >= KEY_COUNT_MAX) {
        this.noteOthers(milliseconds)
        return
      }
      row = { addressHash, slotHash, count: 0, milliseconds: 0 }
      rows.set(key, row)
    }
    row.count++
    row.milliseconds += milliseconds
  }

  private noteOthers(milliseconds: number): void {
    this.others.count++
    this.others.milliseconds += milliseconds
  }
}

/** 32 or 64 characters. */
export function rowKey(addressHash: Uint8Array, slotHash: Uint8Array | undefined): string {
  const key = hashKey(addressHash)
  return slotHash === undefined ? key : key + hashKey(slotHash)
}

/** A view whose reads are told to a tally. */
export class WatchedView implements StateView {
  private readonly view: StateView
  private readonly tally: ReadTally

  constructor(view: StateView, tally: ReadTally) {
    this.view = view
    this.tally = tally
  }

  account(addressHash: Uint8Array): Account | undefined {
    const start = performance.now()
    const account = this.view.account(addressHash)
    this.tally.noteAccount(addressHash, account, performance.now() - start)
    return account
  }

  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    const start = performance.now()
    const value = this.view.storage(addressHash, slotHash)
    this.tally.noteSlot(addressHash, slotHash, performance.now() - start)
    return value
  }

  code(codeHash: Uint8Array): Uint8Array {
    const start = performance.now()
    const code = this.view.code(codeHash)
    this.tally.noteCode(codeHash, code, performance.now() - start)
    return code
  }

  /** Counted neither as an account nor as a slot. */
  hasStorage(addressHash: Uint8Array): boolean {
    return this.view.hasStorage(addressHash)
  }
}
