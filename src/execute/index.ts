export { type BlockOutcome, type ExecutorErrorCode, executeBlock } from './executor.ts'
