/** SLOAD, SSTORE, TLOAD and TSTORE. Each takes the gas left and returns what remains, or minus a status. */

import { hostTrimmedLoad, hostTrimmedOriginal, hostTrimmedStore } from './host'
import { J_TRIMMED, recordNumber } from './journal'
import { F_FLAGS, F_SELF, FLAG_STATIC, SCRATCH } from './layout'
import {
  P_COLD_SLOT,
  P_SSTORE_CLEAR_REFUND,
  P_SSTORE_NET,
  P_SSTORE_NOOP,
  P_SSTORE_RESET,
  P_SSTORE_RESTORE_REFUND,
  P_SSTORE_RESTORE_ZERO_REFUND,
  P_SSTORE_SET,
  P_SSTORE_STIPEND,
  parameter,
} from './rules'
import {
  originalOf,
  S_VALUE,
  settleSlot,
  slotAt,
  slotNumber,
  slotRecord,
  warmSlot,
  writeSlot,
} from './slots'
import { addRefund, trimmed } from './state'
import { chargeState, creditSlot, SLOT_STATE_BYTES, stateByteGas } from './stateGas'
import { OUT_OF_GAS, WRITE_PROTECTION } from './status'
import { findTransient, transientRecord, writeTransient } from './transient'
import { copyWord, equals, isZero, setSmall } from './word'

const TRIMMED_VALUE: usize = SCRATCH + 512
const TRIMMED_ORIGINAL: usize = SCRATCH + 544

/** Replaces the key on the stack's top by the value. */
export function loadOp(frame: usize, top: usize, gas: i64): i64 {
  const self = load<u32>(frame, F_SELF)
  const index = slotNumber(self, top)
  const cold = parameter(P_COLD_SLOT)
  if (cold != 0 && !warmSlot(index)) {
    gas -= cold
    if (gas < 0) return -OUT_OF_GAS
  }
  settleSlot(self, index)
  copyWord(top, valueOf(index))
  return gas
}

/** Key on top, value below. */
export function storeOp(frame: usize, top: usize, gas: i64): i64 {
  if ((load<u32>(frame, F_FLAGS) & FLAG_STATIC) != 0) return -WRITE_PROTECTION
  // EIP-2200: a call with a bare stipend may not write, so re-entrancy guards of old contracts hold.
  if (gas < parameter(P_SSTORE_STIPEND)) return -OUT_OF_GAS
  const index = slotAt(load<u32>(frame, F_SELF), top)
  const value = top - 32
  const cold = parameter(P_COLD_SLOT)
  if (cold != 0 && !warmSlot(index)) gas -= cold + 100
  const current = valueOf(index)
  // Given back before the write is paid for, as the refund counter is.
  if (stateByteGas() != 0 && isShrinkage(index, current, value)) creditSlot(frame)
  gas -= parameter(P_SSTORE_NET) != 0 ? netCost(index, current, value) : plainCost(current, value)
  if (gas < 0) return -OUT_OF_GAS
  if (stateByteGas() != 0 && isGrowth(index, current, value)) {
    gas = chargeState(frame, SLOT_STATE_BYTES, gas)
    if (gas < 0) return gas
  }
  if (!equals(current, value)) {
    if (trimmed) {
      recordNumber(J_TRIMMED, index, 0)
      hostTrimmedStore(index, value)
    } else writeSlot(index, value)
  }
  return gas
}

/** Address of the slot's value now. */
// @ts-ignore: decorator
@inline
function valueOf(index: u32): usize {
  if (!trimmed) return slotRecord(index) + S_VALUE
  hostTrimmedLoad(index, TRIMMED_VALUE)
  return TRIMMED_VALUE
}

/** Address of the value the slot had at the start of the transaction. */
function originalValueOf(index: u32): usize {
  if (!trimmed) return originalOf(slotRecord(index))
  hostTrimmedOriginal(index, TRIMMED_ORIGINAL)
  return TRIMMED_ORIGINAL
}

/** Whether the slot is new to the state (EIP-8037): 0 since the transaction began, and 0 no more. */
function isGrowth(index: u32, current: usize, value: usize): bool {
  return isZero(current) && !isZero(value) && isZero(originalValueOf(index))
}

/** Whether a slot that the transaction has made is gone again. */
function isShrinkage(index: u32, current: usize, value: usize): bool {
  return !isZero(current) && isZero(value) && isZero(originalValueOf(index))
}

/** By current and new value alone: Frontier to Byzantium, and Petersburg. */
function plainCost(current: usize, value: usize): i64 {
  const wasZero = isZero(current)
  const willBeZero = isZero(value)
  if (wasZero && !willBeZero) return parameter(P_SSTORE_SET)
  if (!wasZero && willBeZero) addRefund(parameter(P_SSTORE_CLEAR_REFUND))
  return parameter(P_SSTORE_RESET)
}

/** EIP-1283, EIP-2200, EIP-2929, EIP-3529: also by the value at the start of the transaction. */
function netCost(index: u32, current: usize, value: usize): i64 {
  if (equals(current, value)) return parameter(P_SSTORE_NOOP)
  const original = originalValueOf(index)
  if (equals(original, current)) {
    if (isZero(original)) return parameter(P_SSTORE_SET)
    if (isZero(value)) addRefund(parameter(P_SSTORE_CLEAR_REFUND))
    return parameter(P_SSTORE_RESET)
  }
  let change: i64 = 0
  if (!isZero(original)) {
    if (isZero(current)) change -= parameter(P_SSTORE_CLEAR_REFUND)
    else if (isZero(value)) change += parameter(P_SSTORE_CLEAR_REFUND)
  }
  if (equals(original, value)) {
    change += parameter(isZero(original) ? P_SSTORE_RESTORE_ZERO_REFUND : P_SSTORE_RESTORE_REFUND)
  }
  if (change != 0) addRefund(change)
  return parameter(P_SSTORE_NOOP)
}

export function transientLoadOp(frame: usize, top: usize): void {
  const index = findTransient(load<u32>(frame, F_SELF), top)
  if (index == 0) setSmall(top, 0)
  else copyWord(top, transientRecord(index) + 32)
}

export function transientStoreOp(frame: usize, top: usize): void {
  writeTransient(load<u32>(frame, F_SELF), top, top - 32)
}
