/**
 * The plain engine: one `switch` over opcodes, gas and stack checked at each. It is the base of tracing and the oracle
 * of the predecoded engine. `runFrame<i32>` is the plain loop, `runFrame<f32>` the same source with trace events: the
 * type is known when the kernel is compiled, so the plain loop holds nothing of them.
 *
 * The loop is one long function on purpose: the compiler keeps pc, sp and gas in registers only inside one function.
 * Labels are literals. Operations that touch state, call memory or frames are functions of other files.
 */

import { A_BALANCE, account } from './accounts'
import { addressWord } from './addresses'
import { memoryAt, memorySize, REACH_MAX, reach, returnSize } from './callMemory'
import { callOp, createOp, selfDestructOp, setOutput } from './calls'
import { C_BYTES, C_SIZE } from './codes'
import { addModulo, divide, divideSigned, modulo, moduloSigned, multiplyModulo } from './divide'
import { fullCost } from './fullCost'
import { hostTrace } from './host'
import {
  ENV_BASE_FEE,
  ENV_BLOB_BASE_FEE,
  ENV_CHAIN_ID,
  ENV_COINBASE,
  ENV_GAS_LIMIT,
  ENV_GAS_PRICE,
  ENV_NUMBER,
  ENV_ORIGIN,
  ENV_RANDOM,
  ENV_SLOT_NUMBER,
  ENV_TIMESTAMP,
  F_CALLER,
  F_CODE,
  F_FLAGS,
  F_GAS,
  F_INPUT,
  F_INPUT_SIZE,
  F_PC,
  F_SELF,
  F_SP,
  F_STACK,
  F_VALUE,
  FLAG_STATIC,
  RULES_GAS,
  RULES_GROW,
  RULES_NEED,
  SCRATCH,
} from './layout'
import { lastLog } from './logs'
import {
  balanceOp,
  blobHashOp,
  blockHashOp,
  callDataLoadOp,
  codeCopyOfOp,
  codeHashOfOp,
  codeSizeOfOp,
  copyOp,
  isJumpTarget,
  keccakOp,
  logOp,
  memoryCopyOp,
  outputOp,
  powerOp,
  returnDataCopyOp,
} from './operations'
import { DEEP_INVALID, deepSingle, pairLower, pairUpper } from './deepStack'
import { pushBytes } from './pushBytes'
import { peekSlot, S_VALUE, slotRecord } from './slots'
import {
  GAS_OVERFLOW,
  HOT,
  INVALID_JUMP,
  INVALID_OPCODE,
  OUT_OF_GAS,
  REVERT,
  STACK_OVERFLOW,
  STACK_UNDERFLOW,
  SUCCESS,
  SWITCH_FRAME,
  WRITE_PROTECTION,
} from './status'
import { loadOp, storeOp, transientLoadOp, transientStoreOp } from './storage'
import { findTransient, transientRecord } from './transient'
import {
  add,
  byteAt,
  copyWord,
  equals,
  isZero,
  leadingZeros,
  lessThan,
  multiply,
  readBytes,
  saturate,
  setSmall,
  shiftLeft,
  shiftRight,
  shiftRightSigned,
  signExtend,
  signedLessThan,
  subtract,
  swapWords,
  writeBytes,
} from './word'

// Trace events beside those of calls.ts.
export const TRACE_STEP: u32 = 4
export const TRACE_FAULT: u32 = 5
export const TRACE_SLOAD: u32 = 6
export const TRACE_SSTORE: u32 = 7
export const TRACE_TLOAD: u32 = 8
export const TRACE_TSTORE: u32 = 9
export const TRACE_LOG: u32 = 10
export const TRACE_END: u32 = 11
const TRACE_OLD: usize = SCRATCH + 960

/** Why an opcode may not run: gas went below zero, or the stack does not fit, or the fork does not know it. */
function refusal(opcode: usize, height: usize): i32 {
  const need = <usize>load<u8>(RULES_NEED + opcode)
  if (need == 255) return INVALID_OPCODE
  if (height < need << 5) return STACK_UNDERFLOW
  if (height > 32768 - ((<usize>load<u8>(RULES_GROW + opcode)) << 5)) return STACK_OVERFLOW
  return OUT_OF_GAS
}

/**
 * Runs the frame on top until it ends or another frame is on top. Returns SWITCH_FRAME, with the frame's registers in
 * its record, or the status it ended with, with its gas there. Modes: `i32` plain; `f32` traced; `i64` plain, counting
 * taken jumps down from `heat` and asking for the fast engine at 0.
 */
export function runFrame<Mode>(frame: usize, heat: i32): i32 {
  const code = <usize>load<u32>(frame, F_CODE)
  const codeBytes = code + C_BYTES
  const stackBase = <usize>load<u32>(frame, F_STACK)
  let pc = codeBytes + load<u32>(frame, F_PC)
  let sp = <usize>load<u32>(frame, F_SP)
  let gas = load<i64>(frame, F_GAS)
  let status: i32 = SUCCESS
  let cost: i64 = 0
  while (true) {
    const opcode = <usize>load<u8>(pc)
    if (isFloat<Mode>()) {
      store<u32>(frame, u32(pc - codeBytes), F_PC)
      store<u32>(frame, u32(sp), F_SP)
      hostTrace(TRACE_STEP, u32(pc - codeBytes), u32(opcode), u32(sp), gas)
      cost = fullCost(frame, u32(opcode), sp, sp - stackBase, gas)
    }
    gas -= <i64>load<u16>(RULES_GAS + (opcode << 1))
    const height = sp - stackBase
    if (
      gas < 0 ||
      height < (<usize>load<u8>(RULES_NEED + opcode)) << 5 ||
      height > 32768 - ((<usize>load<u8>(RULES_GROW + opcode)) << 5)
    ) {
      status = refusal(opcode, height)
      break
    }
    switch (<i32>opcode) {
      case 0x00: {
        setOutput(0, 0)
        break
      }
      case 0x01: {
        add(sp - 32, sp - 64, sp - 64)
        sp -= 32
        pc++
        continue
      }
      case 0x02: {
        multiply(sp - 32, sp - 64, sp - 64)
        sp -= 32
        pc++
        continue
      }
      case 0x03: {
        subtract(sp - 32, sp - 64, sp - 64)
        sp -= 32
        pc++
        continue
      }
      case 0x04: {
        divide(sp - 32, sp - 64, sp - 64)
        sp -= 32
        pc++
        continue
      }
      case 0x05: {
        divideSigned(sp - 32, sp - 64, sp - 64)
        sp -= 32
        pc++
        continue
      }
      case 0x06: {
        modulo(sp - 32, sp - 64, sp - 64)
        sp -= 32
        pc++
        continue
      }
      case 0x07: {
        moduloSigned(sp - 32, sp - 64, sp - 64)
        sp -= 32
        pc++
        continue
      }
      case 0x08: {
        addModulo(sp - 32, sp - 64, sp - 96, sp - 96)
        sp -= 64
        pc++
        continue
      }
      case 0x09: {
        multiplyModulo(sp - 32, sp - 64, sp - 96, sp - 96)
        sp -= 64
        pc++
        continue
      }
      case 0x0a: {
        gas = powerOp(sp - 32, gas)
        if (gas < 0) break
        sp -= 32
        pc++
        continue
      }
      case 0x0b: {
        signExtend(sp - 32, sp - 64, sp - 64)
        sp -= 32
        pc++
        continue
      }
      case 0x10: {
        setSmall(sp - 64, u64(lessThan(sp - 32, sp - 64)))
        sp -= 32
        pc++
        continue
      }
      case 0x11: {
        setSmall(sp - 64, u64(lessThan(sp - 64, sp - 32)))
        sp -= 32
        pc++
        continue
      }
      case 0x12: {
        setSmall(sp - 64, u64(signedLessThan(sp - 32, sp - 64)))
        sp -= 32
        pc++
        continue
      }
      case 0x13: {
        setSmall(sp - 64, u64(signedLessThan(sp - 64, sp - 32)))
        sp -= 32
        pc++
        continue
      }
      case 0x14: {
        setSmall(sp - 64, u64(equals(sp - 32, sp - 64)))
        sp -= 32
        pc++
        continue
      }
      case 0x15: {
        setSmall(sp - 32, u64(isZero(sp - 32)))
        pc++
        continue
      }
      case 0x16: {
        store<u64>(sp - 64, load<u64>(sp - 32) & load<u64>(sp - 64))
        store<u64>(sp - 64, load<u64>(sp - 32, 8) & load<u64>(sp - 64, 8), 8)
        store<u64>(sp - 64, load<u64>(sp - 32, 16) & load<u64>(sp - 64, 16), 16)
        store<u64>(sp - 64, load<u64>(sp - 32, 24) & load<u64>(sp - 64, 24), 24)
        sp -= 32
        pc++
        continue
      }
      case 0x17: {
        store<u64>(sp - 64, load<u64>(sp - 32) | load<u64>(sp - 64))
        store<u64>(sp - 64, load<u64>(sp - 32, 8) | load<u64>(sp - 64, 8), 8)
        store<u64>(sp - 64, load<u64>(sp - 32, 16) | load<u64>(sp - 64, 16), 16)
        store<u64>(sp - 64, load<u64>(sp - 32, 24) | load<u64>(sp - 64, 24), 24)
        sp -= 32
        pc++
        continue
      }
      case 0x18: {
        store<u64>(sp - 64, load<u64>(sp - 32) ^ load<u64>(sp - 64))
        store<u64>(sp - 64, load<u64>(sp - 32, 8) ^ load<u64>(sp - 64, 8), 8)
        store<u64>(sp - 64, load<u64>(sp - 32, 16) ^ load<u64>(sp - 64, 16), 16)
        store<u64>(sp - 64, load<u64>(sp - 32, 24) ^ load<u64>(sp - 64, 24), 24)
        sp -= 32
        pc++
        continue
      }
      case 0x19: {
        store<u64>(sp - 32, ~load<u64>(sp - 32))
        store<u64>(sp - 32, ~load<u64>(sp - 32, 8), 8)
        store<u64>(sp - 32, ~load<u64>(sp - 32, 16), 16)
        store<u64>(sp - 32, ~load<u64>(sp - 32, 24), 24)
        pc++
        continue
      }
      case 0x1a: {
        byteAt(sp - 32, sp - 64, sp - 64)
        sp -= 32
        pc++
        continue
      }
      case 0x1b: {
        shiftLeft(sp - 32, sp - 64, sp - 64)
        sp -= 32
        pc++
        continue
      }
      case 0x1c: {
        shiftRight(sp - 32, sp - 64, sp - 64)
        sp -= 32
        pc++
        continue
      }
      case 0x1d: {
        shiftRightSigned(sp - 32, sp - 64, sp - 64)
        sp -= 32
        pc++
        continue
      }
      case 0x1e: {
        leadingZeros(sp - 32, sp - 32)
        pc++
        continue
      }
      case 0x20: {
        gas = keccakOp(sp - 32, gas)
        if (gas < 0) break
        sp -= 32
        pc++
        continue
      }
      case 0x30: {
        addressWord(load<u32>(frame, F_SELF), sp)
        sp += 32
        pc++
        continue
      }
      case 0x31: {
        gas = balanceOp(sp - 32, gas)
        if (gas < 0) break
        pc++
        continue
      }
      case 0x32: {
        copyWord(sp, ENV_ORIGIN)
        sp += 32
        pc++
        continue
      }
      case 0x33: {
        addressWord(load<u32>(frame, F_CALLER), sp)
        sp += 32
        pc++
        continue
      }
      case 0x34: {
        copyWord(sp, frame + F_VALUE)
        sp += 32
        pc++
        continue
      }
      case 0x35: {
        callDataLoadOp(frame, sp - 32)
        pc++
        continue
      }
      case 0x36: {
        setSmall(sp, u64(load<u32>(frame, F_INPUT_SIZE)))
        sp += 32
        pc++
        continue
      }
      case 0x37: {
        gas = copyOp(sp - 32, <usize>load<u32>(frame, F_INPUT), load<u32>(frame, F_INPUT_SIZE), gas)
        if (gas < 0) break
        sp -= 96
        pc++
        continue
      }
      case 0x38: {
        setSmall(sp, u64(load<u32>(code, C_SIZE)))
        sp += 32
        pc++
        continue
      }
      case 0x39: {
        gas = copyOp(sp - 32, codeBytes, load<u32>(code, C_SIZE), gas)
        if (gas < 0) break
        sp -= 96
        pc++
        continue
      }
      case 0x3a: {
        copyWord(sp, ENV_GAS_PRICE)
        sp += 32
        pc++
        continue
      }
      case 0x3b: {
        gas = codeSizeOfOp(sp - 32, gas)
        if (gas < 0) break
        pc++
        continue
      }
      case 0x3c: {
        gas = codeCopyOfOp(sp - 32, gas)
        if (gas < 0) break
        sp -= 128
        pc++
        continue
      }
      case 0x3d: {
        setSmall(sp, u64(returnSize))
        sp += 32
        pc++
        continue
      }
      case 0x3e: {
        gas = returnDataCopyOp(sp - 32, gas)
        if (gas < 0) break
        sp -= 96
        pc++
        continue
      }
      case 0x3f: {
        gas = codeHashOfOp(sp - 32, gas)
        if (gas < 0) break
        pc++
        continue
      }
      case 0x40: {
        blockHashOp(sp - 32)
        pc++
        continue
      }
      case 0x41: {
        copyWord(sp, ENV_COINBASE)
        sp += 32
        pc++
        continue
      }
      case 0x42: {
        copyWord(sp, ENV_TIMESTAMP)
        sp += 32
        pc++
        continue
      }
      case 0x43: {
        copyWord(sp, ENV_NUMBER)
        sp += 32
        pc++
        continue
      }
      case 0x44: {
        copyWord(sp, ENV_RANDOM)
        sp += 32
        pc++
        continue
      }
      case 0x45: {
        copyWord(sp, ENV_GAS_LIMIT)
        sp += 32
        pc++
        continue
      }
      case 0x46: {
        copyWord(sp, ENV_CHAIN_ID)
        sp += 32
        pc++
        continue
      }
      case 0x47: {
        copyWord(sp, account(load<u32>(frame, F_SELF)) + A_BALANCE)
        sp += 32
        pc++
        continue
      }
      case 0x48: {
        copyWord(sp, ENV_BASE_FEE)
        sp += 32
        pc++
        continue
      }
      case 0x49: {
        blobHashOp(sp - 32)
        pc++
        continue
      }
      case 0x4a: {
        copyWord(sp, ENV_BLOB_BASE_FEE)
        sp += 32
        pc++
        continue
      }
      case 0x4b: {
        copyWord(sp, ENV_SLOT_NUMBER)
        sp += 32
        pc++
        continue
      }
      case 0x50: {
        sp -= 32
        pc++
        continue
      }
      case 0x51: {
        const offset = saturate(sp - 32)
        gas = offset <= REACH_MAX ? reach(offset + 32, gas) : -GAS_OVERFLOW
        if (gas < 0) break
        readBytes(memoryAt + usize(offset), sp - 32)
        pc++
        continue
      }
      case 0x52: {
        const offset = saturate(sp - 32)
        gas = offset <= REACH_MAX ? reach(offset + 32, gas) : -GAS_OVERFLOW
        if (gas < 0) break
        writeBytes(sp - 64, memoryAt + usize(offset))
        sp -= 64
        pc++
        continue
      }
      case 0x53: {
        const offset = saturate(sp - 32)
        gas = offset <= REACH_MAX ? reach(offset + 1, gas) : -GAS_OVERFLOW
        if (gas < 0) break
        store<u8>(memoryAt + usize(offset), load<u8>(sp - 64))
        sp -= 64
        pc++
        continue
      }
      case 0x54: {
        if (isFloat<Mode>()) copyWord(TRACE_OLD, sp - 32)
        gas = loadOp(frame, sp - 32, gas)
        if (gas < 0) break
        if (isFloat<Mode>())
          hostTrace(TRACE_SLOAD, load<u32>(frame, F_SELF), u32(TRACE_OLD), u32(sp - 32), gas)
        pc++
        continue
      }
      case 0x55: {
        if (isFloat<Mode>())
          copyWord(TRACE_OLD, slotRecord(peekSlot(load<u32>(frame, F_SELF), sp - 32)) + S_VALUE)
        gas = storeOp(frame, sp - 32, gas)
        if (gas < 0) break
        if (isFloat<Mode>())
          hostTrace(TRACE_SSTORE, load<u32>(frame, F_SELF), u32(sp - 64), u32(TRACE_OLD), gas)
        sp -= 64
        pc++
        continue
      }
      case 0x56: {
        const to = saturate(sp - 32)
        sp -= 32
        if (!isJumpTarget(code, to)) {
          gas = -INVALID_JUMP
          break
        }
        if (sizeof<Mode>() == 8 && --heat == 0) {
          store<u32>(frame, u32(to), F_PC)
          store<u32>(frame, u32(sp), F_SP)
          store<i64>(frame, gas, F_GAS)
          return HOT
        }
        pc = codeBytes + usize(to)
        continue
      }
      case 0x57: {
        const to = saturate(sp - 32)
        const stays = isZero(sp - 64)
        sp -= 64
        if (stays) {
          pc++
          continue
        }
        if (!isJumpTarget(code, to)) {
          gas = -INVALID_JUMP
          break
        }
        if (sizeof<Mode>() == 8 && --heat == 0) {
          store<u32>(frame, u32(to), F_PC)
          store<u32>(frame, u32(sp), F_SP)
          store<i64>(frame, gas, F_GAS)
          return HOT
        }
        pc = codeBytes + usize(to)
        continue
      }
      case 0x58: {
        setSmall(sp, u64(pc - codeBytes))
        sp += 32
        pc++
        continue
      }
      case 0x59: {
        setSmall(sp, u64(memorySize))
        sp += 32
        pc++
        continue
      }
      case 0x5a: {
        setSmall(sp, u64(gas))
        sp += 32
        pc++
        continue
      }
      case 0x5b: {
        pc++
        continue
      }
      case 0x5c: {
        if (isFloat<Mode>()) copyWord(TRACE_OLD, sp - 32)
        transientLoadOp(frame, sp - 32)
        if (isFloat<Mode>())
          hostTrace(TRACE_TLOAD, load<u32>(frame, F_SELF), u32(TRACE_OLD), u32(sp - 32), gas)
        pc++
        continue
      }
      case 0x5d: {
        if ((load<u32>(frame, F_FLAGS) & FLAG_STATIC) != 0) {
          gas = -WRITE_PROTECTION
          break
        }
        if (isFloat<Mode>()) {
          const cell = findTransient(load<u32>(frame, F_SELF), sp - 32)
          if (cell == 0) setSmall(TRACE_OLD, 0)
          else copyWord(TRACE_OLD, transientRecord(cell) + 32)
        }
        transientStoreOp(frame, sp - 32)
        if (isFloat<Mode>())
          hostTrace(TRACE_TSTORE, load<u32>(frame, F_SELF), u32(sp - 64), u32(TRACE_OLD), gas)
        sp -= 64
        pc++
        continue
      }
      case 0x5e: {
        gas = memoryCopyOp(sp - 32, gas)
        if (gas < 0) break
        sp -= 96
        pc++
        continue
      }
      case 0x5f: {
        setSmall(sp, 0)
        sp += 32
        pc++
        continue
      }
      case 0x60: {
        setSmall(sp, u64(load<u8>(pc, 1)))
        sp += 32
        pc += 2
        continue
      }
      case 0x61: {
        setSmall(sp, (u64(load<u8>(pc, 1)) << 8) | u64(load<u8>(pc, 2)))
        sp += 32
        pc += 3
        continue
      }
      case 0x62:
      case 0x63:
      case 0x64:
      case 0x65:
      case 0x66:
      case 0x67:
      case 0x68:
      case 0x69:
      case 0x6a:
      case 0x6b:
      case 0x6c:
      case 0x6d:
      case 0x6e:
      case 0x6f:
      case 0x70:
      case 0x71:
      case 0x72:
      case 0x73:
      case 0x74:
      case 0x75:
      case 0x76:
      case 0x77:
      case 0x78:
      case 0x79:
      case 0x7a:
      case 0x7b:
      case 0x7c:
      case 0x7d:
      case 0x7e: {
        pushBytes(pc + 1, opcode - 0x5f, sp)
        sp += 32
        pc += opcode - 0x5e
        continue
      }
      case 0x7f: {
        readBytes(pc + 1, sp)
        sp += 32
        pc += 33
        continue
      }
      case 0x80:
      case 0x81:
      case 0x82:
      case 0x83:
      case 0x84:
      case 0x85:
      case 0x86:
      case 0x87:
      case 0x88:
      case 0x89:
      case 0x8a:
      case 0x8b:
      case 0x8c:
      case 0x8d:
      case 0x8e:
      case 0x8f: {
        copyWord(sp, sp - ((opcode - 0x7f) << 5))
        sp += 32
        pc++
        continue
      }
      case 0x90:
      case 0x91:
      case 0x92:
      case 0x93:
      case 0x94:
      case 0x95:
      case 0x96:
      case 0x97:
      case 0x98:
      case 0x99:
      case 0x9a:
      case 0x9b:
      case 0x9c:
      case 0x9d:
      case 0x9e:
      case 0x9f: {
        swapWords(sp - 32, sp - ((opcode - 0x8e) << 5))
        pc++
        continue
      }
      case 0xa0:
      case 0xa1:
      case 0xa2:
      case 0xa3:
      case 0xa4: {
        gas = logOp(frame, u32(opcode) - 0xa0, sp - 32, gas)
        if (gas < 0) break
        if (isFloat<Mode>()) hostTrace(TRACE_LOG, load<u32>(frame, F_SELF), u32(lastLog), 0, gas)
        sp -= (opcode - 0x9e) << 5
        pc++
        continue
      }
      case 0xe6: {
        const depth = deepSingle(load<u8>(pc, 1))
        if (depth == DEEP_INVALID) {
          gas = -INVALID_OPCODE
          break
        }
        if (height < depth << 5) {
          gas = -STACK_UNDERFLOW
          break
        }
        copyWord(sp, sp - (depth << 5))
        sp += 32
        pc += 2
        continue
      }
      case 0xe7: {
        const depth = deepSingle(load<u8>(pc, 1))
        if (depth == DEEP_INVALID) {
          gas = -INVALID_OPCODE
          break
        }
        if (height < (depth + 1) << 5) {
          gas = -STACK_UNDERFLOW
          break
        }
        swapWords(sp - 32, sp - ((depth + 1) << 5))
        pc += 2
        continue
      }
      case 0xe8: {
        const lower = pairLower(load<u8>(pc, 1))
        if (lower == DEEP_INVALID) {
          gas = -INVALID_OPCODE
          break
        }
        if (height < (lower + 1) << 5) {
          gas = -STACK_UNDERFLOW
          break
        }
        swapWords(sp - ((pairUpper(load<u8>(pc, 1)) + 1) << 5), sp - ((lower + 1) << 5))
        pc += 2
        continue
      }
      case 0xf0:
      case 0xf5: {
        store<u32>(frame, u32(pc + 1 - codeBytes), F_PC)
        gas = createOp(u32(opcode), sp, gas)
        if (gas == 0) status = SWITCH_FRAME
        break
      }
      case 0xf1:
      case 0xf2:
      case 0xf4:
      case 0xfa: {
        store<u32>(frame, u32(pc + 1 - codeBytes), F_PC)
        gas = callOp(u32(opcode), sp, gas)
        if (gas == 0) status = SWITCH_FRAME
        break
      }
      case 0xf3: {
        gas = outputOp(sp - 32, gas)
        break
      }
      case 0xfd: {
        gas = outputOp(sp - 32, gas)
        status = REVERT
        break
      }
      case 0xff: {
        gas = selfDestructOp(frame, sp - 32, gas)
        setOutput(0, 0)
        break
      }
      default: {
        gas = -INVALID_OPCODE
        break
      }
    }
    break
  }
  if (status == SWITCH_FRAME) return status
  // A negative number is an operation's own fault; `refusal` has set the status of the others.
  if (gas < 0 && status <= REVERT) status = i32(-gas)
  if (isFloat<Mode>()) {
    if (status > REVERT) hostTrace(TRACE_FAULT, u32(status), 0, 0, cost)
    else hostTrace(TRACE_END, u32(status), 0, 0, gas)
  }
  store<i64>(frame, gas, F_GAS)
  return status
}
