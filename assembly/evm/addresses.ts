/** Addresses of accounts as words, and those of new contracts. */
import { hashOne } from '../keccak/sponge'
import { account } from './accounts'
import { HASH_SCRATCH, SCRATCH } from './layout'
import { readBytes, writeBytes } from './word'

/** A word for an address: a created one, or one that an operation passes on. */
export const ADDRESS_WORD: usize = SCRATCH + 608
const PREIMAGE: usize = SCRATCH + 640

/** Last 20 bytes of keccak(rlp([creator, nonce])), as a word at ADDRESS_WORD. */
export function createdAddress(creator: u32, nonce: u64): void {
  const nonceBytes: u32 = nonce == 0 ? 0 : 8 - u32(clz<u64>(nonce) >> 3)
  const small = nonce != 0 && nonce < 0x80
  const listBytes: u32 = 21 + (small || nonce == 0 ? 1 : 1 + nonceBytes)
  store<u8>(PREIMAGE, u8(0xc0 + listBytes))
  store<u8>(PREIMAGE, 0x94, 1)
  writeAddress(creator, PREIMAGE + 2)
  if (nonce == 0) store<u8>(PREIMAGE, 0x80, 22)
  else if (small) store<u8>(PREIMAGE, u8(nonce), 22)
  else {
    store<u8>(PREIMAGE, u8(0x80 + nonceBytes), 22)
    for (let at: u32 = 0; at < nonceBytes; at++) {
      store<u8>(PREIMAGE + 23 + at, u8(nonce >> (u64(nonceBytes - 1 - at) << 3)))
    }
  }
  hashToAddress(1 + listBytes)
}

/** Last 20 bytes of keccak(0xff, creator, salt, keccak(init code)) (EIP-1014). */
export function createdAddressSalted(creator: u32, salt: usize, code: usize, size: u32): void {
  store<u8>(PREIMAGE, 0xff)
  writeAddress(creator, PREIMAGE + 1)
  writeBytes(salt, PREIMAGE + 21)
  hashOne(code, size, PREIMAGE + 53, HASH_SCRATCH)
  hashToAddress(85)
}

function hashToAddress(size: u32): void {
  const hash = PREIMAGE + 96
  hashOne(PREIMAGE, size, hash, HASH_SCRATCH)
  readBytes(hash, ADDRESS_WORD)
  maskAddress(ADDRESS_WORD)
}

function writeAddress(index: u32, to: usize): void {
  const record = account(index)
  for (let at: usize = 0; at < 20; at++) store<u8>(to + 19 - at, load<u8>(record + at))
}

// @ts-ignore: decorator
@inline
export function maskAddress(word: usize): void {
  store<u64>(word, load<u64>(word, 16) & 0xffffffff, 16)
  store<u64>(word, 0, 24)
}

/** Writes the account's address as a word. */
// @ts-ignore: decorator
@inline
export function addressWord(index: u32, to: usize): void {
  const record = account(index)
  store<u64>(to, load<u64>(record))
  store<u64>(to, load<u64>(record, 8), 8)
  store<u64>(to, u64(load<u32>(record, 16)), 16)
  store<u64>(to, 0, 24)
}
