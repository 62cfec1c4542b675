/**
 * Transient storage (EIP-1153): cells of 80 bytes {key, value, u32 account, u32 transaction}. The table's entries are
 * stamped with the transaction, so a new one starts empty at no cost.
 */
import { allocate, regrow, release } from './heap'
import { J_TRANSIENT, recordWord } from './journal'
import { epoch } from './state'
import { bitsAfter, checkBits, clearTable, hashCell, slotOf } from './table'
import { copyWord, equals, setSmall } from './word'

const CELL_BYTES: usize = 80
const C_VALUE: usize = 32
const C_ACCOUNT: usize = 64
const TABLE_BITS_MIN: u32 = 8

let cells: usize = 0
let cellsClass: u32 = 0
let count: u32 = 0
/** Entries {u32 transaction, u32 cell}. */
let table: usize = 0
let tableBits: u32 = 0

// @ts-ignore: decorator
@inline
export function transientRecord(index: u32): usize {
  return cells + <usize>index * CELL_BYTES
}

export function initTransient(): void {
  cellsClass = 13
  cells = allocate(cellsClass)
  tableBits = TABLE_BITS_MIN
  table = allocate(tableBits + 3)
  clearTransient()
}

/** Forgets everything; needed only where transaction numbers start again. */
export function clearTransient(): void {
  const bits = bitsAfter(tableBits, count, TABLE_BITS_MIN)
  if (bits != tableBits) {
    release(table, tableBits + 3)
    tableBits = bits
    table = allocate(bits + 3)
  }
  count = 0
  clearTable(table, tableBits)
}

/** Starts a transaction. */
export function nextTransient(): void {
  count = 0
}

/** Number of the cell, 0 where it was never written in this transaction. */
export function findTransient(owner: u32, key: usize): u32 {
  const mask = (u32(1) << tableBits) - 1
  let slot = slotOf(hashCell(owner, key), tableBits)
  while (true) {
    const entry = table + ((<usize>slot) << 3)
    if (load<u32>(entry) != epoch) return 0
    const index = load<u32>(entry, 4)
    const cell = transientRecord(index)
    if (load<u32>(cell, C_ACCOUNT) == owner && equals(cell, key)) return index
    slot = (slot + 1) & mask
  }
}

export function writeTransient(owner: u32, key: usize, value: usize): void {
  let index = findTransient(owner, key)
  if (index == 0) index = insert(owner, key)
  const cell = transientRecord(index)
  recordWord(J_TRANSIENT, index, 0, cell + C_VALUE)
  copyWord(cell + C_VALUE, value)
}

function insert(owner: u32, key: usize): u32 {
  const index = count + 1
  const needed = (index + 1) * u32(CELL_BYTES)
  if (needed > u32(1) << cellsClass) {
    cells = regrow(cells, cellsClass, index * u32(CELL_BYTES), needed)
    cellsClass++
  }
  const cell = transientRecord(index)
  copyWord(cell, key)
  setSmall(cell + C_VALUE, 0)
  store<u32>(cell, owner, C_ACCOUNT)
  count = index
  if (index << 1 > u32(1) << tableBits || !enterCell(hashCell(owner, key), index)) rehash()
  return index
}

function enterCell(hash: u64, index: u32): bool {
  const mask = (u32(1) << tableBits) - 1
  let slot = slotOf(hash, tableBits)
  for (let probe = 0; probe < 64; probe++) {
    const entry = table + ((<usize>slot) << 3)
    if (load<u32>(entry) != epoch) {
      store<u32>(entry, epoch)
      store<u32>(entry, index, 4)
      return true
    }
    slot = (slot + 1) & mask
  }
  return false
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
      const cell = transientRecord(index)
      if (!enterCell(hashCell(load<u32>(cell, C_ACCOUNT), cell), index)) break
    }
    if (index > count) return
  }
}
