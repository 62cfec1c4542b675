/** Wei that a block gives without a transaction: rewards of miners, and withdrawals (EIP-4895). */
import type { Withdrawal } from '../codec/index.ts'
import type { Machine } from '../evm/index.ts'
import { SYSTEM_ADDRESS } from './systemCalls.ts'

/** Wei in a gwei: withdrawals count in gwei. */
const WEI_PER_GWEI = 1_000_000_000n

export type BlockCredit = {
  /** 20 bytes. */
  readonly address: Uint8Array
  /** Wei. Giving nothing still touches the account, which deletes it where it is empty (EIP-161). */
  readonly amount: bigint
}

/** Gives all credits, after the block's last transaction. */
export function applyCredits(machine: Machine, credits: readonly BlockCredit[]): void {
  if (credits.length === 0) return
  machine.beginTransaction({ origin: SYSTEM_ADDRESS, gasPrice: 0n })
  for (const { address, amount } of credits) machine.addBalance(address, amount)
  machine.finishTransaction()
}

/** Withdrawals as credits, in their order. */
export function withdrawalCredits(withdrawals: readonly Withdrawal[]): BlockCredit[] {
  return withdrawals.map(({ address, amount }) => ({ address, amount: amount * WEI_PER_GWEI }))
}
