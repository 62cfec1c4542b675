/** What the leaves of a layer's tries say, as values of the state. */
import { type ChunkHandle, SEGMENT_MASK, SEGMENT_SHIFT } from '../../arena/index.ts'
import { VERIFY } from '../../base/index.ts'
import type { Account } from '../account.ts'
import {
  ACCOUNT_SLOTS_WORD,
  ACCOUNT_VALUE_WORD,
  afterWord,
  FLAG_AFTER,
  FLAG_AFTER_CODE,
  FLAG_BEFORE,
  FLAG_BEFORE_CODE,
  NUMBER_WORD,
  PREVIOUS_WORD,
  SLOT_VALUE_WORD,
} from './nodeLayout.ts'
import { checkNode, type NodeReference } from './trieReader.ts'
import { readAccount, readValue } from './words.ts'

/** The account that a leaf says, `undefined` where it says that there is none. Fresh. */
export function accountAfter(words: Uint32Array, word: number): Account | undefined {
  const header = words[word]!
  if ((header & FLAG_AFTER) === 0) return undefined
  return readAccount(words, word + afterWord(header), (header & FLAG_AFTER_CODE) !== 0)
}

/** The account before the layer of this leaf. Fresh. */
export function accountBefore(words: Uint32Array, word: number): Account | undefined {
  const header = words[word]!
  if ((header & FLAG_BEFORE) === 0) return undefined
  return readAccount(words, word + ACCOUNT_VALUE_WORD, (header & FLAG_BEFORE_CODE) !== 0)
}

/**
 * The slot's 32 bytes that a leaf says, `undefined` for zero. Fresh.
 * @param clearedNumber layer that last cleared the account's storage, or 0: what was written before it is zero
 */
export function slotAfter(
  words: Uint32Array,
  word: number,
  clearedNumber: number,
): Uint8Array | undefined {
  const header = words[word]!
  if ((header & FLAG_AFTER) === 0 || words[word + NUMBER_WORD]! < clearedNumber) return undefined
  return readValue(words, word + afterWord(header))
}

/** The slot's 32 bytes before the layer of this leaf, `undefined` for zero. Fresh. */
export function slotBefore(words: Uint32Array, word: number): Uint8Array | undefined {
  return (words[word]! & FLAG_BEFORE) === 0 ? undefined : readValue(words, word + SLOT_VALUE_WORD)
}

/** Number of the newest layer that wrote a slot of an account's leaf. */
export function slotsNumber(words: Uint32Array, word: number): number {
  return words[word + ACCOUNT_SLOTS_WORD + 1]!
}

/** Root of the slots of an account's leaf. */
export function slotRootOf(words: Uint32Array, word: number): NodeReference {
  return {
    handle: words[word + ACCOUNT_SLOTS_WORD]! as ChunkHandle,
    number: words[word + ACCOUNT_SLOTS_WORD + 1]!,
  }
}

/**
 * The oldest leaf of the same key above the base: its value from before is the one at the base.
 * Cost: one step for each layer that wrote the key.
 */
export function oldestLeaf(
  segments: readonly Uint32Array[],
  words: Uint32Array,
  word: number,
  baseNumber: number,
): { readonly words: Uint32Array; readonly word: number } {
  for (;;) {
    const number = words[word + PREVIOUS_WORD + 1]!
    if (number <= baseNumber) return { words, word }
    const previous = words[word + PREVIOUS_WORD]! as ChunkHandle
    words = segments[previous >>> SEGMENT_SHIFT]!
    word = (previous & SEGMENT_MASK) * 2
    if (VERIFY) checkNode(words, word, number)
  }
}
