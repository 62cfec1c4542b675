/**
 * Nodes of a layer's tries: words of a chunk arena, addressed by handle, each written once and read until its layer
 * goes. A reference to a node is two words: its handle, and the number of the newest layer that wrote beneath it. The
 * number stands beside the handle and not in the node, so that a node of a layer that is gone is never touched.
 *
 *     word 0     kind (8 bits) | flags (8) | used children (16, branch only)
 *     word 1     number of the layer that made the node
 *
 *     branch     2   (handle, number) of each used child, ascending by nibble
 *     slot       2   slot hash           8 words, most significant first
 *                10  (handle, number) of the version before, or 0 0
 *                12  value before        8 words, if FLAG_BEFORE
 *                ..  value               8 words, if FLAG_AFTER
 *     account    2   address hash        8 words
 *                10  (handle, number) of the version before, or 0 0
 *                12  (handle, number) of the root of its slots
 *                14  number of the layer that last cleared its storage, or 0: slots of older layers are zero
 *                15  unused
 *                16  account before      10 words, if FLAG_BEFORE; 18 with FLAG_BEFORE_CODE
 *                ..  account             10 words, if FLAG_AFTER; 18 with FLAG_AFTER_CODE
 *     code       2   code hash           8 words
 *                10  shelf of the layer, place on it
 *
 *     value      a 256-bit integer, least significant word first: the form of the machine's stack
 *     account    nonce 2 words, balance 8 words as a value, code hash 8 words as a hash
 *
 * Keys are hashes of 32 bytes and their nibbles are the path, so order in the trie is order in the state trie, and the
 * 16 children of a root are the shards. Only leaves are lifted: a leaf stands at the first place that it has alone.
 */
import { assert } from '../../base/index.ts'

export const NodeKind = { Branch: 1, Slot: 2, Account: 3, Code: 4 } as const
export type NodeKind = (typeof NodeKind)[keyof typeof NodeKind]

export const KIND_MASK = 0xff
/** The key had a value before the layer of this leaf. */
export const FLAG_BEFORE = 0x100
/** The key has a value. Without it the leaf says that there is none: it hides what lies below. */
export const FLAG_AFTER = 0x200
export const FLAG_BEFORE_CODE = 0x400
export const FLAG_AFTER_CODE = 0x800
export const CHILDREN_SHIFT = 16

export const NUMBER_WORD = 1
export const BRANCH_CHILD_WORD = 2
export const KEY_WORD = 2
export const PREVIOUS_WORD = 10
export const SLOT_VALUE_WORD = 12
export const ACCOUNT_SLOTS_WORD = 12
export const ACCOUNT_CLEARED_WORD = 14
export const ACCOUNT_VALUE_WORD = 16
export const CODE_SHELF_WORD = 10
export const CODE_PLACE_WORD = 11
export const CODE_WORDS = 12

/** Words of a key or a 256-bit value. */
export const HASH_WORDS = 8
/** Words of an account: nonce, balance. */
export const ACCOUNT_WORDS = 10
/** Words of an account that has code: nonce, balance, code hash. */
export const ACCOUNT_CODE_WORDS = ACCOUNT_WORDS + HASH_WORDS
/** Nibbles of a key: no path is longer. */
export const PATH_NIBBLES = 64
export const BRANCH_FACTOR = 16
/** The shards of a map: children of its root, by the first nibble of the key. */
export const SHARD_COUNT = BRANCH_FACTOR

assert(KEY_WORD + HASH_WORDS === PREVIOUS_WORD, 'layer node: the key ends where the links begin')
assert(SLOT_VALUE_WORD === PREVIOUS_WORD + 2, 'layer node: a slot has one link')
assert(ACCOUNT_VALUE_WORD % 2 === 0 && SLOT_VALUE_WORD % 2 === 0, 'layer node: whole units')

/** How many of the 16 bits are set. */
export function bitCount16(bits: number): number {
  let count = bits - ((bits >>> 1) & 0x5555)
  count = (count & 0x3333) + ((count >>> 2) & 0x3333)
  count = (count + (count >>> 4)) & 0x0f0f
  return (count + (count >>> 8)) & 0x1f
}

/** Word at which a leaf's value after its layer begins, counted from the node. */
export function afterWord(header: number): number {
  if ((header & KIND_MASK) === NodeKind.Slot)
    return SLOT_VALUE_WORD + ((header & FLAG_BEFORE) === 0 ? 0 : HASH_WORDS)
  if ((header & FLAG_BEFORE) === 0) return ACCOUNT_VALUE_WORD
  return (
    ACCOUNT_VALUE_WORD + ((header & FLAG_BEFORE_CODE) === 0 ? ACCOUNT_WORDS : ACCOUNT_CODE_WORDS)
  )
}
