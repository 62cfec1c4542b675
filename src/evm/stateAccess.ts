/**
 * What a block access list (EIP-7928) is made of: the accounts and slots that the block has read so far, and what one
 * transaction changed. Both lie in the kernel anyway, as it loads what code pays for and journals what it writes, so a
 * block whose fork has no such list pays nothing.
 */
import { ADDRESS_BYTES, bytesEqual, HASH_BYTES } from '../base/index.ts'
import { type EvmKernel, EvmLayout as L } from '../kernels/index.ts'

/** An account that the block has read, if only to find that there is none. Fresh bytes. */
export type AccountAccess = {
  /** The machine's number of the account in this block, as in `AccountChange`. */
  readonly account: number
  /** 20 bytes. */
  readonly address: Uint8Array
  /** Slots read or written, 32 bytes each, in the order of their first use. */
  readonly slots: readonly Uint8Array[]
}

/** What a transaction made of an account; what ends as it began is left out. Fresh bytes. */
export type AccountChange = {
  readonly account: number
  /** 20 bytes. */
  readonly address: Uint8Array
  readonly balance: bigint | undefined
  readonly nonce: bigint | undefined
  /** Empty where code was removed. */
  readonly code: Uint8Array | undefined
  readonly slots: readonly { readonly slot: Uint8Array; readonly value: bigint }[]
}

const NO_SLOTS: readonly never[] = []

// Kinds of journal entries, as `assembly/evm/journal.ts` numbers them; a test compares the two.
export const JOURNAL = { ENTRY_BYTES: 48, BALANCE: 1, NONCE: 2, CODE: 3, SLOT: 4 } as const

/** All that the block has read. Cost: one pass over the accounts and slots it used. */
export function readAccesses(kernel: EvmKernel): AccountAccess[] {
  const { exports } = kernel
  const slots = new Map<number, Uint8Array[]>()
  for (let index = 1; index <= exports.slotCount(); index++) {
    const record = exports.slotRecord(index)
    if (kernel.view.getUint32(record + L.S_LOADED, true) !== 1) continue
    listAt(slots, kernel.view.getUint32(record + L.S_ACCOUNT, true)).push(
      kernel.readWordBytes(record, HASH_BYTES),
    )
  }
  const accesses: AccountAccess[] = []
  for (let index = 1; index <= exports.accountCount(); index++) {
    const record = exports.accountRecord(index)
    if ((kernel.view.getUint32(record + L.A_FLAGS, true) & L.AF_LOADED) === 0) continue
    accesses.push({
      account: index,
      address: kernel.readWordBytes(record, ADDRESS_BYTES),
      slots: slots.get(index) ?? NO_SLOTS,
    })
  }
  return accesses
}

/** Values from before the transaction: the first that was overwritten. */
type Originals = {
  readonly balances: Map<number, bigint>
  readonly nonces: Map<number, bigint>
  readonly codeHashes: Map<number, Uint8Array>
  readonly slots: Map<number, bigint>
}

/**
 * What the transaction that just finished has changed. Cost: one pass over its journal. Asked from Cancun on: before
 * it, SELFDESTRUCT deletes accounts of earlier transactions, of which no journal tells.
 */
export function readChanges(kernel: EvmKernel): AccountChange[] {
  const { balances, nonces, codeHashes, slots } = readOriginals(kernel)
  const slotsByOwner = new Map<number, { slot: Uint8Array; value: bigint }[]>()
  for (const [index, before] of slots) {
    const record = kernel.exports.slotRecord(index)
    const owner = kernel.view.getUint32(record + L.S_ACCOUNT, true)
    const value = slotValue(kernel, record, owner)
    if (value === before) continue
    listAt(slotsByOwner, owner).push({ slot: kernel.readWordBytes(record, HASH_BYTES), value })
  }
  const changed = new Set([
    ...balances.keys(),
    ...nonces.keys(),
    ...codeHashes.keys(),
    ...slotsByOwner.keys(),
  ])
  const changes: AccountChange[] = []
  for (const index of changed) {
    const record = kernel.exports.accountRecord(index)
    const change: AccountChange = {
      account: index,
      address: kernel.readWordBytes(record, ADDRESS_BYTES),
      balance: differing(balances.get(index), kernel.readWord(record + L.A_BALANCE)),
      nonce: differing(nonces.get(index), kernel.view.getBigUint64(record + L.A_NONCE, true)),
      code: changedCode(kernel, index, codeHashes.get(index)),
      slots: slotsByOwner.get(index) ?? NO_SLOTS,
    }
    const { balance, nonce, code } = change
    if (
      balance !== undefined ||
      nonce !== undefined ||
      code !== undefined ||
      change.slots.length > 0
    )
      changes.push(change)
  }
  return changes
}

function readOriginals(kernel: EvmKernel): Originals {
  const originals: Originals = {
    balances: new Map(),
    nonces: new Map(),
    codeHashes: new Map(),
    slots: new Map(),
  }
  const { balances, nonces, codeHashes, slots } = originals
  const start = kernel.exports.journalBase()
  const end = start + kernel.exports.journalLength() * JOURNAL.ENTRY_BYTES
  for (let entry = start; entry < end; entry += JOURNAL.ENTRY_BYTES) {
    const { view } = kernel
    const kind = view.getUint32(entry, true)
    if (kind > JOURNAL.SLOT) continue
    const index = view.getUint32(entry + 4, true)
    if (kind === JOURNAL.SLOT) {
      if (!slots.has(index)) slots.set(index, kernel.readWord(entry + 16))
    } else if (kind === JOURNAL.BALANCE) {
      if (!balances.has(index)) balances.set(index, kernel.readWord(entry + 16))
    } else if (kind === JOURNAL.NONCE) {
      if (!nonces.has(index)) nonces.set(index, view.getBigUint64(entry + 8, true))
    } else if (!codeHashes.has(index)) codeHashes.set(index, kernel.copyOut(entry + 16, HASH_BYTES))
  }
  return originals
}

/** Value of a slot now; 0 where its account's storage was cleared since it was written. */
function slotValue(kernel: EvmKernel, record: number, owner: number): bigint {
  const account = kernel.exports.accountRecord(owner)
  const isCurrent =
    kernel.view.getUint32(record + L.S_GENERATION, true) ===
    kernel.view.getUint32(account + L.A_STORAGE_GENERATION, true)
  return isCurrent ? kernel.readWord(record + L.S_VALUE) : 0n
}

function differing(before: bigint | undefined, after: bigint): bigint | undefined {
  return before === undefined || before === after ? undefined : after
}

function changedCode(
  kernel: EvmKernel,
  index: number,
  before: Uint8Array | undefined,
): Uint8Array | undefined {
  if (before === undefined) return undefined
  const hash = kernel.exports.accountRecord(index) + L.A_CODE_HASH
  if (bytesEqual(before, kernel.copyOut(hash, HASH_BYTES))) return undefined
  const code = kernel.exports.codeOf(index)
  return kernel.copyOut(code + L.C_BYTES, kernel.view.getUint32(code, true))
}

function listAt<Item>(lists: Map<number, Item[]>, key: number): Item[] {
  let list = lists.get(key)
  if (list === undefined) {
    list = []
    lists.set(key, list)
  }
  return list
}
