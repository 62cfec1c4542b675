/**
 * The accounts that a block of native transfers has touched, over the state before it. What a transaction must be
 * checked against it answers as the machine does.
 */
import { assert, EMPTY_BYTES, U256_MAX } from '../base/index.ts'
import {
  type Account,
  type AccountChange,
  accountHasCode,
  accountIsEmpty,
  addressHashOf,
  EMPTY_ACCOUNT,
  hashKey,
  type StateView,
} from '../state/index.ts'
import { NativeStorage } from './nativeContract.ts'
import type { AccountReader } from './transactionCheck.ts'

/** An account in the block. `nonce` and `balance` are those of `before` until something changes them. */
type TransferAccount = {
  readonly addressHash: Uint8Array
  readonly before: Account | undefined
  readonly hasCode: boolean
  nonce: bigint
  balance: bigint
  /** Where a contract has worked on it. */
  storage: NativeStorage | undefined
}

/** Lives for one block. */
export class TransferAccounts implements AccountReader {
  private readonly view: StateView
  private readonly byAddress = new Map<string, TransferAccount>()

  constructor(view: StateView) {
    this.view = view
  }

  getNonce(address: Uint8Array): bigint {
    return this.load(address).nonce
  }

  getBalance(address: Uint8Array): bigint {
    return this.load(address).balance
  }

  /** 1 where there is code: no sender may have any, whatever its size, before delegations (EIP-3607). */
  getCodeSize(address: Uint8Array): number {
    return this.load(address).hasCode ? 1 : 0
  }

  getCode(): Uint8Array {
    return EMPTY_BYTES
  }

  /** Whether there is an account in the state before. */
  isThere(address: Uint8Array): boolean {
    return this.load(address).before !== undefined
  }

  /** Hash of the code that a message to this address runs; `undefined` where it runs nothing. */
  codeHashOf(address: Uint8Array): Uint8Array | undefined {
    const { hasCode, before } = this.load(address)
    return hasCode ? before!.codeHash : undefined
  }

  /** Storage of a contract, the same all through the block. */
  storageOf(address: Uint8Array): NativeStorage {
    const account = this.load(address)
    account.storage ??= new NativeStorage(this.view, account.addressHash)
    return account.storage
  }

  /** Takes what a checked transaction costs its sender, and counts the transaction. */
  pay(address: Uint8Array, amount: bigint): void {
    const account = this.load(address)
    assert(account.balance >= amount, 'a checked transaction can be paid for')
    account.balance -= amount
    account.nonce++
  }

  /**
   * Gives wei. False for what the machine must do: a balance above 2^256-1, and the deletion of an empty account that
   * is touched. Giving nothing to what does not exist makes no account.
   */
  give(address: Uint8Array, amount: bigint): boolean {
    const account = this.load(address)
    if (account.before !== undefined && accountIsEmpty(account.before)) return false
    account.balance += amount
    return account.balance <= U256_MAX
  }

  /** What has become of all accounts. Those that were only looked at come as they were; sealing drops them. */
  changes(): AccountChange[] {
    const changes: AccountChange[] = []
    for (const { addressHash, before, nonce, balance, storage } of this.byAddress.values()) {
      if (nonce === 0n && balance === 0n && before === undefined) continue
      const after = { nonce, balance, codeHash: (before ?? EMPTY_ACCOUNT).codeHash }
      const slots = storage === undefined ? [] : storage.changes()
      changes.push({ addressHash, before, after, storageCleared: false, slots })
    }
    return changes
  }

  private load(address: Uint8Array): TransferAccount {
    const key = hashKey(address)
    let account = this.byAddress.get(key)
    if (account === undefined) {
      const addressHash = addressHashOf(address)
      const before = this.view.account(addressHash)
      const { nonce, balance } = before ?? EMPTY_ACCOUNT
      const hasCode = before !== undefined && accountHasCode(before)
      account = { addressHash, before, hasCode, nonce, balance, storage: undefined }
      this.byAddress.set(key, account)
    }
    return account
  }
}
