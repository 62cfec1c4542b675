/**
 * One version of the state, over layers and the persisted state. Immutable to read; `apply` makes the next version
 * and leaves this one as it is, so a version may have any number of next ones.
 *
 *     reads ─▶ layers (persisted, this] ─▶ persisted state
 *
 * A version holds its layers until it is released. As the persisted state moves forward on this version's line, the
 * view follows it at the next read that needs it and lets the layers below go: what such a read finds there is the
 * same, since whatever was written in between is in the layers that are left or in the persisted state.
 */
import {
  assert,
  bytesEqual,
  EMPTY_BYTES,
  EMPTY_CODE_HASH,
  VarveError,
  VERIFY,
} from '../../base/index.ts'
import { type Account, accountsEqual } from '../account.ts'
import { completeDelta, type StateDelta, slotsEqual } from '../delta.ts'
import { type StateUsage, usageAfter } from '../usage.ts'
import type { ListingView, StoredSlot } from '../view.ts'
import { LayeredMap, UNWRITTEN } from './layeredMap.ts'
import type { MapLayer } from './mapLayer.ts'
import type { StateLayers } from './stateLayers.ts'

export class LayeredState implements ListingView {
  /** The layers that this version is one of. */
  readonly owner: StateLayers
  /** What the state holds. */
  readonly usage: StateUsage
  private map: LayeredMap
  /** The layer that this version was last found to stand on. */
  private line: MapLayer | undefined

  /** Use `StateLayers.open`, `apply` or `fork`. Takes the view over. */
  constructor(owner: StateLayers, map: LayeredMap, usage: StateUsage) {
    this.owner = owner
    this.map = map
    this.usage = usage
  }

  /** Counts blocks: the next version has the next number, on every fork. */
  get version(): number {
    return this.owner.versionOf(this.map.top)
  }

  /** Tells versions apart that have the same number, root, or values. */
  get layerId(): number {
    return this.map.top.id
  }

  get topLayer(): MapLayer {
    return this.map.top
  }

  /** @throws VarveError STATE_LAYER_RELEASED, STATE_VIEW_OVERTAKEN */
  account(addressHash: Uint8Array): Account | undefined {
    const account = this.map.account(addressHash)
    return account === UNWRITTEN ? this.below().account(addressHash) : account
  }

  /** @throws VarveError STATE_LAYER_RELEASED, STATE_VIEW_OVERTAKEN */
  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    const value = this.map.storage(addressHash, slotHash)
    return value === UNWRITTEN ? this.below().storage(addressHash, slotHash) : value
  }

  /** @throws VarveError STATE_LAYER_RELEASED, STATE_CODE_MISSING */
  code(codeHash: Uint8Array): Uint8Array {
    if (bytesEqual(codeHash, EMPTY_CODE_HASH)) return EMPTY_BYTES
    const code = this.map.code(codeHash)
    // A code is the same in every version that has it, so the persisted state need not be on this line.
    return code === UNWRITTEN ? this.owner.persisted.code(codeHash) : code
  }

  /** @throws VarveError STATE_LAYER_RELEASED, STATE_VIEW_OVERTAKEN */
  hasStorage(addressHash: Uint8Array): boolean {
    let isHiding = false
    const isSet = this.map.visitSlots(addressHash, (_, value) => {
      if (value === undefined) isHiding = true
      return value !== undefined
    })
    if (isSet) return true
    if (this.map.isStorageCleared(addressHash)) return false
    if (!isHiding) return this.below().hasStorage(addressHash)
    for (const _ of this.slots(addressHash)) return true
    return false
  }

  /** @throws VarveError STATE_LAYER_RELEASED, STATE_VIEW_OVERTAKEN */
  *slots(addressHash: Uint8Array): Iterable<StoredSlot> {
    const isCut = this.map.isStorageCleared(addressHash)
    // Before anything is read: what is written and what is below must be told apart by one base.
    const older = isCut ? [] : this.below().slots(addressHash)
    const written: StoredSlot[] = []
    this.map.visitSlots(addressHash, (slotHash, value) => {
      if (value !== undefined) written.push({ slotHash, value })
      return false
    })
    yield* written
    for (const slot of older)
      if (this.map.storage(addressHash, slot.slotHash) === UNWRITTEN) yield slot
  }

  /**
   * The next version: this one with a block's delta, completed where it is not. The caller releases it.
   * Cost: the delta's writes, and a read of each slot that it clears.
   * @param version where given, the number that the delta is for
   * @throws VarveError STATE_VERSION_NOT_NEXT, ARENA_CHUNKS_FULL, STATE_LAYER_RELEASED, STATE_VIEW_OVERTAKEN; nothing
   *   has changed then
   */
  apply(delta: StateDelta, version?: number): LayeredState {
    if (version !== undefined && version !== this.version + 1)
      throw new VarveError<LayeredStateErrorCode>(
        'STATE_VERSION_NOT_NEXT',
        `a delta for version ${version}: expected ${this.version + 1}`,
        { version, expected: this.version + 1 },
      )
    this.followPersisted()
    const complete = completeDelta(delta, this)
    if (VERIFY) this.checkOrigins(complete)
    const usage = usageAfter(this.usage, complete)
    const layer = this.map.spawn(complete)
    const map = new LayeredMap(this.map.base, layer)
    layer.release()
    return new LayeredState(this.owner, map, usage)
  }

  /** The same version once more, to be released on its own: a branch point. Cost: O(1). */
  fork(): LayeredState {
    return new LayeredState(this.owner, this.map.fork(), this.usage)
  }

  /** Whether this version is `older` or was made from it by applying deltas. */
  isDescendantOf(older: LayeredState): boolean {
    return this.map.top.isDescendantOf(older.map.top)
  }

  /**
   * What differs from an older version of this line, as a complete delta in trie order.
   * Cost: what was written in between. @param shard 0 to 15 for the accounts of one shard alone
   * @throws VarveError STATE_LAYER_RELEASED, STATE_VIEW_ILLEGAL
   */
  diffSince(older: LayeredState, shard?: number): StateDelta {
    return diffOf(this.since(older), shard)
  }

  /**
   * The layers from an older version of this line up to this one, to be closed by the caller: what another thread can
   * make the difference from meanwhile.
   * @throws VarveError STATE_LAYER_RELEASED, STATE_VIEW_ILLEGAL
   */
  since(older: LayeredState): LayeredMap {
    return new LayeredMap(older.map.top, this.map.top)
  }

  /** The layers from the persisted state up to this one, to be closed by the caller; else as `since`. */
  sincePersisted(): LayeredMap {
    this.followPersisted()
    return this.map.fork()
  }

  /** What differs from the persisted state: the rows that a write must change. Else as `diffSince`. */
  diffSincePersisted(shard?: number): StateDelta {
    this.followPersisted()
    return this.map.diff(shard)
  }

  /** The deltas that lead here from the persisted state, one a version, oldest first. */
  deltasSincePersisted(): StateDelta[] {
    this.followPersisted()
    return this.map.layers().map((view) => diffOf(view, undefined))
  }

  /** Lets the version go. Cost: O(1) for each layer that ends by it. @throws VarveError STATE_LAYER_RELEASED */
  release(): void {
    this.map.close()
  }

  /** @throws VarveError STATE_LAYER_RELEASED */
  checkOpen(): void {
    this.map.checkOpen()
  }

  /** False once released. */
  get isOpen(): boolean {
    return this.map.isOpen
  }

  /** A delta of this version says of each key what this version holds. */
  private checkOrigins(delta: StateDelta): void {
    for (const { addressHash, before, slots } of delta.accounts) {
      assert(
        accountsEqual(before, this.account(addressHash)),
        'layers: an account before is that of the version',
      )
      for (const slot of slots)
        assert(
          slotsEqual(slot.before, this.storage(addressHash, slot.slotHash)),
          'layers: a slot before is that of the version',
        )
    }
  }

  private below(): ListingView {
    this.followPersisted()
    return this.owner.persisted
  }

  /** Sees that the store is on this line still, and moves the base to where it is. */
  private followPersisted(): void {
    this.map.checkOpen()
    const { persistedLayer, lineLayer } = this.owner
    const { base, top } = this.map
    if (this.line !== lineLayer && !top.isDescendantOf(lineLayer))
      throw new VarveError<LayeredStateErrorCode>(
        'STATE_VIEW_OVERTAKEN',
        `version ${this.version} (layer id ${top.id}) does not stand on the persisted version ${this.owner.versionOf(lineLayer)}: its older values are not kept`,
        { version: this.version, persisted: this.owner.versionOf(lineLayer) },
      )
    this.line = lineLayer
    if (base === persistedLayer) return
    const map = new LayeredMap(persistedLayer, top)
    this.map.close()
    this.map = map
  }
}

function diffOf(view: LayeredMap, shard: number | undefined): StateDelta {
  try {
    return view.diff(shard)
  } finally {
    view.close()
  }
}

/** Error codes of this module. */
export type LayeredStateErrorCode =
  /** The persisted state has left this version's line or passed it; whoever retries takes a newer version. */
  | 'STATE_VIEW_OVERTAKEN'
  /** A delta is applied out of its order. */
  | 'STATE_VERSION_NOT_NEXT'
