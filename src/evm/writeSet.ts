/**
 * What a block has changed: the final state of each account and slot it used against the state before the block.
 * Equal values are left out, however often they changed in between. Reading it changes nothing.
 */
import { ADDRESS_BYTES, bytesEqual, EMPTY_CODE_HASH, HASH_BYTES } from '../base/index.ts'
import { type EvmKernel, EvmLayout as L } from '../kernels/index.ts'

export type AccountState = {
  readonly nonce: bigint
  readonly balance: bigint
  readonly codeHash: Uint8Array
}

export type SlotWrite = {
  /** 32 bytes, not hashed. */
  readonly slot: Uint8Array
  /** Value before the block; what a clear removed is still named here where the block had read it. */
  readonly before: bigint
  readonly after: bigint
}

export type AccountWrite = {
  readonly address: Uint8Array
  /** `undefined` where the account did not exist. */
  readonly before: AccountState | undefined
  readonly after: AccountState | undefined
  /** All slots from before the block are gone; `slots` then lists those that are not 0 now. */
  readonly storageCleared: boolean
  readonly slots: readonly SlotWrite[]
  /** The code, where it is new to the account and not empty. */
  readonly code: Uint8Array | undefined
}

/** Accounts with a change, in the order the block first used them. Bytes are never written to afterwards; equal code hashes are one array. */
export type WriteSet = readonly AccountWrite[]

export function readWriteSet(kernel: EvmKernel): WriteSet {
  const slots = readSlots(kernel)
  const writes: AccountWrite[] = []
  const count = kernel.exports.accountCount()
  for (let index = 1; index <= count; index++) {
    const write = readAccount(kernel, index, slots.get(index) ?? [])
    if (write !== undefined) writes.push(write)
  }
  return writes
}

function readAccount(
  kernel: EvmKernel,
  index: number,
  slots: readonly SlotWrite[],
): AccountWrite | undefined {
  const record = kernel.exports.accountRecord(index)
  const flags = kernel.view.getUint32(record + L.A_FLAGS, true)
  const hasExisted = (flags & L.AF_EXISTED) !== 0
  const exists = (flags & L.AF_EXISTS) !== 0
  const storageCleared = (flags & L.AF_CLEARED) !== 0 && hasExisted
  const isSame = hasExisted === exists && (!exists || isStateUnchanged(kernel, record))
  if (!storageCleared && slots.length === 0 && isSame) return undefined
  const before = hasExisted ? readState(kernel, record, true) : undefined
  const after = exists ? readState(kernel, record, false, before?.codeHash) : undefined
  const isNewCode =
    after !== undefined &&
    after.codeHash !== before?.codeHash &&
    !bytesEqual(after.codeHash, EMPTY_CODE_HASH)
  return {
    address: kernel.readWordBytes(record, ADDRESS_BYTES),
    before,
    after,
    storageCleared,
    slots,
    code: isNewCode ? readCode(kernel, index) : undefined,
  }
}

function readCode(kernel: EvmKernel, index: number): Uint8Array {
  const code = kernel.exports.codeOf(index)
  return kernel.copyOut(code + L.C_BYTES, kernel.view.getUint32(code, true))
}

/** @param likely a code hash that the account may still have: it is then used again */
function readState(
  kernel: EvmKernel,
  record: number,
  isBefore: boolean,
  likely = EMPTY_CODE_HASH,
): AccountState {
  const codeHash = record + (isBefore ? L.A_CODE_HASH_BEFORE : L.A_CODE_HASH)
  return {
    nonce: kernel.view.getBigUint64(record + (isBefore ? L.A_NONCE_BEFORE : L.A_NONCE), true),
    balance: kernel.readWord(record + (isBefore ? L.A_BALANCE_BEFORE : L.A_BALANCE)),
    codeHash: kernel.holds(codeHash, likely) ? likely : kernel.copyOut(codeHash, HASH_BYTES),
  }
}

function isStateUnchanged(kernel: EvmKernel, record: number): boolean {
  return (
    kernel.areEqual(record + L.A_NONCE, record + L.A_NONCE_BEFORE, 8) &&
    kernel.areEqual(record + L.A_BALANCE, record + L.A_BALANCE_BEFORE, 32) &&
    kernel.areEqual(record + L.A_CODE_HASH, record + L.A_CODE_HASH_BEFORE, HASH_BYTES)
  )
}

/** Changed slots by account number. */
function readSlots(kernel: EvmKernel): Map<number, SlotWrite[]> {
  const byAccount = new Map<number, SlotWrite[]>()
  const count = kernel.exports.slotCount()
  for (let index = 1; index <= count; index++) {
    const record = kernel.exports.slotRecord(index)
    const owner = kernel.view.getUint32(record + L.S_ACCOUNT, true)
    const account = kernel.exports.accountRecord(owner)
    const isCurrent =
      kernel.view.getUint32(record + L.S_GENERATION, true) ===
      kernel.view.getUint32(account + L.A_STORAGE_GENERATION, true)
    const before = kernel.readWord(record + L.S_BEFORE)
    const after = isCurrent ? kernel.readWord(record + L.S_VALUE) : 0n
    const isCleared = (kernel.view.getUint32(account + L.A_FLAGS, true) & L.AF_CLEARED) !== 0
    if (isCleared ? after === 0n : before === after) continue
    const write = { slot: kernel.readWordBytes(record, 32), before, after }
    const list = byAccount.get(owner)
    if (list === undefined) byAccount.set(owner, [write])
    else list.push(write)
  }
  return byAccount
}
