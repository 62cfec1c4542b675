/** The shared memory and everything addressed by a handle. */
export {
  CHUNK_BYTES,
  CHUNK_UNIT_BYTES,
  CHUNK_UNITS,
  ChunkArena,
  type ChunkArenaErrorCode,
  type ChunkArenaOptions,
  type ChunkHandle,
  NO_CHUNK,
  SEGMENT_MASK,
  SEGMENT_SHIFT,
} from './chunkArena.ts'
export * from './layout.ts'
export {
  NO_NODE,
  NodeArena,
  type NodeArenaErrorCode,
  type NodeArenaOptions,
  type NodeHandle,
  type NodeMemory,
} from './nodeArena.ts'
export { NodeWindow, NodeWindowLoan, type NodeWindowShare } from './nodeWindow.ts'
