/**
 * Open-addressing index tables from a key's hash to a record number. The hash is keyed by secrets of the process
 * (NH of UMAC: a sum of products of 32-bit halves plus secrets), since callers of contracts choose the keys: two
 * different keys collide with probability 2^-32 whatever an attacker does who does not know the secrets.
 *
 * A table is a heap block of entries {u32 tag, u32 record}; record 0 means free. It is at most half full, and an
 * insertion that walks PROBE_MAX entries doubles it, so probes stay short.
 *
 * The three tables (accounts, slots, transient cells) each have a search, an insertion and a growth of their own that
 * look alike. One generic for all would need a place of its own for each table's addresses and sizes, which are globals
 * now, and a generic of AssemblyScript has no globals a type; in memory they are loaded anew after every store, on the
 * way of each SLOAD. Tried for accounts and slots (2026-11-30): no gain, 900 bytes more code, warm slots between equal and
 * 4 % slower on a busy machine. Keys, owners and what a free entry is differ as well, so some 25 lines would be saved.
 */
import { ENV_HASH_KEYS } from './layout'
import { FAULT_BUG, fail } from './status'

/** Longest walk of an insertion before the table doubles. */
export const PROBE_MAX: u32 = 64

// @ts-ignore: decorator
@inline
function pair(limb: u64, at: usize): u64 {
  const key = load<u64>(ENV_HASH_KEYS + at)
  const low = (limb + key) & 0xffffffff
  const high = ((limb >> 32) + (key >> 32)) & 0xffffffff
  return low * high
}

// @ts-ignore: decorator
@inline
function finishHash(sum: u64): u64 {
  sum ^= sum >> 32
  sum *= load<u64>(ENV_HASH_KEYS, 40) | 1
  return sum ^ (sum >> 29)
}

/** Hash of a word. */
// @ts-ignore: decorator
@inline
export function hashWord(word: usize): u64 {
  return finishHash(
    pair(load<u64>(word), 0) +
      pair(load<u64>(word, 8), 8) +
      pair(load<u64>(word, 16), 16) +
      pair(load<u64>(word, 24), 24),
  )
}

/** Hash of a word under an account's number. */
// @ts-ignore: decorator
@inline
export function hashCell(account: u32, word: usize): u64 {
  return finishHash(
    pair(load<u64>(word), 0) +
      pair(load<u64>(word, 8), 8) +
      pair(load<u64>(word, 16), 16) +
      pair(load<u64>(word, 24), 24) +
      u64(account) * (load<u64>(ENV_HASH_KEYS, 32) | 1),
  )
}

/** Hash of an address: a word of which the upper 12 bytes are ignored. */
// @ts-ignore: decorator
@inline
export function hashAddress(a0: u64, a1: u64, a2: u64): u64 {
  return finishHash(pair(a0, 0) + pair(a1, 8) + pair(a2, 16))
}

/** Part of the hash kept in an entry; never 0. */
// @ts-ignore: decorator
@inline
export function tagOf(hash: u64): u32 {
  return u32(hash) | 1
}

/** First entry to look at in a table of 1 << `bits` entries. */
// @ts-ignore: decorator
@inline
export function slotOf(hash: u64, bits: u32): u32 {
  return u32(hash >> (64 - u64(bits)))
}

/** Enters `record` in a table that has room; false where the walk was too long. */
export function enter(table: usize, bits: u32, hash: u64, record: u32): bool {
  const mask = (u32(1) << bits) - 1
  let slot = slotOf(hash, bits)
  for (let probe: u32 = 0; probe < PROBE_MAX; probe++) {
    const entry = table + ((<usize>slot) << 3)
    if (load<u32>(entry, 4) == 0) {
      store<u32>(entry, tagOf(hash))
      store<u32>(entry, record, 4)
      return true
    }
    slot = (slot + 1) & mask
  }
  return false
}

/**
 * Bits of a table for the next block: one less where the last one used less than an eighth of what it may hold. A
 * table is cleared whole, so without this one big block would cost every later one a clearing of many MiB.
 */
export function bitsAfter(bits: u32, count: u32, least: u32): u32 {
  return bits > least && count << 4 < u32(1) << bits ? bits - 1 : bits
}

export function clearTable(table: usize, bits: u32): void {
  memory.fill(table, 0, (<usize>8) << bits)
}

/** Bits of a table never exceed 27: its block is 1 GiB then. */
export function checkBits(bits: u32): void {
  if (bits > 27) fail(FAULT_BUG)
}
