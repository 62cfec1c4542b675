/**
 * A view that gives every question the answer it gave first, whatever moves beneath: what one execution reads through.
 * Keeps what was read until it is dropped, so it is made for a block or a call, whose gas bounds the reads.
 */
import type { Account } from './account.ts'
import { type HashKey, hashKey } from './key.ts'
import type { StateView } from './view.ts'

type ReadAccount = {
  account: Account | undefined
  isAccountRead: boolean
  hasStorage: boolean | undefined
  readonly slots: Map<HashKey, Uint8Array | undefined>
}

export class StableView implements StateView {
  private readonly view: StateView
  private readonly accounts = new Map<HashKey, ReadAccount>()
  private readonly codes = new Map<HashKey, Uint8Array>()

  constructor(view: StateView) {
    this.view = view
  }

  account(addressHash: Uint8Array): Account | undefined {
    const read = this.readOf(addressHash)
    if (!read.isAccountRead) {
      read.account = this.view.account(addressHash)
      read.isAccountRead = true
    }
    return read.account
  }

  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    const { slots } = this.readOf(addressHash)
    const key = hashKey(slotHash)
    const known = slots.get(key)
    if (known !== undefined || slots.has(key)) return known
    const value = this.view.storage(addressHash, slotHash)
    slots.set(key, value)
    return value
  }

  code(codeHash: Uint8Array): Uint8Array {
    const key = hashKey(codeHash)
    let code = this.codes.get(key)
    if (code === undefined) {
      code = this.view.code(codeHash)
      this.codes.set(key, code)
    }
    return code
  }

  hasStorage(addressHash: Uint8Array): boolean {
    const read = this.readOf(addressHash)
    read.hasStorage ??= this.view.hasStorage(addressHash)
    return read.hasStorage
  }

  private readOf(addressHash: Uint8Array): ReadAccount {
    const key = hashKey(addressHash)
    let read = this.accounts.get(key)
    if (read === undefined) {
      read = { account: undefined, isAccountRead: false, hasStorage: undefined, slots: new Map() }
      this.accounts.set(key, read)
    }
    return read
  }
}
