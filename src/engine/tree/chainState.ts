/**
 * The values of the chain's states: layers over the store, the newest one at the head, and one for every kept block
 * that the store has not passed yet.
 *
 *     store ◀─ cache ◀─ persisted ── n+1 ── n+2 ── head         each a LayeredState
 *                                      └── n+2'                   of a side block
 *     beginWrite: what lies between the store and the head is fixed; blocks go on above it
 *     finishWrite: the store has it; layers up to there end
 *
 * Not here: states that the store has passed. `KeptState` lays the deltas between over the head's.
 */
import { assert, bytesEqual } from '../../base/index.ts'
import {
  type CacheMisses,
  type CodeChange,
  eachAccountChange,
  FlatState,
  FlatView,
  type HashKey,
  hashKey,
  type LayeredMap,
  type LayeredState,
  type LayerTreeStatus,
  StateCache,
  type StateDelta,
  StateLayers,
  type StateUsage,
} from '../../state/index.ts'
import type { Store } from '../../store/index.ts'
import type { BlockNode } from './blockTree.ts'

/** Shares of the memory that states may take: layers, and accounts and slots that were read. */
export type StateMemory = {
  /** Most bytes of the layers' nodes. */
  readonly layerBytesMax: number
  readonly accountCountMax: number
  readonly slotCountMax: number
}

export type StateStatus = {
  /** Layers of states that the store has not passed. */
  readonly layers: LayerTreeStatus
  readonly layerBytesMax: number
  /** Reads that went to the store. */
  readonly misses: CacheMisses
}

/** What a write under way holds. */
type Writing = {
  readonly state: LayeredState
  readonly root: Uint8Array
  readonly span: LayeredMap
}

/** Above this share of its bytes the layers are full: a block more may not fit. */
const FULL_SHARE = 0.75
/** Above this share a write is due, so that the layers below may end. */
const DUE_SHARE = 0.25

export class ChainState {
  private readonly cache: StateCache
  private readonly layers: StateLayers
  private readonly layerBytesMax: number
  private readonly states = new Map<BlockNode, LayeredState>()
  private current: LayeredState
  /** Codes that the store may lack, by hash; those of side blocks too. */
  private codes = new Map<HashKey, Uint8Array>()
  private writing: Writing | undefined
  private writingCodes = new Map<HashKey, Uint8Array>()

  /**
   * @param number of the block whose state the store holds, -1 for an empty one
   * @param usage what that state holds
   */
  constructor(store: Store, number: number, usage: StateUsage, memory: StateMemory) {
    const { layerBytesMax, ...cacheOptions } = memory
    this.layerBytesMax = layerBytesMax
    this.cache = new StateCache(new FlatView(new FlatState(store)), cacheOptions)
    this.layers = new StateLayers({
      persisted: this.cache,
      version: number,
      usage,
      bytesMax: layerBytesMax,
    })
    this.current = this.layers.open()
  }

  /** The state at the head. Borrowed; good until the head moves. */
  get head(): LayeredState {
    return this.current
  }

  get status(): StateStatus {
    const { layerBytesMax, layers, cache } = this
    return { layers: layers.status, layerBytesMax, misses: cache.misses }
  }

  /** Whether a write is due for the layers' sake. */
  get isWriteDue(): boolean {
    return this.layers.status.usedBytes > DUE_SHARE * this.layerBytesMax
  }

  /** Whether there may be no room for another block. */
  get isFull(): boolean {
    return this.layers.status.usedBytes > FULL_SHARE * this.layerBytesMax
  }

  /** A kept block's own state, where the store has not passed it. Borrowed. */
  stateOf(node: BlockNode): LayeredState | undefined {
    return this.states.get(node)
  }

  /** A code that waits for a write, whatever block it came with. */
  code(codeHash: Uint8Array): Uint8Array | undefined {
    const key = hashKey(codeHash)
    return this.codes.get(key) ?? this.writingCodes.get(key)
  }

  /** Codes that the next write takes. */
  newCodes(): { readonly codeHash: HashKey; readonly code: Uint8Array }[] {
    return Array.from(this.codes, ([codeHash, code]) => ({ codeHash, code }))
  }

  /** Keeps codes that came with a block until they are written. */
  addCodes(codes: readonly CodeChange[]): void {
    for (const { codeHash, code } of codes) this.codes.set(hashKey(codeHash), code)
  }

  /** Makes a state that stands on the head's the head's. Takes it over; `node` is that block's. */
  extend(node: BlockNode, state: LayeredState): void {
    this.add(node, state)
    this.setHead(state)
  }

  /** Keeps the state of a block. Takes it over. */
  add(node: BlockNode, state: LayeredState): void {
    this.states.set(node, state)
  }

  /**
   * A kept block's state to build on, to be released by the caller: its own one, or one that deltas lead to.
   * @param deltas from the head's state to it
   */
  branchPoint(node: BlockNode, deltas: () => readonly StateDelta[]): LayeredState {
    const kept = this.states.get(node)
    if (kept !== undefined) return kept.fork()
    let state = this.current.fork()
    for (const delta of deltas()) {
      const next = state.apply(delta)
      state.release()
      state = next
    }
    return state
  }

  /** Makes a kept block's state the head's; else as `branchPoint`. */
  moveTo(node: BlockNode, deltas: () => readonly StateDelta[]): void {
    const state = this.branchPoint(node, deltas)
    this.setHead(state)
    if (this.states.has(node)) state.release()
    else this.add(node, state)
  }

  /** What leads to the head's state from the one with this root in the store, be it before a write under way or after. */
  changesOn(root: Uint8Array): StateDelta {
    const { writing, current } = this
    return writing !== undefined && bytesEqual(root, writing.root)
      ? current.diffSince(writing.state)
      : current.diffSincePersisted()
  }

  /** Lets the state of a block go that has left the tree. */
  drop(node: BlockNode): void {
    const state = this.states.get(node)
    if (state === undefined) return
    this.states.delete(node)
    state.release()
  }

  /**
   * Fixes what lies between the store and the head, for a write. From here on states that do not stand on the head's
   * are made from deltas.
   * @param root of the head's state
   * @returns the layers in between, open until `finishWrite`
   */
  beginWrite(root: Uint8Array): LayeredMap {
    assert(this.writing === undefined, 'chain state: one write at a time')
    const state = this.current.fork()
    this.layers.announcePersist(state)
    for (const [node, kept] of this.states) if (!kept.isDescendantOf(state)) this.drop(node)
    const span = state.sincePersisted()
    this.writing = { state, root, span }
    this.writingCodes = this.codes
    this.codes = new Map()
    return span
  }

  /** Tells that the store has what `beginWrite` fixed. */
  finishWrite(): void {
    const { state, span } = this.writing!
    eachAccountChange(span.diffSource(), (change) => this.cache.advance(change))
    this.layers.markPersisted(state)
    this.endWrite()
    span.close()
    state.release()
  }

  /** Tells that the write failed. What was fixed is not written again: the chain is to be opened anew. */
  cancelWrite(): void {
    const { state, span } = this.writing!
    this.layers.cancelPersist()
    this.endWrite()
    span.close()
    state.release()
  }

  private endWrite(): void {
    this.writing = undefined
    this.writingCodes = new Map()
  }

  private setHead(state: LayeredState): void {
    const before = this.current
    this.current = state.fork()
    before.release()
  }
}
