/**
 * What differs between two versions, out of the links of the layers alone. A leaf knows its value and the one before
 * its layer, and points to the older leaf of its key; the value at the base is what the oldest leaf above it had
 * before. Order is that of the trie, so shard after shard gives the whole.
 *
 * Where the deltas of the layers are complete, so is the difference: slots that a clearing took are listed, with their
 * values from before, and all that the account has after it.
 */
import { accountsEqual } from '../account.ts'
import {
  type AccountChange,
  type CodeChange,
  type SlotChange,
  type StateDelta,
  slotsEqual,
} from '../delta.ts'
import {
  accountAfter,
  accountBefore,
  oldestLeaf,
  slotAfter,
  slotBefore,
  slotRootOf,
} from './leafReader.ts'
import type { MapLayer } from './mapLayer.ts'
import { ACCOUNT_CLEARED_WORD, CODE_PLACE_WORD, CODE_SHELF_WORD, KEY_WORD } from './nodeLayout.ts'
import { type NodeReference, shardOf, someLeaf } from './trieReader.ts'
import { readHash } from './words.ts'

/** The delta from `base` to `top`, of one shard or of all. The view between them is open. */
export function diffLayers(base: MapLayer, top: MapLayer, shard: number | undefined): StateDelta {
  const { segments } = top.tree.arena
  const baseNumber = base.number
  const accounts: AccountChange[] = []
  const codes: CodeChange[] = []
  const partOf = (root: NodeReference) =>
    shard === undefined ? root : shardOf(segments, root, baseNumber, shard)
  someLeaf(segments, partOf(top.accounts), baseNumber, (words, word) => {
    const change = accountChange(segments, words, word, baseNumber)
    if (change !== undefined) accounts.push(change)
    return false
  })
  someLeaf(segments, partOf(top.codes), baseNumber, (words, word) => {
    const shelf = top.tree.shelves[words[word + CODE_SHELF_WORD]!]!
    const code = shelf[words[word + CODE_PLACE_WORD]!]!
    codes.push({ codeHash: readHash(words, word + KEY_WORD), code })
    return false
  })
  return { accounts, codes }
}

function accountChange(
  segments: readonly Uint32Array[],
  words: Uint32Array,
  word: number,
  baseNumber: number,
): AccountChange | undefined {
  const oldest = oldestLeaf(segments, words, word, baseNumber)
  const before = accountBefore(oldest.words, oldest.word)
  const after = accountAfter(words, word)
  const clearedNumber = words[word + ACCOUNT_CLEARED_WORD]!
  const storageCleared = clearedNumber > baseNumber && before !== undefined
  const slots: SlotChange[] = []
  someLeaf(segments, slotRootOf(words, word), baseNumber, (leafWords, leafWord) => {
    const change = slotChange(segments, leafWords, leafWord, { baseNumber, clearedNumber })
    // Whoever clears the storage must set again what is as it was.
    const isNeeded = storageCleared
      ? change.before !== undefined || change.after !== undefined
      : !slotsEqual(change.before, change.after)
    if (isNeeded) slots.push(change)
    return false
  })
  if (!storageCleared && slots.length === 0 && accountsEqual(before, after)) return undefined
  return { addressHash: readHash(words, word + KEY_WORD), before, after, storageCleared, slots }
}

function slotChange(
  segments: readonly Uint32Array[],
  words: Uint32Array,
  word: number,
  { baseNumber, clearedNumber }: { readonly baseNumber: number; readonly clearedNumber: number },
): SlotChange {
  const oldest = oldestLeaf(segments, words, word, baseNumber)
  const before = slotBefore(oldest.words, oldest.word)
  const after = slotAfter(words, word, clearedNumber)
  return { slotHash: readHash(words, word + KEY_WORD), before, after }
}
