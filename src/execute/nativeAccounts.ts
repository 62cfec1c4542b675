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
export type TransferAccount = {
  readonly addressHash: Uint8Array
  readonly before: Account | undefined
  /** Of the code that a message to it runs; `undefined` where it runs nothing. */
  readonly codeHash: Uint8Array | undefined
  nonce: bigint
  balance: bigint
  /** Where a contract has worked on it. */
  storage: NativeStorage | undefined
}

/** Answers the check of a transaction about its sender, the only account that it asks about. */
export class SenderReader implements AccountReader {
  private readonly account: TransferAccount

  constructor(account: TransferAccount) {
    this.account = account
  }

  getNonce(): bigint {
    return this.account.nonce
  }

  getBalance(): bigint {
    return this.account.balance
  }

  /** 1 where there is code: no sender may have any, whatever its size, before delegations (EIP-3607). */
  getCodeSize(): number {
    return this.account.codeHash === undefined ? 0 : 1
  }

  getCode(): Uint8Array {
    return EMPTY_BYTES
  }
}

/** Takes what a checked transaction costs its sender, and counts the transaction. */
export function pay(account: TransferAccount, amount: bigint): void {
  assert(account.balance >= amount, 'a checked transaction can be paid for')
  account.balance -= amount
  account.nonce++
}

/**
 * Gives wei. False for what the machine must do: a balance above 2^256-1, and the deletion of an empty account that
 * is touched. Giving nothing to what does not exist makes no account.
 */
export function give(account: TransferAccount, amount: bigint): boolean {
  if (account.before !== undefined && accountIsEmpty(account.before)) return false
  account.balance += amount
  return account.balance <= U256_MAX
}

/** Lives for one block. */
export class TransferAccounts {
  private readonly view: StateView
  private readonly byAddress = new Map<string, TransferAccount>()

  constructor(view: StateView) {
    this.view = view
  }

  /** Cost: a string of 20 characters, and a keccak and a read where it is new. */
  load(address: Uint8Array): TransferAccount {
    const key = hashKey(address)
    let account = this.byAddress.get(key)
    if (account === undefined) {
      const addressHash = addressHashOf(address)
      const before = this.view.account(addressHash)
      const { nonce, balance } = before ?? EMPTY_ACCOUNT
      const codeHash = before !== undefined && accountHasCode(before) ? before.codeHash : undefined
      account = { addressHash, before, codeHash, nonce, balance, storage: undefined }
      this.byAddress.set(key, account)
    }
    return account
  }

  /** Storage of a contract, the same all through the block. */
  storageOf(account: TransferAccount): NativeStorage {
    account.storage ??= new NativeStorage(this.view, account.addressHash)
    return account.storage
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
}
