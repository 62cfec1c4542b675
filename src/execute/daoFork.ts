/** The irregular state change of July 2016 (EIP-779). */
import { DAO_ADDRESSES, DAO_REFUND_ADDRESS } from '../chain/index.ts'
import type { Machine } from '../evm/index.ts'
import { SYSTEM_ADDRESS } from './systemCalls.ts'

/** Moves the ether of the DAO and its children to the refund contract. The machine has begun the block. */
export function moveDaoFunds(machine: Machine): void {
  machine.beginTransaction({ origin: SYSTEM_ADDRESS, gasPrice: 0n })
  for (const address of DAO_ADDRESSES) {
    // On a chain without it the account comes into being, empty: test chains have all of them in their roots.
    machine.addBalance(address, 0n)
    const balance = machine.getBalance(address)
    machine.subtractBalance(address, balance)
    machine.addBalance(DAO_REFUND_ADDRESS, balance)
  }
  machine.finishTransaction()
}
