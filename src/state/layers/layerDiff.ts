/**
 * What differs between two versions, out of the links of the layers alone. A leaf knows its value and the one before
 * its layer, and points to the older leaf of its key; the value at the base is what the oldest leaf above it had
 * before. Order is that of the trie, so shard after shard gives the whole.
 *
 * Where the deltas of the layers are complete, so is the difference: slots that a clearing took are listed, with their
 * values from before, and all that the account has after it.
 */
import { accountsEqual } from '../account.ts'
import { type AccountChange, type CodeChange, type SlotChange, slotsEqual } from '../delta.ts'
import {
  accountAfter,
  accountBefore,
  oldestLeaf,
  slotAfter,
  slotBefore,
  slotRootOf,
  slotsNumber,
} from './leafReader.ts'
import type { MapLayer } from './mapLayer.ts'
import { ACCOUNT_CLEARED_WORD, CODE_PLACE_WORD, CODE_SHELF_WORD, KEY_WORD } from './nodeLayout.ts'
import { type NodeReference, shardOf, someLeaf } from './trieReader.ts'
import { readHash } from './words.ts'

/**
 * What another thread needs to make a difference of accounts: numbers and shared memory, so a message can carry it.
 * Good as long as the view that it is of is open; the layers that it names are never written again.
 */
export type DiffSource = {
  readonly segments: readonly Uint32Array[]
  readonly accounts: NodeReference
  readonly baseNumber: number
}

/** The accounts that differ, of one shard or of all, in trie order. */
export function diffAccounts(source: DiffSource, shard?: number): AccountChange[] {
  const changes: AccountChange[] = []
  eachAccountChange(source, (change) => changes.push(change), shard)
  return changes
}

/**
 * Visits the accounts that differ, in trie order. What a visitor does not keep is gone at once: of a large difference
 * no list lies in memory.
 */
export function eachAccountChange(
  source: DiffSource,
  visit: (change: AccountChange) => void,
  shard?: number,
): void {
  const { segments, accounts, baseNumber } = source
  someLeaf(segments, partOf(source, accounts, shard), baseNumber, (words, word) => {
    const change = accountChange(segments, words, word, baseNumber)
    if (change !== undefined) visit(change)
    return false
  })
}

/** The codes that came with the layers of a view up to `top`, in the order of their hashes. */
export function diffCodes(source: DiffSource, top: MapLayer, shard?: number): CodeChange[] {
  const codes: CodeChange[] = []
  const root = partOf(source, top.codes, shard)
  someLeaf(source.segments, root, source.baseNumber, (words, word) => {
    const shelf = top.tree.shelves[words[word + CODE_SHELF_WORD]!]!
    const code = shelf[words[word + CODE_PLACE_WORD]!]!
    codes.push({ codeHash: readHash(words, word + KEY_WORD), code })
    return false
  })
  return codes
}

function partOf(
  { segments, baseNumber }: DiffSource,
  root: NodeReference,
  shard: number | undefined,
): NodeReference {
  return shard === undefined ? root : shardOf(segments, root, baseNumber, shard)
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
  const slots =
    slotsNumber(words, word) <= baseNumber
      ? NO_SLOTS
      : slotChanges(segments, slotRootOf(words, word), {
          baseNumber,
          clearedNumber,
          storageCleared,
        })
  if (!storageCleared && slots.length === 0 && accountsEqual(before, after)) return undefined
  return { addressHash: readHash(words, word + KEY_WORD), before, after, storageCleared, slots }
}

const NO_SLOTS: readonly SlotChange[] = []

type SlotSpan = {
  readonly baseNumber: number
  readonly clearedNumber: number
  readonly storageCleared: boolean
}

function slotChanges(
  segments: readonly Uint32Array[],
  root: NodeReference,
  span: SlotSpan,
): SlotChange[] {
  const slots: SlotChange[] = []
  someLeaf(segments, root, span.baseNumber, (words, word) => {
    const change = slotChange(segments, words, word, span)
    // Whoever clears the storage must set again what is as it was.
    const isNeeded = span.storageCleared
      ? change.before !== undefined || change.after !== undefined
      : !slotsEqual(change.before, change.after)
    if (isNeeded) slots.push(change)
    return false
  })
  return slots
}

function slotChange(
  segments: readonly Uint32Array[],
  words: Uint32Array,
  word: number,
  { baseNumber, clearedNumber }: SlotSpan,
): SlotChange {
  const oldest = oldestLeaf(segments, words, word, baseNumber)
  const before = slotBefore(oldest.words, oldest.word)
  const after = slotAfter(words, word, clearedNumber)
  return { slotHash: readHash(words, word + KEY_WORD), before, after }
}
