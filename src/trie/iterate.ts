/**
 * Entries in key order, with bounded memory: a node that the iteration loads is let go when its subtree is done.
 *
 * The trie may be read, changed, committed or shrunk in the middle. The iteration notices by `shapeVersion`, forgets
 * its handles and finds its place again by the last key; from there on it gives what the trie holds then.
 */
import {
  BODY_WORD,
  DETAIL_WORD,
  FLAG_COMMITTED,
  FLAG_TRANSIENT,
  HANDLE_BYTES,
  HANDLE_WORDS,
  KEY_OFFSET,
  KIND_MASK,
  NO_NODE,
  type NodeHandle,
  NodeKind,
  VALUE_SLOT,
} from '../arena/index.ts'
import { bytesCompare, TRIE_KEY_BYTES_MAX } from '../base/index.ts'
import type { TrieCore } from './core.ts'
import { loadChild, loadedRoot, unloadChild } from './load.ts'
import { nibbleAt } from './nibbles.ts'
import { leafKey, leafValue } from './read.ts'

/** Copies, the receiver's to keep. */
export type TrieEntry = { readonly key: Uint8Array; readonly value: Uint8Array }

export type IterationOptions = {
  /** The first key given is this or the next above. */
  readonly start?: Uint8Array
  /** Keys from this on are not given. */
  readonly end?: Uint8Array
}

/** A branch, an extension or a leaf on the way. */
type Frame = {
  readonly node: NodeHandle
  /** Nibbles before the node. */
  readonly depth: number
  /** Next step of a branch: 0 its value, 1 to 16 its children. Of the others: 0, then done. */
  next: number
  /** Its place in the node of the frame below. */
  readonly slot: number
}

export class TrieIterator {
  private readonly core: TrieCore
  private readonly frames: Frame[] = []
  private readonly path = new Uint8Array(2 * TRIE_KEY_BYTES_MAX + 1)
  private readonly end: Uint8Array | undefined
  /** Keys below this, or equal where `isStartPast`, are behind. */
  private start: Uint8Array
  private isStartPast = false
  private shapeVersion = -1

  constructor(core: TrieCore, options: IterationOptions = {}) {
    this.core = core
    this.start = options.start ?? new Uint8Array(0)
    this.end = options.end
  }

  /**
   * The next entry, or `undefined` at the end.
   * @throws VarveError TRIE_NODE_MISSING, TRIE_NODE_INVALID, ARENA_FULL; the place is kept
   */
  next(): TrieEntry | undefined {
    if (this.shapeVersion !== this.core.shapeVersion) this.seek()
    for (;;) {
      const leaf = this.nextLeaf()
      if (leaf === NO_NODE) return undefined
      const key = leafKey(this.core, leaf)
      const order = bytesCompare(key, this.start)
      if (order < 0 || (order === 0 && this.isStartPast)) continue
      if (this.end !== undefined && bytesCompare(key, this.end) >= 0) return undefined
      this.start = key
      this.isStartPast = true
      return { key, value: leafValue(this.core, leaf) }
    }
  }

  /** Lets go of what was loaded. */
  close(): void {
    if (this.shapeVersion === this.core.shapeVersion) while (this.frames.length > 0) this.pop()
    this.frames.length = 0
    this.shapeVersion = -1
  }

  /** Builds the frames from the root to the first leaf at or after `start`. */
  private seek(): void {
    const { core, start } = this
    this.frames.length = 0
    const root = loadedRoot(core)
    this.shapeVersion = core.shapeVersion
    if (root === NO_NODE) return
    this.frames.push({ node: root, depth: 0, next: 0, slot: 0 })
    // Each step goes one node down along `start`; frames above are set to go on after it.
    for (;;) {
      const frame = this.frames.at(-1)!
      const { words, bytes } = core.arena
      const word = frame.node * HANDLE_WORDS
      const kind = words[word]! & KIND_MASK
      // A leaf is compared as a whole when it is given.
      if (kind === NodeKind.Leaf || frame.depth >= 2 * start.length) return
      if (kind === NodeKind.Branch) {
        const nibble = nibbleAt(start, 0, frame.depth)
        frame.next = nibble + 2
        if (words[word + BODY_WORD + nibble] === 0) return
        this.descend(frame, nibble, frame.depth + 1)
        continue
      }
      const end = words[word + DETAIL_WORD]! >>> 16
      const path = frame.node * HANDLE_BYTES + KEY_OFFSET
      for (let index = frame.depth; index < end; index++) {
        if (index >= 2 * start.length) return
        const difference = nibbleAt(bytes, path, index) - nibbleAt(start, 0, index)
        if (difference === 0) continue
        if (difference < 0) this.pop()
        return
      }
      frame.next = 1
      this.descend(frame, 0, end)
    }
  }

  private nextLeaf(): NodeHandle {
    const { core, frames } = this
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
      const { words } = core.arena
      const word = frame.node * HANDLE_WORDS
      const kind = words[word]! & KIND_MASK
      if (kind === NodeKind.Leaf) {
        if (frame.next++ === 0) return frame.node
        this.pop()
      } else if (kind === NodeKind.Extension) {
        if (frame.next++ === 0) this.descend(frame, 0, words[word + DETAIL_WORD]! >>> 16)
        else this.pop()
      } else if (frame.next > 16) this.pop()
      else {
        const step = frame.next++
        if (step === 0) {
          const value = words[word + BODY_WORD + VALUE_SLOT] as NodeHandle
          if (value !== NO_NODE) return value
        } else if (words[word + BODY_WORD + step - 1] !== 0)
          this.descend(frame, step - 1, frame.depth + 1)
      }
    }
    return NO_NODE
  }

  /** Goes down to a child, loading it where it is a stub. `depth` is the child's. */
  private descend(frame: Frame, slot: number, depth: number): void {
    const { core, path } = this
    const parent = frame.node
    const { words, bytes } = core.arena
    if ((words[parent * HANDLE_WORDS]! & KIND_MASK) === NodeKind.Extension) {
      const offset = parent * HANDLE_BYTES + KEY_OFFSET
      for (let index = frame.depth; index < depth; index++)
        path[index] = nibbleAt(bytes, offset, index)
    } else path[frame.depth] = slot
    let node = words[parent * HANDLE_WORDS + BODY_WORD + slot] as NodeHandle
    if ((words[node * HANDLE_WORDS]! & KIND_MASK) === NodeKind.Stub) {
      try {
        node = loadChild(core, parent, slot, path.slice(0, depth))
      } catch (fault) {
        // The place is found again by key.
        this.close()
        throw fault
      }
      core.arena.words[node * HANDLE_WORDS]! |= FLAG_TRANSIENT
    }
    this.frames.push({ node, depth, next: 0, slot })
  }

  /**
   * Leaves a node. One that an iteration loaded goes back to a stub, unless its parent is not committed: then two
   * versions of the parent name it.
   */
  private pop(): void {
    const { core, frames } = this
    const { node, slot } = frames.pop()!
    const parent = frames.at(-1)?.node
    const { words } = core.arena
    if (parent === undefined || (words[node * HANDLE_WORDS]! & FLAG_TRANSIENT) === 0) return
    if ((words[parent * HANDLE_WORDS]! & FLAG_COMMITTED) === 0) return
    unloadChild(core, parent, slot)
    // Another iterator may be below that node; this one goes on.
    core.shapeVersion++
    this.shapeVersion = core.shapeVersion
  }
}
