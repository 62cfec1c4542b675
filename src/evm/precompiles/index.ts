/** The contracts that the protocol computes itself, by address and fork. */
export {
  type PrecompileLibraries,
  precompileLibraries,
  preparePrecompiles,
} from './engines.ts'
export type {
  Precompile,
  PrecompileFailure,
  PrecompileOutOfGas,
  PrecompileResult,
  PrecompileSuccess,
} from './precompile.ts'
export {
  PRECOMPILE_ADDRESS_MAX,
  PRECOMPILE_SETS,
  type PrecompileSet,
  type PrecompileView,
  precompileAddresses,
  precompileAt,
  precompileView,
} from './registry.ts'
