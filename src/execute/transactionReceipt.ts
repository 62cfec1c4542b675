/** The receipt of an executed transaction. */
import { bloomOfLogs, type Receipt, type TransactionType } from '../codec/index.ts'
import { Status } from '../evm/index.ts'
import type { TransactionOutcome } from './transaction.ts'

export type ReceiptContext = {
  readonly type: TransactionType
  /** Of the block, with this transaction. */
  readonly cumulativeGasUsed: bigint
  /** State root after the transaction, before Byzantium; `undefined` from EIP-658 on. */
  readonly stateRoot?: Uint8Array | undefined
}

/** Cost: a keccak for each address and topic of the logs. */
export function transactionReceipt(
  outcome: Pick<TransactionOutcome, 'logs' | 'status'>,
  context: ReceiptContext,
): Receipt {
  const { logs, status } = outcome
  return {
    type: context.type,
    outcome: context.stateRoot ?? (status === Status.Success ? 1 : 0),
    cumulativeGasUsed: context.cumulativeGasUsed,
    logsBloom: bloomOfLogs(logs),
    logs,
  }
}
