/**
 * State gas (EIP-8037): the price of bytes that the state grows by, apart from the gas of work. A transaction brings a
 * reservoir for it; a charge that the reservoir cannot pay is taken from the running frame's gas. There is one
 * reservoir, as a frame hands all of it to its callee and takes back what is left.
 *
 * Each frame counts what it was charged, and what was given back to it. A frame that fails has grown nothing, so its
 * charges flow back, to the reservoir wherever they came from. What it had been given back before is taken off them,
 * except from those of the message itself: the release of the tests (bal@v5.7.0) counts so, later drafts do not.
 *
 * The draft before (bal@v5.6) gave back less: a slot that goes again counts for the refund counter, an account that a
 * failed creation did not make stays paid for, and so does all that a failing transaction was charged.
 *
 * Where ENV_STATE_BYTE is 0, before Amsterdam, nothing here is called.
 */
import {
  ENV_STATE_BYTE,
  ENV_STATE_DRAFT,
  F_STATE_PENDING,
  F_STATE_REFUND,
  F_STATE_USED,
} from './layout'
import { addRefund } from './state'
import { OUT_OF_GAS } from './status'

/** Bytes that each growth counts for. */
export const ACCOUNT_STATE_BYTES: i64 = 112
export const SLOT_STATE_BYTES: i64 = 32

/** What is left of the transaction's reservoir. */
export let reservoir: i64 = 0
/** State gas that frames have paid from their own gas so far. It never flows back there. */
export let stateGasSpilled: i64 = 0
/** State gas that the last message has used. */
export let stateGasUsed: i64 = 0

/** Gas a byte of new state; 0 where the fork has no state gas. */
// @ts-ignore: decorator
@inline
export function stateByteGas(): i64 {
  return load<i64>(ENV_STATE_BYTE)
}

/** Starts a message with this much in the reservoir. */
export function fillReservoir(amount: i64): void {
  reservoir = amount
  stateGasSpilled = 0
  stateGasUsed = 0
}

export function openStateGas(frame: usize): void {
  store<i64>(frame, 0, F_STATE_USED)
  store<i64>(frame, 0, F_STATE_REFUND)
  store<i64>(frame, 0, F_STATE_PENDING)
}

/** Charges a frame for state of `bytes`; returns its gas left, or minus a status and nothing is charged. */
export function chargeState(frame: usize, bytes: i64, gas: i64): i64 {
  const amount = bytes * stateByteGas()
  if (reservoir >= amount) reservoir -= amount
  else {
    const rest = amount - reservoir
    if (gas < rest) return -OUT_OF_GAS
    reservoir = 0
    stateGasSpilled += rest
    gas -= rest
  }
  store<i64>(frame, load<i64>(frame, F_STATE_USED) + amount, F_STATE_USED)
  return gas
}

function isOldDraft(): bool {
  return load<u32>(ENV_STATE_DRAFT) != 0
}

/** Gives a frame back the price of a slot that it made and removed again. */
export function creditSlot(frame: usize): void {
  const amount = SLOT_STATE_BYTES * stateByteGas()
  if (isOldDraft()) addRefund(amount)
  else credit(frame, amount)
}

/** Gives a frame back the price of an account that a creation of its did not make. */
export function creditAccount(frame: usize): void {
  if (!isOldDraft()) credit(frame, ACCOUNT_STATE_BYTES * stateByteGas())
}

/** What the frame itself was not charged waits for the frame that made it: it may have been. */
function credit(frame: usize, amount: i64): void {
  const used = load<i64>(frame, F_STATE_USED)
  const applied = min(amount, used)
  reservoir += applied
  store<i64>(frame, used - applied, F_STATE_USED)
  store<i64>(frame, load<i64>(frame, F_STATE_REFUND) + applied, F_STATE_REFUND)
  store<i64>(frame, load<i64>(frame, F_STATE_PENDING) + amount - applied, F_STATE_PENDING)
}

/** Settles a frame that ended, with the one below it: 0 where it was the message itself. */
export function closeStateGas(frame: usize, succeeded: bool, parent: usize): void {
  const used = load<i64>(frame, F_STATE_USED)
  if (!succeeded) {
    if (parent == 0 && isOldDraft()) {
      stateGasUsed = used
      return
    }
    // Credits may exceed what the frame paid where it was charged and credited more than once.
    const undone: i64 = parent == 0 ? 0 : load<i64>(frame, F_STATE_REFUND)
    reservoir = max(reservoir + used - undone, 0)
    return
  }
  if (parent == 0) {
    stateGasUsed = used
    return
  }
  store<i64>(parent, load<i64>(parent, F_STATE_USED) + used, F_STATE_USED)
  store<i64>(
    parent,
    load<i64>(parent, F_STATE_REFUND) + load<i64>(frame, F_STATE_REFUND),
    F_STATE_REFUND,
  )
  credit(parent, load<i64>(frame, F_STATE_PENDING))
}
