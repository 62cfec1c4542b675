export { AccessListBuilder } from './accessListBuilder.ts'
export {
  applyCredits,
  type BlockCredit,
  withdrawalCredits,
} from './blockCredits.ts'
export { BlockGas } from './blockGas.ts'
export { delegationTarget, isDelegation } from './delegation.ts'
export {
  type BlockContext,
  type BlockExecutor,
  type BlockOutcome,
  environmentOf,
  executeBlock,
  recoverSenders,
} from './executor.ts'
export type {
  NativeCall,
  NativeContract,
  NativeResult,
  NativeSlot,
  NativeStorage,
} from './nativeContract.ts'
export { executeBlockNatively, executeTransfers } from './nativeTransfer.ts'
export {
  collectRequests,
  depositsOf,
  isRequestFault,
  type RequestErrorCode,
  type RequestOptions,
  requestsHash,
} from './requests.ts'
export {
  BEACON_ROOTS_ADDRESS,
  type BlockOpening,
  CONSOLIDATION_REQUESTS_ADDRESS,
  callSystemContract,
  HISTORY_STORAGE_ADDRESS,
  openBlock,
  SYSTEM_ADDRESS,
  type SystemCallResult,
  WITHDRAWAL_REQUESTS_ADDRESS,
} from './systemCalls.ts'
export {
  executeTransaction,
  type TransactionContext,
  type TransactionOutcome,
} from './transaction.ts'
export {
  type AccountReader,
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
export { deltaOfWrites, slotBytes } from './writtenDelta.ts'
