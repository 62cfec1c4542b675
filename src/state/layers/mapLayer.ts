/**
 * A tree of layers and how long each lives. A layer holds the writes of one batch over its parent; a view `(base, top]`
 * (`layeredMap.ts`) reads what was written after `base` up to `top`.
 *
 *     root ── 1 ── 2 ── 3 ── 4            pinned: 1 (a base), 4 and 3' (tops)
 *                   └── 3' ── 4'          memory is kept for 2, 3, 4, 3'
 *
 * Whoever holds a layer has pinned it. A layer's memory is kept while a pinned layer above may serve as the base of a
 * view and the layer itself, or one beneath it, as the top; an exact rule, held by two counts:
 *
 *     nothing pinned at or beneath it     it dies, and with it the unpinned parents that only had it
 *     nothing pinned above it             its memory goes; it may still be a base for those beneath
 *
 * Both are found by steps over layers that die by them, in a loop: one release costs O(1) for each layer it ends,
 * whatever the layer holds, and no chain is too long for the stack.
 *
 * Invariants: the number of a node is at least that of every node beneath it; a layer was built over a view whose base
 * is at or above `baseNumber`, so views from below that are incomplete and refused. A layer has an id of its own: two
 * forks may well hold the same state.
 */
import { ChunkArena, type ChunkArenaOptions } from '../../arena/index.ts'
import { assert, bytesCompare, bytesEqual, VarveError } from '../../base/index.ts'
import type { CodeChange, StateDelta } from '../delta.ts'
import { LayerMemory } from './layerMemory.ts'
import { NO_REFERENCE, type NodeReference } from './trieReader.ts'
import { AccountWriter, CodeWriter, type WriteTarget } from './trieWriter.ts'

/** Layer numbers are words; at a million blocks a day, eleven years. */
const LAYER_NUMBER_MAX = 2 ** 32 - 1

/** What a tree of layers takes at the moment. */
export type LayerTreeStatus = {
  /** Layers whose memory is kept. */
  readonly layerCount: number
  /** Bytes of chunks that belong to layers. */
  readonly usedBytes: number
  /** Bytes taken from the system for them. */
  readonly reservedBytes: number
  /** Bytes of codes that layers keep beside their chunks. */
  readonly codeBytes: number
}

/** All layers that descend from one root: they share memory, and views across them are legal. */
export class LayerTree {
  readonly arena: ChunkArena
  /** Where the chain of layers begins: number 0, nothing written. Pinned once, by whoever made the tree. */
  readonly root: MapLayer
  /** Codes of each living layer that brought any, by the shelf number that their leaves name. */
  readonly shelves: (readonly Uint8Array[] | undefined)[] = []
  private readonly accountWriter = new AccountWriter()
  private readonly codeWriter = new CodeWriter()
  private readonly freeShelves: number[] = []
  private nextId = 1
  private layerCount = 0
  private codeByteCount = 0

  /** @param memory to take chunks from, shared with other trees; else how large one of its own may be */
  constructor(memory: ChunkArena | ChunkArenaOptions = {}) {
    this.arena = memory instanceof ChunkArena ? memory : new ChunkArena(memory)
    this.root = new MapLayer(this, undefined, 0, this.nextId++)
  }

  get status(): LayerTreeStatus {
    const { usedBytes, reservedBytes } = this.arena
    return { layerCount: this.layerCount, usedBytes, reservedBytes, codeBytes: this.codeByteCount }
  }

  /** Gives unused memory back to the system; for a time without work. Returns the bytes given back. */
  trim(): number {
    return this.arena.trim()
  }

  /**
   * Builds a layer of a delta over the view `(base, top]` and pins it. Where it throws, nothing has changed.
   * @throws VarveError ARENA_CHUNKS_FULL
   */
  spawn(base: MapLayer, top: MapLayer, delta: StateDelta): MapLayer {
    assert(top.number < LAYER_NUMBER_MAX, 'layer: the chain has at most 2^32 layers')
    const memory = new LayerMemory(this.arena)
    const layer = new MapLayer(this, top, base.number, this.nextId++)
    const target: WriteTarget = {
      segments: this.arena.segments,
      memory,
      number: layer.number,
      baseNumber: base.number,
    }
    try {
      this.writeAccounts(target, top, layer, delta)
      this.writeCodes(target, top, layer, delta.codes)
    } catch (error) {
      memory.release()
      if (layer.shelf >= 0) this.clearShelf(layer)
      throw error
    }
    layer.adopt(memory)
    this.layerCount++
    return layer
  }

  /** For `MapLayer` alone: a layer's memory has gone. */
  noteFreed(layer: MapLayer): void {
    this.layerCount--
    if (layer.shelf >= 0) this.clearShelf(layer)
  }

  private writeAccounts(
    target: WriteTarget,
    top: MapLayer,
    layer: MapLayer,
    { accounts }: StateDelta,
  ): void {
    layer.accounts =
      accounts.length === 0
        ? top.accounts
        : this.accountWriter.write(target, top.accounts, accounts)
  }

  private writeCodes(
    target: WriteTarget,
    top: MapLayer,
    layer: MapLayer,
    changes: readonly CodeChange[],
  ): void {
    layer.codes = top.codes
    if (changes.length === 0) return
    const sorted = [...changes].sort((a, b) => bytesCompare(a.codeHash, b.codeHash))
    const codes = sorted.filter(
      ({ codeHash }, index) => index === 0 || !bytesEqual(codeHash, sorted[index - 1]!.codeHash),
    )
    layer.shelf = this.freeShelves.pop() ?? this.shelves.length
    this.shelves[layer.shelf] = codes.map(({ code }) => code)
    for (const { code } of codes) this.codeByteCount += code.length
    const hashes = codes.map(({ codeHash }) => codeHash)
    layer.codes = this.codeWriter.write(target, top.codes, { hashes, shelf: layer.shelf })
  }

  private clearShelf(layer: MapLayer): void {
    for (const code of this.shelves[layer.shelf]!) this.codeByteCount -= code.length
    this.shelves[layer.shelf] = undefined
    this.freeShelves.push(layer.shelf)
    layer.shelf = -1
  }
}

/** One layer. Made by `LayerTree.spawn`, which pins it; whoever pins it lets go with `release`. */
export class MapLayer {
  readonly tree: LayerTree
  /** Of this layer alone, never given out again within its tree. */
  readonly id: number
  /** Layers above this one. */
  readonly number: number
  /** Views of this layer begin here or later. */
  readonly baseNumber: number
  /** Roots of the tries. */
  accounts: NodeReference = NO_REFERENCE
  codes: NodeReference = NO_REFERENCE
  /** Place of this layer's codes in the tree, -1 where it has none. */
  shelf = -1

  private parent: MapLayer | undefined
  /** An ancestor farther up, so that ancestors are found in steps of growing length. */
  private jump: MapLayer | undefined
  private firstChild: MapLayer | undefined
  private nextSibling: MapLayer | undefined
  private previousSibling: MapLayer | undefined
  private pinCount = 1
  private memory: LayerMemory | undefined
  /** Nothing above is pinned. */
  private isGrounded: boolean
  private isDead = false

  /** Use `LayerTree.spawn`. */
  constructor(tree: LayerTree, parent: MapLayer | undefined, baseNumber: number, id: number) {
    this.tree = tree
    this.id = id
    this.number = parent === undefined ? 0 : parent.number + 1
    this.baseNumber = baseNumber
    this.parent = parent
    this.jump = parent?.jumpForChild()
    this.isGrounded = parent === undefined
  }

  /** False once nobody holds it and it has gone. */
  get isAlive(): boolean {
    return !this.isDead
  }

  /** Bytes of its own nodes, by whole chunks. */
  get chunkCount(): number {
    return this.memory?.size ?? 0
  }

  /** The layer that this one was built on, or `undefined` where that has gone. */
  get parentLayer(): MapLayer | undefined {
    return this.parent
  }

  /** Takes the finished memory and takes its place among the children. For `LayerTree` alone. */
  adopt(memory: LayerMemory): void {
    this.memory = memory
    const parent = this.parent!
    this.nextSibling = parent.firstChild
    if (parent.firstChild !== undefined) parent.firstChild.previousSibling = this
    parent.firstChild = this
  }

  /** Holds the layer once more. @throws VarveError STATE_LAYER_RELEASED */
  pin(): this {
    this.checkAlive()
    this.pinCount++
    return this
  }

  /**
   * Lets go once. Cost: O(1) for each layer that ends by it.
   * @throws VarveError STATE_LAYER_RELEASED where nobody holds it
   */
  release(): void {
    this.checkAlive()
    assert(this.pinCount > 0, 'layer: released more often than pinned')
    this.pinCount--
    if (this.pinCount > 0) return
    if (this.firstChild === undefined) this.dieUpwards()
    else if (this.isGrounded) this.groundDownwards()
  }

  /** Whether `layer` is this one or one that it was built on. Cost: O(log) of their distance. */
  isDescendantOf(layer: MapLayer): boolean {
    if (layer.tree !== this.tree || layer.isDead || this.isDead) return false
    let at: MapLayer | undefined = this
    while (at !== undefined && at.number > layer.number)
      at = at.jump !== undefined && at.jump.number >= layer.number ? at.jump : at.parent
    return at === layer
  }

  /** Whether the view `(base, this]` is legal: see `checkViewAfter`. */
  canViewAfter(base: MapLayer): boolean {
    return base.number >= this.baseNumber && this.isDescendantOf(base)
  }

  /**
   * A view after `base` up to this layer is legal where both live, `base` is this layer or one that it was built on,
   * and this layer was built over a view that began no later.
   * @throws VarveError STATE_LAYER_RELEASED, STATE_VIEW_ILLEGAL
   */
  checkViewAfter(base: MapLayer): void {
    this.checkAlive()
    base.checkAlive()
    if (base.tree !== this.tree) throw illegalView(base, this, 'they are of two trees')
    if (base.number > this.number) throw illegalView(base, this, 'the base is above the top')
    if (base.number < this.baseNumber)
      throw illegalView(base, this, `the top was built over a view from layer ${this.baseNumber}`)
    if (!this.isDescendantOf(base))
      throw illegalView(base, this, 'the top was not built on the base')
  }

  /** @throws VarveError STATE_LAYER_RELEASED */
  checkAlive(): void {
    if (this.isDead)
      throw new VarveError<MapLayerErrorCode>(
        'STATE_LAYER_RELEASED',
        `layer ${this.number} (id ${this.id}) was released: nobody holds it any more`,
        { number: this.number, id: this.id },
      )
  }

  /** Nobody holds this layer or one beneath: it goes, and every unpinned parent that is left without children. */
  private dieUpwards(): void {
    let layer: MapLayer | undefined = this
    while (layer !== undefined && layer.pinCount === 0 && layer.firstChild === undefined) {
      const parent: MapLayer | undefined = layer.parent
      if (parent !== undefined) layer.unlink(parent)
      layer.die()
      layer = parent
    }
  }

  /** Nobody holds this layer or one above: what is beneath needs no memory until the next pinned layer is passed. */
  private groundDownwards(): void {
    let layer: MapLayer = this
    const pending: MapLayer[] = []
    for (;;) {
      let child = layer.firstChild
      while (child !== undefined) {
        const next: MapLayer | undefined = child.nextSibling
        child.ground()
        if (child.pinCount === 0) pending.push(child)
        child = next
      }
      layer.firstChild = undefined
      layer.die()
      const following = pending.pop()
      if (following === undefined) return
      layer = following
    }
  }

  private ground(): void {
    this.isGrounded = true
    this.parent = undefined
    this.jump = undefined
    this.nextSibling = undefined
    this.previousSibling = undefined
    this.freeMemory()
  }

  private die(): void {
    this.isDead = true
    this.parent = undefined
    this.jump = undefined
    this.freeMemory()
  }

  private freeMemory(): void {
    if (this.memory === undefined) return
    this.memory.release()
    this.memory = undefined
    this.accounts = NO_REFERENCE
    this.codes = NO_REFERENCE
    this.tree.noteFreed(this)
  }

  /** What a child remembers beside its parent: lengths of jumps double where two equal ones meet (skew-binary). */
  private jumpForChild(): MapLayer {
    const first = this.jump
    const second = first?.jump
    if (first === undefined || second === undefined) return this
    return this.number - first.number === first.number - second.number ? second : this
  }

  private unlink(parent: MapLayer): void {
    if (this.previousSibling === undefined) parent.firstChild = this.nextSibling
    else this.previousSibling.nextSibling = this.nextSibling
    if (this.nextSibling !== undefined) this.nextSibling.previousSibling = this.previousSibling
    this.nextSibling = undefined
    this.previousSibling = undefined
  }
}

function illegalView(base: MapLayer, top: MapLayer, reason: string): VarveError {
  return new VarveError<MapLayerErrorCode>(
    'STATE_VIEW_ILLEGAL',
    `view after layer ${base.number} (id ${base.id}) up to ${top.number} (id ${top.id}): ${reason}`,
    { base: base.number, baseId: base.id, top: top.number, topId: top.id },
  )
}

/** Error codes of this module. */
export type MapLayerErrorCode =
  /** A layer, or a view of one, is used after it was released. */
  | 'STATE_LAYER_RELEASED'
  /** The view asked for would not show everything that was written: base and top do not fit. */
  | 'STATE_VIEW_ILLEGAL'
