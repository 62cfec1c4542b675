/**
 * Builds the tries of a new layer: the writes of a batch, sorted by key, over the trie of the layer before. What a
 * batch does not touch is shared; what it touches is made anew, once; what lies at or below the base is left out.
 *
 *     merge(old node, batch, depth)
 *       batch empty                           old node as it is, or nothing where it is at or below the base
 *       one key, nothing or that key here     leaf
 *       else                                  16 times merge, then a branch; a leaf that is left alone is lifted
 *
 * Cost: nodes on the paths of the batch. A path has at most 64 nibbles, so that keys made to collide cost at most that.
 */
import { type ChunkHandle, NO_CHUNK, SEGMENT_MASK, SEGMENT_SHIFT } from '../../arena/index.ts'
import { assert, VERIFY } from '../../base/index.ts'
import type { AccountChange, SlotChange } from '../delta.ts'
import { type LayerMemory, wordOf } from './layerMemory.ts'
import { slotRootOf } from './leafReader.ts'
import {
  ACCOUNT_CLEARED_WORD,
  ACCOUNT_SLOTS_WORD,
  ACCOUNT_VALUE_WORD,
  BRANCH_CHILD_WORD,
  BRANCH_FACTOR,
  CHILDREN_SHIFT,
  CODE_PLACE_WORD,
  CODE_SHELF_WORD,
  CODE_WORDS,
  FLAG_AFTER,
  FLAG_BEFORE,
  HASH_WORDS,
  KEY_WORD,
  KIND_MASK,
  NodeKind,
  NUMBER_WORD,
  PATH_NIBBLES,
  PREVIOUS_WORD,
  SLOT_VALUE_WORD,
} from './nodeLayout.ts'
import {
  byteNibble,
  checkNode,
  keyIs,
  NO_REFERENCE,
  type NodeReference,
  wordNibble,
} from './trieReader.ts'
import { accountFlags, accountWords, writeAccount, writeHash, writeValue } from './words.ts'

/** What one layer is built with. */
export type WriteTarget = {
  readonly segments: readonly Uint32Array[]
  readonly memory: LayerMemory
  /** Number of the layer. */
  readonly number: number
  /** What was written at or below this number is left out. */
  readonly baseNumber: number
}

/** One kind of trie. After `merge`, `handle` and `number` refer to the new node. */
abstract class TrieWriter {
  protected handle: ChunkHandle = NO_CHUNK
  protected number = 0
  protected target!: WriteTarget
  /** Children of the branch that is being made at each depth. */
  private readonly rows: Uint32Array[] = []

  protected abstract keyAt(index: number): Uint8Array
  /** Makes the leaf of write `index`; `old` is the leaf of the same key above the base, or 0. */
  protected abstract writeLeaf(index: number, old: ChunkHandle, oldNumber: number): ChunkHandle

  protected mergeAll(target: WriteTarget, root: NodeReference, count: number): NodeReference {
    assert(count > 0, 'layer: a batch has writes')
    this.target = target
    this.merge(root.handle, root.number, 0, count, 0)
    return { handle: this.handle, number: this.number }
  }

  /** Merges the writes `low` to `high`-1 into the old node; they share the first `depth` nibbles with its place. */
  protected merge(
    old: ChunkHandle,
    oldNumber: number,
    low: number,
    high: number,
    depth: number,
  ): void {
    const { segments, baseNumber, number } = this.target
    const isOld = old !== NO_CHUNK && oldNumber > baseNumber
    const words = isOld ? segments[old >>> SEGMENT_SHIFT]! : NO_WORDS
    const word = (old & SEGMENT_MASK) * 2
    const header = isOld ? words[word]! : 0
    if (VERIFY && isOld) checkNode(words, word, oldNumber)
    const isOldLeaf = isOld && (header & KIND_MASK) !== NodeKind.Branch
    if (high - low === 1) {
      const isSame = isOldLeaf && keyIs(words, word + KEY_WORD, this.keyAt(low))
      if (!isOld || isSame) {
        this.handle = this.writeLeaf(low, isSame ? old : NO_CHUNK, isSame ? oldNumber : 0)
        this.number = number
        return
      }
    }
    assert(depth < PATH_NIBBLES, 'layer: the keys of a batch are distinct')
    const row = (this.rows[depth] ??= new Uint32Array(BRANCH_FACTOR * 2))
    const oldBits = isOldLeaf
      ? 1 << wordNibble(words, word + KEY_WORD, depth)
      : header >>> CHILDREN_SHIFT
    let bits = 0
    let count = 0
    let at = low
    let batchNibble = byteNibble(this.keyAt(low), depth)
    let oldAt = word + BRANCH_CHILD_WORD
    // Only nibbles that somebody has: those of the batch come in order, those of the old node by their bits.
    for (let rest = oldBits | (1 << batchNibble); rest !== 0; ) {
      const nibble = 31 - Math.clz32(rest & -rest)
      rest &= rest - 1
      let child = NO_CHUNK
      let childNumber = 0
      if ((oldBits & (1 << nibble)) !== 0) {
        child = (isOldLeaf ? old : words[oldAt]!) as ChunkHandle
        childNumber = isOldLeaf ? oldNumber : words[oldAt + 1]!
        oldAt += 2
      }
      if (nibble === batchNibble) {
        const first = at++
        for (batchNibble = BRANCH_FACTOR; at < high; at++) {
          batchNibble = byteNibble(this.keyAt(at), depth)
          if (batchNibble !== nibble) break
        }
        if (at === high) batchNibble = BRANCH_FACTOR
        else {
          assert(batchNibble > nibble, 'layer: a batch is sorted by key')
          rest |= 1 << batchNibble
        }
        this.merge(child, childNumber, first, at, depth + 1)
        child = this.handle
        childNumber = this.number
      } else if (childNumber <= baseNumber) continue
      row[count] = child
      row[count + 1] = childNumber
      count += 2
      bits |= 1 << nibble
    }
    this.finishBranch(row, count, bits)
  }

  private finishBranch(row: Uint32Array, count: number, bits: number): void {
    const { memory, number } = this.target
    if (count === 2) {
      const only = row[0]! as ChunkHandle
      if ((memory.wordsOf(only)[wordOf(only)]! & KIND_MASK) !== NodeKind.Branch) {
        this.handle = only
        this.number = row[1]!
        return
      }
    }
    const handle = memory.allocate(BRANCH_CHILD_WORD + count)
    const words = memory.wordsOf(handle)
    const word = wordOf(handle)
    words[word] = NodeKind.Branch | (bits << CHILDREN_SHIFT)
    words[word + NUMBER_WORD] = number
    for (let index = 0; index < count; index++)
      words[word + BRANCH_CHILD_WORD + index] = row[index]!
    this.handle = handle
    this.number = number
  }

  /** Room for a leaf, with all that leaves have in common. */
  protected startLeaf(header: number, wordCount: number, key: Uint8Array): ChunkHandle {
    const handle = this.target.memory.allocate(wordCount)
    const words = this.target.memory.wordsOf(handle)
    const word = wordOf(handle)
    words[word] = header
    words[word + NUMBER_WORD] = this.target.number
    writeHash(words, word + KEY_WORD, key)
    return handle
  }
}

const NO_WORDS = new Uint32Array(2)

class SlotWriter extends TrieWriter {
  private slots: readonly SlotChange[] = []

  /** Writes slots, at least one, over a root. */
  write(target: WriteTarget, root: NodeReference, slots: readonly SlotChange[]): NodeReference {
    this.slots = slots
    return this.mergeAll(target, root, slots.length)
  }

  protected override keyAt(index: number): Uint8Array {
    return this.slots[index]!.slotHash
  }

  protected override writeLeaf(index: number, old: ChunkHandle, oldNumber: number): ChunkHandle {
    const { slotHash, before, after } = this.slots[index]!
    const header =
      NodeKind.Slot |
      (before === undefined ? 0 : FLAG_BEFORE) |
      (after === undefined ? 0 : FLAG_AFTER)
    const afterAt = SLOT_VALUE_WORD + (before === undefined ? 0 : HASH_WORDS)
    const end = afterAt + (after === undefined ? 0 : HASH_WORDS)
    const handle = this.startLeaf(header, end, slotHash)
    const words = this.target.memory.wordsOf(handle)
    const word = wordOf(handle)
    words[word + PREVIOUS_WORD] = old
    words[word + PREVIOUS_WORD + 1] = oldNumber
    if (before !== undefined) writeValue(words, word + SLOT_VALUE_WORD, before)
    if (after !== undefined) writeValue(words, word + afterAt, after)
    return handle
  }
}

/** Accounts, each with the trie of its slots. */
export class AccountWriter extends TrieWriter {
  private readonly slotWriter = new SlotWriter()
  private accounts: readonly AccountChange[] = []

  /** Writes accounts, at least one, over a root. */
  write(
    target: WriteTarget,
    root: NodeReference,
    accounts: readonly AccountChange[],
  ): NodeReference {
    this.accounts = accounts
    return this.mergeAll(target, root, accounts.length)
  }

  protected override keyAt(index: number): Uint8Array {
    return this.accounts[index]!.addressHash
  }

  protected override writeLeaf(index: number, old: ChunkHandle, oldNumber: number): ChunkHandle {
    const { target, slotWriter } = this
    const { addressHash, before, after, storageCleared, slots } = this.accounts[index]!
    let slotRoot = NO_REFERENCE
    let clearedNumber = 0
    if (old !== NO_CHUNK) {
      const words = target.memory.wordsOf(old)
      const word = wordOf(old)
      if (words[word + ACCOUNT_SLOTS_WORD + 1]! > target.baseNumber)
        slotRoot = slotRootOf(words, word)
      clearedNumber = words[word + ACCOUNT_CLEARED_WORD]!
    }
    // Older slots stay in the trie, cut by the marker: a diff over both sides of it needs them.
    if (storageCleared || after === undefined) clearedNumber = target.number
    if (slots.length > 0) slotRoot = slotWriter.write(target, slotRoot, slots)
    const beforeWords = accountWords(before)
    const handle = this.startLeaf(
      NodeKind.Account | accountFlags(before, after),
      ACCOUNT_VALUE_WORD + beforeWords + accountWords(after),
      addressHash,
    )
    const words = target.memory.wordsOf(handle)
    const word = wordOf(handle)
    words[word + PREVIOUS_WORD] = old
    words[word + PREVIOUS_WORD + 1] = oldNumber
    words[word + ACCOUNT_SLOTS_WORD] = slotRoot.handle
    words[word + ACCOUNT_SLOTS_WORD + 1] = slotRoot.number
    words[word + ACCOUNT_CLEARED_WORD] = clearedNumber
    words[word + ACCOUNT_CLEARED_WORD + 1] = 0
    if (before !== undefined) writeAccount(words, word + ACCOUNT_VALUE_WORD, before)
    if (after !== undefined) writeAccount(words, word + ACCOUNT_VALUE_WORD + beforeWords, after)
    return handle
  }
}

/** Codes by their hash; the bytes stay on the shelf of the layer. */
export class CodeWriter extends TrieWriter {
  private hashes: readonly Uint8Array[] = []
  private shelf = 0

  /** Writes codes, sorted and distinct, over a root; code `index` stands at place `index` of the shelf. */
  write(
    target: WriteTarget,
    root: NodeReference,
    codes: { readonly hashes: readonly Uint8Array[]; readonly shelf: number },
  ): NodeReference {
    this.hashes = codes.hashes
    this.shelf = codes.shelf
    return this.mergeAll(target, root, codes.hashes.length)
  }

  protected override keyAt(index: number): Uint8Array {
    return this.hashes[index]!
  }

  protected override writeLeaf(index: number): ChunkHandle {
    const handle = this.startLeaf(NodeKind.Code, CODE_WORDS, this.hashes[index]!)
    const words = this.target.memory.wordsOf(handle)
    const word = wordOf(handle)
    words[word + CODE_SHELF_WORD] = this.shelf
    words[word + CODE_PLACE_WORD] = index
    return handle
  }
}
