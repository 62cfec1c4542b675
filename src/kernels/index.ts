/** Tight loops over bytes in memory: wasm kernels and their twins. */
export {
  EvmEngine,
  type EvmExports,
  type EvmHostFunctions,
  EvmKernel,
  EvmLayout,
} from './evm.ts'
export {
  createKeccakHasher,
  createKeccakKernel,
  KECCAK_RECORD_BYTES,
  KECCAK_SCRATCH_ALIGNMENT,
  KECCAK_SCRATCH_BYTES,
  type KeccakHasher,
  type KeccakImplementation,
  type KeccakKernel,
  type KeccakOptions,
  keccak256,
  keccak256Batch,
  keccak256Into,
} from './keccak.ts'
export {
  type EncodingSink,
  type TrieNodeImplementation,
  TrieNodeKernel,
  trieNodeKernel,
  useTrieNodeImplementation,
} from './trieNode.ts'
export { createKernelMemory, type KernelMemory, KernelModule, PAGE_BYTES } from './wasm.ts'
