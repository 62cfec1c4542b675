/**
 * Storage slots of the block. A slot has one record, 160 bytes, with the values that matter: before the block, at the
 * start of the transaction, now. The value stays four limbs from the stack to here. Records may move when a slot is
 * added; numbers stay. Number 0 is no slot.
 */
import { A_STORAGE_GENERATION, account, mayHaveSlots } from './accounts'
import { allocate, regrow, release } from './heap'
import { hostLoadSlot, hostTrimmedForget } from './host'
import { J_SLOT, J_WARM_SLOT, recordNumber, recordWord } from './journal'
import { epoch, trimmed } from './state'
import { bitsAfter, checkBits, clearTable, enter, hashCell, slotOf, tagOf } from './table'
import { copyWord, equals, setSmall } from './word'

export const SLOT_BYTES: usize = 160
export const S_KEY: usize = 0
/** Value now. */
export const S_VALUE: usize = 32
/** Value at the start of transaction `S_ORIGINAL_IN`; of another transaction it is the value now. */
export const S_ORIGINAL: usize = 64
/** Value before the block. */
export const S_BEFORE: usize = 96
/** u32: account. */
export const S_ACCOUNT: usize = 128
/** u32: transaction that first wrote it last. */
export const S_ORIGINAL_IN: usize = 132
/** u32: transaction in which it is warm. */
export const S_WARM_IN: usize = 136
/** u32: the account's storage generation its value belongs to. */
export const S_GENERATION: usize = 140
/** u32: 1 where the value is known, 2 where only a trace has read it. */
export const S_LOADED: usize = 144
/** u32: transaction in which a count of its state has seen it. */
export const S_COUNTED_IN: usize = 148

const TABLE_BITS_MIN: u32 = 10

let records: usize = 0
let recordsClass: u32 = 0
let count: u32 = 0
let table: usize = 0
let tableBits: u32 = 0

// @ts-ignore: decorator
@inline
export function slotRecord(index: u32): usize {
  return records + <usize>index * SLOT_BYTES
}

export function initSlots(): void {
  recordsClass = 16
  records = allocate(recordsClass)
  tableBits = TABLE_BITS_MIN
  table = allocate(tableBits + 3)
  clearSlots()
}

export function clearSlots(): void {
  const bits = bitsAfter(tableBits, count, TABLE_BITS_MIN)
  if (bits != tableBits) {
    release(table, tableBits + 3)
    tableBits = bits
    table = allocate(bits + 3)
  }
  count = 0
  clearTable(table, tableBits)
}

/** Makes all stamps those of no transaction. */
export function clearSlotStamps(): void {
  for (let index: u32 = 1; index <= count; index++) {
    const record = slotRecord(index)
    store<u32>(record, 0, S_ORIGINAL_IN)
    store<u32>(record, 0, S_WARM_IN)
    store<u32>(record, 0, S_COUNTED_IN)
  }
}

export function slotCount(): u32 {
  return count
}

/** Number of the slot with the key at `key` of an account, loaded. */
export function slotAt(owner: u32, key: usize): u32 {
  const index = slotNumber(owner, key)
  settleSlot(owner, index)
  return index
}

/** Number of the slot, its value up to date, without counting it as read by the block: for traces. */
export function peekSlot(owner: u32, key: usize): u32 {
  const index = slotNumber(owner, key)
  const wasLoaded = load<u32>(slotRecord(index), S_LOADED) == 1
  settleSlot(owner, index)
  if (!wasLoaded) store<u32>(slotRecord(index), 2, S_LOADED)
  return index
}

/** Brings the slot's value up to date: loads it, or makes it zero where the account's storage was cleared since. */
// @ts-ignore: decorator
@inline
export function settleSlot(owner: u32, index: u32): void {
  const record = slotRecord(index)
  if (load<u32>(record, S_GENERATION) != load<u32>(account(owner), A_STORAGE_GENERATION))
    renew(owner, index)
  else if (load<u32>(record, S_LOADED) != 1) loadSlot(owner, index)
}

/** Number of the slot; the host is not asked, and only key and warmth may be used before `settleSlot`. */
export function slotNumber(owner: u32, key: usize): u32 {
  const hash = hashCell(owner, key)
  const tag = tagOf(hash)
  const mask = (u32(1) << tableBits) - 1
  let slot = slotOf(hash, tableBits)
  for (;;) {
    const entry = table + ((<usize>slot) << 3)
    const index = load<u32>(entry, 4)
    if (index == 0) break
    if (load<u32>(entry) == tag) {
      const record = slotRecord(index)
      if (load<u32>(record, S_ACCOUNT) == owner && equals(record, key)) return index
    }
    slot = (slot + 1) & mask
  }
  return insert(owner, key, hash)
}

/** The account's storage was cleared since the slot was used: it is zero now, as it is for the transaction. */
function renew(owner: u32, index: u32): void {
  const record = slotRecord(index)
  setSmall(record + S_VALUE, 0)
  store<u32>(record, 0, S_ORIGINAL_IN)
  store<u32>(record, 1, S_LOADED)
  store<u32>(record, load<u32>(account(owner), A_STORAGE_GENERATION), S_GENERATION)
  if (trimmed) hostTrimmedForget(index)
}

function loadSlot(owner: u32, index: u32): void {
  const record = slotRecord(index)
  if (load<u32>(record, S_LOADED) == 2) {
    store<u32>(record, 1, S_LOADED)
    return
  }
  if (mayHaveSlots(owner)) hostLoadSlot(owner, record, record + S_VALUE)
  else setSmall(record + S_VALUE, 0)
  copyWord(record + S_BEFORE, record + S_VALUE)
  store<u32>(record, 1, S_LOADED)
}

function insert(owner: u32, key: usize, hash: u64): u32 {
  const index = count + 1
  const needed = (index + 1) * u32(SLOT_BYTES)
  if (needed > u32(1) << recordsClass) {
    records = regrow(records, recordsClass, index * u32(SLOT_BYTES), needed)
    recordsClass++
  }
  const record = slotRecord(index)
  copyWord(record, key)
  // Equal values: a slot that is only warmed is no change, whatever the last block left in the record.
  setSmall(record + S_VALUE, 0)
  setSmall(record + S_BEFORE, 0)
  store<u32>(record, owner, S_ACCOUNT)
  store<u32>(record, 0, S_ORIGINAL_IN)
  store<u32>(record, 0, S_WARM_IN)
  store<u32>(record, load<u32>(account(owner), A_STORAGE_GENERATION), S_GENERATION)
  store<u32>(record, 0, S_LOADED)
  store<u32>(record, 0, S_COUNTED_IN)
  count = index
  if (index << 1 > u32(1) << tableBits || !enter(table, tableBits, hash, index)) rehash()
  return index
}

function rehash(): void {
  for (;;) {
    const old = tableBits
    tableBits++
    checkBits(tableBits)
    table = regrow(table, old + 3, 0, u32(8) << tableBits)
    clearTable(table, tableBits)
    let index: u32 = 1
    for (; index <= count; index++) {
      const record = slotRecord(index)
      if (!enter(table, tableBits, hashCell(load<u32>(record, S_ACCOUNT), record), index)) break
    }
    if (index > count) return
  }
}

/** True where the slot already was warm in this transaction; warms it. */
// @ts-ignore: decorator
@inline
export function warmSlot(index: u32): bool {
  const record = slotRecord(index)
  if (load<u32>(record, S_WARM_IN) == epoch) return true
  store<u32>(record, epoch, S_WARM_IN)
  recordNumber(J_WARM_SLOT, index, 0)
  return false
}

/** Address of the value the slot had at the start of the transaction. */
// @ts-ignore: decorator
@inline
export function originalOf(record: usize): usize {
  return load<u32>(record, S_ORIGINAL_IN) == epoch ? record + S_ORIGINAL : record + S_VALUE
}

/** Writes a value that differs from the one there. */
export function writeSlot(index: u32, value: usize): void {
  const record = slotRecord(index)
  if (load<u32>(record, S_ORIGINAL_IN) != epoch) {
    copyWord(record + S_ORIGINAL, record + S_VALUE)
    store<u32>(record, epoch, S_ORIGINAL_IN)
  }
  recordWord(J_SLOT, index, 0, record + S_VALUE)
  copyWord(record + S_VALUE, value)
}
