export {
  type Account,
  accountHasCode,
  accountIsEmpty,
  accountsEqual,
  EMPTY_ACCOUNT,
} from './account.ts'
export { mergeDeltas } from './changeMap.ts'
export {
  type AccountChange,
  type AccountUpdate,
  type CodeChange,
  completeDelta,
  EMPTY_DELTA,
  invertDelta,
  type SlotChange,
  type SlotUpdate,
  type StateDelta,
  type StateUpdate,
  sealDelta,
  slotsEqual,
} from './delta.ts'
export { deltaBetween } from './deltaBetween.ts'
export { type DeltaCodecErrorCode, DeltaEncoder, decodeDelta, encodeDelta } from './deltaCodec.ts'
export {
  decodeFlatAccount,
  decodeFlatSlot,
  encodeFlatAccount,
  encodeFlatSlot,
  FlatState,
  type FlatStateErrorCode,
} from './flatState.ts'
export { FlatView } from './flatView.ts'
export { sortedByHash } from './hashSort.ts'
export { addressHashOf, type HashKey, hashKey, hashOfKey, slotHashOf } from './key.ts'
export {
  type DiffSource,
  diffAccounts,
  eachAccountChange,
  LayeredMap,
  LayeredState,
  type LayeredStateErrorCode,
  LayerTree,
  type LayerTreeStatus,
  MapLayer,
  type MapLayerErrorCode,
  SHARD_COUNT,
  StateLayers,
  type StateLayersErrorCode,
  type StateLayersOptions,
  UNWRITTEN,
  type Unwritten,
} from './layers/index.ts'
export { MergedState } from './mergedState.ts'
export { OlderState, type StateStep } from './olderState.ts'
export { StableView } from './stableView.ts'
export { type CacheMisses, StateCache, type StateCacheOptions } from './stateCache.ts'
export {
  accountRowBytes,
  addUsage,
  EMPTY_USAGE,
  type StateUsage,
  slotRowBytes,
  type UsageSum,
  usageAfter,
} from './usage.ts'
export type { ListingView, StateView, StateViewErrorCode, StoredSlot } from './view.ts'
