/** Accounts as in geth's test of its write sequence and its benchmark of commits. */
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../base/index.ts'
import { encodeRlp } from '../codec/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { Prng } from '../testing/index.ts'
import type { TrieChange } from './batch.ts'

/** Puts of so many new accounts, the same for the same count: nonce, balance, no storage, no code. */
export function gethAccounts(count: number): TrieChange[] {
  const prng = new Prng(count)
  return Array.from({ length: count }, () => {
    const nonce = prng.bytes(8)
    nonce[0]! = (nonce[0]! & 0x7f) | 1
    const balance = prng.bytes(prng.between(1, 32))
    balance[0]! |= 1
    const value = encodeRlp([nonce, balance, EMPTY_TRIE_ROOT, EMPTY_CODE_HASH])
    return { key: keccak256(prng.bytes(20)), value }
  })
}
