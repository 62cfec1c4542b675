/**
 * Whose code a block's gas went to: the block is executed once more, and the EVM tells of its messages and of the slots
 * that they load and store. Reading alone.
 */
import { bigintToBytes, bytesEqual } from '../../base/index.ts'
import type { Block } from '../../codec/index.ts'
import type { EnterEvent, EvmHooks, ExitEvent, SlotEvent } from '../../evm/index.ts'
import { type BlockExecutor, executeBlock, SYSTEM_ADDRESS } from '../../execute/index.ts'
import { addressHashOf, hashKey, slotHashOf } from '../../state/index.ts'
import { rowKey } from './readTally.ts'

const CREATE = 0xf0
const CREATE2 = 0xf5

/** What of an account, or of a slot, the EVM did. */
export type KeyOperations = {
  readonly address: Uint8Array
  readonly slot: Uint8Array | undefined
  /** Gas of an account's own code, without what it called; with what a transaction to it paid beside code, less refunds. */
  gas: bigint
  /** Messages to an account; loads and stores of a slot. */
  count: number
}

export type EvmCosts = {
  /** By hash of the address, as a key; and of the slot behind it. */
  readonly rows: ReadonlyMap<string, KeyOperations>
  /** Sum of the receipts. */
  readonly gas: bigint
}

/** Executes a block and puts its gas down to accounts. @param run executes it over its parent's state */
export function evmCosts(block: Block, run: (execute: BlockExecutor) => unknown): EvmCosts {
  const tally = new EvmTally()
  let gas = 0n
  run((given, context) => {
    const { machine } = context
    machine.trace(tally.hooks)
    try {
      const outcome = executeBlock(given, context)
      for (const [index, { cumulativeGasUsed }] of outcome.receipts.entries()) {
        const transaction = block.transactions[index]!
        tally.addGas(transaction.to ?? outcome.senders[index]!, cumulativeGasUsed - gas)
        gas = cumulativeGasUsed
      }
      tally.nameAll(machine.accesses())
      return outcome
    } finally {
      machine.trace(undefined)
    }
  })
  return { rows: tally.rows, gas }
}

type Frame = { readonly event: EnterEvent; gasOfCallees: bigint }

class EvmTally {
  readonly rows = new Map<string, KeyOperations>()
  /** Hashes of addresses, by the addresses as keys: the same few come again and again. */
  private readonly hashes = new Map<string, Uint8Array>()
  private readonly slotKeys = new Map<string, Map<bigint, KeyOperations>>()
  private readonly frames: Frame[] = []

  readonly hooks: EvmHooks = {
    onEnter: (event) => this.enter(event),
    onExit: (event) => this.exit(event),
    onStorageLoad: (event) => this.slotUsed(event),
    onStorageStore: (event) => this.slotUsed(event),
  }

  addGas(address: Uint8Array, gas: bigint): void {
    this.row(address).gas += gas
  }

  /** Makes rows for whatever the block has read, so that each of them has its name. */
  nameAll(
    accesses: readonly { readonly address: Uint8Array; readonly slots: readonly Uint8Array[] }[],
  ): void {
    for (const { address, slots } of accesses) {
      this.row(address)
      for (const slot of slots) this.slotRow(address, slot)
    }
  }

  private enter(event: EnterEvent): void {
    this.frames.push({ event, gasOfCallees: 0n })
    this.row(event.target).count++
  }

  private exit({ gasUsed }: ExitEvent): void {
    const { event, gasOfCallees } = this.frames.pop()!
    const caller = this.frames.at(-1)
    // What systems calls take is no gas of the block's.
    if (bytesEqual((this.frames[0]?.event ?? event).caller, SYSTEM_ADDRESS)) return
    this.addGas(event.target, gasUsed - gasOfCallees)
    if (caller !== undefined) {
      caller.gasOfCallees += gasUsed
      return
    }
    // The receipt's gas, which comes to this account later, has the message's in it.
    const isCreation = event.kind === CREATE || event.kind === CREATE2
    this.addGas(isCreation ? event.caller : event.target, -gasUsed)
  }

  private slotUsed({ address, slot }: SlotEvent): void {
    const key = hashKey(address)
    let rows = this.slotKeys.get(key)
    if (rows === undefined) {
      rows = new Map()
      this.slotKeys.set(key, rows)
    }
    let row = rows.get(slot)
    if (row === undefined) {
      row = this.slotRow(address, bigintToBytes(slot, 32))
      rows.set(slot, row)
    }
    row.count++
  }

  private row(address: Uint8Array): KeyOperations {
    return this.rowAt(rowKey(this.hashOf(address), undefined), address, undefined)
  }

  private slotRow(address: Uint8Array, slot: Uint8Array): KeyOperations {
    return this.rowAt(rowKey(this.hashOf(address), slotHashOf(slot)), address, slot)
  }

  private rowAt(key: string, address: Uint8Array, slot: Uint8Array | undefined): KeyOperations {
    let row = this.rows.get(key)
    if (row === undefined) {
      row = { address, slot, gas: 0n, count: 0 }
      this.rows.set(key, row)
    }
    return row
  }

  private hashOf(address: Uint8Array): Uint8Array {
    const key = hashKey(address)
    let hash = this.hashes.get(key)
    if (hash === undefined) {
      hash = addressHashOf(address)
      this.hashes.set(key, hash)
    }
    return hash
  }
}
