export { delegationTarget, isDelegation } from './delegation.ts'
export { type BlockOutcome, type ExecutorErrorCode, executeBlock } from './executor.ts'
export {
  executeTransaction,
  type TransactionContext,
  type TransactionOutcome,
} from './transaction.ts'
export {
  type BlockSpace,
  checkTransaction,
  type ExecutionBlock,
  emptyBlockSpace,
  feeCap,
  type TransactionCost,
} from './transactionCheck.ts'
export { type ReceiptContext, transactionReceipt } from './transactionReceipt.ts'
export {
  isTransactionRejection,
  type TransactionRejection,
  type TransactionRejectionErrorCode,
} from './transactionRejection.ts'
export { type BlockHashReader, ViewHost } from './viewHost.ts'
export { deltaOfWrites } from './writtenDelta.ts'
