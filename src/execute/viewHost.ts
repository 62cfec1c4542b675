/** The EVM's questions about the state before a block, answered from a `StateView`: addresses and slots become hashes. */
import type { Host, HostAccount, StorageReader } from '../evm/index.ts'
import { addressHashOf, type StateView, slotHashOf } from '../state/index.ts'

/** Hash of one of the 256 blocks before the current one, 32 bytes. */
export type BlockHashReader = (number: bigint) => Uint8Array

/** Holds nothing but the view, which never changes: the machine asks each question once a block. */
export class ViewHost implements Host {
  private readonly view: StateView
  private readonly readBlockHash: BlockHashReader

  constructor(view: StateView, readBlockHash: BlockHashReader) {
    this.view = view
    this.readBlockHash = readBlockHash
  }

  loadAccount(address: Uint8Array): HostAccount | undefined {
    return this.view.account(addressHashOf(address))
  }

  hasStorage(address: Uint8Array): boolean {
    return this.view.hasStorage(addressHashOf(address))
  }

  /** Hashes the address once for all slots. A view cannot tell an empty storage more cheaply than it reads a slot. */
  openStorage(address: Uint8Array): StorageReader {
    const { view } = this
    const addressHash = addressHashOf(address)
    return (slot) => view.storage(addressHash, slotHashOf(slot))
  }

  /** @throws VarveError STATE_CODE_MISSING */
  loadCode(codeHash: Uint8Array): Uint8Array {
    return this.view.code(codeHash)
  }

  blockHash(number: bigint): Uint8Array {
    return this.readBlockHash(number)
  }
}
