/**
 * What a step costs in full, for traces of steps that fail: the operations stop counting at the first part that the gas
 * does not cover, and leave their marks on the way. Tracers show what geth does: the fixed part where already that is
 * too much, else fixed and dynamic part together; where the dynamic part cannot be told, the fixed one alone.
 *
 * Reads state that the step itself would have paid for, changes none. Used by the traced loop alone.
 */
import {
  A_BALANCE,
  A_FLAGS,
  A_WARM_IN,
  AF_LOADED,
  account,
  accountNumber,
  exists,
  isEmpty,
  peekAccount,
  precompileOf,
} from './accounts'
import { endCost, NO_COST, rangeCost } from './callMemory'
import { delegateOf } from './codes'
import { F_SELF, RULES_GAS, RULES_GROW, RULES_NEED, SCRATCH } from './layout'
import {
  GAS_CALL_VALUE,
  GAS_COPY_WORD,
  GAS_INIT_CODE_WORD,
  GAS_KECCAK_WORD,
  GAS_LOG_BYTE,
  P_COLD_ACCOUNT,
  P_COLD_SLOT,
  P_DESTRUCT_NEW_ACCOUNT,
  P_EMPTY_VANISH,
  P_EXP_BYTE,
  P_INIT_CODE_MAX,
  P_KEEP_64TH,
  P_NEW_ACCOUNT,
  P_SSTORE_NET,
  P_SSTORE_NOOP,
  P_SSTORE_RESET,
  P_SSTORE_SET,
  P_SSTORE_STIPEND,
  P_WARM,
  parameter,
} from './rules'
import { originalOf, peekSlot, S_VALUE, S_WARM_IN, slotNumber, slotRecord } from './slots'
import { epoch } from './state'
import { byteLength, equals, isZero, lessThan, saturate } from './word'

const DELEGATE: usize = SCRATCH + 928

/** Gas of the opcode for a frame with `gas` left before it; its 64 bits count as unsigned. */
export function fullCost(frame: usize, opcode: u32, sp: usize, height: usize, gas: i64): i64 {
  const need = <usize>load<u8>(RULES_NEED + opcode)
  if (need == 255) return 0
  const fixed = <i64>load<u16>(RULES_GAS + (opcode << 1))
  const isOne = hasNoFixedPart(opcode)
  if (height < need << 5 || height > 32768 - ((<usize>load<u8>(RULES_GROW + opcode)) << 5))
    return isOne ? 0 : fixed
  if (!isOne && gas < fixed) return fixed
  const dynamic = dynamicCost(frame, opcode, sp - 32, gas - fixed)
  if (dynamic != NO_COST) return fixed + dynamic
  return isOne ? 0 : fixed
}

/** Opcodes that geth prices as a whole. */
function hasNoFixedPart(opcode: u32): bool {
  return (
    opcode == 0x0a ||
    opcode == 0x55 ||
    (opcode >= 0xa0 && opcode <= 0xa4) ||
    (opcode == 0x54 && parameter(P_COLD_SLOT) != 0)
  )
}

function dynamicCost(frame: usize, opcode: u32, top: usize, gas: i64): i64 {
  switch (<i32>opcode) {
    case 0x0a:
      return i64(byteLength(top - 32)) * parameter(P_EXP_BYTE)
    case 0x20:
      return wordsCost(rangeCost(top, top - 32), top - 32, GAS_KECCAK_WORD)
    case 0x31:
    case 0x3b:
    case 0x3f:
      return coldCost(accountNumber(top))
    case 0x37:
    case 0x39:
    case 0x3e:
      return wordsCost(rangeCost(top, top - 64), top - 64, GAS_COPY_WORD)
    case 0x3c: {
      const copied = wordsCost(rangeCost(top - 32, top - 96), top - 96, GAS_COPY_WORD)
      return copied == NO_COST ? NO_COST : copied + coldCost(accountNumber(top))
    }
    case 0x51:
    case 0x52:
      return endCost(saturate(top), 32)
    case 0x53:
      return endCost(saturate(top), 1)
    case 0x54:
      return coldSlotCost(slotNumber(load<u32>(frame, F_SELF), top))
    case 0x55:
      return storeCost(load<u32>(frame, F_SELF), top, gas)
    case 0x5e:
      return wordsCost(
        rangeCost(lessThan(top, top - 32) ? top - 32 : top, top - 64),
        top - 64,
        GAS_COPY_WORD,
      )
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa3:
    case 0xa4: {
      const reached = rangeCost(top, top - 32)
      return reached == NO_COST ? NO_COST : reached + i64(saturate(top - 32)) * GAS_LOG_BYTE
    }
    case 0xf0:
    case 0xf5:
      return createCost(opcode, top)
    case 0xf1:
    case 0xf2:
    case 0xf4:
    case 0xfa:
      return callCost(opcode, top, gas)
    case 0xf3:
    case 0xfd:
      return rangeCost(top, top - 32)
    case 0xff:
      return destructCost(load<u32>(frame, F_SELF), accountNumber(top), gas)
    default:
      return 0
  }
}

/** `reached` and `price` a started word of the size at `size`. */
function wordsCost(reached: i64, size: usize, price: i64): i64 {
  if (reached == NO_COST) return NO_COST
  return reached + i64((saturate(size) + 31) >> 5) * price
}

function coldCost(index: u32): i64 {
  const record = account(index)
  if (load<u32>(record, A_WARM_IN) == epoch || precompileOf(record) != 0) return 0
  return parameter(P_COLD_ACCOUNT)
}

function coldSlotCost(index: u32): i64 {
  return load<u32>(slotRecord(index), S_WARM_IN) == epoch ? 0 : parameter(P_COLD_SLOT)
}

function storeCost(self: u32, top: usize, gas: i64): i64 {
  if (gas < parameter(P_SSTORE_STIPEND)) return 0
  const record = slotRecord(peekSlot(self, top))
  const current = record + S_VALUE
  const value = top - 32
  if (parameter(P_SSTORE_NET) == 0)
    return parameter(isZero(current) && !isZero(value) ? P_SSTORE_SET : P_SSTORE_RESET)
  let cold = coldSlotCost(slotNumber(self, top))
  if (cold != 0) cold += parameter(P_WARM)
  if (equals(current, value) || !equals(originalOf(record), current))
    return cold + parameter(P_SSTORE_NOOP)
  return cold + parameter(isZero(current) ? P_SSTORE_SET : P_SSTORE_RESET)
}

function createCost(opcode: u32, top: usize): i64 {
  const size = top - 64
  const most = parameter(P_INIT_CODE_MAX)
  if (most != 0 && saturate(size) > u64(most)) return NO_COST
  const price =
    (most != 0 ? GAS_INIT_CODE_WORD : 0) + (opcode == 0xf5 ? GAS_KECCAK_WORD : 0)
  return wordsCost(rangeCost(top - 32, size), size, price)
}

function callCost(opcode: u32, top: usize, gas: i64): i64 {
  const hasValue = opcode == 0xf1 || opcode == 0xf2
  const range = top - (hasValue ? 96 : 64)
  const target = accountNumber(top - 32)
  let access = coldCost(target)
  if (gas < access) return NO_COST
  const input = rangeCost(range, range - 32)
  const output = rangeCost(range - 64, range - 96)
  if (input == NO_COST || output == NO_COST) return NO_COST
  let base = max(input, output)
  const moved = hasValue && !isZero(top - 64)
  if (moved) base += GAS_CALL_VALUE
  // An account is read once its access is paid for: not by a step that fails before it comes to that.
  if ((load<u32>(account(target), A_FLAGS) & AF_LOADED) != 0 || gas - access >= base) {
    peekAccount(target)
    if (delegateOf(target, DELEGATE)) {
      access += parameter(P_WARM) + coldCost(accountNumber(DELEGATE))
      if (gas < access) return NO_COST
    }
    const record = account(target)
    if (opcode == 0xf1 && (parameter(P_EMPTY_VANISH) != 0 ? moved && isEmpty(record) : !exists(record)))
      base += parameter(P_NEW_ACCOUNT)
  }
  return withGift(access, base, gas - access, saturate(top))
}

/** Adds the gas that the call gives away. Where `base` is more than there is, geth computes it from a wrapped number. */
function withGift(access: i64, base: i64, gas: i64, wanted: u64): i64 {
  const isWord = wanted != u64.MAX_VALUE
  let given = wanted
  if (parameter(P_KEEP_64TH) != 0) {
    const rest = u64(gas - base)
    const most = rest - rest / 64
    if (!isWord || most < wanted) given = most
  } else if (!isWord) return NO_COST
  if (given > u64.MAX_VALUE - u64(access + base)) return NO_COST
  return access + base + i64(given)
}

function destructCost(self: u32, heir: u32, gas: i64): i64 {
  let cost = coldCost(heir)
  if (cost != 0) cost += parameter(P_WARM)
  if (gas < cost) return cost
  peekAccount(heir)
  const record = account(heir)
  const isBorn =
    parameter(P_EMPTY_VANISH) != 0
      ? isEmpty(record) && !isZero(account(self) + A_BALANCE)
      : !exists(record)
  return isBorn ? cost + parameter(P_DESTRUCT_NEW_ACCOUNT) : cost
}
