/** The shared memory and everything addressed by a handle. */
export * from './layout.ts'
export {
  NO_NODE,
  NodeArena,
  type NodeArenaErrorCode,
  type NodeArenaOptions,
  type NodeHandle,
} from './nodeArena.ts'
