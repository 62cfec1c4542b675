/** What belongs to the running transaction as a whole: its number in the block, and the refund counter. */
import { J_REFUND, recordNumber } from './journal'

/** Number of the transaction, from 1 up, never 0. Stamps of another number mean "not in this transaction". */
export let epoch: u32 = 1
/** Refund so far (EIP-3529 and before); may dip below zero inside a frame. */
export let refund: i64 = 0

/** Whether storage values live as trimmed bytes on the host's side: the baseline that this design is measured against. */
export let trimmed: bool = false

export function setTrimmed(on: bool): void {
  trimmed = on
}

export function setEpoch(value: u32): void {
  epoch = value
}

export function setRefund(value: i64): void {
  refund = value
}

export function addRefund(amount: i64): void {
  recordNumber(J_REFUND, 0, u64(refund))
  refund += amount
}
