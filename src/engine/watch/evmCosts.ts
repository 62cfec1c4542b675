/**
 * Whose code a block's gas went to: the block is executed once more, and the EVM tells of its messages and of the slots
 * that they load and store. Reading alone. Where that fails, all gas is put down to receivers.
 */
import { bigintToBytes, bytesEqual, isVarveError } from '../../base/index.ts'
import type { Block } from '../../codec/index.ts'
import type { EnterEvent, EvmHooks, ExitEvent, SlotEvent } from '../../evm/index.ts'
import {
  type BlockContext,
  type BlockExecutor,
  type BlockOutcome,
  executeBlock,
  SYSTEM_ADDRESS,
} from '../../execute/index.ts'
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
  /** Whether the block was executed once more. */
  readonly isReplayed: boolean
}

/**
 * Puts a block's gas down to accounts. A block that cannot be executed once more, as the state before it is gone or the
 * EVM's memory is, is told of without that: nothing of the chain depends on it.
 * @param run executes the block over its parent's state
 */
export function evmCosts(
  block: Block,
  outcome: BlockOutcome,
  run: (execute: BlockExecutor) => unknown,
): EvmCosts {
  const tally = new EvmTally()
  const gas = addReceipts(tally, block, outcome)
  try {
    run((given, context) => traced(tally, given, context))
    return { rows: tally.rows, gas, isReplayed: true }
  } catch (error) {
    if (!isVarveError(error)) throw error
  }
  const receivers = new EvmTally()
  addReceipts(receivers, block, outcome)
  return { rows: receivers.rows, gas, isReplayed: false }
}

/** What each transaction paid goes to its receiver; what messages in it took is taken off there later. */
function addReceipts(tally: EvmTally, block: Block, { receipts, senders }: BlockOutcome): bigint {
  let gas = 0n
  for (const [index, { cumulativeGasUsed }] of receipts.entries()) {
    tally.addGas(block.transactions[index]!.to ?? senders[index]!, cumulativeGasUsed - gas)
    gas = cumulativeGasUsed
  }
  return gas
}

function traced(tally: EvmTally, block: Block, context: BlockContext): BlockOutcome {
  const { machine } = context
  machine.trace(tally.hooks)
  try {
    const outcome = executeBlock(block, context)
    tally.nameAll(machine.accesses())
    return outcome
  } finally {
    machine.trace(undefined)
  }
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
    // The receipt's gas, which this account has already, has the message's in it.
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
