/** The world that cases of the EVM run over: a sender, one contract with its slots, and one that it calls. */
import { bigintToBytes, EMPTY_CODE_HASH, Fork, toBareHex } from '../../../base/index.ts'
import type { BlockEnvironment, Host, HostAccount, StorageReader } from '../../../evm/index.ts'
import { keccak256 } from '../../../kernels/index.ts'

export const SENDER = bigintToBytes(0xaaaaaaaan, 20)
export const TARGET = bigintToBytes(0xccccccccn, 20)
export const CALLEE = bigintToBytes(0xeen, 20)

export const BLOCK: BlockEnvironment = {
  fork: Fork.Prague,
  number: 1000n,
  timestamp: 1_700_000_000n,
  gasLimit: 1n << 40n,
  coinbase: bigintToBytes(0xbbbbbbbbn, 20),
  random: 1n,
  chainId: 1n,
  baseFee: 7n,
  blobBaseFee: 1n,
}

export type Contracts = {
  /** Code of `TARGET`. */
  readonly code: Uint8Array
  /** Code of `CALLEE`, none without it. */
  readonly callee?: Uint8Array
  /** Value of a slot of `TARGET`: big-endian bytes without leading zeros, as a store has them; made before. */
  readonly storage?: (slot: Uint8Array) => Uint8Array | undefined
}

/** Counts the slots that it was asked for: each is a read that took place. */
export class ContractHost implements Host {
  slotCount = 0
  private readonly accounts = new Map<string, HostAccount>()
  private readonly codes = new Map<string, Uint8Array>()
  private readonly reader: StorageReader | undefined

  constructor({ code, callee, storage }: Contracts) {
    const sender = { nonce: 1n, balance: 1n << 100n, codeHash: EMPTY_CODE_HASH }
    this.accounts.set(toBareHex(SENDER), sender)
    this.put(TARGET, code)
    if (callee !== undefined) this.put(CALLEE, callee)
    if (storage !== undefined)
      this.reader = (slot) => {
        this.slotCount++
        return storage(slot)
      }
  }

  private put(address: Uint8Array, code: Uint8Array): void {
    const codeHash = keccak256(code)
    this.accounts.set(toBareHex(address), { nonce: 1n, balance: 0n, codeHash })
    this.codes.set(toBareHex(codeHash), code)
  }

  loadAccount(address: Uint8Array): HostAccount | undefined {
    return this.accounts.get(toBareHex(address))
  }

  hasStorage(): boolean {
    return this.reader !== undefined
  }

  openStorage(): StorageReader | undefined {
    return this.reader
  }

  loadCode(codeHash: Uint8Array): Uint8Array {
    return this.codes.get(toBareHex(codeHash))!
  }

  blockHash(): Uint8Array {
    return EMPTY_CODE_HASH
  }
}
