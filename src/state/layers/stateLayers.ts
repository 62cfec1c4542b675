/**
 * The layers over one persisted state, and which version that is. The persisted state only moves forward, along one
 * line of layers; views that do not stand on that line can no longer ask it.
 *
 *     persisted ── n+1 ── n+2 ── n+3        every version above the persisted one, on every fork, is a LayeredState
 *                     └── n+2'
 *     announcePersist(n+2)   a write of n+2 begins: whoever does not stand on n+2 asks the store no more
 *     markPersisted(n+2)     the store holds n+2: layers up to it end
 *
 * A version may be answered by the store at any state between its base and itself: what was written in between is in
 * its layers. So a write may run on another thread between the two calls.
 */
import type { ChunkArena } from '../../arena/index.ts'
import { assert, VarveError } from '../../base/index.ts'
import { EMPTY_USAGE, type StateUsage } from '../usage.ts'
import type { ListingView } from '../view.ts'
import { LayeredMap } from './layeredMap.ts'
import { LayeredState } from './layeredState.ts'
import { LayerTree, type LayerTreeStatus, type MapLayer } from './mapLayer.ts'

export type StateLayersOptions = {
  /** The persisted state. It answers for the version that `markPersisted` named last. */
  readonly persisted: ListingView
  /** Version of the persisted state: the number of the block that it is the state after. */
  readonly version?: number
  /** What the persisted state holds; nothing without it. */
  readonly usage?: StateUsage
  /** Most bytes for the layers' nodes; 1 GiB without it. */
  readonly bytesMax?: number
  /** Memory shared with other layers, in the place of one's own: it has its own limit. */
  readonly arena?: ChunkArena
}

export class StateLayers {
  readonly tree: LayerTree
  readonly persisted: ListingView
  private readonly versionFirst: number
  private layer: MapLayer
  private announced: MapLayer | undefined
  private usage: StateUsage

  constructor(options: StateLayersOptions) {
    const { persisted, version = 0, usage = EMPTY_USAGE, bytesMax, arena } = options
    this.persisted = persisted
    this.versionFirst = version
    this.usage = usage
    this.tree = new LayerTree(arena ?? (bytesMax === undefined ? {} : { bytesMax }))
    this.layer = this.tree.root
  }

  /** The layer that the persisted state is the state of. */
  get persistedLayer(): MapLayer {
    return this.layer
  }

  /** The layer that a version must stand on to ask the store: of the persisted state, or of the one being written. */
  get lineLayer(): MapLayer {
    return this.announced ?? this.layer
  }

  /** Version of the persisted state. */
  get persistedVersion(): number {
    return this.versionOf(this.layer)
  }

  /** What the layers take at the moment. */
  get status(): LayerTreeStatus {
    return this.tree.status
  }

  /** The persisted state as a version to build on. The caller releases it. */
  open(): LayeredState {
    return new LayeredState(this, new LayeredMap(this.layer, this.layer), this.usage)
  }

  /**
   * Tells that the store is about to move to `state`: call it before the write begins. Versions that are older, or of
   * another fork, are from here on answered from their layers and fail with STATE_VIEW_OVERTAKEN where those do not know.
   * @throws VarveError STATE_PERSIST_ORDER where `state` does not stand on the persisted state, or a write is under way
   */
  announcePersist(state: LayeredState): void {
    this.checkOrder(state)
    if (this.announced !== undefined)
      throw new VarveError<StateLayersErrorCode>(
        'STATE_PERSIST_ORDER',
        `a write of version ${state.version} is announced while that of version ${this.versionOf(this.announced)} is under way`,
        { version: state.version, underWay: this.versionOf(this.announced) },
      )
    this.announced = state.topLayer.pin()
  }

  /** Takes an announcement back: the write failed and the store is as it was. */
  cancelPersist(): void {
    const { announced } = this
    assert(announced !== undefined, 'layers: no write is under way')
    this.announced = undefined
    announced.release()
  }

  /**
   * Tells that the store now holds `state`: right after the write, before any other read where it was not announced.
   * Versions on this line then need the layers above `state` alone.
   * @throws VarveError STATE_PERSIST_ORDER where `state` does not stand on the state that was persisted before, or
   *   another one was announced
   */
  markPersisted(state: LayeredState): void {
    this.checkOrder(state)
    if (this.announced !== undefined && this.announced !== state.topLayer)
      throw new VarveError<StateLayersErrorCode>(
        'STATE_PERSIST_ORDER',
        `persisted version ${state.version}: expected version ${this.versionOf(this.announced)}, whose write was announced`,
        { version: state.version, underWay: this.versionOf(this.announced) },
      )
    const before = this.layer
    this.layer = state.topLayer.pin()
    this.usage = state.usage
    if (this.announced !== undefined) this.cancelPersist()
    before.release()
  }

  /** Lets the persisted layer go. Views that are still open keep theirs. */
  close(): void {
    if (this.announced !== undefined) this.cancelPersist()
    this.layer.release()
  }

  /** Version of a layer's state. */
  versionOf(layer: MapLayer): number {
    return this.versionFirst + layer.number
  }

  private checkOrder(state: LayeredState): void {
    assert(state.owner === this, 'layers: the state is of these layers')
    const { topLayer } = state
    if (!topLayer.isDescendantOf(this.layer))
      throw new VarveError<StateLayersErrorCode>(
        'STATE_PERSIST_ORDER',
        `persisted version ${state.version} (layer id ${topLayer.id}): expected one on top of version ${this.persistedVersion} (layer id ${this.layer.id})`,
        { version: state.version, persisted: this.persistedVersion },
      )
  }
}

/** Error codes of this module. */
export type StateLayersErrorCode =
  /** A state is said to be persisted that does not stand on the one persisted before, or is not the one announced. */
  'STATE_PERSIST_ORDER'
