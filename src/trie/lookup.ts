/**
 * Many keys read in one walk. What is not in memory waits until the walk is through, level by level, so that the nodes
 * of a level are hashed together; and a leaf whose value the caller expects is not read at all where that hashes to
 * what its parent says:
 *
 *     keys, sorted ─▶ walk ─▶ stubs ─▶ expected leaf, hashed in a batch ── its hash is the stub's ─▶ put in its place
 *                      ▲        └────▶ reader ─▶ node ─┐                        else: the reader
 *                      └──────────────────────────────┘
 *
 * A guess that fails costs a hash, a read several times that. So guesses are made at depths where they come true.
 */
import {
  BODY_WORD,
  DETAIL_WORD,
  FLAG_COMMITTED,
  HANDLE_BYTES,
  HANDLE_WORDS,
  KEY_OFFSET,
  KIND_MASK,
  NO_NODE,
  type NodeHandle,
  NodeKind,
  REFERENCE_OFFSET,
  VALUE_SLOT,
} from '../arena/index.ts'
import { bytesCompare, TRIE_KEY_BYTES_MAX } from '../base/index.ts'
import { freeNode, newLeaf, type TrieCore } from './core.ts'
import { HandleList } from './handleList.ts'
import { loadedChild, loadedRoot, putLoaded } from './load.ts'
import { commonNibbles, nibbleAt } from './nibbles.ts'
import { leafMatches } from './read.ts'

/** A key to read. */
export type Wanted = {
  readonly key: Uint8Array
  /** The value that the caller takes to be there: saves the read where it is. Changes no result. */
  readonly expected?: Uint8Array | undefined
}

/** Takes a value: the index of its key, and where it lies. The bytes are to be read at once and not written to. */
export type ValueVisitor = (index: number, bytes: Uint8Array, start: number, end: number) => void

/** Puts the nodes on the way to all keys in memory, and visits the values of those that are there, in any order. */
export function lookUp(core: TrieCore, wanted: readonly Wanted[], visit: ValueVisitor): void {
  if (wanted.length > 0) new Lookup(core, wanted, visit).run()
}

/**
 * Loads what a `lookUp` of the keys will have to read. Leaves are left out where guesses mostly come true: a hash then
 * costs less than the read.
 */
export function prefetch(core: TrieCore, keys: readonly Uint8Array[]): void {
  const wanted = keys.map((key) => ({ key }))
  if (keys.length > 0) new Lookup(core, wanted, () => {}, true).run()
}

/** Leaves hashed together. Few enough that a depth where guesses fail is soon known. */
const GUESS_COUNT_MAX = 128

/** A stub on the way to the keys `low` to `high`, which share the `depth` nibbles to it. */
type Cold = {
  readonly parent: NodeHandle
  readonly slot: number
  readonly low: number
  readonly high: number
  readonly depth: number
}

class Lookup {
  private readonly core: TrieCore
  private readonly wanted: readonly Wanted[]
  private readonly visit: ValueVisitor
  /** Indexes of the keys in their order; absent where they came in it. */
  private readonly order: Uint32Array | undefined
  private readonly skipsLikelyLeaves: boolean
  private cold: Cold[] = []

  constructor(
    core: TrieCore,
    wanted: readonly Wanted[],
    visit: ValueVisitor,
    skipsLikelyLeaves = false,
  ) {
    this.core = core
    this.skipsLikelyLeaves = skipsLikelyLeaves
    this.wanted = wanted
    this.visit = visit
    this.order = sortedOrder(wanted)
  }

  run(): void {
    const { core } = this
    this.walk(loadedRoot(core), 0, this.wanted.length, 0)
    while (this.cold.length > 0) {
      const cold = this.cold
      this.cold = []
      for (let from = 0; from < cold.length; from += GUESS_COUNT_MAX) {
        const rest = this.guess(cold.slice(from, from + GUESS_COUNT_MAX))
        for (const { parent, slot, low, high, depth } of rest)
          this.walk(loadedChild(core, parent, slot, this.key(low), 0, depth), low, high, depth)
      }
    }
  }

  /** Follows keys that share their first `depth` nibbles with a loaded node. */
  private walk(node: NodeHandle, low: number, high: number, depth: number): void {
    if (node === NO_NODE) return
    const { words } = this.core.arena
    const kind = words[node * HANDLE_WORDS]! & KIND_MASK
    if (kind === NodeKind.Branch) this.walkBranch(node, low, high, depth)
    else if (kind === NodeKind.Extension) this.walkExtension(node, low, high, depth)
    else
      for (let at = low; at < high; at++)
        if (leafMatches(this.core, node, this.key(at), depth)) this.found(node, at)
  }

  private walkBranch(branch: NodeHandle, low: number, high: number, depth: number): void {
    const { words } = this.core.arena
    const body = branch * HANDLE_WORDS + BODY_WORD
    let at = low
    for (; at < high && 2 * this.key(at).length === depth; at++) {
      const value = words[body + VALUE_SLOT] as NodeHandle
      if (value !== NO_NODE) this.found(value, at)
    }
    while (at < high) {
      const slot = nibbleAt(this.key(at), 0, depth)
      const start = at++
      while (at < high && nibbleAt(this.key(at), 0, depth) === slot) at++
      this.enter(branch, slot, start, at, depth + 1)
    }
  }

  private walkExtension(node: NodeHandle, low: number, high: number, depth: number): void {
    const end = this.core.arena.words[node * HANDLE_WORDS + DETAIL_WORD]! >>> 16
    // Those that run along all of it lie side by side.
    while (low < high && !this.runsAlong(node, low, depth, end)) low++
    while (low < high && !this.runsAlong(node, high - 1, depth, end)) high--
    if (low < high) this.enter(node, 0, low, high, end)
  }

  private runsAlong(extension: NodeHandle, at: number, depth: number, end: number): boolean {
    const key = this.key(at)
    if (end > 2 * key.length) return false
    const path = extension * HANDLE_BYTES + KEY_OFFSET
    return commonNibbles(key, 0, this.core.arena.bytes, path, depth, end) === end
  }

  private enter(parent: NodeHandle, slot: number, low: number, high: number, depth: number): void {
    const { words } = this.core.arena
    const child = words[parent * HANDLE_WORDS + BODY_WORD + slot] as NodeHandle
    if (child === NO_NODE) return
    if ((words[child * HANDLE_WORDS]! & KIND_MASK) !== NodeKind.Stub)
      this.walk(child, low, high, depth)
    else if (!this.isLikelyLeaf(low, high, depth))
      this.cold.push({ parent, slot, low, high, depth })
  }

  private isLikelyLeaf(low: number, high: number, depth: number): boolean {
    return this.skipsLikelyLeaves && high - low === 1 && this.core.guesses.isLikely(depth)
  }

  /** Puts expected leaves in the place of stubs; returns the stubs that must be read. */
  private guess(cold: readonly Cold[]): readonly Cold[] {
    const { core } = this
    const rest: Cold[] = []
    const guessed: Cold[] = []
    const leaves = new HandleList()
    let placed = 0
    try {
      for (const stub of cold) {
        const leaf = this.expectedLeaf(stub)
        if (leaf === NO_NODE) {
          rest.push(stub)
          continue
        }
        guessed.push(stub)
        leaves.push(leaf)
      }
      core.kernel.hashNodes(leaves.handles, 0, leaves.count, false)
      while (placed < guessed.length) {
        const stub = guessed[placed]!
        // From here on it is the tree's, or free.
        const leaf = leaves.handles[placed++]! as NodeHandle
        const isRight = this.place(leaf, stub)
        core.guesses.note(stub.depth, isRight)
        if (!isRight) rest.push(stub)
      }
    } finally {
      for (; placed < leaves.count; placed++) freeNode(core, leaves.handles[placed]! as NodeHandle)
    }
    return rest
  }

  /** A leaf with the value that is expected at a stub, dirty; 0 where no guess is to be made. */
  private expectedLeaf({ parent, low, high, depth }: Cold): NodeHandle {
    const { core } = this
    if (high - low !== 1) return NO_NODE
    const { key, expected } = this.wanted[this.indexOf(low)]!
    if (expected === undefined || expected.length === 0 || key.length > TRIE_KEY_BYTES_MAX)
      return NO_NODE
    // Below an extension stands a branch.
    if (core.arena.kindOf(parent) !== NodeKind.Branch || !core.guesses.isWorth(depth))
      return NO_NODE
    return newLeaf(core, key, 0, key.length, expected, depth)
  }

  /** Puts a hashed leaf in the place of a stub of the same hash; frees it where it has another one. */
  private place(leaf: NodeHandle, { parent, slot, low }: Cold): boolean {
    const { core } = this
    const { words } = core.arena
    const stub = words[parent * HANDLE_WORDS + BODY_WORD + slot] as NodeHandle
    if (!sameHash(words, leaf, stub)) {
      freeNode(core, leaf)
      return false
    }
    words[leaf * HANDLE_WORDS]! |= FLAG_COMMITTED
    putLoaded(core, parent, slot, leaf)
    this.found(leaf, low)
    return true
  }

  private found(leaf: NodeHandle, at: number): void {
    const { bytes, words } = this.core.arena
    const word = leaf * HANDLE_WORDS
    const start = leaf * HANDLE_BYTES + KEY_OFFSET + (words[word + DETAIL_WORD]! >>> 16)
    this.visit(this.indexOf(at), bytes, start, start + words[word + BODY_WORD]!)
  }

  private key(at: number): Uint8Array {
    return this.wanted[this.indexOf(at)]!.key
  }

  private indexOf(at: number): number {
    return this.order === undefined ? at : this.order[at]!
  }
}

/** Whether two nodes have the same hash; one that is embedded has none. */
function sameHash(words: Uint32Array, leaf: NodeHandle, stub: NodeHandle): boolean {
  const a = leaf * HANDLE_WORDS
  const b = stub * HANDLE_WORDS
  if (((words[a]! ^ words[b]!) & REFERENCE_LENGTH_MASK) !== 0) return false
  for (let word = REFERENCE_OFFSET / 4; word < BODY_WORD; word++)
    if (words[a + word] !== words[b + word]) return false
  return true
}

const REFERENCE_LENGTH_MASK = 0xff0000

function sortedOrder(wanted: readonly Wanted[]): Uint32Array | undefined {
  let isSorted = true
  for (let index = 1; index < wanted.length && isSorted; index++)
    isSorted = bytesCompare(wanted[index - 1]!.key, wanted[index]!.key) <= 0
  if (isSorted) return undefined
  const order = Uint32Array.from(wanted, (_, index) => index)
  return order.sort((a, b) => bytesCompare(wanted[a]!.key, wanted[b]!.key))
}

/** Where a guess was tried at least so often, it is made on if one in this many came true, else now and then. */
const TRIES_MIN = 32
const TRIES_PER_HIT_MAX = 5
/** Older tries count less and less. */
const TRIES_MAX = 1024
const PROBE_INTERVAL = 64

/** How often a leaf was found at a depth where one was expected. */
export class Guesses {
  private readonly tries: number[] = []
  private readonly hits: number[] = []
  private readonly skips: number[] = []

  isWorth(depth: number): boolean {
    const tries = this.tries[depth] ?? 0
    if (tries < TRIES_MIN || (this.hits[depth] ?? 0) * TRIES_PER_HIT_MAX >= tries) return true
    this.skips[depth] = (this.skips[depth] ?? 0) + 1
    return this.skips[depth]! % PROBE_INTERVAL === 0
  }

  /** Whether more than half came true of many. */
  isLikely(depth: number): boolean {
    const tries = this.tries[depth] ?? 0
    return tries >= TRIES_MIN && (this.hits[depth] ?? 0) * 2 > tries
  }

  note(depth: number, isRight: boolean): void {
    this.tries[depth] = (this.tries[depth] ?? 0) + 1
    if (isRight) this.hits[depth] = (this.hits[depth] ?? 0) + 1
    if (this.tries[depth]! < TRIES_MAX) return
    this.tries[depth]! /= 2
    this.hits[depth] = (this.hits[depth] ?? 0) / 2
  }
}
