/** The EVM kernel: what `src/kernels/evm.ts` calls. */

import { prepare } from '../keccak/permutation'
import {
  account,
  accountAt,
  clearAccountStamps,
  clearAccounts,
  clearLists,
  deleteAccount,
  destructedAt,
  destructedLength,
  exists,
  initAccounts,
  isEmpty,
  ripemdTouched,
  touchedAt,
  touchedLength,
} from './accounts'
import { initCallMemory } from './callMemory'
import { abandonFrames, beginMessage, setCode as setCodeOf, setTracing } from './calls'
import { initCodes, newCode, trimCodes } from './codes'
import { ENGINE_TRACED, run } from './engine'
import { initHeap } from './heap'
import { clearJournal, initJournal } from './journal'
import { HASH_SCRATCH, M_WORD } from './layout'
import { initLogs, truncateLogs } from './logs'
import { initPairHashes } from './pairHashes'
import { P_EMPTY_VANISH, P_TRANSFER_LOGS, parameter } from './rules'
import { clearSlotStamps, clearSlots, initSlots } from './slots'
import { epoch, setEpoch, setRefund } from './state'
import { SWITCH_FRAME } from './status'
import { logBurns } from './transferLogs'
import { clearTransient, initTransient, nextTransient } from './transient'
import { setSmall } from './word'

export {
  account as accountRecord,
  accountAt,
  accountCount,
  accountNumber,
  addBalance,
  clearBalance,
  ensureExists,
  hasOldStorage,
  markCreated,
  setNonce,
  subtractBalance,
  touchByNothing,
  warmAccount,
} from './accounts'
export {
  inputSpace,
  memoryAt,
  memorySize,
  returnData,
  returnDataSpace,
  returnSize,
} from './callMemory'
export { abandonFrames as abandon, depth, gasAfterCharge, gasLeft } from './calls'
export { codeOf, dropCodes as forgetCodes, findCode } from './codes'
export { addModulo, divide, divideSigned, modulo, moduloSigned, multiplyModulo } from './divide'
export { heapBytes } from './heap'
export { ENTRY_BYTES, journalBase, journalLength, revertTo } from './journal'
export { logsBase, logsBytes } from './logs'
export { slotAt, slotCount, slotNumber, slotRecord, warmSlot, writeSlot } from './slots'
export { epoch, refund, setEpoch, setTrimmed } from './state'
export { reservoir, stateGasSpilled, stateGasUsed } from './stateGas'
export { takeFault } from './status'
export { destructedStateBytes } from './destructedState'
export {
  add,
  byteAt,
  leadingZeros,
  multiply,
  power,
  shiftLeft,
  shiftRight,
  shiftRightSigned,
  signExtend,
  subtract,
} from './word'

/** Lays out the structures in a fresh memory, once. The rules and the hash secrets are uploaded before. */
export function init(): void {
  initHeap()
  prepare(HASH_SCRATCH)
  initAccounts()
  initSlots()
  initTransient()
  initJournal()
  initLogs()
  initPairHashes()
  initCallMemory()
  initCodes()
}

/** Forgets the state of the last block; codes are kept over blocks. */
export function beginBlock(): void {
  abandonFrames()
  clearAccounts()
  clearSlots()
  clearTransient()
  clearJournal()
  clearLists()
  truncateLogs(0)
  trimCodes()
  setRefund(0)
  setEpoch(1)
}

/** Starts a transaction: nothing is warm, created, touched or logged. */
export function beginTransaction(): void {
  if (epoch == u32.MAX_VALUE) restartEpochs()
  setEpoch(epoch + 1)
  nextTransient()
  clearJournal()
  clearLists()
  truncateLogs(0)
  setRefund(0)
}

/** The numbers of transactions are used up and start again: no old stamp may pass for one of a new transaction. */
function restartEpochs(): void {
  clearAccountStamps()
  clearSlotStamps()
  clearTransient()
  setEpoch(0)
}

/** Runs the message in the mailbox by one of the engines of `engine.ts`. Returns its status. */
export function execute(engine: i32): i32 {
  setTracing(engine == ENGINE_TRACED)
  const status = beginMessage()
  if (status != SWITCH_FRAME) return status
  return run(engine)
}

/**
 * Ends the transaction: deletes the accounts marked by SELFDESTRUCT, then, from EIP-161 on, the touched empty ones.
 * After it nothing of the transaction can be undone; the journal stays to be read until the next one begins.
 */
export function finishTransaction(): void {
  if (parameter(P_TRANSFER_LOGS) != 0) logBurns()
  for (let at: u32 = 0; at < destructedLength(); at++) deleteAccount(destructedAt(at))
  if (parameter(P_EMPTY_VANISH) != 0) {
    for (let at: u32 = 0; at < touchedLength(); at++) vanish(touchedAt(at))
    if (ripemdTouched == epoch) {
      setSmall(M_WORD, 3)
      vanish(accountAt(M_WORD))
    }
  }
}

function vanish(index: u32): void {
  const record = account(index)
  if (exists(record) && isEmpty(record)) deleteAccount(index)
}

/** Takes a block for code of `size` bytes; the host writes them at C_BYTES. */
export function codeBlock(size: u32): usize {
  return newCode(size)
}

/** Gives an account the code at `from`. */
export function setCode(index: u32, from: usize, size: u32): void {
  setCodeOf(index, from, size)
}

export function touchedLengthNow(): u32 {
  return touchedLength()
}

export function touchedNow(at: u32): u32 {
  return touchedAt(at)
}
