/** The faults of a trie, made in one place so that all of them name the node in the same way. */
import { toBareHex, toHex, VarveError } from '../base/index.ts'

/** A path as text: a hex digit a nibble. */
export function pathText(path: Uint8Array): string {
  let text = ''
  for (const nibble of path) text += nibble.toString(16)
  return text
}

export function nodeMissing(path: Uint8Array, hash: Uint8Array): VarveError<TrieErrorCode> {
  const [pathDigits, hashDigits] = [pathText(path), toHex(hash)]
  return new VarveError(
    'TRIE_NODE_MISSING',
    `trie node at path "${pathDigits}": expected one with hash ${hashDigits}, the reader has none`,
    { path: pathDigits, hash: hashDigits },
  )
}

export function nodeInvalid(
  path: Uint8Array,
  hash: Uint8Array,
  problem: string,
): VarveError<TrieErrorCode> {
  const [pathDigits, hashDigits] = [pathText(path), toHex(hash)]
  return new VarveError(
    'TRIE_NODE_INVALID',
    `trie node at path "${pathDigits}" with hash ${hashDigits}: ${problem}`,
    { path: pathDigits, hash: hashDigits, problem },
  )
}

export function keyInvalid(key: Uint8Array, bytesMax: number): VarveError<TrieErrorCode> {
  return new VarveError(
    'TRIE_KEY_INVALID',
    `trie key: expected at most ${bytesMax} bytes, got ${key.length}`,
    { keyBytes: key.length },
  )
}

export function valueInvalid(
  key: Uint8Array,
  value: Uint8Array,
  bytesMax: number,
): VarveError<TrieErrorCode> {
  return new VarveError(
    'TRIE_VALUE_INVALID',
    `value of trie key ${toBareHex(key)}: expected 1 to ${bytesMax} bytes, got ${value.length}`,
    { valueBytes: value.length },
  )
}

export function trieDisposed(): VarveError<TrieErrorCode> {
  return new VarveError('TRIE_DISPOSED', 'the trie was disposed of')
}

export function trieBusy(): VarveError<TrieErrorCode> {
  return new VarveError('TRIE_BUSY', 'the trie is closed: a commit of it has not ended')
}

/** Error codes of the trie. */
export type TrieErrorCode =
  /** A node that the root commits to is not where the reader looks. */
  | 'TRIE_NODE_MISSING'
  /** A node has another hash than its parent says, or is no canonical trie node. */
  | 'TRIE_NODE_INVALID'
  /** A key is too long. */
  | 'TRIE_KEY_INVALID'
  /** A value is too long, or empty where values may not be. */
  | 'TRIE_VALUE_INVALID'
  /** The trie was used after `dispose`. */
  | 'TRIE_DISPOSED'
  /** The trie was used while the pieces of a commit were out. */
  | 'TRIE_BUSY'
