/**
 * The value of a leaf of the account trie: RLP [nonce, balance, storageRoot, codeHash] (Yellow Paper, section 4.1).
 * The only meeting point of account and trie: `state/` knows no roots, `trie/` knows no accounts.
 */
import { HASH_BYTES } from '../base/index.ts'
import { encodeRlp, RlpReader } from '../codec/index.ts'
import type { Account } from '../state/index.ts'

/** What the trie commits to for one account. */
export type AccountLeaf = Account & { readonly storageRoot: Uint8Array }

/** Encodes a leaf: 70 bytes for an empty account, at most 110. */
export function encodeAccountLeaf(account: Account, storageRoot: Uint8Array): Uint8Array {
  return encodeRlp([account.nonce, account.balance, storageRoot, account.codeHash])
}

/** Decodes a leaf, strictly. @throws VarveError RLP_* */
export function decodeAccountLeaf(bytes: Uint8Array): AccountLeaf {
  const reader = new RlpReader(bytes)
  const outerEnd = reader.openList('account leaf')
  const nonce = reader.readBigint(8, 'nonce')
  const balance = reader.readBigint(32, 'balance')
  const storageRoot = reader.readFixed(HASH_BYTES, 'storageRoot')
  const codeHash = reader.readFixed(HASH_BYTES, 'codeHash')
  reader.closeList(outerEnd, 'account leaf')
  reader.finish('account leaf')
  return { nonce, balance, storageRoot, codeHash }
}

/** The value of a leaf of a storage trie: RLP of the slot without leading zeros. */
export function encodeSlotLeaf(value: Uint8Array): Uint8Array {
  let start = 0
  while (start < value.length && value[start] === 0) start++
  return encodeRlp(value.subarray(start))
}
