/**
 * A contract that somebody has written out in TypeScript, and the storage that it works on. Its result must be that of
 * its code, down to the gas; whatever it does not reckon with it leaves to the EVM, which then runs the whole block.
 *
 *     block ─▶ NativeStorage of each contract ─▶ transaction ─▶ run(call) ─▶ gas of instructions, logs
 *                        └─ counts gas and refund of each access (EIP-2929, 2200, 3529)
 *
 * Berlin and later. Not here: which contracts there are; they belong to whoever runs blocks of a known kind.
 */
import { bigintFromBytes, type Fork } from '../base/index.ts'
import type { Log } from '../codec/index.ts'
import {
  hashKey,
  type SlotChange,
  type StateView,
  slotHashOf,
  sortedByHash,
} from '../state/index.ts'
import { slotBytes } from './writtenDelta.ts'

/** One message to a contract, from a transaction itself. */
export type NativeCall = {
  /** 20 bytes each. */
  readonly caller: Uint8Array
  readonly target: Uint8Array
  readonly input: Uint8Array
  readonly storage: NativeStorage
}

/** What a message did that ended well. */
export type NativeResult = {
  /** Of instructions, memory and logs: all but the accesses of storage. */
  readonly gas: number
  readonly logs: readonly Log[]
}

export type NativeContract = {
  /** keccak-256 of the code that it stands for. */
  readonly codeHash: Uint8Array
  /** The first fork under which the code does this. Before, the EVM runs it. */
  readonly since: Fork
  /** `undefined` leaves the whole block to the EVM: for failures, and for what is not written out. */
  run(call: NativeCall): NativeResult | undefined
}

const GAS_COLD_SLOAD = 2100
const GAS_WARM_READ = 100
const GAS_SSTORE_SET = 20_000
/** What a change of a warm slot costs: 5000 - 2100 (EIP-2929). */
const GAS_SSTORE_RESET = 2900
/** EIP-3529. */
const REFUND_CLEAR = 4800
/** An SSTORE with no more gas than this fails (EIP-2200), so whoever leaves more at its end never met that. */
export const GAS_SSTORE_SENTRY = 2300n

/** One slot in the block. */
export type NativeSlot = {
  /** 32 bytes. */
  readonly slot: Uint8Array
  readonly slotHash: Uint8Array
  /** Before the block. */
  readonly before: bigint
  /** Now. */
  value: bigint
  /** Before the transaction that has last read it. */
  original: bigint
  /** The transaction that has last read it: its number in the block. */
  transaction: number
}

/** Storage of one contract. Lives for one block. */
export class NativeStorage {
  /** Gas and refund of the transaction's accesses so far. */
  gas = 0
  refund = 0
  private readonly view: StateView
  private readonly addressHash: Uint8Array
  private readonly slots = new Map<string, NativeSlot>()
  private transaction = 0
  private warmKeys: ReadonlySet<string> | undefined

  constructor(view: StateView, addressHash: Uint8Array) {
    this.view = view
    this.addressHash = addressHash
  }

  /** @param warm slots of this contract in the transaction's access list */
  beginTransaction(warm: readonly Uint8Array[]): void {
    this.transaction++
    this.gas = 0
    this.refund = 0
    this.warmKeys = warm.length === 0 ? undefined : new Set(warm.map(hashKey))
  }

  /**
   * A slot by a name of the contract's own, so that what leads to the slot is hashed once a block. Reading the value is
   * an access of its own.
   * @param name of this slot alone
   */
  slot(name: string, slotOf: () => Uint8Array): NativeSlot {
    let found = this.slots.get(name)
    if (found === undefined) {
      const slot = slotOf()
      const slotHash = slotHashOf(slot)
      const bytes = this.view.storage(this.addressHash, slotHash)
      const before = bytes === undefined ? 0n : bigintFromBytes(bytes)
      found = { slot, slotHash, before, value: before, original: before, transaction: 0 }
      this.slots.set(name, found)
    }
    return found
  }

  /** SLOAD. */
  load(slot: NativeSlot): bigint {
    if (slot.transaction === this.transaction) this.gas += GAS_WARM_READ
    else {
      const isWarm = this.warmKeys?.has(hashKey(slot.slot)) === true
      this.gas += isWarm ? GAS_WARM_READ : GAS_COLD_SLOAD
      slot.transaction = this.transaction
      slot.original = slot.value
    }
    return slot.value
  }

  /** SSTORE to a slot that the transaction has loaded. @param value 0 to 2^256-1 */
  store(slot: NativeSlot, value: bigint): void {
    const { original, value: current } = slot
    slot.value = value
    if (value === current) this.gas += GAS_WARM_READ
    else if (original === current) {
      this.gas += original === 0n ? GAS_SSTORE_SET : GAS_SSTORE_RESET
      if (value === 0n) this.refund += REFUND_CLEAR
    } else {
      this.gas += GAS_WARM_READ
      if (original !== 0n) {
        if (current === 0n) this.refund -= REFUND_CLEAR
        else if (value === 0n) this.refund += REFUND_CLEAR
      }
      if (original === value)
        this.refund += (original === 0n ? GAS_SSTORE_SET : GAS_SSTORE_RESET) - GAS_WARM_READ
    }
  }

  /** What has become of the slots, in the order of their hashes. */
  changes(): SlotChange[] {
    const changes: SlotChange[] = []
    for (const { slotHash, before, value } of this.slots.values())
      if (before !== value)
        changes.push({ slotHash, before: slotBytes(before), after: slotBytes(value) })
    return sortedByHash(changes, ({ slotHash }) => slotHash)
  }
}
