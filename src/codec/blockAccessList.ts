/**
 * Block access lists (EIP-7928): every account and slot that a block reads, and what each step of it left there.
 *
 *     list     [account, …]                                                      by address
 *     account  [address, [slot changes, …], [slot read, …], [balance, …], [nonce, …], [code, …]]
 *     slot     [slot, [[step, value], …]]                                        by slot, changes by step
 *     balance  [step, wei]       nonce  [step, nonce]       code  [step, bytes]  by step
 *
 * Steps: 0 before the transactions, 1 up for each of them, then one after them. A block carries its list beside its
 * body; the header has the hash.
 *
 * Not here: whether a list is that of a block (`chain/`), how it is made (`execute/`).
 */
import { ADDRESS_BYTES, bytesCompare, VarveError } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { encodeRlp, type RlpInput } from './rlp.ts'
import { RlpReader } from './rlpReader.ts'

/** What a step of the block left behind. */
export type StepChange<Value> = {
  /** 0 to 2^32-1. */
  readonly step: number
  readonly value: Value
}

export type SlotChanges = {
  /** Below 2^256, not hashed. */
  readonly slot: bigint
  /** By step; at least one. Values below 2^256. */
  readonly changes: readonly StepChange<bigint>[]
}

export type AccountAccesses = {
  /** 20 bytes. */
  readonly address: Uint8Array
  /** By slot. */
  readonly slotChanges: readonly SlotChanges[]
  /** Slots that were read and end as they began, ascending. */
  readonly slotReads: readonly bigint[]
  /** Wei, by step, as the two that follow. */
  readonly balanceChanges: readonly StepChange<bigint>[]
  /** Below 2^64. */
  readonly nonceChanges: readonly StepChange<bigint>[]
  /** Whole code; empty where it was removed. */
  readonly codeChanges: readonly StepChange<Uint8Array>[]
}

/** By address, each once. */
export type BlockAccessList = readonly AccountAccesses[]

const STEP_MAX = 2 ** 32 - 1
const WORD_BYTES = 32
const NONCE_BYTES = 8

export function encodeBlockAccessList(list: BlockAccessList): Uint8Array {
  return encodeRlp(list.map(accountToRlp))
}

/** keccak-256 of the encoding: the header field `blockAccessListHash`. */
export function blockAccessListHash(list: BlockAccessList): Uint8Array {
  return keccak256(encodeBlockAccessList(list))
}

/** Accounts and slots of a list: what the block's gas limit bounds. */
export function accessItemCount(list: BlockAccessList): number {
  let count = list.length
  for (const { slotChanges, slotReads } of list) count += slotChanges.length + slotReads.length
  return count
}

/**
 * Decodes a list. Addresses and code are views of `bytes`. What it accepts encodes to the same bytes again.
 * @throws VarveError RLP_*, ACCESS_LIST_ORDER, ACCESS_LIST_EMPTY_SLOT
 */
export function decodeBlockAccessList(bytes: Uint8Array): BlockAccessList {
  const reader = new RlpReader(bytes)
  const list = readList(reader, 'accounts', readAccount)
  reader.finish('block access list')
  list.forEach(({ address }, index) => {
    if (index > 0 && bytesCompare(list[index - 1]!.address, address) >= 0)
      throw orderFault('accounts', index)
  })
  return list
}

function accountToRlp(account: AccountAccesses): RlpInput {
  return [
    account.address,
    account.slotChanges.map(({ slot, changes }) => [slot, changes.map(changeToRlp)]),
    account.slotReads,
    account.balanceChanges.map(changeToRlp),
    account.nonceChanges.map(changeToRlp),
    account.codeChanges.map(changeToRlp),
  ]
}

function changeToRlp({ step, value }: StepChange<bigint | Uint8Array>): RlpInput {
  return [step, value]
}

function readAccount(reader: RlpReader): AccountAccesses {
  const outerEnd = reader.openList('account')
  const address = reader.readFixed(ADDRESS_BYTES, 'address')
  const slotChanges = readList(reader, 'slotChanges', readSlotChanges)
  const slotReads = readList(reader, 'slotReads', (each) => each.readBigint(WORD_BYTES, 'slot'))
  const changedSlots = slotChanges.map(({ slot }) => slot)
  checkAscending(changedSlots, 'slotChanges')
  checkAscending(slotReads, 'slotReads')
  checkApart(changedSlots, slotReads)
  const numbers = (what: string, bytesMax: number): StepChange<bigint>[] =>
    readChanges(reader, what, (each) => each.readBigint(bytesMax, what))
  const account = {
    address,
    slotChanges,
    slotReads,
    balanceChanges: numbers('balanceChanges', WORD_BYTES),
    nonceChanges: numbers('nonceChanges', NONCE_BYTES),
    codeChanges: readChanges(reader, 'codeChanges', (each) => each.readBytes('code')),
  }
  reader.closeList(outerEnd, 'account')
  return account
}

function readSlotChanges(reader: RlpReader): SlotChanges {
  const outerEnd = reader.openList('slotChanges')
  const slot = reader.readBigint(WORD_BYTES, 'slot')
  const changes = readChanges(reader, 'slot', (each) => each.readBigint(WORD_BYTES, 'value'))
  reader.closeList(outerEnd, 'slotChanges')
  if (changes.length === 0)
    throw new VarveError<BlockAccessListErrorCode>(
      'ACCESS_LIST_EMPTY_SLOT',
      `block access list: expected at least one change of slot ${slot}, got none`,
    )
  return { slot, changes }
}

function readChanges<Value>(
  reader: RlpReader,
  what: string,
  readValue: (reader: RlpReader) => Value,
): StepChange<Value>[] {
  const changes = readList(reader, what, (each) => {
    const outerEnd = each.openList(what)
    const step = each.readUint('step')
    const change = { step, value: readValue(each) }
    each.closeList(outerEnd, what)
    return change
  })
  changes.forEach(({ step }, index) => {
    if (step > STEP_MAX || (index > 0 && changes[index - 1]!.step >= step))
      throw orderFault(`steps of ${what}`, index)
  })
  return changes
}

function readList<Item>(
  reader: RlpReader,
  what: string,
  readItem: (reader: RlpReader) => Item,
): Item[] {
  const items: Item[] = []
  const outerEnd = reader.openList(what)
  while (!reader.atEnd) items.push(readItem(reader))
  reader.closeList(outerEnd, what)
  return items
}

function checkAscending(slots: readonly bigint[], what: string): void {
  slots.forEach((slot, index) => {
    if (index > 0 && slots[index - 1]! >= slot) throw orderFault(what, index)
  })
}

/** A slot that changed is not among those that were only read. */
function checkApart(changed: readonly bigint[], read: readonly bigint[]): void {
  const changedSet = new Set(changed)
  read.forEach((slot, index) => {
    if (changedSet.has(slot)) throw orderFault('slotReads beside slotChanges', index)
  })
}

function orderFault(what: string, index: number): VarveError<BlockAccessListErrorCode> {
  return new VarveError(
    'ACCESS_LIST_ORDER',
    `block access list: expected ${what} in ascending order and each once, item ${index} is not`,
    { what, index },
  )
}

/** Error codes of this module, beside those of RLP. */
export type BlockAccessListErrorCode =
  /** Accounts, slots or steps of a block access list are out of order, or one is listed twice. */
  | 'ACCESS_LIST_ORDER'
  /** A slot is listed as changed without a change. */
  | 'ACCESS_LIST_EMPTY_SLOT'
