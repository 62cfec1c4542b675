/**
 * Operations that both engines share because they touch call memory, state or frames. `top` is the address of the
 * stack's top word. Those with a price of their own take the gas left and return what remains, or minus a status.
 */
import { hashOne } from '../keccak/sponge'
import {
  A_BALANCE,
  A_CODE_HASH,
  account,
  accountNumber,
  ensureLoaded,
  exists,
  hasCode,
  isEmpty,
} from './accounts'
import { memoryAt, reachRange, returnData, returnSize } from './callMemory'
import { chargeAccount, setOutput } from './calls'
import { C_BYTES, C_JUMPS, C_SIZE, codeOf } from './codes'
import { hostBlockHash } from './host'
import {
  BLOB_HASHES,
  ENV_BLOB_COUNT,
  ENV_NUMBER,
  F_FLAGS,
  F_INPUT,
  F_INPUT_SIZE,
  F_SELF,
  FLAG_STATIC,
  HASH_SCRATCH,
  SCRATCH,
} from './layout'
import { appendLog } from './logs'
import { hashPair, PAIR_BYTES } from './pairHashes'
import { GAS_COPY_WORD, GAS_KECCAK_WORD, GAS_LOG_BYTE, P_EXP_BYTE, parameter } from './rules'
import { OUT_OF_GAS, RETURN_DATA_BOUNDS, REVERT, WRITE_PROTECTION } from './status'
import { byteLength, copyWord, lessThan, power, readBytes, saturate, setSmall } from './word'

/** Gas left after `cost` a started word of the size at `size`; the size is known to be paid for. */
// @ts-ignore: decorator
@inline
function chargeWords(size: u64, cost: i64, gas: i64): i64 {
  gas -= i64((size + 31) >> 5) * cost
  return gas < 0 ? -OUT_OF_GAS : gas
}

/** Copies `size` bytes from offset `start` of a source of `length` bytes, zeros beyond its end. */
export function copyPadded(to: usize, source: usize, length: u64, start: u64, size: u64): void {
  let have: u64 = 0
  if (start < length) have = min(size, length - start)
  if (have != 0) memory.copy(to, source + usize(start), usize(have))
  if (have < size) memory.fill(to + usize(have), 0, usize(size - have))
}

/** CALLDATACOPY and CODECOPY: target offset, source offset, size from the top. */
export function copyOp(top: usize, source: usize, length: u32, gas: i64): i64 {
  const size = saturate(top - 64)
  if (size == 0) return gas
  gas = reachRange(top, top - 64, gas)
  if (gas < 0) return gas
  gas = chargeWords(size, GAS_COPY_WORD, gas)
  if (gas < 0) return gas
  copyPadded(memoryAt + usize(load<u64>(top)), source, length, saturate(top - 32), size)
  return gas
}

export function returnDataCopyOp(top: usize, gas: i64): i64 {
  const start = saturate(top - 32)
  const size = saturate(top - 64)
  if (start > u64(returnSize) || size > u64(returnSize) - start) return -RETURN_DATA_BOUNDS
  if (size == 0) return gas
  gas = reachRange(top, top - 64, gas)
  if (gas < 0) return gas
  gas = chargeWords(size, GAS_COPY_WORD, gas)
  if (gas < 0) return gas
  memory.copy(memoryAt + usize(load<u64>(top)), returnData() + usize(start), usize(size))
  return gas
}

/** EXTCODECOPY: address, target offset, source offset, size. */
export function codeCopyOfOp(top: usize, gas: i64): i64 {
  gas = reachRange(top - 32, top - 96, gas)
  if (gas < 0) return gas
  const size = saturate(top - 96)
  gas = chargeWords(size, GAS_COPY_WORD, gas)
  if (gas < 0) return gas
  const index = accountNumber(top)
  gas = chargeAccount(index, gas)
  if (gas < 0) return gas
  ensureLoaded(index)
  const code = codeOf(index)
  if (size == 0) return gas
  copyPadded(
    memoryAt + usize(load<u64>(top - 32)),
    code + C_BYTES,
    load<u32>(code, C_SIZE),
    saturate(top - 64),
    size,
  )
  return gas
}

/** MCOPY: target, source, size. */
export function memoryCopyOp(top: usize, gas: i64): i64 {
  const size = saturate(top - 64)
  if (size == 0) return gas
  gas = reachRange(lessThan(top, top - 32) ? top - 32 : top, top - 64, gas)
  if (gas < 0) return gas
  gas = chargeWords(size, GAS_COPY_WORD, gas)
  if (gas < 0) return gas
  memory.copy(memoryAt + usize(load<u64>(top)), memoryAt + usize(load<u64>(top - 32)), usize(size))
  return gas
}

export function keccakOp(top: usize, gas: i64): i64 {
  gas = reachRange(top, top - 32, gas)
  if (gas < 0) return gas
  const size = saturate(top - 32)
  gas = chargeWords(size, GAS_KECCAK_WORD, gas)
  if (gas < 0) return gas
  const start: usize = size == 0 ? 0 : usize(load<u64>(top))
  if (size == PAIR_BYTES) {
    hashPair(memoryAt + start, top - 32)
    return gas
  }
  hashOne(memoryAt + start, usize(size), SCRATCH + 512, HASH_SCRATCH)
  readBytes(SCRATCH + 512, top - 32)
  return gas
}

/** LOG0 to LOG4: offset, size, topics. */
export function logOp(frame: usize, topicCount: u32, top: usize, gas: i64): i64 {
  if ((load<u32>(frame, F_FLAGS) & FLAG_STATIC) != 0) return -WRITE_PROTECTION
  gas = reachRange(top, top - 32, gas)
  if (gas < 0) return gas
  const size = saturate(top - 32)
  gas -= i64(size) * GAS_LOG_BYTE
  if (gas < 0) return -OUT_OF_GAS
  const start: usize = size == 0 ? 0 : usize(load<u64>(top))
  appendLog(load<u32>(frame, F_SELF), topicCount, top - 64, memoryAt + start, u32(size))
  return gas
}

export function callDataLoadOp(frame: usize, top: usize): void {
  const start = saturate(top)
  const length = u64(load<u32>(frame, F_INPUT_SIZE))
  if (start >= length) {
    setSmall(top, 0)
    return
  }
  const source = <usize>load<u32>(frame, F_INPUT)
  if (start + 32 <= length) {
    readBytes(source + usize(start), top)
    return
  }
  copyPadded(SCRATCH + 512, source, length, start, 32)
  readBytes(SCRATCH + 512, top)
}

export function powerOp(top: usize, gas: i64): i64 {
  gas -= i64(byteLength(top - 32)) * parameter(P_EXP_BYTE)
  if (gas < 0) return -OUT_OF_GAS
  power(top, top - 32, top - 32)
  return gas
}

export function balanceOp(top: usize, gas: i64): i64 {
  const index = accountNumber(top)
  gas = chargeAccount(index, gas)
  if (gas < 0) return gas
  ensureLoaded(index)
  copyWord(top, account(index) + A_BALANCE)
  return gas
}

export function codeSizeOfOp(top: usize, gas: i64): i64 {
  const index = accountNumber(top)
  gas = chargeAccount(index, gas)
  if (gas < 0) return gas
  ensureLoaded(index)
  setSmall(top, hasCode(account(index)) ? u64(load<u32>(codeOf(index), C_SIZE)) : 0)
  return gas
}

export function codeHashOfOp(top: usize, gas: i64): i64 {
  const index = accountNumber(top)
  gas = chargeAccount(index, gas)
  if (gas < 0) return gas
  ensureLoaded(index)
  const record = account(index)
  if (!exists(record) || isEmpty(record)) setSmall(top, 0)
  else readBytes(record + A_CODE_HASH, top)
  return gas
}

export function blockHashOp(top: usize): void {
  const number = saturate(top)
  const current = saturate(ENV_NUMBER)
  if (number < current && current - number <= 256) hostBlockHash(top, top)
  else setSmall(top, 0)
}

export function blobHashOp(top: usize): void {
  const index = saturate(top)
  if (index < u64(load<u32>(ENV_BLOB_COUNT))) copyWord(top, BLOB_HASHES + (usize(index) << 5))
  else setSmall(top, 0)
}

/** RETURN and REVERT: notes the output; gas left or minus a status. */
export function outputOp(top: usize, gas: i64): i64 {
  gas = reachRange(top, top - 32, gas)
  if (gas < 0) return gas
  const size = u32(saturate(top - 32))
  setOutput(size == 0 ? 0 : u32(load<u64>(top)), size)
  return gas
}

/** True where code offset `to` is a JUMPDEST. */
// @ts-ignore: decorator
@inline
export function isJumpTarget(code: usize, to: u64): bool {
  if (to >= u64(load<u32>(code, C_SIZE))) return false
  const byte = load<u8>(<usize>load<u32>(code, C_JUMPS) + (usize(to) >> 3))
  return ((byte >> (u8(to) & 7)) & 1) != 0
}
