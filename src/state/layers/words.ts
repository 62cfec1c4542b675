/**
 * Values of a state as words of a layer and back. A key is 8 words, most significant first, so that words compare as
 * bytes do; a value is 8 words, least significant first.
 */
import { EMPTY_CODE_HASH, HASH_BYTES } from '../../base/index.ts'
import { type Account, accountHasCode } from '../account.ts'
import {
  ACCOUNT_CODE_WORDS,
  ACCOUNT_WORDS,
  FLAG_AFTER,
  FLAG_AFTER_CODE,
  FLAG_BEFORE,
  FLAG_BEFORE_CODE,
  HASH_WORDS,
} from './nodeLayout.ts'

const limbs = new BigUint64Array(4)
const limbWords = new Uint32Array(limbs.buffer)
const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1
/** Where word `index` of an integer lies in `limbWords`: as it is, but on a big-endian machine. */
const WORD_FLIP = isLittleEndian ? 0 : 1

/** Reads 4 big-endian bytes; as a signed number, which a word array stores alike. */
function wordAt(bytes: Uint8Array, offset: number): number {
  return (
    (bytes[offset]! << 24) |
    (bytes[offset + 1]! << 16) |
    (bytes[offset + 2]! << 8) |
    bytes[offset + 3]!
  )
}

function writeWord(bytes: Uint8Array, offset: number, word: number): void {
  bytes[offset] = word >>> 24
  bytes[offset + 1] = word >>> 16
  bytes[offset + 2] = word >>> 8
  bytes[offset + 3] = word
}

/** Writes the 8 words of a hash of 32 bytes at `word`. */
export function writeHash(words: Uint32Array, word: number, hash: Uint8Array): void {
  for (let index = 0; index < HASH_WORDS; index++) words[word + index] = wordAt(hash, index * 4)
}

/** The 32 bytes of a hash, fresh. */
export function readHash(words: Uint32Array, word: number): Uint8Array {
  const hash = new Uint8Array(HASH_BYTES)
  for (let index = 0; index < HASH_WORDS; index++) writeWord(hash, index * 4, words[word + index]!)
  return hash
}

/** Writes a value of 32 big-endian bytes, least significant word first. */
export function writeValue(words: Uint32Array, word: number, value: Uint8Array): void {
  for (let index = 0; index < HASH_WORDS; index++)
    words[word + index] = wordAt(value, HASH_BYTES - 4 - index * 4)
}

/** A value as 32 big-endian bytes, fresh. */
export function readValue(words: Uint32Array, word: number): Uint8Array {
  const value = new Uint8Array(HASH_BYTES)
  for (let index = 0; index < HASH_WORDS; index++)
    writeWord(value, HASH_BYTES - 4 - index * 4, words[word + index]!)
  return value
}

/** Words that an account takes: 0, 10 or 18. */
export function accountWords(account: Account | undefined): number {
  if (account === undefined) return 0
  return accountHasCode(account) ? ACCOUNT_CODE_WORDS : ACCOUNT_WORDS
}

/** Flags of a leaf with these accounts. */
export function accountFlags(before: Account | undefined, after: Account | undefined): number {
  return (
    (before === undefined ? 0 : FLAG_BEFORE | (accountHasCode(before) ? FLAG_BEFORE_CODE : 0)) |
    (after === undefined ? 0 : FLAG_AFTER | (accountHasCode(after) ? FLAG_AFTER_CODE : 0))
  )
}

/** Writes nonce, balance, and the code hash where there is code: 10 or 18 words. */
export function writeAccount(words: Uint32Array, word: number, account: Account): void {
  writeInteger(words, word, 2, account.nonce)
  writeInteger(words, word + 2, HASH_WORDS, account.balance)
  if (accountHasCode(account)) writeHash(words, word + ACCOUNT_WORDS, account.codeHash)
}

/** An account from its words, fresh. */
export function readAccount(words: Uint32Array, word: number, hasCode: boolean): Account {
  return {
    nonce: readInteger(words, word, 2),
    balance: readInteger(words, word + 2, HASH_WORDS),
    codeHash: hasCode ? readHash(words, word + ACCOUNT_WORDS) : EMPTY_CODE_HASH,
  }
}

function writeInteger(words: Uint32Array, word: number, wordCount: number, value: bigint): void {
  // A typed array takes the lowest 64 bits of what is put into it.
  let rest = value
  for (let index = 0; index < wordCount; index += 2) {
    if (rest === 0n) {
      words[word + index] = 0
      words[word + index + 1] = 0
      continue
    }
    limbs[0] = rest
    words[word + index] = limbWords[WORD_FLIP]!
    words[word + index + 1] = limbWords[1 ^ WORD_FLIP]!
    rest >>= 64n
  }
}

function readInteger(words: Uint32Array, word: number, wordCount: number): bigint {
  let used = wordCount
  while (used > 0 && words[word + used - 1] === 0) used--
  if (used === 0) return 0n
  let value = 0n
  for (let index = (used - 1) & ~1; index >= 0; index -= 2) {
    limbWords[WORD_FLIP] = words[word + index]!
    limbWords[1 ^ WORD_FLIP] = words[word + index + 1]!
    value = index === ((used - 1) & ~1) ? limbs[0]! : (value << 64n) | limbs[0]!
  }
  return value
}
