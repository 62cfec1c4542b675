/**
 * Decodes stored nodes into the arena, strictly: what this trie would not have written is refused, be it a
 * non-canonical RLP or hex prefix, a branch that should have been collapsed, an embedded node that should have been
 * hashed or the other way round. So a node has one encoding, and a proof one reading.
 * @see Yellow Paper, appendices B (RLP), C (hex prefix), D (trie)
 */
import {
  BODY_WORD,
  DETAIL_WORD,
  FLAG_COMMITTED,
  FLAG_DIRTY,
  HANDLE_BYTES,
  HANDLE_WORDS,
  KIND_MASK,
  NO_NODE,
  type NodeHandle,
  NodeKind,
  REFERENCE_BYTES,
  REFERENCE_LENGTH_SHIFT,
  REFERENCE_OFFSET,
  VALUE_SLOT,
} from '../arena/index.ts'
import { EMPTY_BYTES, TRIE_KEY_BYTES_MAX, TRIE_VALUE_BYTES_MAX } from '../base/index.ts'
import { freeNode, newBranch, newExtension, newLeaf, newStub, type TrieCore } from './core.ts'
import { nodeInvalid } from './faults.ts'
import { LEAF_FLAG, ODD_FLAG } from './leafNode.ts'
import { packNibblesInto } from './nibbles.ts'

const NIBBLES_MAX = 2 * TRIE_KEY_BYTES_MAX
/** Longest node: a leaf's value, and 1 KiB for its path and headers or for a branch's children. */
export const NODE_BYTES_MAX = TRIE_VALUE_BYTES_MAX + 1024

export type DecodeTarget = {
  readonly core: TrieCore
  /** Path of the node, one nibble a byte. */
  readonly path: Uint8Array
  readonly hash: Uint8Array
  /** The node hangs below an extension, so only a branch is canonical. */
  readonly isBelowExtension: boolean
}

/**
 * Decodes `bytes`, whose hash was checked, to a clean node with stubs for its hashed children.
 * @throws VarveError TRIE_NODE_INVALID, ARENA_FULL; nothing stays allocated then
 */
export function decodeNode(target: DecodeTarget, bytes: Uint8Array): NodeHandle {
  const { core, path, hash } = target
  decoder.begin(target, bytes)
  try {
    if (bytes.length > NODE_BYTES_MAX) decoder.fail('it is too long')
    if (path.length > 0 && bytes.length < REFERENCE_BYTES)
      decoder.fail('it is shorter than a hash, so its parent should embed it')
    const handle = decoder.node(0, bytes.length, path.length)
    if (target.isBelowExtension && !isBranch(core, handle))
      decoder.fail('an extension leads to it, and it is no branch')
    finishReference(core, handle, hash, 0, REFERENCE_BYTES)
    return handle
  } catch (fault) {
    for (const handle of decoder.allocated) freeNode(core, handle)
    throw fault
  } finally {
    decoder.end()
  }
}

/** Gives a decoded node its reference and marks it as part of the last commit. */
function finishReference(
  core: TrieCore,
  handle: NodeHandle,
  source: Uint8Array,
  start: number,
  length: number,
): void {
  const { bytes, words } = core.arena
  const target = handle * HANDLE_BYTES + REFERENCE_OFFSET
  for (let index = 0; index < length; index++) bytes[target + index] = source[start + index]!
  const word = handle * HANDLE_WORDS
  words[word] = (words[word]! & ~FLAG_DIRTY) | FLAG_COMMITTED | (length << REFERENCE_LENGTH_SHIFT)
}

function isBranch(core: TrieCore, handle: NodeHandle): boolean {
  return (core.arena.words[handle * HANDLE_WORDS]! & KIND_MASK) === NodeKind.Branch
}

/** Stands in between two decodes; never used. */
const NO_TARGET = {} as DecodeTarget

class NodeDecoder {
  readonly allocated: NodeHandle[] = []
  private target = NO_TARGET
  private core = NO_TARGET.core
  private bytes: Uint8Array = EMPTY_BYTES
  /** Path of the node at hand, one nibble a byte. */
  private readonly nibbles = new Uint8Array(NIBBLES_MAX)
  private readonly packed = new Uint8Array(TRIE_KEY_BYTES_MAX)
  // The item read last: its content, and whether it is a list.
  private contentStart = 0
  private contentEnd = 0
  private isList = false

  begin(target: DecodeTarget, bytes: Uint8Array): void {
    this.target = target
    this.core = target.core
    this.bytes = bytes
    this.nibbles.set(target.path)
  }

  /** Lets go of what belongs to the caller. */
  end(): void {
    this.allocated.length = 0
    this.target = NO_TARGET
    this.core = NO_TARGET.core
    this.bytes = EMPTY_BYTES
  }

  fail(problem: string): never {
    throw nodeInvalid(this.target.path, this.target.hash, problem)
  }

  /** Decodes the list that fills `start` to `end` exactly, at `depth` nibbles. Dirty until its reference is set. */
  node(start: number, end: number, depth: number): NodeHandle {
    if (this.item(start, end) !== end) this.fail('bytes follow the node')
    if (!this.isList) this.fail('it is no list')
    const listStart = this.contentStart
    let itemCount = 0
    for (let at = listStart; at < end; itemCount++) at = this.item(at, end)
    if (itemCount === 2) return this.pair(listStart, end, depth)
    if (itemCount === 17) return this.branch(listStart, end, depth)
    return this.fail(`it has ${itemCount} items, not 2 or 17`)
  }

  private pair(start: number, end: number, depth: number): NodeHandle {
    const next = this.item(start, end)
    if (this.isList) this.fail('its path is a list')
    const [pathStart, pathEnd] = [this.contentStart, this.contentEnd]
    const flag = pathEnd > pathStart ? this.bytes[pathStart]! : 0xff
    if (flag >= 0x40) this.fail('its hex prefix is not one of 0 to 3')
    const isOdd = (flag & ODD_FLAG) !== 0
    if (!isOdd && (flag & 15) !== 0) this.fail('its hex prefix is not padded with 0')
    const nibbleEnd = depth + 2 * (pathEnd - pathStart - 1) + (isOdd ? 1 : 0)
    if (nibbleEnd > NIBBLES_MAX) this.fail('its path is too long')
    let at = depth
    if (isOdd) this.nibbles[at++] = flag & 15
    for (let index = pathStart + 1; index < pathEnd; index++) {
      this.nibbles[at++] = this.bytes[index]! >> 4
      this.nibbles[at++] = this.bytes[index]! & 15
    }
    return (flag & LEAF_FLAG) !== 0
      ? this.leaf(next, end, depth, nibbleEnd)
      : this.extension(next, end, depth, nibbleEnd)
  }

  private leaf(valueStart: number, end: number, depth: number, nibbleEnd: number): NodeHandle {
    if ((nibbleEnd & 1) === 1) this.fail('its key is not whole bytes')
    this.item(valueStart, end)
    if (this.isList) this.fail('its value is a list')
    return this.valueLeaf(nibbleEnd, depth)
  }

  /** A leaf with the item read last as its value, and the key in `nibbles`. */
  private valueLeaf(nibbleEnd: number, depth: number): NodeHandle {
    const value = this.bytes.subarray(this.contentStart, this.contentEnd)
    if (value.length === 0) this.fail('its value is empty')
    if (value.length > TRIE_VALUE_BYTES_MAX) this.fail('its value is too long')
    packNibblesInto(this.nibbles, nibbleEnd, this.packed, 0)
    return this.keep(newLeaf(this.core, this.packed, 0, nibbleEnd >> 1, value, depth))
  }

  private extension(childStart: number, end: number, depth: number, nibbleEnd: number): NodeHandle {
    if (nibbleEnd === depth) this.fail('it is an extension with an empty path')
    const child = this.child(childStart, end, nibbleEnd)
    if (child === NO_NODE) this.fail('it is an extension that leads to nothing')
    const isStub = (this.core.arena.words[child * HANDLE_WORDS]! & KIND_MASK) === NodeKind.Stub
    if (!isStub && !isBranch(this.core, child)) this.fail('it is an extension to no branch')
    packNibblesInto(this.nibbles, nibbleEnd, this.packed, 0)
    return this.keep(newExtension(this.core, this.packed, 0, depth, nibbleEnd, child))
  }

  private branch(start: number, end: number, depth: number): NodeHandle {
    if (depth > NIBBLES_MAX) this.fail('its path is too long')
    const branch = this.keep(newBranch(this.core))
    const word = branch * HANDLE_WORDS
    let mask = 0
    let at = start
    for (let slot = 0; slot < VALUE_SLOT; slot++) {
      if (depth < NIBBLES_MAX) this.nibbles[depth] = slot
      const child = this.child(at, end, depth + 1)
      at = this.childEnd
      if (child === NO_NODE) continue
      if (depth >= NIBBLES_MAX) this.fail('its path is too long')
      this.core.arena.words[word + BODY_WORD + slot] = child
      mask |= 1 << slot
    }
    this.item(at, end)
    if (this.isList) this.fail('its value is a list')
    if (this.contentEnd > this.contentStart) {
      if ((depth & 1) === 1) this.fail('it has a value where no whole key ends')
      const leaf = this.valueLeaf(depth, depth)
      // A branch holds its value itself: the leaf has no reference.
      this.core.arena.words[leaf * HANDLE_WORDS]! &= ~FLAG_DIRTY
      this.core.arena.words[leaf * HANDLE_WORDS]! |= FLAG_COMMITTED
      this.core.arena.words[word + BODY_WORD + VALUE_SLOT] = leaf
      mask |= 1 << VALUE_SLOT
    }
    if ((mask & (mask - 1)) === 0) this.fail('it is a branch with less than two entries')
    this.core.arena.words[word + DETAIL_WORD] = mask
    return branch
  }

  /** End of the item that `child` read. */
  private childEnd = 0

  private child(start: number, end: number, depth: number): NodeHandle {
    const next = this.item(start, end)
    const [contentStart, contentEnd] = [this.contentStart, this.contentEnd]
    this.childEnd = next
    if (!this.isList) {
      if (contentStart === contentEnd) return NO_NODE
      if (contentEnd - contentStart !== REFERENCE_BYTES)
        this.fail('a child is neither a hash nor a node')
      return this.keep(newStub(this.core, this.bytes, contentStart))
    }
    if (next - start >= REFERENCE_BYTES) this.fail('an embedded node should be hashed')
    if (depth > NIBBLES_MAX) this.fail('its path is too long')
    const node = this.node(start, next, depth)
    this.childEnd = next
    finishReference(this.core, node, this.bytes, start, next - start)
    return node
  }

  private keep(handle: NodeHandle): NodeHandle {
    this.allocated.push(handle)
    return handle
  }

  /** Reads the head of the item at `start`, which must end by `end`; returns the item's end. */
  private item(start: number, end: number): number {
    if (start >= end) this.fail('it ends too early')
    const first = this.bytes[start]!
    this.isList = first >= 0xc0
    if (first < 0x80) {
      this.contentStart = start
      this.contentEnd = start + 1
      return start + 1
    }
    const short = first - (this.isList ? 0xc0 : 0x80)
    let length = short
    let at = start + 1
    if (short > 55) {
      const lengthBytes = short - 55
      if (lengthBytes > 4 || at + lengthBytes > end) this.fail('a length is out of range')
      length = 0
      for (let index = 0; index < lengthBytes; index++)
        length = length * 256 + this.bytes[at + index]!
      if (length < 56 || this.bytes[at] === 0) this.fail('a length is not in its shortest form')
      at += lengthBytes
    }
    if (length > end - at) this.fail('an item reaches past its list')
    if (!this.isList && length === 1 && this.bytes[at]! < 0x80)
      this.fail('a single byte is not in its shortest form')
    this.contentStart = at
    this.contentEnd = at + length
    return at + length
  }
}

/** One a thread: no reader is called in the middle of a decode, and two buffers a node cost more than the decode. */
const decoder = new NodeDecoder()
