/** A world for the machine that answers at once: a few accounts, and storage as a function. */
import { EMPTY_CODE_HASH, toBareHex } from '../../../base/index.ts'
import type { Host, HostAccount, StorageReader } from '../../../evm/index.ts'
import { keccak256 } from '../../../kernels/index.ts'

export type FixedAccount = {
  readonly address: Uint8Array
  readonly nonce?: bigint
  readonly balance?: bigint
  readonly code?: Uint8Array
  readonly storage?: StorageReader
}

export class FixedHost implements Host {
  private readonly accounts = new Map<string, HostAccount>()
  private readonly storages = new Map<string, StorageReader>()
  private readonly codes = new Map<string, Uint8Array>()

  constructor(accounts: readonly FixedAccount[]) {
    for (const { address, nonce = 0n, balance = 0n, code, storage } of accounts) {
      const codeHash = code === undefined ? EMPTY_CODE_HASH : keccak256(code)
      this.accounts.set(toBareHex(address), { nonce, balance, codeHash })
      if (code !== undefined) this.codes.set(toBareHex(codeHash), code)
      if (storage !== undefined) this.storages.set(toBareHex(address), storage)
    }
  }

  loadAccount(address: Uint8Array): HostAccount | undefined {
    return this.accounts.get(toBareHex(address))
  }

  hasStorage(address: Uint8Array): boolean {
    return this.storages.has(toBareHex(address))
  }

  openStorage(address: Uint8Array): StorageReader | undefined {
    return this.storages.get(toBareHex(address))
  }

  loadCode(codeHash: Uint8Array): Uint8Array {
    return this.codes.get(toBareHex(codeHash))!
  }

  blockHash(): Uint8Array {
    return new Uint8Array(32)
  }
}
