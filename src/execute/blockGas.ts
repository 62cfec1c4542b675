/** Gas of a block's transactions, summed up the two ways that a block needs it. */
import { larger } from './bigints.ts'
import type { TransactionOutcome } from './transaction.ts'

export class BlockGas {
  /** What the senders have paid for so far: the receipts' `cumulativeGasUsed`. */
  paid = 0n
  private work = 0n
  private growth = 0n

  add(outcome: Pick<TransactionOutcome, 'gasUsed' | 'blockGasUsed' | 'blockStateGasUsed'>): void {
    this.paid += outcome.gasUsed
    this.work += outcome.blockGasUsed
    this.growth += outcome.blockStateGasUsed
  }

  /** The header's `gasUsed`: from Amsterdam on that of the kind of which more was used (EIP-8037). */
  get used(): bigint {
    return larger(this.work, this.growth)
  }
}
