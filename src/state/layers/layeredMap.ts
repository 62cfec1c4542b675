/**
 * A view `(base, top]`: the newest value of every key that was written after `base`, up to `top`. It holds both layers
 * until it is closed. Reading follows one trie, however many layers the view has: each reference names the newest
 * layer beneath it, so a part that the base already holds is cut by one comparison.
 *
 *     find(hash)   root ─▶ branch ─▶ … ─▶ leaf      every step: number <= base.number ? nothing was written
 *
 * Cost of a read: one branch for each nibble that tells the keys apart (log16 of their count), no allocation up to the
 * leaf. Not here: what lies below the base (`layeredState.ts`).
 */
import { type ChunkHandle, NO_CHUNK, SEGMENT_MASK, SEGMENT_SHIFT } from '../../arena/index.ts'
import { assert, HASH_BYTES, VarveError, VERIFY } from '../../base/index.ts'
import type { Account } from '../account.ts'
import type { StateDelta } from '../delta.ts'
import { type DiffSource, diffAccounts, diffCodes } from './layerDiff.ts'
import { accountAfter, slotAfter, slotRootOf } from './leafReader.ts'
import type { MapLayer } from './mapLayer.ts'
import {
  ACCOUNT_CLEARED_WORD,
  ACCOUNT_SLOTS_WORD,
  CODE_PLACE_WORD,
  CODE_SHELF_WORD,
  KEY_WORD,
} from './nodeLayout.ts'
import { findLeaf, someLeaf } from './trieReader.ts'
import { readHash, writeHash } from './words.ts'

/** Answer of a layer: it knows nothing of the key, so whoever is below must be asked. */
export const UNWRITTEN = Symbol('unwritten')
export type Unwritten = typeof UNWRITTEN

const ADDRESS_WORDS = new Uint32Array(8)
const SLOT_WORDS = new Uint32Array(8)

export class LayeredMap {
  readonly base: MapLayer
  readonly top: MapLayer
  private isClosed = false

  /**
   * Opens a view and pins its layers.
   * @throws VarveError STATE_LAYER_RELEASED, STATE_VIEW_ILLEGAL
   */
  constructor(base: MapLayer, top: MapLayer) {
    top.checkViewAfter(base)
    this.base = base.pin()
    this.top = top.pin()
  }

  /** Lets both layers go. Closing twice is a fault. @throws VarveError STATE_LAYER_RELEASED */
  close(): void {
    this.checkOpen()
    this.isClosed = true
    this.top.release()
    this.base.release()
  }

  get isOpen(): boolean {
    return !this.isClosed
  }

  /** The same view once more, to be closed on its own. Cost: O(1). */
  fork(): LayeredMap {
    this.checkOpen()
    return new LayeredMap(this.base, this.top)
  }

  /** The account as last written, `undefined` where it was deleted. */
  account(addressHash: Uint8Array): Account | undefined | Unwritten {
    const leaf = this.findAccount(addressHash)
    if (leaf === NO_CHUNK) return UNWRITTEN
    return accountAfter(this.wordsOf(leaf), (leaf & SEGMENT_MASK) * 2)
  }

  /**
   * The slot's 32 bytes as last written, `undefined` where it is zero: written so, or cleared with the account's
   * whole storage.
   */
  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined | Unwritten {
    const account = this.findAccount(addressHash)
    if (account === NO_CHUNK) return UNWRITTEN
    const words = this.wordsOf(account)
    const word = (account & SEGMENT_MASK) * 2
    const clearedNumber = words[word + ACCOUNT_CLEARED_WORD]!
    const leaf = this.findSlot(words, word, slotHash)
    if (leaf === NO_CHUNK) return clearedNumber > this.base.number ? undefined : UNWRITTEN
    return slotAfter(this.wordsOf(leaf), (leaf & SEGMENT_MASK) * 2, clearedNumber)
  }

  /** A code that one of the layers brought. The layer's own array: never written to. */
  code(codeHash: Uint8Array): Uint8Array | Unwritten {
    this.checkOpen()
    const { tree, codes } = this.top
    if (codes.number <= this.base.number) return UNWRITTEN
    assert(codeHash.length === HASH_BYTES, 'a code hash has 32 bytes')
    writeHash(SLOT_WORDS, 0, codeHash)
    const leaf = findLeaf(
      tree.arena.segments,
      codes.handle,
      codes.number,
      this.base.number,
      SLOT_WORDS,
    )
    if (leaf === NO_CHUNK) return UNWRITTEN
    const words = this.wordsOf(leaf)
    const word = (leaf & SEGMENT_MASK) * 2
    const shelf = tree.shelves[words[word + CODE_SHELF_WORD]!]
    assert(shelf !== undefined, 'layer: the shelf of a live code is there')
    return shelf[words[word + CODE_PLACE_WORD]!]!
  }

  /** Whether older storage of the account is cut off: cleared, or deleted with the account, after the base. */
  isStorageCleared(addressHash: Uint8Array): boolean {
    const account = this.findAccount(addressHash)
    if (account === NO_CHUNK) return false
    return (
      this.wordsOf(account)[(account & SEGMENT_MASK) * 2 + ACCOUNT_CLEARED_WORD]! > this.base.number
    )
  }

  /**
   * The account's slots that were written after the base, in trie order; a zero, written or cleared, is `undefined`.
   * Stops where `visit` returns true, and returns whether it did.
   */
  visitSlots(
    addressHash: Uint8Array,
    visit: (slotHash: Uint8Array, value: Uint8Array | undefined) => boolean,
  ): boolean {
    const account = this.findAccount(addressHash)
    if (account === NO_CHUNK) return false
    const words = this.wordsOf(account)
    const word = (account & SEGMENT_MASK) * 2
    const root = slotRootOf(words, word)
    const clearedNumber = words[word + ACCOUNT_CLEARED_WORD]!
    const { segments } = this.top.tree.arena
    return someLeaf(segments, root, this.base.number, (leafWords, leafWord) =>
      visit(
        readHash(leafWords, leafWord + KEY_WORD),
        slotAfter(leafWords, leafWord, clearedNumber),
      ),
    )
  }

  /**
   * What differs between the state at `base` and the one at `top`, sorted in trie order, with the values from before.
   * Cost: what was written in between. @param shard 0 to 15 for the accounts of one shard alone
   */
  diff(shard?: number): StateDelta {
    const source = this.diffSource()
    return { accounts: diffAccounts(source, shard), codes: diffCodes(source, this.top, shard) }
  }

  /** What `diffAccounts` makes the same difference from on any thread, as long as this view is open. */
  diffSource(): DiffSource {
    this.checkOpen()
    const { tree, accounts } = this.top
    return { segments: tree.arena.segments, accounts, baseNumber: this.base.number }
  }

  /** Views of each layer alone, oldest first; each is to be closed. Their diffs are the deltas that were applied. */
  layers(): LayeredMap[] {
    this.checkOpen()
    const tops: MapLayer[] = []
    for (let layer = this.top; layer !== this.base; layer = layer.parentLayer!) tops.push(layer)
    return tops.reverse().map((layer) => new LayeredMap(layer.parentLayer!, layer))
  }

  /**
   * A new layer over this view, pinned once for the caller.
   * @throws VarveError ARENA_CHUNKS_FULL; nothing has changed then
   */
  spawn(delta: StateDelta): MapLayer {
    this.checkOpen()
    return this.top.tree.spawn(this.base, this.top, delta)
  }

  private findAccount(addressHash: Uint8Array): ChunkHandle {
    this.checkOpen()
    const { tree, accounts } = this.top
    const baseNumber = this.base.number
    if (accounts.number <= baseNumber) return NO_CHUNK
    if (VERIFY) assert(addressHash.length === HASH_BYTES, 'an address hash has 32 bytes')
    writeHash(ADDRESS_WORDS, 0, addressHash)
    return findLeaf(
      tree.arena.segments,
      accounts.handle,
      accounts.number,
      baseNumber,
      ADDRESS_WORDS,
    )
  }

  private findSlot(words: Uint32Array, word: number, slotHash: Uint8Array): ChunkHandle {
    const root = words[word + ACCOUNT_SLOTS_WORD]! as ChunkHandle
    if (root === NO_CHUNK) return NO_CHUNK
    if (VERIFY) assert(slotHash.length === HASH_BYTES, 'a slot hash has 32 bytes')
    writeHash(SLOT_WORDS, 0, slotHash)
    const rootNumber = words[word + ACCOUNT_SLOTS_WORD + 1]!
    const { segments } = this.top.tree.arena
    return findLeaf(segments, root, rootNumber, this.base.number, SLOT_WORDS)
  }

  private wordsOf(handle: ChunkHandle): Uint32Array {
    return this.top.tree.arena.segments[handle >>> SEGMENT_SHIFT]!
  }

  /** @throws VarveError STATE_LAYER_RELEASED */
  checkOpen(): void {
    if (this.isClosed)
      throw new VarveError(
        'STATE_LAYER_RELEASED',
        `the view after layer ${this.base.number} up to ${this.top.number} was closed`,
        { base: this.base.number, top: this.top.number },
      )
  }
}
