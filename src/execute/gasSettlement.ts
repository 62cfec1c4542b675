/**
 * What a transaction's gas comes to when its message is over: refunds, the floor, and, from Amsterdam on, two kinds of
 * gas. EIP-3529, 7623, 7778 (blocks count gas without refunds), 8037 (growth of the state apart).
 *
 *     gas limit ─┬─ intrinsic gas of work
 *                ├─ intrinsic gas of growth
 *                ├─ gas of work, at most what EIP-7825 leaves of 2^24
 *                └─ reservoir for growth: the rest
 */
import { Fork } from '../base/index.ts'
import { TRANSACTION_GAS_MAX } from '../codec/index.ts'
import { type Machine, type MessageResult, Status } from '../evm/index.ts'
import { larger, smaller } from './bigints.ts'
import type { ExecutionBlock, TransactionCost } from './transactionCheck.ts'

/** Largest part of the gas used that refunds may give back: 1/2, and 1/5 from London on (EIP-3529). */
const REFUND_DIVISOR_FRONTIER = 2n
export const REFUND_DIVISOR_LONDON = 5n

/** Gas that a message starts with. */
export type MessageGas = {
  readonly gas: bigint
  /** Reservoir for growth of the state; 0 before Amsterdam. */
  readonly stateGas: bigint
}

export type GasSettlement = {
  /** What the sender pays for. */
  readonly gasUsed: bigint
  /** What the block counts: `gasUsed`, and from Amsterdam on the gas of work before refunds. */
  readonly blockGasUsed: bigint
  /** What the block counts of growth; 0 before Amsterdam. */
  readonly blockStateGasUsed: bigint
}

/** Divides what is left of the gas limit after the intrinsic gas. */
export function messageGas(gasLimit: bigint, fork: Fork, cost: TransactionCost): MessageGas {
  const rest = gasLimit - cost.intrinsicGas - cost.intrinsicStateGas
  if (fork < Fork.Amsterdam) return { gas: rest, stateGas: 0n }
  const gas = smaller(rest, TRANSACTION_GAS_MAX - cost.intrinsicGas)
  return { gas, stateGas: rest - gas }
}

/** What the settlement of a message has to know. */
export type SettlementInput = {
  readonly block: ExecutionBlock
  readonly gasLimit: bigint
  readonly cost: TransactionCost
  /** What the message was given. */
  readonly given: MessageGas
  readonly message: MessageResult
  /** Refund counter: of code, and of authorizations before Amsterdam. */
  readonly refund: bigint
  /** Paid ahead for accounts of authorizations that were there already, and put into the reservoir. */
  readonly returnedStateGas: bigint
}

/** Settles a transaction whose message has run and whose accounts are not deleted yet. */
export function settleGas(machine: Machine, input: SettlementInput): GasSettlement {
  return input.block.fork >= Fork.Amsterdam ? settleTwoKinds(machine, input) : settleOneKind(input)
}

function settleOneKind({ block, gasLimit, cost, message, refund }: SettlementInput): GasSettlement {
  const usedBefore = gasLimit - message.gasLeft
  const divisor = block.fork >= Fork.London ? REFUND_DIVISOR_LONDON : REFUND_DIVISOR_FRONTIER
  const gasUsed = larger(usedBefore - smaller(refund, usedBefore / divisor), cost.floorGas)
  return { gasUsed, blockGasUsed: gasUsed, blockStateGasUsed: 0n }
}

function settleTwoKinds(machine: Machine, input: SettlementInput): GasSettlement {
  const { block, gasLimit, cost, given, message, refund } = input
  const isOldDraft = block.amsterdamDraft === 'bal@v5.6'
  // A creation where a contract stands already takes all gas, and the block counts none of it as spent on anything.
  if (message.status === Status.AddressCollision)
    return {
      gasUsed: gasLimit,
      blockGasUsed: larger(cost.intrinsicGas, cost.floorGas),
      blockStateGasUsed: cost.intrinsicStateGas,
    }
  const { left, used, spilled } = message.stateGas
  // What the transaction made and deletes again is no growth.
  const undone =
    message.status === Status.Success && !isOldDraft
      ? smaller(machine.destructedStateGas(), used)
      : 0n
  const usedBefore = gasLimit - message.gasLeft - left - undone
  const gasUsed = larger(
    usedBefore - smaller(refund, usedBefore / REFUND_DIVISOR_LONDON),
    cost.floorGas,
  )
  const work = cost.intrinsicGas + given.gas - message.gasLeft - spilled
  return {
    gasUsed,
    blockGasUsed: larger(work, cost.floorGas),
    // The old draft took back from the block's count, too, what went back to the sender.
    blockStateGasUsed:
      cost.intrinsicStateGas + used - undone - (isOldDraft ? input.returnedStateGas : 0n),
  }
}
