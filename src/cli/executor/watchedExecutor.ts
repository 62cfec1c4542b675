/** Block executors of a run: as the engine's own, but a transaction that does not succeed ends the run. */
import { VarveError } from '../../base/index.ts'
import { type BlockExecutor, executeBlock, executeTransfers } from '../../execute/index.ts'
import { NATIVE_TOKEN } from './nativeToken.ts'

export type ExecutorKind = 'evm' | 'native'

/**
 * Fails on what no workload means to do.
 * @param tally where the gas of all blocks is added up
 */
export function watchedExecutor(kind: ExecutorKind, tally: { gas: bigint }): BlockExecutor {
  return (block, context) => {
    const outcome =
      kind === 'evm'
        ? executeBlock(block, context)
        : executeTransfers(block, context, [NATIVE_TOKEN])
    const { number } = block.header
    if (outcome === undefined) {
      // Where a transaction is refused, this says which and why.
      executeBlock(block, context)
      throw new VarveError<ExecutorErrorCode>(
        'EXECUTOR_NOT_NATIVE',
        `block ${number}: expected transfers alone, got a transaction that takes the EVM`,
        { blockNumber: number },
      )
    }
    const index = outcome.receipts.findIndex((receipt) => receipt.outcome !== 1)
    if (index >= 0)
      throw new VarveError<ExecutorErrorCode>(
        'EXECUTOR_TRANSACTION_FAILED',
        `block ${number}, transaction ${index}: expected success, got a failure`,
        { blockNumber: number, transactionIndex: index },
      )
    tally.gas += outcome.gasUsed
    return outcome
  }
}

/** Error codes of this module. */
export type ExecutorErrorCode =
  /** The native executor met what is none of its transfers. */
  | 'EXECUTOR_NOT_NATIVE'
  /** A transaction of a workload reverted or ran out of gas. */
  | 'EXECUTOR_TRANSACTION_FAILED'
