/**
 * Messages: calls and creations, from the transaction or from code. A frame is 256 bytes of data, so 1,024 nested
 * calls take no native stack. `begin…` either answers at once or leaves a new frame on top; `leave` takes the top
 * frame off and tells the frame below.
 */

import { hashOne } from '../keccak/sponge'
import {
  A_BALANCE,
  A_CODE,
  A_CODE_HASH,
  A_CREATED_IN,
  A_DESTRUCT_IN,
  A_NONCE,
  account,
  accountAt,
  accountNumber,
  addBalance,
  clearBalance,
  ensureExists,
  ensureLoaded,
  exists,
  hasCode,
  hasOldStorage,
  isEmpty,
  markCreated,
  markDestructed,
  precompileOf,
  setNonce,
  subtractBalance,
  touch,
  touchByNothing,
  warmAccount,
} from './accounts'
import { ADDRESS_WORD, addressWord, createdAddress, createdAddressSalted } from './addresses'
import {
  currentMemoryClass,
  dropMemory,
  enterMemory,
  memoryAt,
  memorySize,
  messageInput,
  reachRange,
  returnData,
  returnDataSpace,
  returnSize,
  setReturnSize,
} from './callMemory'
import {
  analyse,
  C_BYTES,
  C_HASH,
  C_SIZE,
  codeOf,
  delegateOf,
  emptyCode,
  findCode,
  freeCode,
  keepCode,
  newCode,
} from './codes'
import { hostPrecompile } from './host'
import { J_CODE, journalLength, recordWord, revertTo } from './journal'
import {
  DEPTH_MAX,
  F_CALLER,
  F_CODE,
  F_CODE_ACCOUNT,
  F_ENGINE,
  F_FLAGS,
  F_GAS,
  F_GAS_START,
  F_INPUT,
  F_INPUT_SIZE,
  F_KIND,
  F_MEMORY,
  F_MEMORY_CLASS,
  F_MEMORY_SIZE,
  F_OUTPUT,
  F_OUTPUT_SIZE,
  F_PC,
  F_SELF,
  F_SNAPSHOT,
  F_SP,
  F_STACK,
  F_VALUE,
  FLAG_CREATE,
  FLAG_STATIC,
  FRAME_BYTES,
  FRAMES,
  HASH_SCRATCH,
  M_CALLER,
  M_CREATED,
  M_GAS,
  M_INPUT_SIZE,
  M_KIND,
  M_PRECOMPILE_GAS,
  M_PRECOMPILE_USED,
  M_SALT,
  M_STATE_GAS,
  M_STATIC,
  M_TARGET,
  M_VALUE,
  SCRATCH,
  STACKS,
} from './layout'
import {
  GAS_CALL_STIPEND,
  GAS_CALL_VALUE,
  GAS_INIT_CODE_WORD,
  GAS_KECCAK_WORD,
  P_CODE_BYTE,
  P_CODE_MAX,
  P_COLD_ACCOUNT,
  P_DEPOSIT_MUST_PAY,
  P_DESTRUCT_NEW_ACCOUNT,
  P_DESTRUCT_ONLY_NEW,
  P_DESTRUCT_REFUND,
  P_EMPTY_VANISH,
  P_IDENTITY,
  P_IDENTITY_WORD,
  P_INIT_CODE_MAX,
  P_KEEP_64TH,
  P_NEW_ACCOUNT,
  P_REFUSE_EF,
  P_TRANSFER_LOGS,
  P_WARM,
  parameter,
} from './rules'
import { addRefund, epoch } from './state'
import {
  ACCOUNT_STATE_BYTES,
  chargeState,
  closeStateGas,
  creditAccount,
  fillReservoir,
  openStateGas,
  stateByteGas,
} from './stateGas'
import {
  ADDRESS_COLLISION,
  BALANCE_TOO_LOW,
  CODE_DEPOSIT_OUT_OF_GAS,
  CODE_STARTS_WITH_EF,
  CODE_TOO_LARGE,
  DEPTH_EXCEEDED,
  INIT_CODE_TOO_LARGE,
  NONCE_OVERFLOW,
  OUT_OF_GAS,
  PRECOMPILE_FAILED,
  REVERT,
  SUCCESS,
  SWITCH_FRAME,
  WRITE_PROTECTION,
} from './status'
import { traceDestruct, traceEnter, traceExit, traceProtocolLog } from './traceMessages'
import { logBurn, logTransfer } from './transferLogs'
import { copyWord, isZero, lessThan, saturate, setSmall } from './word'

const CREATE: u32 = 0xf0
const CALL: u32 = 0xf1
const CALLCODE: u32 = 0xf2
const DELEGATECALL: u32 = 0xf4
const CREATE2: u32 = 0xf5
const STATICCALL: u32 = 0xfa
/** Number of the precompile that gives back its input. */
const IDENTITY: u32 = 4

/** Depth of the running frame; -1 between messages. */
export let depth: i32 = -1
/** Gas that goes back to the caller after a message answered at once. */
let gasBack: i64 = 0
/** Where the running frame's RETURN or REVERT put its output, in its memory. */
let outputOffset: u32 = 0
let outputSize: u32 = 0
/** Gas of the running frame right after it paid for its last call or creation, what it gave away included. */
export let gasAfterCharge: i64 = 0
/** Whether messages are reported to the host. */
let tracing: bool = false

const DELEGATE_WORD: usize = SCRATCH + 576

export function setTracing(on: bool): void {
  tracing = on
}

/** Gives back what the frames of a message hold that was cut off. */
export function abandonFrames(): void {
  for (let level = depth; level >= 0; level--) {
    const frame = frameAt(level)
    if ((load<u32>(frame, F_FLAGS) & FLAG_CREATE) != 0) freeCode(<usize>load<u32>(frame, F_CODE))
    // The top frame's memory is the running one; the others' are in their records.
    if (level < depth)
      enterMemory(
        <usize>load<u32>(frame, F_MEMORY),
        load<u32>(frame, F_MEMORY_SIZE),
        load<u32>(frame, F_MEMORY_CLASS),
      )
    dropMemory()
  }
  depth = -1
}

// @ts-ignore: decorator
@inline
export function frameAt(level: i32): usize {
  return FRAMES + <usize>level * FRAME_BYTES
}

export function setOutput(offset: u32, size: u32): void {
  outputOffset = offset
  outputSize = size
}

/** Charges for an account's first use in the transaction beyond a warm one's; minus a status where it cannot. */
export function chargeAccount(index: u32, gas: i64): i64 {
  const cold = parameter(P_COLD_ACCOUNT)
  if (cold == 0 || warmAccount(index)) return gas
  gas -= cold
  return gas < 0 ? -OUT_OF_GAS : gas
}

function transfer(from: u32, to: u32, value: usize): void {
  subtractBalance(from, value)
  addBalance(to, value)
  if (parameter(P_TRANSFER_LOGS) == 0 || from == to || isZero(value)) return
  logTransfer(from, to, value)
  if (tracing) traceProtocolLog()
}

/** Pushes a frame; its input, code and flags are the caller's to set. Its stack starts where the parent's ends. */
function pushFrame(
  kind: u32,
  self: u32,
  caller: u32,
  code: usize,
  gas: i64,
  flags: u32,
  snapshot: u32,
): usize {
  let stack = STACKS
  if (depth >= 0) {
    const parent = frameAt(depth)
    stack = <usize>load<u32>(parent, F_SP)
    store<u32>(parent, u32(memoryAt), F_MEMORY)
    store<u32>(parent, memorySize, F_MEMORY_SIZE)
    store<u32>(parent, currentMemoryClass(), F_MEMORY_CLASS)
  }
  depth++
  const frame = frameAt(depth)
  store<u32>(frame, 0, F_PC)
  store<u32>(frame, u32(stack), F_SP)
  store<u32>(frame, u32(stack), F_STACK)
  store<i64>(frame, gas, F_GAS)
  store<i64>(frame, gas, F_GAS_START)
  store<u32>(frame, u32(code), F_CODE)
  store<u32>(frame, self, F_SELF)
  store<u32>(frame, caller, F_CALLER)
  store<u32>(frame, flags, F_FLAGS)
  store<u32>(frame, snapshot, F_SNAPSHOT)
  store<u32>(frame, kind, F_KIND)
  store<u32>(frame, 0, F_ENGINE)
  store<u32>(frame, 0, F_INPUT_SIZE)
  store<u32>(frame, 0, F_OUTPUT_SIZE)
  if (stateByteGas() != 0) openStateGas(frame)
  analyse(code)
  enterMemory(0, 0, 0)
  return frame
}

/**
 * Starts a call. `code` is the account whose code runs, `self` the one it acts on. Returns SWITCH_FRAME where a frame
 * was pushed; else the status, with the gas that goes back in `gasBack`.
 */
function beginCall(
  kind: u32,
  self: u32,
  caller: u32,
  codeAccount: u32,
  value: usize,
  gas: i64,
  flags: u32,
  input: usize,
  inputSize: u32,
  output: u32,
  outputRoom: u32,
): i32 {
  setReturnSize(0)
  gasBack = gas
  if (depth >= DEPTH_MAX) return DEPTH_EXCEEDED
  const moves = kind == CALL || kind == CALLCODE
  if (moves && lessThan(account(kind == CALL ? caller : self) + A_BALANCE, value))
    return BALANCE_TOO_LOW
  const snapshot = journalLength()
  const precompile = precompileOf(account(codeAccount))
  if (kind == CALL) {
    // EIP-161: a call of nothing to nobody leaves no trace.
    if (
      !exists(account(self)) &&
      precompile == 0 &&
      parameter(P_EMPTY_VANISH) != 0 &&
      isZero(value)
    )
      return SUCCESS
    ensureExists(self)
    transfer(caller, self, value)
  } else if (kind == STATICCALL && exists(account(self))) {
    touchByNothing(self)
  }
  if (precompile != 0) return runPrecompile(precompile, input, inputSize, gas, snapshot)
  let source = codeAccount
  if (delegateOf(codeAccount, DELEGATE_WORD)) source = accountAt(DELEGATE_WORD)
  const code = codeOf(source)
  if (load<u32>(code, C_SIZE) == 0 || precompileOf(account(source)) != 0) return SUCCESS
  const frame = pushFrame(kind, self, caller, code, gas, flags, snapshot)
  copyWord(frame + F_VALUE, value)
  store<u32>(frame, codeAccount, F_CODE_ACCOUNT)
  store<u32>(frame, u32(input), F_INPUT)
  store<u32>(frame, inputSize, F_INPUT_SIZE)
  store<u32>(frame, output, F_OUTPUT)
  store<u32>(frame, outputRoom, F_OUTPUT_SIZE)
  return SWITCH_FRAME
}

function runPrecompile(id: u32, input: usize, inputSize: u32, gas: i64, snapshot: u32): i32 {
  // The identity, which compilers use to copy memory, is not worth the way to the host and back.
  if (id == IDENTITY) {
    gasBack = gas - identityCost(inputSize)
    if (gasBack >= 0) {
      memory.copy(returnDataSpace(inputSize), input, inputSize)
      return SUCCESS
    }
    return failPrecompile(snapshot)
  }
  store<i64>(M_PRECOMPILE_GAS, gas)
  if (hostPrecompile(id, input, inputSize) != 0) {
    gasBack = gas - load<i64>(M_PRECOMPILE_USED)
    if (gasBack >= 0) return SUCCESS
  }
  return failPrecompile(snapshot)
}

function failPrecompile(snapshot: u32): i32 {
  gasBack = 0
  setReturnSize(0)
  revertTo(snapshot)
  return PRECOMPILE_FAILED
}

function identityCost(size: u32): i64 {
  return parameter(P_IDENTITY) + parameter(P_IDENTITY_WORD) * i64((u64(size) + 31) >> 5)
}

/**
 * Starts a creation: the caller's nonce is used up, the new account is warm, its init code lies at `input`.
 * Returns as `beginCall`.
 */
function beginCreate(
  kind: u32,
  creator: u32,
  value: usize,
  salt: usize,
  gas: i64,
  input: usize,
  inputSize: u32,
): i32 {
  setReturnSize(0)
  gasBack = gas
  if (depth >= DEPTH_MAX) return DEPTH_EXCEEDED
  if (lessThan(account(creator) + A_BALANCE, value)) return BALANCE_TOO_LOW
  const nonce = load<u64>(account(creator), A_NONCE)
  if (nonce == u64.MAX_VALUE) return NONCE_OVERFLOW
  setNonce(creator, nonce + 1)
  if (kind == CREATE2) createdAddressSalted(creator, salt, input, inputSize)
  else createdAddress(creator, nonce)
  const created = accountAt(ADDRESS_WORD)
  if (parameter(P_COLD_ACCOUNT) != 0) warmAccount(created)
  const record = account(created)
  if (load<u64>(record, A_NONCE) != 0 || hasCode(record) || hasOldStorage(created)) {
    gasBack = 0
    return ADDRESS_COLLISION
  }
  const snapshot = journalLength()
  ensureExists(created)
  markCreated(created)
  touch(created)
  if (parameter(P_EMPTY_VANISH) != 0) setNonce(created, 1)
  transfer(creator, created, value)
  const code = newCode(inputSize)
  memory.copy(code + C_BYTES, input, inputSize)
  const frame = pushFrame(kind, created, creator, code, gas, FLAG_CREATE, snapshot)
  copyWord(frame + F_VALUE, value)
  store<u32>(frame, created, F_CODE_ACCOUNT)
  return SWITCH_FRAME
}

/**
 * CALL, CALLCODE, DELEGATECALL, STATICCALL of the running frame, whose stack ends at `sp` and gas is `gas`. Leaves the
 * frame ready to go on (stack pointer and gas in its record) or a new frame on top. Returns 0, or minus a status.
 */
export function callOp(kind: u32, sp: usize, gas: i64): i32 {
  const frame = frameAt(depth)
  const hasValue = kind == CALL || kind == CALLCODE
  const range = sp - (hasValue ? 128 : 96)
  const moved = hasValue && !isZero(sp - 96)
  const isStatic = (load<u32>(frame, F_FLAGS) & FLAG_STATIC) != 0
  if (isStatic && kind == CALL && moved) return -WRITE_PROTECTION
  gas = reachRange(range, range - 32, gas)
  if (gas < 0) return i32(gas)
  gas = reachRange(range - 64, range - 96, gas)
  if (gas < 0) return i32(gas)
  const target = accountNumber(sp - 64)
  gas = chargeAccount(target, gas)
  if (gas < 0) return i32(gas)
  if (moved) gas -= GAS_CALL_VALUE
  if (gas < 0) return -OUT_OF_GAS
  // Only what is paid for is read: block access lists say so (EIP-7928).
  ensureLoaded(target)
  const record = account(target)
  const isBorn =
    kind == CALL && (parameter(P_EMPTY_VANISH) != 0 ? moved && isEmpty(record) : !exists(record))
  if (isBorn) gas -= parameter(P_NEW_ACCOUNT)
  if (gas < 0) return -OUT_OF_GAS
  if (delegateOf(target, DELEGATE_WORD)) {
    const delegate = accountNumber(DELEGATE_WORD)
    gas = chargeAccount(delegate, gas - parameter(P_WARM))
    if (gas < 0) return -OUT_OF_GAS
    ensureLoaded(delegate)
    // From Amsterdam on the code is read with the call, whether it comes to run or not: witnesses hold it.
    if (stateByteGas() != 0) codeOf(delegate)
  }
  if (isBorn && stateByteGas() != 0) {
    gas = chargeState(frame, ACCOUNT_STATE_BYTES, gas)
    if (gas < 0) return i32(gas)
  }
  const wanted = saturate(sp - 32)
  let given: i64
  if (parameter(P_KEEP_64TH) != 0) {
    const most = gas - (gas >> 6)
    given = wanted > u64(most) ? most : i64(wanted)
  } else {
    if (wanted > u64(gas)) return -OUT_OF_GAS
    given = i64(wanted)
  }
  gas -= given
  if (moved) given += GAS_CALL_STIPEND
  return sendCall(kind, frame, sp, range, target, gas, given)
}

function sendCall(
  kind: u32,
  frame: usize,
  sp: usize,
  range: usize,
  target: u32,
  gas: i64,
  given: i64,
): i32 {
  const inputSize = u32(saturate(range - 32))
  const input: usize = inputSize == 0 ? 0 : memoryAt + usize(saturate(range))
  const outputRoom = u32(saturate(range - 96))
  const output = outputRoom == 0 ? 0 : u32(saturate(range - 64))
  const self = load<u32>(frame, F_SELF)
  let flags = load<u32>(frame, F_FLAGS) & FLAG_STATIC
  let callee = target
  let caller = self
  let value = sp - 96
  if (kind == CALLCODE) callee = self
  else if (kind == DELEGATECALL) {
    callee = self
    caller = load<u32>(frame, F_CALLER)
    value = frame + F_VALUE
  } else if (kind == STATICCALL) {
    flags = FLAG_STATIC
    value = ADDRESS_WORD
    setSmall(value, 0)
  }
  const result = sp - (kind == CALL || kind == CALLCODE ? 224 : 192)
  store<u32>(frame, u32(result), F_SP)
  store<i64>(frame, gas, F_GAS)
  gasAfterCharge = gas
  if (tracing) traceEnter(kind, caller, callee, target, value, 0, given, input, inputSize)
  // The child's stack begins here and may overwrite the operands, which all have been read; the value is copied first.
  const status = beginCall(
    kind,
    callee,
    caller,
    target,
    value,
    given,
    flags,
    input,
    inputSize,
    output,
    outputRoom,
  )
  if (status == SWITCH_FRAME) return 0
  if (tracing) traceExit(status, given - gasBack)
  answer(frame, status, gasBack, output, outputRoom)
  return 0
}

/** Gives a call's end to the frame that made it: output, gas, and 1 or 0 on its stack. */
function answer(frame: usize, status: i32, gas: i64, output: u32, outputRoom: u32): void {
  const size = returnSize < outputRoom ? returnSize : outputRoom
  if (size != 0) memory.copy(memoryAt + output, returnData(), size)
  const sp = <usize>load<u32>(frame, F_SP)
  setSmall(sp, u64(status == SUCCESS))
  store<u32>(frame, u32(sp) + 32, F_SP)
  store<i64>(frame, load<i64>(frame, F_GAS) + gas, F_GAS)
}

/** CREATE and CREATE2, as `callOp`. */
export function createOp(kind: u32, sp: usize, gas: i64): i32 {
  const frame = frameAt(depth)
  if ((load<u32>(frame, F_FLAGS) & FLAG_STATIC) != 0) return -WRITE_PROTECTION
  gas = reachRange(sp - 64, sp - 96, gas)
  if (gas < 0) return i32(gas)
  const size = u32(saturate(sp - 96))
  const input: usize = size == 0 ? 0 : memoryAt + usize(saturate(sp - 64))
  const words = i64((u64(size) + 31) >> 5)
  const most = parameter(P_INIT_CODE_MAX)
  if (most != 0) {
    if (i64(size) > most) return -INIT_CODE_TOO_LARGE
    gas -= words * GAS_INIT_CODE_WORD
  }
  if (kind == CREATE2) gas -= words * GAS_KECCAK_WORD
  if (gas < 0) return -OUT_OF_GAS
  if (stateByteGas() != 0) {
    gas = chargeState(frame, ACCOUNT_STATE_BYTES, gas)
    if (gas < 0) return i32(gas)
  }
  const given = parameter(P_KEEP_64TH) != 0 ? gas - (gas >> 6) : gas
  const result = sp - (kind == CREATE2 ? 128 : 96)
  store<u32>(frame, u32(result), F_SP)
  store<i64>(frame, gas - given, F_GAS)
  gasAfterCharge = gas - given
  const self = load<u32>(frame, F_SELF)
  // The value on the stack's top is read before the child's stack can overwrite it.
  if (tracing) traceEnter(kind, self, 0, 0, sp - 32, sp - 128, given, input, size)
  const status = beginCreate(kind, self, sp - 32, sp - 128, given, input, size)
  if (status == SWITCH_FRAME) return 0
  if (tracing) traceExit(status, given - gasBack)
  if (stateByteGas() != 0) creditAccount(frame)
  setSmall(result, 0)
  store<u32>(frame, u32(result) + 32, F_SP)
  store<i64>(frame, load<i64>(frame, F_GAS) + gasBack, F_GAS)
  return 0
}

/** Takes the top frame off after it ended with `status` and `gas` left; returns the status as its caller sees it. */
export function leave(status: i32, gas: i64): i32 {
  const frame = frameAt(depth)
  const isCreation = (load<u32>(frame, F_FLAGS) & FLAG_CREATE) != 0
  if (status > REVERT) {
    outputSize = 0
    gas = 0
  }
  if (isCreation && status == SUCCESS) {
    status = deposit(frame, gas)
    gas = status == SUCCESS ? load<i64>(frame, F_GAS) : 0
  }
  if (status != SUCCESS) revertTo(load<u32>(frame, F_SNAPSHOT))
  // A creation's output is its code: the frame that asked for it sees none, the transaction's sender and tracers do.
  const isSeen = !isCreation || status == REVERT || (depth == 0 && status == SUCCESS)
  if (isSeen || tracing) copyOutput()
  if (isCreation) freeCode(<usize>load<u32>(frame, F_CODE))
  gasBack = gas
  if (tracing) traceExit(status, load<i64>(frame, F_GAS_START) - gas)
  if (!isSeen) setReturnSize(0)
  dropMemory()
  depth--
  if (stateByteGas() != 0) settleStateGas(frame, status == SUCCESS, isCreation)
  if (depth < 0) return status
  const parent = frameAt(depth)
  enterMemory(
    <usize>load<u32>(parent, F_MEMORY),
    load<u32>(parent, F_MEMORY_SIZE),
    load<u32>(parent, F_MEMORY_CLASS),
  )
  if (!isCreation) {
    answer(parent, status, gas, load<u32>(frame, F_OUTPUT), load<u32>(frame, F_OUTPUT_SIZE))
    return status
  }
  const sp = <usize>load<u32>(parent, F_SP)
  if (status == SUCCESS) addressWord(load<u32>(frame, F_SELF), sp)
  else setSmall(sp, 0)
  store<u32>(parent, u32(sp) + 32, F_SP)
  store<i64>(parent, load<i64>(parent, F_GAS) + gas, F_GAS)
  return status
}

/** Settles the state gas of a frame that was taken off. A creation that failed made no account. */
function settleStateGas(frame: usize, succeeded: bool, isCreation: bool): void {
  const parent: usize = depth < 0 ? 0 : frameAt(depth)
  closeStateGas(frame, succeeded, parent)
  if (isCreation && !succeeded && parent != 0) creditAccount(parent)
}

function copyOutput(): void {
  const to = returnDataSpace(outputSize)
  if (outputSize != 0) memory.copy(to, memoryAt + outputOffset, outputSize)
}

/** Pays for and stores the code that init code returned; the gas left goes to the frame's record. */
function deposit(frame: usize, gas: i64): i32 {
  store<i64>(frame, gas, F_GAS)
  const size = i64(outputSize)
  const most = parameter(P_CODE_MAX)
  if (most != 0 && size > most) return CODE_TOO_LARGE
  if (size != 0 && parameter(P_REFUSE_EF) != 0 && load<u8>(memoryAt + outputOffset) == 0xef)
    return CODE_STARTS_WITH_EF
  if (stateByteGas() != 0) {
    gas -= ((size + 31) >> 5) * GAS_KECCAK_WORD
    if (gas < 0) return CODE_DEPOSIT_OUT_OF_GAS
    gas = chargeState(frame, size, gas)
    if (gas < 0) return CODE_DEPOSIT_OUT_OF_GAS
  }
  const cost = size * parameter(P_CODE_BYTE)
  if (gas < cost) {
    // Frontier leaves a contract without code and takes no gas for it; the output stays what init code returned.
    return parameter(P_DEPOSIT_MUST_PAY) != 0 ? CODE_DEPOSIT_OUT_OF_GAS : SUCCESS
  }
  store<i64>(frame, gas - cost, F_GAS)
  if (outputSize != 0) setCode(load<u32>(frame, F_SELF), memoryAt + outputOffset, outputSize)
  return SUCCESS
}

/** Gives the account the code at `from`; none where `size` is 0. */
export function setCode(index: u32, from: usize, size: u32): void {
  touch(index)
  ensureExists(index)
  const record = account(index)
  recordWord(J_CODE, index, u64(load<u32>(record, A_CODE)), record + A_CODE_HASH)
  const hash = SCRATCH + 768
  hashOne(from, size, hash, HASH_SCRATCH)
  copyWord(record + A_CODE_HASH, hash)
  if (size == 0) {
    store<u32>(record, u32(emptyCode), A_CODE)
    return
  }
  let code = findCode(hash)
  if (code == 0) {
    code = newCode(size)
    memory.copy(code + C_BYTES, from, size)
    copyWord(code + C_HASH, hash)
    keepCode(code)
  }
  store<u32>(account(index), u32(code), A_CODE)
}

/** SELFDESTRUCT of the running frame; beneficiary on top. Returns the gas left or minus a status. */
export function selfDestructOp(frame: usize, top: usize, gas: i64): i64 {
  if ((load<u32>(frame, F_FLAGS) & FLAG_STATIC) != 0) return -WRITE_PROTECTION
  const self = load<u32>(frame, F_SELF)
  const heir = accountNumber(top)
  const cold = parameter(P_COLD_ACCOUNT)
  // There is no warm price here: a cold heir costs the whole of a cold access.
  if (cold != 0 && !warmAccount(heir)) gas -= cold + parameter(P_WARM)
  if (gas < 0) return -OUT_OF_GAS
  ensureLoaded(heir)
  const record = account(heir)
  const hasBalance = !isZero(account(self) + A_BALANCE)
  if (parameter(P_EMPTY_VANISH) != 0 ? hasBalance && isEmpty(record) : !exists(record))
    gas = stateByteGas() != 0
      ? chargeState(frame, ACCOUNT_STATE_BYTES, gas)
      : gas - parameter(P_DESTRUCT_NEW_ACCOUNT)
  if (gas < 0) return -OUT_OF_GAS
  const isMarked = load<u32>(account(self), A_DESTRUCT_IN) == epoch
  const refund = parameter(P_DESTRUCT_REFUND)
  if (refund != 0 && !isMarked) addRefund(refund)
  const balance = ADDRESS_WORD
  copyWord(balance, account(self) + A_BALANCE)
  if (tracing) traceDestruct(self, heir, balance)
  const isNew = load<u32>(account(self), A_CREATED_IN) == epoch
  if (parameter(P_TRANSFER_LOGS) != 0 && hasBalance) {
    if (heir != self) logTransfer(self, heir, balance)
    else if (isNew) logBurn(self, balance)
    if (tracing && (heir != self || isNew)) traceProtocolLog()
  }
  if (parameter(P_DESTRUCT_ONLY_NEW) != 0 && !isNew) {
    subtractBalance(self, balance)
    addBalance(heir, balance)
    return gas
  }
  addBalance(heir, balance)
  clearBalance(self)
  markDestructed(self)
  return gas
}

/** Starts the message in the mailbox. Returns SWITCH_FRAME, or the status of a message that needed no frame. */
export function beginMessage(): i32 {
  const kind = load<u32>(M_KIND)
  const caller = load<u32>(M_CALLER)
  const gas = load<i64>(M_GAS)
  const inputSize = load<u32>(M_INPUT_SIZE)
  const input = messageInput()
  enterMemory(0, 0, 0)
  store<u32>(M_CREATED, 0)
  fillReservoir(load<i64>(M_STATE_GAS))
  if (kind == CREATE || kind == CREATE2) {
    if (tracing) traceEnter(kind, caller, 0, 0, M_VALUE, M_SALT, gas, input, inputSize)
    const created = beginCreate(kind, caller, M_VALUE, M_SALT, gas, input, inputSize)
    if (created == SWITCH_FRAME) store<u32>(M_CREATED, load<u32>(frameAt(0), F_SELF))
    else if (tracing) traceExit(created, gas - gasBack)
    return created
  }
  const target = load<u32>(M_TARGET)
  const flags = load<u32>(M_STATIC) != 0 ? FLAG_STATIC : 0
  // The transaction's own target: its delegate is warm, at no price (EIP-7702).
  if (delegateOf(target, DELEGATE_WORD)) warmAccount(accountNumber(DELEGATE_WORD))
  if (tracing) traceEnter(kind, caller, target, target, M_VALUE, 0, gas, input, inputSize)
  const status = beginCall(
    kind,
    target,
    caller,
    target,
    M_VALUE,
    gas,
    flags,
    input,
    inputSize,
    0,
    0,
  )
  if (status != SWITCH_FRAME && tracing) traceExit(status, gas - gasBack)
  return status
}

/** Gas left of the last message. */
export function gasLeft(): i64 {
  return gasBack
}
