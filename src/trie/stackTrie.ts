/**
 * The root of pairs that come in key order, with memory for one path: only the branches between the root and the last
 * key are open, and each is closed to a reference as soon as a key leaves it.
 *
 *     last key   1 2 7 7 a        open branches at nibble 1 and 3, the last pair still without a place
 *     next key   1 2 8 …          2 nibbles in common: the pair goes into the branch at 3, which is closed into a new
 *                                 branch at 2
 *
 * Used for the roots of transactions, receipts and withdrawals, and, with a sink for its nodes, to make the tries of a
 * state of any size from sorted accounts. Not here: reading back, deleting, node sets; that is `Trie`.
 */
import {
  assert,
  bytesCompare,
  EMPTY_BYTES,
  EMPTY_TRIE_ROOT,
  HASH_BYTES,
  TRIE_KEY_BYTES_MAX,
  TRIE_VALUE_BYTES_MAX,
  toHex,
  VarveError,
} from '../base/index.ts'
import { encodeRlp, type RlpInput } from '../codec/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { keyInvalid, valueInvalid } from './faults.ts'
import { hexPrefix, lentLeaf } from './leafNode.ts'
import { commonNibbles, nibbleAt } from './nibbles.ts'

/** A branch on the path of the last key. */
type OpenBranch = {
  /** Nibbles before it. */
  readonly depth: number
  /** 16 references, then the value. */
  readonly items: RlpInput[]
}

/**
 * Takes each node that is stored: the root, and what has 32 bytes and more. Children come before their parents.
 * @param key packed; the node's path is its first `depth` nibbles. Lent for the call, as `encoding` is.
 */
export type StackTrieSink = (
  key: Uint8Array,
  depth: number,
  encoding: Uint8Array,
  isLeaf: boolean,
) => void

export class StackTrie {
  /** From the root down. */
  private readonly open: OpenBranch[] = []
  private key: Uint8Array | undefined
  private value: Uint8Array = EMPTY_BYTES
  private isFinished = false
  private readonly sink: StackTrieSink | undefined

  /** @param sink for whoever keeps the nodes */
  constructor(sink?: StackTrieSink) {
    this.sink = sink
  }

  /**
   * Adds a pair. Both arrays are kept until the next call.
   * @param key above the last one; one key may be the beginning of the next
   * @param value not empty
   * @throws VarveError TRIE_KEY_ORDER, TRIE_KEY_INVALID, TRIE_VALUE_INVALID
   */
  add(key: Uint8Array, value: Uint8Array): void {
    assert(!this.isFinished, 'stack trie: it is finished')
    if (key.length > TRIE_KEY_BYTES_MAX) throw keyInvalid(key, TRIE_KEY_BYTES_MAX)
    if (value.length === 0 || value.length > TRIE_VALUE_BYTES_MAX)
      throw valueInvalid(key, value, TRIE_VALUE_BYTES_MAX)
    const last = this.key
    if (last !== undefined) {
      if (bytesCompare(last, key) >= 0)
        throw new VarveError<StackTrieErrorCode>(
          'TRIE_KEY_ORDER',
          `stack trie: expected a key above ${toHex(last)}, got ${toHex(key)}`,
        )
      const limit = 2 * Math.min(last.length, key.length)
      this.settle(last, commonNibbles(last, 0, key, 0, 0, limit))
    }
    this.key = key
    this.value = value
  }

  /** The root of what was added, 32 fresh bytes. Ends the use of the stack trie. */
  finish(): Uint8Array {
    assert(!this.isFinished, 'stack trie: it is finished')
    this.isFinished = true
    const { key } = this
    if (key === undefined) return Uint8Array.from(EMPTY_TRIE_ROOT)
    if (this.open.length === 0) return this.root(key, lentLeaf(key, 0, this.value), true)
    this.place(key, this.open.at(-1)!)
    while (this.open.length > 1) this.closeInto(key, this.open[this.open.length - 2]!)
    return this.root(key, this.closed(key, 0), false)
  }

  /** Places the last pair and closes what the next key leaves; the two share `shared` nibbles. */
  private settle(key: Uint8Array, shared: number): void {
    const { open } = this
    const top = open.at(-1)
    if (top === undefined || top.depth < shared) open.push(newBranch(shared))
    this.place(key, open.at(-1)!)
    while (open.at(-1)!.depth > shared) {
      const parent = open[open.length - 2]
      if (parent !== undefined && parent.depth >= shared) this.closeInto(key, parent)
      else {
        const fork = newBranch(shared)
        this.closeInto(key, fork)
        open.push(fork)
      }
    }
  }

  private place(key: Uint8Array, branch: OpenBranch): void {
    const { depth, items } = branch
    if (2 * key.length === depth) items[16] = this.value
    else
      items[nibbleAt(key, 0, depth)] = this.reference(
        key,
        depth + 1,
        lentLeaf(key, depth + 1, this.value),
        true,
      )
  }

  /** Closes the innermost branch and puts its reference into `parent`. */
  private closeInto(key: Uint8Array, parent: OpenBranch): void {
    const start = parent.depth + 1
    const encoding = this.closed(key, start)
    parent.items[nibbleAt(key, 0, parent.depth)] = this.reference(key, start, encoding, false)
  }

  /** Takes the innermost branch off; its encoding with what leads to it from nibble `start` on. */
  private closed(key: Uint8Array, start: number): Uint8Array {
    const { depth, items } = this.open.pop()!
    const branch = encodeRlp(items)
    if (depth === start) return branch
    const below = this.reference(key, depth, branch, false)
    return encodeRlp([hexPrefix(key, start, depth, false), below])
  }

  /** What stands for a node in its parent. Keeps nothing of `encoding`. */
  private reference(
    key: Uint8Array,
    depth: number,
    encoding: Uint8Array,
    isLeaf: boolean,
  ): RlpInput {
    if (encoding.length < HASH_BYTES) return { raw: encoding.slice() }
    this.sink?.(key, depth, encoding, isLeaf)
    return keccak256(encoding)
  }

  private root(key: Uint8Array, encoding: Uint8Array, isLeaf: boolean): Uint8Array {
    this.sink?.(key, 0, encoding, isLeaf)
    return keccak256(encoding)
  }
}

/**
 * The root over a list, as block headers have it: keys are the RLP of the indexes.
 * @param items encoded transactions, receipts or withdrawals
 * @see Yellow Paper, section 4.3.2
 */
export function orderedRoot(items: readonly Uint8Array[]): Uint8Array {
  const stack = new StackTrie()
  // RLP of 0 is 0x80: it comes after 1 to 127, which are bytes of their own, and before 0x81 and two bytes.
  const singleByteEnd = Math.min(items.length, 128)
  for (let index = 1; index < singleByteEnd; index++) stack.add(indexKey(index), items[index]!)
  if (items.length > 0) stack.add(indexKey(0), items[0]!)
  for (let index = 128; index < items.length; index++) stack.add(indexKey(index), items[index]!)
  return stack.finish()
}

/** Keys that are kept: more than a block has transactions, as a rule. */
const INDEX_KEYS_KEPT = 2048
const indexKeys: Uint8Array[] = []

function indexKey(index: number): Uint8Array {
  if (index >= INDEX_KEYS_KEPT) return encodeRlp(index)
  while (indexKeys.length <= index) indexKeys.push(encodeRlp(indexKeys.length))
  return indexKeys[index]!
}

function newBranch(depth: number): OpenBranch {
  return { depth, items: new Array<RlpInput>(17).fill(EMPTY_BYTES) }
}

/** Error codes of this module. */
export type StackTrieErrorCode =
  /** Keys did not come in ascending order. */
  'TRIE_KEY_ORDER'
