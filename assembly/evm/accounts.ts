/**
 * Accounts of the block, each with its state before the block and now. Records are 192 bytes in one block that may
 * move when it grows: take `account(number)` anew after anything that can load an account. Number 0 is no account.
 */
import { allocate, regrow, release } from './heap'
import { hostHasStorage, hostLoadAccount, hostOpenStorage } from './host'
import {
  J_BALANCE,
  J_CREATED,
  J_DESTRUCT,
  J_FLAGS,
  J_NONCE,
  J_TOUCH,
  J_WARM_ACCOUNT,
  recordNumber,
  recordWord,
} from './journal'
import { P_EMPTY_VANISH, P_PRECOMPILE_256, P_PRECOMPILES, parameter } from './rules'
import { epoch } from './state'
import { bitsAfter, checkBits, clearTable, enter, hashAddress, PROBE_MAX, slotOf, tagOf } from './table'
import { add, copyWord, isZero, setSmall, subtract } from './word'

export const ACCOUNT_BYTES: usize = 192
/** Address: u64, u64, u32 from the least significant. */
export const A_ADDRESS: usize = 0
/** u32: AF_ bits; the number of the precompile in the upper half. */
export const A_FLAGS: usize = 20
export const A_NONCE: usize = 24
export const A_BALANCE: usize = 32
/** 32 bytes as hashed. */
export const A_CODE_HASH: usize = 64
/** u32: code block, 0 where not loaded yet. */
export const A_CODE: usize = 96
/** u32: transaction in which the account is warm. */
export const A_WARM_IN: usize = 100
/** u32: transaction in which the account was created. */
export const A_CREATED_IN: usize = 104
/** u32: transaction in which it was marked for deletion. */
export const A_DESTRUCT_IN: usize = 108
/** u32: transaction in which it was touched. */
export const A_TOUCHED_IN: usize = 112
/** u32: how often its storage was cleared; slots of an older count are zero. */
export const A_STORAGE_GENERATION: usize = 116
/** State before the block. */
export const A_NONCE_BEFORE: usize = 120
export const A_BALANCE_BEFORE: usize = 128
export const A_CODE_HASH_BEFORE: usize = 160

/** The account exists now. */
export const AF_EXISTS: u32 = 1
/** The account existed before the block. */
export const AF_EXISTED: u32 = 2
/** Its storage was cleared in the block: slots not seen are zero, the host is not asked. */
export const AF_CLEARED: u32 = 4
/** The host was asked. */
export const AF_LOADED: u32 = 8
/** The host was asked for its storage, and may be asked for slots. */
export const AF_STORAGE_OPEN: u32 = 16
/** The host was asked for its storage, and has none. */
export const AF_STORAGE_NONE: u32 = 32
/** Its values are here, and the block has not read them: a trace has. */
export const AF_PEEKED: u32 = 64

// keccak-256 of nothing, as four u64 of its bytes.
const EMPTY_0: u64 = 0x3c23f7860146d2c5
const EMPTY_1: u64 = 0xc003c7dcb27d7e92
const EMPTY_2: u64 = 0x3b2782ca53b600e5
const EMPTY_3: u64 = 0x70a4855d04d8fa7b

const TABLE_BITS_MIN: u32 = 9

let records: usize = 0
let recordsClass: u32 = 0
let count: u32 = 0
let table: usize = 0
let tableBits: u32 = 0
let touched: usize = 0
let touchedClass: u32 = 0
let touchedCount: u32 = 0
let destructed: usize = 0
let destructedClass: u32 = 0
let destructedCount: u32 = 0

// @ts-ignore: decorator
@inline
export function account(index: u32): usize {
  return records + <usize>index * ACCOUNT_BYTES
}

export function initAccounts(): void {
  recordsClass = 16
  records = allocate(recordsClass)
  tableBits = TABLE_BITS_MIN
  table = allocate(tableBits + 3)
  touchedClass = 12
  touched = allocate(touchedClass)
  destructedClass = 10
  destructed = allocate(destructedClass)
  clearAccounts()
}

/** Forgets everything, at the start of a block. */
export function clearAccounts(): void {
  const bits = bitsAfter(tableBits, count, TABLE_BITS_MIN)
  if (bits != tableBits) {
    release(table, tableBits + 3)
    tableBits = bits
    table = allocate(bits + 3)
  }
  count = 0
  clearTable(table, tableBits)
  memory.fill(records, 0, ACCOUNT_BYTES)
  touchedCount = 0
  destructedCount = 0
}

/** Makes all stamps those of no transaction. */
export function clearAccountStamps(): void {
  for (let index: u32 = 1; index <= count; index++) {
    const record = account(index)
    store<u32>(record, 0, A_WARM_IN)
    store<u32>(record, 0, A_CREATED_IN)
    store<u32>(record, 0, A_DESTRUCT_IN)
    store<u32>(record, 0, A_TOUCHED_IN)
  }
}

export function accountCount(): u32 {
  return count
}

export function setEmptyCodeHash(to: usize): void {
  store<u64>(to, EMPTY_0)
  store<u64>(to, EMPTY_1, 8)
  store<u64>(to, EMPTY_2, 16)
  store<u64>(to, EMPTY_3, 24)
}

// @ts-ignore: decorator
@inline
export function hasCode(record: usize): bool {
  return (
    load<u64>(record, A_CODE_HASH) != EMPTY_0 ||
    load<u64>(record, A_CODE_HASH + 8) != EMPTY_1 ||
    load<u64>(record, A_CODE_HASH + 16) != EMPTY_2 ||
    load<u64>(record, A_CODE_HASH + 24) != EMPTY_3
  )
}

/** Number of the account whose address is in the word at `word`, loaded. */
export function accountAt(word: usize): u32 {
  const index = accountNumber(word)
  ensureLoaded(index)
  return index
}

/**
 * Number of the account whose address is in the word at `word`. The host is not asked: only the address, warmth and
 * the precompile's number may be used before `ensureLoaded`. So an access list, or a call that cannot pay for the
 * access, reads no state; a witness of the block need not hold it.
 */
export function accountNumber(word: usize): u32 {
  const a0 = load<u64>(word)
  const a1 = load<u64>(word, 8)
  const a2 = u64(load<u32>(word, 16))
  const hash = hashAddress(a0, a1, a2)
  const tag = tagOf(hash)
  const mask = (u32(1) << tableBits) - 1
  let slot = slotOf(hash, tableBits)
  for (;;) {
    const entry = table + ((<usize>slot) << 3)
    const index = load<u32>(entry, 4)
    if (index == 0) break
    if (load<u32>(entry) == tag) {
      const record = account(index)
      if (load<u64>(record) == a0 && load<u64>(record, 8) == a1 && u64(load<u32>(record, 16)) == a2)
        return index
    }
    slot = (slot + 1) & mask
  }
  return insert(a0, a1, a2, hash)
}

function insert(a0: u64, a1: u64, a2: u64, hash: u64): u32 {
  const index = count + 1
  const needed = (index + 1) * u32(ACCOUNT_BYTES)
  if (needed > u32(1) << recordsClass) {
    records = regrow(records, recordsClass, index * u32(ACCOUNT_BYTES), needed)
    recordsClass++
  }
  const record = account(index)
  memory.fill(record, 0, ACCOUNT_BYTES)
  store<u64>(record, a0)
  store<u64>(record, a1, 8)
  store<u32>(record, u32(a2), 16)
  setEmptyCodeHash(record + A_CODE_HASH)
  store<u32>(record, precompileNumber(a0, a1, a2) << 16, A_FLAGS)
  count = index
  if (index << 1 > u32(1) << tableBits || !enter(table, tableBits, hash, index)) rehash()
  return index
}

// @ts-ignore: decorator
@inline
export function ensureLoaded(index: u32): void {
  if ((load<u32>(account(index), A_FLAGS) & AF_LOADED) == 0) loadAccount(index)
}

/** Brings the account's values up without counting it as read by the block: for traces of steps that fail. */
export function peekAccount(index: u32): void {
  if ((load<u32>(account(index), A_FLAGS) & AF_LOADED) != 0) return
  loadAccount(index)
  const record = account(index)
  store<u32>(record, (load<u32>(record, A_FLAGS) & ~AF_LOADED) | AF_PEEKED, A_FLAGS)
}

/** Asks the host. Where that throws, the account stays as not loaded. */
function loadAccount(index: u32): void {
  const record = account(index)
  if ((load<u32>(record, A_FLAGS) & AF_PEEKED) != 0) {
    store<u32>(record, (load<u32>(record, A_FLAGS) & ~AF_PEEKED) | AF_LOADED, A_FLAGS)
    return
  }
  let flags = load<u32>(record, A_FLAGS) | AF_LOADED
  if (hostLoadAccount(record) != 0) flags |= AF_EXISTS | AF_EXISTED
  store<u32>(record, flags, A_FLAGS)
  store<u64>(record, load<u64>(record, A_NONCE), A_NONCE_BEFORE)
  copyWord(record + A_BALANCE_BEFORE, record + A_BALANCE)
  copyWord(record + A_CODE_HASH_BEFORE, record + A_CODE_HASH)
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
      const record = account(index)
      const hash = hashAddress(load<u64>(record), load<u64>(record, 8), u64(load<u32>(record, 16)))
      if (!enter(table, tableBits, hash, index)) break
    }
    if (index > count) return
  }
}

/** Number of the fork's precompile at the address, or 0. */
function precompileNumber(a0: u64, a1: u64, a2: u64): u32 {
  if ((a1 | a2) != 0 || a0 > 0x100) return 0
  if (a0 == 0x100) return parameter(P_PRECOMPILE_256) != 0 ? 0x100 : 0
  if (a0 > 31) return 0
  return ((u64(parameter(P_PRECOMPILES)) >> a0) & 1) != 0 ? u32(a0) : 0
}

// @ts-ignore: decorator
@inline
export function exists(record: usize): bool {
  return (load<u32>(record, A_FLAGS) & AF_EXISTS) != 0
}

/** No code, nonce or balance (EIP-161); so is an account that does not exist. */
export function isEmpty(record: usize): bool {
  return load<u64>(record, A_NONCE) == 0 && isZero(record + A_BALANCE) && !hasCode(record)
}

/** Number of the precompile at the account, 0 where it is none. */
// @ts-ignore: decorator
@inline
export function precompileOf(record: usize): u32 {
  return load<u32>(record, A_FLAGS) >> 16
}

/** True where the account already was warm in this transaction; warms it. */
export function warmAccount(index: u32): bool {
  const record = account(index)
  if (load<u32>(record, A_WARM_IN) == epoch || precompileOf(record) != 0) return true
  store<u32>(record, epoch, A_WARM_IN)
  recordNumber(J_WARM_ACCOUNT, index, 0)
  return false
}

/** Marks the account for the check of empty accounts at the end of the transaction. */
export function touch(index: u32): void {
  const record = account(index)
  if (load<u32>(record, A_TOUCHED_IN) == epoch) return
  store<u32>(record, epoch, A_TOUCHED_IN)
  pushTouched(index)
  recordNumber(J_TOUCH, index, 0)
}

/**
 * Touch by a transfer of nothing. The one at address 3 outlives a revert where it finds the account empty: on
 * mainnet an out-of-gas call left RIPEMD-160's empty account deleted, and every client has to agree
 * (block 2675119; EIP-161, "Addendum").
 */
export function touchByNothing(index: u32): void {
  const record = account(index)
  if (load<u32>(record, A_TOUCHED_IN) == epoch) return
  if (
    precompileOf(record) != 3 ||
    !exists(record) ||
    !isEmpty(record) ||
    parameter(P_EMPTY_VANISH) == 0
  ) {
    touch(index)
    return
  }
  ripemdTouched = epoch
}

/** Transaction in which the quirk of address 3 happened. */
export let ripemdTouched: u32 = 0

function pushTouched(index: u32): void {
  const used = touchedCount << 2
  if (used + 4 > u32(1) << touchedClass) {
    touched = regrow(touched, touchedClass, used, used + 4)
    touchedClass++
  }
  store<u32>(touched + used, index)
  touchedCount++
}

export function popTouched(): void {
  touchedCount--
}

export function popDestructed(): void {
  destructedCount--
}

export function touchedLength(): u32 {
  return touchedCount
}

export function touchedAt(position: u32): u32 {
  return load<u32>(touched + ((<usize>position) << 2))
}

export function destructedLength(): u32 {
  return destructedCount
}

export function destructedAt(position: u32): u32 {
  return load<u32>(destructed + ((<usize>position) << 2))
}

/** Empties the lists of the transaction. */
export function clearLists(): void {
  ripemdTouched = 0
  touchedCount = 0
  destructedCount = 0
}

/** Marks the account for deletion at the end of the transaction. */
export function markDestructed(index: u32): void {
  const record = account(index)
  if (load<u32>(record, A_DESTRUCT_IN) == epoch) return
  store<u32>(record, epoch, A_DESTRUCT_IN)
  const used = destructedCount << 2
  if (used + 4 > u32(1) << destructedClass) {
    destructed = regrow(destructed, destructedClass, used, used + 4)
    destructedClass++
  }
  store<u32>(destructed + used, index)
  destructedCount++
  recordNumber(J_DESTRUCT, index, 0)
}

/** Brings the account into being, empty, where it is not. */
export function ensureExists(index: u32): void {
  const record = account(index)
  const flags = load<u32>(record, A_FLAGS)
  if ((flags & AF_EXISTS) != 0) return
  recordNumber(J_FLAGS, index, u64(flags))
  store<u32>(record, flags | AF_EXISTS, A_FLAGS)
}

/** Marks the account as created in this transaction. */
export function markCreated(index: u32): void {
  const record = account(index)
  recordNumber(J_CREATED, index, u64(load<u32>(record, A_CREATED_IN)))
  store<u32>(record, epoch, A_CREATED_IN)
}

export function setNonce(index: u32, nonce: u64): void {
  touch(index)
  ensureExists(index)
  const record = account(index)
  recordNumber(J_NONCE, index, load<u64>(record, A_NONCE))
  store<u64>(record, nonce, A_NONCE)
}

/** Adds the word at `amount`; touches and creates the account, also by 0. Balances never reach 2^256. */
export function addBalance(index: u32, amount: usize): void {
  if (isZero(amount)) {
    touchByNothing(index)
    ensureExists(index)
    return
  }
  touch(index)
  ensureExists(index)
  const record = account(index)
  recordWord(J_BALANCE, index, 0, record + A_BALANCE)
  add(record + A_BALANCE, amount, record + A_BALANCE)
}

/** Takes the word at `amount` away; the caller has checked that it is there. */
export function subtractBalance(index: u32, amount: usize): void {
  if (isZero(amount)) return
  touch(index)
  const record = account(index)
  recordWord(J_BALANCE, index, 0, record + A_BALANCE)
  subtract(record + A_BALANCE, amount, record + A_BALANCE)
}

export function clearBalance(index: u32): void {
  const record = account(index)
  if (isZero(record + A_BALANCE)) return
  touch(index)
  recordWord(J_BALANCE, index, 0, record + A_BALANCE)
  setSmall(record + A_BALANCE, 0)
}

/** True where the account, which is loaded, has storage that a contract created there would inherit (EIP-7610). */
export function hasOldStorage(index: u32): bool {
  const record = account(index)
  const flags = load<u32>(record, A_FLAGS)
  if ((flags & AF_EXISTED) == 0 || (flags & (AF_CLEARED | AF_STORAGE_NONE)) != 0) return false
  return hostHasStorage(record) != 0
}

/**
 * True where the host has to be asked for slots of the account, which is loaded. Without an account before the block,
 * with an empty storage, or with one that the block cleared, all slots are zero. So the host hears of most accounts'
 * storage once or never, however many slots are read.
 */
export function mayHaveSlots(index: u32): bool {
  const record = account(index)
  const flags = load<u32>(record, A_FLAGS)
  if ((flags & AF_EXISTED) == 0 || (flags & (AF_CLEARED | AF_STORAGE_NONE)) != 0) return false
  if ((flags & AF_STORAGE_OPEN) != 0) return true
  // Where the host throws, it will be asked again.
  const isOpen = hostOpenStorage(index, record) != 0
  store<u32>(record, flags | (isOpen ? AF_STORAGE_OPEN : AF_STORAGE_NONE), A_FLAGS)
  return isOpen
}

/** Removes the account and its storage, at the end of a transaction. Not journaled. */
export function deleteAccount(index: u32): void {
  const record = account(index)
  const flags = load<u32>(record, A_FLAGS)
  store<u32>(record, (flags & ~AF_EXISTS) | AF_CLEARED, A_FLAGS)
  store<u64>(record, 0, A_NONCE)
  setSmall(record + A_BALANCE, 0)
  setEmptyCodeHash(record + A_CODE_HASH)
  store<u32>(record, 0, A_CODE)
  store<u32>(record, 0, A_CREATED_IN)
  store<u32>(record, load<u32>(record, A_STORAGE_GENERATION) + 1, A_STORAGE_GENERATION)
}
