/**
 * The journal: what each write replaced, in order. Reads leave no trace. A snapshot is a journal length; going back
 * undoes entries from the newest. Entries are 48 bytes: {u32 kind, u32 record, u64 extra, word previous}.
 */
import { allocate, regrow } from './heap'
import { undo } from './undo'
import { copyWord } from './word'

export const ENTRY_BYTES: usize = 48

// Kinds of entries. `record` numbers an account, slot or transient cell.
/** previous: balance. */
export const J_BALANCE: u32 = 1
/** extra: nonce. */
export const J_NONCE: u32 = 2
/** previous: code hash; extra: code block. */
export const J_CODE: u32 = 3
/** previous: value. */
export const J_SLOT: u32 = 4
/** previous: value. */
export const J_TRANSIENT: u32 = 5
/** The account became warm. */
export const J_WARM_ACCOUNT: u32 = 6
/** The slot became warm. */
export const J_WARM_SLOT: u32 = 7
/** The account was touched, last in the list of touched ones. */
export const J_TOUCH: u32 = 8
/** extra: flags. */
export const J_FLAGS: u32 = 9
/** extra: transaction that created the account before. */
export const J_CREATED: u32 = 10
/** The account was marked for deletion, last in the list of marked ones. */
export const J_DESTRUCT: u32 = 11
/** extra: bytes of the logs before. */
export const J_LOG: u32 = 12
/** extra: refund before. */
export const J_REFUND: u32 = 13

/** A store of the baseline arm. */
export const J_TRIMMED: u32 = 14

const START_CLASS: u32 = 16

let base: usize = 0
let sizeClass: u32 = 0
let end: usize = 0
let limit: usize = 0

export function initJournal(): void {
  sizeClass = START_CLASS
  base = allocate(sizeClass)
  end = base
  limit = base + ((<usize>1) << sizeClass)
}

export function clearJournal(): void {
  end = base
}

/** Entries so far. */
export function journalLength(): u32 {
  return u32(end - base) / u32(ENTRY_BYTES)
}

/** Address of the first entry, for the host to read. */
export function journalBase(): usize {
  return base
}

// @ts-ignore: decorator
@inline
function next(): usize {
  if (end + ENTRY_BYTES > limit) grow()
  const entry = end
  end += ENTRY_BYTES
  return entry
}

function grow(): void {
  const used = u32(end - base)
  base = regrow(base, sizeClass, used, used)
  sizeClass++
  end = base + used
  limit = base + ((<usize>1) << sizeClass)
}

/** Records a change of a word at `previous`. */
export function recordWord(kind: u32, record: u32, extra: u64, previous: usize): void {
  const entry = next()
  store<u32>(entry, kind)
  store<u32>(entry, record, 4)
  store<u64>(entry, extra, 8)
  copyWord(entry + 16, previous)
}

/** Records a change of a number. */
export function recordNumber(kind: u32, record: u32, extra: u64): void {
  const entry = next()
  store<u32>(entry, kind)
  store<u32>(entry, record, 4)
  store<u64>(entry, extra, 8)
}

/** Undoes everything after `length` entries. */
export function revertTo(length: u32): void {
  const stop = base + <usize>length * ENTRY_BYTES
  while (end > stop) {
    end -= ENTRY_BYTES
    undo(load<u32>(end), load<u32>(end, 4), load<u64>(end, 8), end + 16)
  }
}
