export { Lane } from './lane.ts'
export {
  type PoolErrorCode,
  threadCountDefault,
  WorkerPool,
  type WorkerPoolOptions,
} from './pool.ts'
export { type Answer, serve } from './serve.ts'
export {
  type TaskBoardErrorCode,
  type TaskBoardShare,
  TaskHelper,
  TaskOwner,
} from './taskBoard.ts'
export { workerUrl } from './workerUrl.ts'
