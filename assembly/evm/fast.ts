/**
 * The fast engine: runs the records of `predecode.ts`. Gas and stack are checked once a block. Where a block cannot
 * be paid, or its stack does not fit, or an op with a price of its own eats what later ops of its block were to have,
 * the frame goes on in the plain engine from that very op, so every end is exactly the plain engine's.
 *
 * The labels in the `switch` are literals, those of fused pairs as `predecode.ts` numbers them.
 */
import { A_BALANCE, account } from './accounts'
import { addressWord } from './addresses'
import { memoryAt, memorySize, REACH_MAX, reach, returnSize } from './callMemory'
import { callOp, createOp, selfDestructOp, setOutput } from './calls'
import { C_BYTES, C_SIZE } from './codes'
import { addModulo, divide, divideSigned, modulo, moduloSigned, multiplyModulo } from './divide'
import { E_PLAIN_FOR_GOOD } from './engine'
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
  F_ENGINE,
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
} from './layout'
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
import { recordAt } from './predecode'
import {
  INVALID_JUMP,
  INVALID_OPCODE,
  GAS_OVERFLOW,
  REVERT,
  SUCCESS,
  SWITCH_FRAME,
  WRITE_PROTECTION,
} from './status'
import { loadOp, storeOp, transientLoadOp, transientStoreOp } from './storage'
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

/** Hands the frame to the plain engine, at code offset `pc`. */
function fallBack(frame: usize, pc: u32, sp: usize, gas: i64): i32 {
  store<u32>(frame, E_PLAIN_FOR_GOOD, F_ENGINE)
  store<u32>(frame, pc, F_PC)
  store<u32>(frame, u32(sp), F_SP)
  store<i64>(frame, gas, F_GAS)
  return SWITCH_FRAME
}

/**
 * Ops whose price depends on their operands: label, stack, gas with nothing of later ops taken off. Returns the gas
 * left, or minus a status. They are out of the loop, which stays small; what they do outweighs the call.
 */
function pricedOp(label: u32, frame: usize, code: usize, sp: usize, gas: i64): i64 {
  switch (label) {
    case 0x0a:
      return powerOp(sp - 32, gas)
    case 0x20:
      return keccakOp(sp - 32, gas)
    case 0x31:
      return balanceOp(sp - 32, gas)
    case 0x37:
      return copyOp(sp - 32, <usize>load<u32>(frame, F_INPUT), load<u32>(frame, F_INPUT_SIZE), gas)
    case 0x39:
      return copyOp(sp - 32, code + C_BYTES, load<u32>(code, C_SIZE), gas)
    case 0x3b:
      return codeSizeOfOp(sp - 32, gas)
    case 0x3c:
      return codeCopyOfOp(sp - 32, gas)
    case 0x3e:
      return returnDataCopyOp(sp - 32, gas)
    case 0x3f:
      return codeHashOfOp(sp - 32, gas)
    case 0x54:
      return loadOp(frame, sp - 32, gas)
    case 0x55:
      return storeOp(frame, sp - 32, gas)
    case 0x5e:
      return memoryCopyOp(sp - 32, gas)
    default:
      return logOp(frame, label - 0xa0, sp - 32, gas)
  }
}

/** Bytes that `pricedOp` takes off the stack, beyond what it puts there. */
function pricedPops(label: u32): usize {
  if (label >= 0xa0) return usize(label - 0x9e) << 5
  if (label == 0x0a || label == 0x20) return 32
  if (label == 0x37 || label == 0x39 || label == 0x3e || label == 0x5e) return 96
  if (label == 0x3c) return 128
  return label == 0x55 ? 64 : 0
}

/** Runs the frame until it ends or another engine or frame has to go on; as `runFrame` of the plain engine. */
export function runFast(frame: usize): i32 {
  const code = <usize>load<u32>(frame, F_CODE)
  const stackBase = <usize>load<u32>(frame, F_STACK)
  let ip = <usize>load<u32>(frame, F_PC)
  let sp = <usize>load<u32>(frame, F_SP)
  let gas = load<i64>(frame, F_GAS)
  let status: i32 = SUCCESS
  while (true) {
    const label = <u32>load<u16>(ip)
    switch (label) {
      case 0x100: {
        const left = gas - <i64>load<u32>(ip, 4)
        const height = sp - stackBase
        if (
          left < 0 ||
          height < (<usize>load<u16>(ip, 2)) << 5 ||
          height + <usize>load<u32>(ip, 8) > 32768
        ) {
          return fallBack(frame, load<u32>(ip, 12), sp, gas)
        }
        gas = left
        ip += 16
        continue
      }
      case 0x101: {
        setSmall(sp, load<u64>(ip, 8))
        sp += 32
        ip += 16
        continue
      }
      case 0x102: {
        copyWord(sp, <usize>load<u32>(ip, 4))
        sp += 32
        ip += 16
        continue
      }
      case 0x103: {
        ip = <usize>load<u32>(ip, 4)
        continue
      }
      case 0x104: {
        sp -= 32
        ip = isZero(sp) ? ip + 16 : <usize>load<u32>(ip, 4)
        continue
      }
      case 0x105: {
        add(sp - 32, <usize>load<u32>(ip, 4), sp - 32)
        ip += 16
        continue
      }
      case 0x106: {
        subtract(<usize>load<u32>(ip, 4), sp - 32, sp - 32)
        ip += 16
        continue
      }
      case 0x107: {
        multiply(sp - 32, <usize>load<u32>(ip, 4), sp - 32)
        ip += 16
        continue
      }
      case 0x108: {
        setSmall(sp - 32, u64(lessThan(<usize>load<u32>(ip, 4), sp - 32)))
        ip += 16
        continue
      }
      case 0x109: {
        setSmall(sp - 32, u64(lessThan(sp - 32, <usize>load<u32>(ip, 4))))
        ip += 16
        continue
      }
      case 0x10a: {
        setSmall(sp - 32, u64(equals(sp - 32, <usize>load<u32>(ip, 4))))
        ip += 16
        continue
      }
      case 0x10b: {
        const mask = <usize>load<u32>(ip, 4)
        store<u64>(sp - 32, load<u64>(sp - 32) & load<u64>(mask))
        store<u64>(sp - 32, load<u64>(sp - 32, 8) & load<u64>(mask, 8), 8)
        store<u64>(sp - 32, load<u64>(sp - 32, 16) & load<u64>(mask, 16), 16)
        store<u64>(sp - 32, load<u64>(sp - 32, 24) & load<u64>(mask, 24), 24)
        ip += 16
        continue
      }
      case 0x10c: {
        shiftLeft(<usize>load<u32>(ip, 4), sp - 32, sp - 32)
        ip += 16
        continue
      }
      case 0x10d: {
        shiftRight(<usize>load<u32>(ip, 4), sp - 32, sp - 32)
        ip += 16
        continue
      }
      case 0x10e: {
        const offset = <usize>load<u32>(ip, 4)
        if (offset + 32 > <usize>memorySize) {
          const rest = <i64>load<u32>(ip, 8)
          gas = reach(u64(offset) + 32, gas + rest)
          if (gas < 0) break
          gas -= rest
          if (gas < 0) {
            readBytes(memoryAt + offset, sp)
            return fallBack(frame, load<u32>(ip, 12), sp + 32, gas + rest)
          }
        }
        readBytes(memoryAt + offset, sp)
        sp += 32
        ip += 16
        continue
      }
      case 0x10f: {
        const offset = <usize>load<u32>(ip, 4)
        if (offset + 32 > <usize>memorySize) {
          const rest = <i64>load<u32>(ip, 8)
          gas = reach(u64(offset) + 32, gas + rest)
          if (gas < 0) break
          gas -= rest
          if (gas < 0) {
            writeBytes(sp - 32, memoryAt + offset)
            return fallBack(frame, load<u32>(ip, 12), sp - 32, gas + rest)
          }
        }
        writeBytes(sp - 32, memoryAt + offset)
        sp -= 32
        ip += 16
        continue
      }
      case 0x110: {
        copyWord(sp - 64, sp - 32)
        sp -= 32
        ip += 16
        continue
      }
      case 0x01: {
        add(sp - 32, sp - 64, sp - 64)
        sp -= 32
        ip += 16
        continue
      }
      case 0x02: {
        multiply(sp - 32, sp - 64, sp - 64)
        sp -= 32
        ip += 16
        continue
      }
      case 0x03: {
        subtract(sp - 32, sp - 64, sp - 64)
        sp -= 32
        ip += 16
        continue
      }
      case 0x04: {
        divide(sp - 32, sp - 64, sp - 64)
        sp -= 32
        ip += 16
        continue
      }
      case 0x05: {
        divideSigned(sp - 32, sp - 64, sp - 64)
        sp -= 32
        ip += 16
        continue
      }
      case 0x06: {
        modulo(sp - 32, sp - 64, sp - 64)
        sp -= 32
        ip += 16
        continue
      }
      case 0x07: {
        moduloSigned(sp - 32, sp - 64, sp - 64)
        sp -= 32
        ip += 16
        continue
      }
      case 0x08: {
        addModulo(sp - 32, sp - 64, sp - 96, sp - 96)
        sp -= 64
        ip += 16
        continue
      }
      case 0x09: {
        multiplyModulo(sp - 32, sp - 64, sp - 96, sp - 96)
        sp -= 64
        ip += 16
        continue
      }
      case 0x0b: {
        signExtend(sp - 32, sp - 64, sp - 64)
        sp -= 32
        ip += 16
        continue
      }
      case 0x10: {
        setSmall(sp - 64, u64(lessThan(sp - 32, sp - 64)))
        sp -= 32
        ip += 16
        continue
      }
      case 0x11: {
        setSmall(sp - 64, u64(lessThan(sp - 64, sp - 32)))
        sp -= 32
        ip += 16
        continue
      }
      case 0x12: {
        setSmall(sp - 64, u64(signedLessThan(sp - 32, sp - 64)))
        sp -= 32
        ip += 16
        continue
      }
      case 0x13: {
        setSmall(sp - 64, u64(signedLessThan(sp - 64, sp - 32)))
        sp -= 32
        ip += 16
        continue
      }
      case 0x14: {
        setSmall(sp - 64, u64(equals(sp - 32, sp - 64)))
        sp -= 32
        ip += 16
        continue
      }
      case 0x15: {
        setSmall(sp - 32, u64(isZero(sp - 32)))
        ip += 16
        continue
      }
      case 0x16: {
        store<u64>(sp - 64, load<u64>(sp - 32) & load<u64>(sp - 64))
        store<u64>(sp - 64, load<u64>(sp - 32, 8) & load<u64>(sp - 64, 8), 8)
        store<u64>(sp - 64, load<u64>(sp - 32, 16) & load<u64>(sp - 64, 16), 16)
        store<u64>(sp - 64, load<u64>(sp - 32, 24) & load<u64>(sp - 64, 24), 24)
        sp -= 32
        ip += 16
        continue
      }
      case 0x17: {
        store<u64>(sp - 64, load<u64>(sp - 32) | load<u64>(sp - 64))
        store<u64>(sp - 64, load<u64>(sp - 32, 8) | load<u64>(sp - 64, 8), 8)
        store<u64>(sp - 64, load<u64>(sp - 32, 16) | load<u64>(sp - 64, 16), 16)
        store<u64>(sp - 64, load<u64>(sp - 32, 24) | load<u64>(sp - 64, 24), 24)
        sp -= 32
        ip += 16
        continue
      }
      case 0x18: {
        store<u64>(sp - 64, load<u64>(sp - 32) ^ load<u64>(sp - 64))
        store<u64>(sp - 64, load<u64>(sp - 32, 8) ^ load<u64>(sp - 64, 8), 8)
        store<u64>(sp - 64, load<u64>(sp - 32, 16) ^ load<u64>(sp - 64, 16), 16)
        store<u64>(sp - 64, load<u64>(sp - 32, 24) ^ load<u64>(sp - 64, 24), 24)
        sp -= 32
        ip += 16
        continue
      }
      case 0x19: {
        store<u64>(sp - 32, ~load<u64>(sp - 32))
        store<u64>(sp - 32, ~load<u64>(sp - 32, 8), 8)
        store<u64>(sp - 32, ~load<u64>(sp - 32, 16), 16)
        store<u64>(sp - 32, ~load<u64>(sp - 32, 24), 24)
        ip += 16
        continue
      }
      case 0x1a: {
        byteAt(sp - 32, sp - 64, sp - 64)
        sp -= 32
        ip += 16
        continue
      }
      case 0x1b: {
        shiftLeft(sp - 32, sp - 64, sp - 64)
        sp -= 32
        ip += 16
        continue
      }
      case 0x1c: {
        shiftRight(sp - 32, sp - 64, sp - 64)
        sp -= 32
        ip += 16
        continue
      }
      case 0x1d: {
        shiftRightSigned(sp - 32, sp - 64, sp - 64)
        sp -= 32
        ip += 16
        continue
      }
      case 0x1e: {
        leadingZeros(sp - 32, sp - 32)
        ip += 16
        continue
      }
      case 0x30: {
        addressWord(load<u32>(frame, F_SELF), sp)
        sp += 32
        ip += 16
        continue
      }
      case 0x32: {
        copyWord(sp, ENV_ORIGIN)
        sp += 32
        ip += 16
        continue
      }
      case 0x33: {
        addressWord(load<u32>(frame, F_CALLER), sp)
        sp += 32
        ip += 16
        continue
      }
      case 0x34: {
        copyWord(sp, frame + F_VALUE)
        sp += 32
        ip += 16
        continue
      }
      case 0x35: {
        callDataLoadOp(frame, sp - 32)
        ip += 16
        continue
      }
      case 0x36: {
        setSmall(sp, u64(load<u32>(frame, F_INPUT_SIZE)))
        sp += 32
        ip += 16
        continue
      }
      case 0x38: {
        setSmall(sp, u64(load<u32>(code, C_SIZE)))
        sp += 32
        ip += 16
        continue
      }
      case 0x3a: {
        copyWord(sp, ENV_GAS_PRICE)
        sp += 32
        ip += 16
        continue
      }
      case 0x3d: {
        setSmall(sp, u64(returnSize))
        sp += 32
        ip += 16
        continue
      }
      case 0x40: {
        blockHashOp(sp - 32)
        ip += 16
        continue
      }
      case 0x41: {
        copyWord(sp, ENV_COINBASE)
        sp += 32
        ip += 16
        continue
      }
      case 0x42: {
        copyWord(sp, ENV_TIMESTAMP)
        sp += 32
        ip += 16
        continue
      }
      case 0x43: {
        copyWord(sp, ENV_NUMBER)
        sp += 32
        ip += 16
        continue
      }
      case 0x44: {
        copyWord(sp, ENV_RANDOM)
        sp += 32
        ip += 16
        continue
      }
      case 0x45: {
        copyWord(sp, ENV_GAS_LIMIT)
        sp += 32
        ip += 16
        continue
      }
      case 0x46: {
        copyWord(sp, ENV_CHAIN_ID)
        sp += 32
        ip += 16
        continue
      }
      case 0x47: {
        copyWord(sp, account(load<u32>(frame, F_SELF)) + A_BALANCE)
        sp += 32
        ip += 16
        continue
      }
      case 0x48: {
        copyWord(sp, ENV_BASE_FEE)
        sp += 32
        ip += 16
        continue
      }
      case 0x49: {
        blobHashOp(sp - 32)
        ip += 16
        continue
      }
      case 0x4a: {
        copyWord(sp, ENV_BLOB_BASE_FEE)
        sp += 32
        ip += 16
        continue
      }
      case 0x4b: {
        copyWord(sp, ENV_SLOT_NUMBER)
        sp += 32
        ip += 16
        continue
      }
      case 0x50: {
        sp -= 32
        ip += 16
        continue
      }
      case 0x59: {
        setSmall(sp, u64(memorySize))
        sp += 32
        ip += 16
        continue
      }
      case 0x5c: {
        transientLoadOp(frame, sp - 32)
        ip += 16
        continue
      }
      case 0x00: {
        setOutput(0, 0)
        break
      }
      case 0x51: {
        const offset = saturate(sp - 32)
        if (offset > REACH_MAX) {
          gas = -GAS_OVERFLOW
          break
        }
        if (offset + 32 > u64(memorySize)) {
          const rest = <i64>load<u32>(ip, 8)
          gas = reach(offset + 32, gas + rest)
          if (gas < 0) break
          gas -= rest
          if (gas < 0) {
            readBytes(memoryAt + usize(offset), sp - 32)
            return fallBack(frame, load<u32>(ip, 12), sp, gas + rest)
          }
        }
        readBytes(memoryAt + usize(offset), sp - 32)
        ip += 16
        continue
      }
      case 0x52: {
        const offset = saturate(sp - 32)
        if (offset > REACH_MAX) {
          gas = -GAS_OVERFLOW
          break
        }
        if (offset + 32 > u64(memorySize)) {
          const rest = <i64>load<u32>(ip, 8)
          gas = reach(offset + 32, gas + rest)
          if (gas < 0) break
          gas -= rest
          if (gas < 0) {
            writeBytes(sp - 64, memoryAt + usize(offset))
            return fallBack(frame, load<u32>(ip, 12), sp - 64, gas + rest)
          }
        }
        writeBytes(sp - 64, memoryAt + usize(offset))
        sp -= 64
        ip += 16
        continue
      }
      case 0x53: {
        const offset = saturate(sp - 32)
        if (offset > REACH_MAX) {
          gas = -GAS_OVERFLOW
          break
        }
        const rest = <i64>load<u32>(ip, 8)
        gas = reach(offset + 1, gas + rest)
        if (gas < 0) break
        gas -= rest
        store<u8>(memoryAt + usize(offset), load<u8>(sp - 64))
        sp -= 64
        if (gas < 0) return fallBack(frame, load<u32>(ip, 12), sp, gas + rest)
        ip += 16
        continue
      }
      case 0x56: {
        const to = saturate(sp - 32)
        sp -= 32
        if (!isJumpTarget(code, to)) {
          gas = -INVALID_JUMP
          break
        }
        ip = recordAt(code, usize(to))
        continue
      }
      case 0x57: {
        const to = saturate(sp - 32)
        const stays = isZero(sp - 64)
        sp -= 64
        if (stays) {
          ip += 16
          continue
        }
        if (!isJumpTarget(code, to)) {
          gas = -INVALID_JUMP
          break
        }
        ip = recordAt(code, usize(to))
        continue
      }
      case 0x58: {
        // The op itself is one byte before the next one.
        setSmall(sp, u64(load<u32>(ip, 12)) - 1)
        sp += 32
        ip += 16
        continue
      }
      case 0x5a: {
        setSmall(sp, u64(gas + <i64>load<u32>(ip, 8)))
        sp += 32
        ip += 16
        continue
      }
      case 0x5d: {
        if ((load<u32>(frame, F_FLAGS) & FLAG_STATIC) != 0) {
          gas = -WRITE_PROTECTION
          break
        }
        transientStoreOp(frame, sp - 32)
        sp -= 64
        ip += 16
        continue
      }
      case 0x80: {
        copyWord(sp, sp - <usize>load<u16>(ip, 2))
        sp += 32
        ip += 16
        continue
      }
      case 0x90: {
        swapWords(sp - 32, sp - <usize>load<u16>(ip, 2))
        ip += 16
        continue
      }
      case 0xe8: {
        swapWords(sp - <usize>load<u16>(ip, 2), sp - <usize>load<u32>(ip, 4))
        ip += 16
        continue
      }
      case 0x0a:
      case 0x20:
      case 0x31:
      case 0x37:
      case 0x39:
      case 0x3b:
      case 0x3c:
      case 0x3e:
      case 0x3f:
      case 0x54:
      case 0x55:
      case 0x5e:
      case 0xa0:
      case 0xa1:
      case 0xa2:
      case 0xa3:
      case 0xa4: {
        const rest = <i64>load<u32>(ip, 8)
        gas = pricedOp(label, frame, code, sp, gas + rest)
        if (gas < 0) break
        sp -= pricedPops(label)
        gas -= rest
        if (gas < 0) return fallBack(frame, load<u32>(ip, 12), sp, gas + rest)
        ip += 16
        continue
      }
      case 0xf0:
      case 0xf5: {
        store<u32>(frame, u32(ip + 16), F_PC)
        gas = createOp(label, sp, gas)
        if (gas == 0) return SWITCH_FRAME
        break
      }
      case 0xf1:
      case 0xf2:
      case 0xf4:
      case 0xfa: {
        store<u32>(frame, u32(ip + 16), F_PC)
        gas = callOp(label, sp, gas)
        if (gas == 0) return SWITCH_FRAME
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
  if (gas < 0) status = i32(-gas)
  store<i64>(frame, gas, F_GAS)
  return status
}
