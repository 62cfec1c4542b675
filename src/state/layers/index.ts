export { type DiffSource, diffAccounts, eachAccountChange } from './layerDiff.ts'
export { LayeredMap, UNWRITTEN, type Unwritten } from './layeredMap.ts'
export { LayeredState, type LayeredStateErrorCode } from './layeredState.ts'
export { LayerTree, type LayerTreeStatus, MapLayer, type MapLayerErrorCode } from './mapLayer.ts'
export { SHARD_COUNT } from './nodeLayout.ts'
export {
  StateLayers,
  type StateLayersErrorCode,
  type StateLayersOptions,
} from './stateLayers.ts'
