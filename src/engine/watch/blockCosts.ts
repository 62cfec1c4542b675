/**
 * What of a block caused its cost: one row an account and one a slot, joined from what was read, what was changed, what
 * the tries did, and what the EVM did. Every sum over the accounts, with `others`, is the block's total; slots are the
 * part of it that belongs to a single slot.
 *
 *     ms = time of its reads + its share of the rest of the execution, by gas + its share of the root, by nodes
 */
import type { TrieReport } from '../../commit/index.ts'
import { type AccountChange, addressHashOf, slotHashOf } from '../../state/index.ts'
import type { EvmCosts } from './evmCosts.ts'
import type { ReadCounts, WriteCounts } from './observer.ts'
import { type ReadTally, rowKey } from './readTally.ts'

/** Cost of an account, a slot, or a block. */
export type Cost = {
  /** Accounts, slots and codes that were read from the state. */
  readonly reads: number
  /** Milliseconds of these reads. */
  readonly readMs: number
  /** Accounts and slots that were changed. */
  readonly writes: number
  /** Trie nodes that were read from the store. */
  readonly nodesRead: number
  /** Trie nodes that were made new. */
  readonly nodesMade: number
  /** Can be below 0 where refunds for what others did came to a transaction's receiver. Slots have none. */
  readonly gas: bigint
  /** Messages to an account, loads and stores of a slot. */
  readonly operations: number
  /** Milliseconds, as above. */
  readonly ms: number
}

export type KeyCost = Cost & {
  readonly addressHash: Uint8Array
  readonly slotHash: Uint8Array | undefined
  /** 20 bytes, where the EVM has named it. */
  readonly address: Uint8Array | undefined
  /** 32 bytes, likewise. */
  readonly slot: Uint8Array | undefined
}

export type BlockCosts = {
  readonly total: Cost
  /** The dearest first. */
  readonly accounts: readonly KeyCost[]
  readonly slots: readonly KeyCost[]
  /** What no account stands for. */
  readonly others: Cost
  /** Whether gas is by account; else it is by receiver, and slots have no operations. */
  readonly isReplayed: boolean
}

/** All that the rows are made from. Times in milliseconds. */
export type CostSources = {
  readonly executeMs: number
  readonly readCounts: ReadCounts
  readonly writeCounts: WriteCounts
  readonly tally: ReadTally
  readonly changes: readonly AccountChange[]
  readonly trie: TrieReport
  readonly evm: EvmCosts
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }
type Row = Mutable<KeyCost>

/** Joins the rows. Cost: a map entry a key. */
export function blockCosts(sources: CostSources): BlockCosts {
  const total = totalOf(sources)
  const others: Mutable<Cost> = { ...NOTHING }
  const rows = new Map<string, Row>()
  addReads(rows, others, sources.tally)
  addWrites(rows, sources.changes)
  addNodes(rows, others, sources.trie)
  addOperations(rows, sources.evm)
  const slots: Row[] = []
  for (const row of rows.values()) {
    row.ms = shareOf(row, total, sources)
    if (row.slotHash !== undefined) slots.push(row)
  }
  for (const slot of slots) addSlot(accountOf(rows, slot), slot)
  const accounts = [...rows.values()].filter(({ slotHash }) => slotHash === undefined)
  others.ms = total.ms
  for (const { ms } of accounts) others.ms -= ms
  const { isReplayed } = sources.evm
  return { total, accounts: accounts.sort(byCost), slots: slots.sort(byCost), others, isReplayed }
}

function totalOf({ executeMs, readCounts, writeCounts, trie, evm }: CostSources): Cost {
  const { accounts, slots, codes, accountMs, slotMs, codeMs } = readCounts
  let operations = 0
  for (const { slot, count } of evm.rows.values()) if (slot === undefined) operations += count
  return {
    reads: accounts + slots + codes,
    readMs: accountMs + slotMs + codeMs,
    writes:
      writeCounts.accounts +
      writeCounts.accountsDeleted +
      writeCounts.slots +
      writeCounts.slotsDeleted,
    nodesRead: trie.nodesRead.account + trie.nodesRead.storage,
    nodesMade: trie.nodesMade.account + trie.nodesMade.storage,
    gas: evm.gas,
    operations,
    ms: executeMs + trie.updateMs,
  }
}

function addReads(rows: Map<string, Row>, others: Mutable<Cost>, tally: ReadTally): void {
  for (const [key, { addressHash, slotHash, count, milliseconds }] of tally.rows ?? []) {
    const row = rowAt(rows, key, addressHash, slotHash)
    row.reads += count
    row.readMs += milliseconds
  }
  others.reads += tally.others.count
  others.readMs += tally.others.milliseconds
}

function addWrites(rows: Map<string, Row>, changes: readonly AccountChange[]): void {
  for (const { addressHash, before, after, slots } of changes) {
    const row = rowAt(rows, rowKey(addressHash, undefined), addressHash, undefined)
    if (before !== undefined || after !== undefined) row.writes++
    for (const { slotHash } of slots)
      rowAt(rows, rowKey(addressHash, slotHash), addressHash, slotHash).writes++
  }
}

function addNodes(rows: Map<string, Row>, others: Mutable<Cost>, trie: TrieReport): void {
  for (const { addressHash, slotHash, read, made } of trie.rows) {
    const row = rowAt(rows, rowKey(addressHash, slotHash), addressHash, slotHash)
    row.nodesRead += read
    row.nodesMade += made
  }
  others.nodesRead += trie.others.read
  others.nodesMade += trie.others.made
}

function addOperations(rows: Map<string, Row>, evm: EvmCosts): void {
  for (const [key, { address, slot, gas, count }] of evm.rows) {
    // Of most keys the EVM has but the name to tell.
    if (!rows.has(key) && count === 0 && gas === 0n) continue
    const addressHash = addressHashOf(address)
    const row = rowAt(rows, key, addressHash, slot === undefined ? undefined : slotHashOf(slot))
    row.address = address
    row.slot = slot
    row.operations += count
    row.gas += gas
  }
}

/** The row's reads, and its shares of the rest. What gas or nodes cannot share out is nobody's. */
function shareOf(row: Cost, total: Cost, { executeMs, trie }: CostSources): number {
  const gasShare = total.gas === 0n ? 0 : Number(row.gas) / Number(total.gas)
  const nodes = total.nodesRead + total.nodesMade
  const nodeShare = nodes === 0 ? 0 : (row.nodesRead + row.nodesMade) / nodes
  return row.readMs + gasShare * (executeMs - total.readMs) + nodeShare * trie.updateMs
}

function accountOf(rows: Map<string, Row>, { addressHash, address }: Row): Row {
  const row = rowAt(rows, rowKey(addressHash, undefined), addressHash, undefined)
  row.address ??= address
  return row
}

function addSlot(account: Row, slot: Cost): void {
  account.reads += slot.reads
  account.readMs += slot.readMs
  account.writes += slot.writes
  account.nodesRead += slot.nodesRead
  account.nodesMade += slot.nodesMade
  account.ms += slot.ms
}

function byCost(a: Cost, b: Cost): number {
  return b.ms - a.ms
}

const NOTHING: Cost = {
  reads: 0,
  readMs: 0,
  writes: 0,
  nodesRead: 0,
  nodesMade: 0,
  gas: 0n,
  operations: 0,
  ms: 0,
}

function rowAt(
  rows: Map<string, Row>,
  key: string,
  addressHash: Uint8Array,
  slotHash: Uint8Array | undefined,
): Row {
  let row = rows.get(key)
  if (row === undefined) {
    row = { ...NOTHING, addressHash, slotHash, address: undefined, slot: undefined }
    rows.set(key, row)
  }
  return row
}
