/**
 * Code made ready for the fast engine: records of 16 bytes, basic blocks with their static gas and stack needs summed
 * up in a header record, operands of PUSH read, static jumps resolved, frequent pairs fused. Made once a code block
 * and fork, since gas is baked in.
 *
 *     op       u16 label, u16 argument, u32 immediate, u32 static gas of the block's later ops, u32 pc of the next op
 *     header   u16 BLOCK, u16 words needed, u32 static gas, u32 bytes of growth, u32 pc of the block
 *     PUSH     u16 SMALL, u16 0, u32 0, u64 value
 *
 * The heap block holds the records, then a u32 a code byte with the record of the block that starts there (0: none),
 * then the words of the constant pool.
 */
import {
  analyse,
  C_BYTES,
  C_FAST,
  C_FAST_CLASS,
  C_FAST_FORK,
  C_FAST_MAP,
  C_JUMPS,
  C_SIZE,
  noteCached,
} from './codes'
import { DEEP_INVALID, deepSingle, pairLower, pairUpper } from './deepStack'
import { allocate, classOf, release } from './heap'
import { RULES_GAS, RULES_GROW, RULES_NEED } from './layout'
import { pushBytes } from './pushBytes'
import { P_FORK, parameter } from './rules'

export const RECORD_BYTES: usize = 16
// Labels beyond the opcodes. DUP and SWAP use the labels 0x80 and 0x90, with the distance in the argument.
export const BLOCK: u32 = 0x100
export const SMALL: u32 = 0x101
export const POOL: u32 = 0x102
export const PUSH_JUMP: u32 = 0x103
export const PUSH_JUMPI: u32 = 0x104
export const PUSH_ADD: u32 = 0x105
export const PUSH_SUB: u32 = 0x106
export const PUSH_MUL: u32 = 0x107
export const PUSH_LT: u32 = 0x108
export const PUSH_GT: u32 = 0x109
export const PUSH_EQ: u32 = 0x10a
export const PUSH_AND: u32 = 0x10b
export const PUSH_SHL: u32 = 0x10c
export const PUSH_SHR: u32 = 0x10d
export const PUSH_MLOAD: u32 = 0x10e
export const PUSH_MSTORE: u32 = 0x10f
export const SWAP1_POP: u32 = 0x110

/** Largest code that is predecoded; beyond (init code without a limit) the plain engine does. */
export const FAST_CODE_MAX: u32 = 0x40000

let bytes: usize = 0
let size: usize = 0
let jumps: usize = 0
let map: usize = 0
let pool: usize = 0
let next: usize = 0
/** Header of the open block, and its sums so far. */
let header: usize = 0
let blockGas: u32 = 0
let height: i32 = 0
let need: i32 = 0
let growth: i32 = 0

/** Address of the first record, made where the code has none for this fork yet. */
export function fastRecords(code: usize): usize {
  const known = <usize>load<u32>(code, C_FAST)
  const fork = u32(parameter(P_FORK))
  if (known != 0) {
    if (load<u32>(code, C_FAST_FORK) == fork) return known
    release(known, load<u32>(code, C_FAST_CLASS))
    store<u32>(code, 0, C_FAST)
  }
  analyse(code)
  bytes = code + C_BYTES
  size = <usize>load<u32>(code, C_SIZE)
  jumps = <usize>load<u32>(code, C_JUMPS)
  const recordCount = countRecords()
  const total = recordCount * RECORD_BYTES + ((size + 8) << 2) + (poolCount << 5)
  const sizeClass = classOf(u32(total))
  const records = allocate(sizeClass)
  map = records + recordCount * RECORD_BYTES
  memory.fill(map, 0, (size + 1) << 2)
  pool = (map + ((size + 8) << 2)) & ~7
  next = records
  emitAll()
  resolve(records)
  store<u32>(code, u32(records), C_FAST)
  store<u32>(code, sizeClass, C_FAST_CLASS)
  store<u32>(code, fork, C_FAST_FORK)
  store<u32>(code, u32(map), C_FAST_MAP)
  noteCached(u32(1) << sizeClass)
  return records
}

/** Record of the block that starts at a valid jump destination. */
// @ts-ignore: decorator
@inline
export function recordAt(code: usize, to: usize): usize {
  return <usize>load<u32>(<usize>load<u32>(code, C_FAST_MAP) + (to << 2))
}

let poolCount: usize = 0

/** Upper bound of records; counts the PUSHes for the pool on the way. */
function countRecords(): usize {
  let count: usize = 4
  poolCount = 0
  for (let at: usize = 0; at < size; at++) {
    const opcode = <u32>load<u8>(bytes + at)
    count++
    if (opcode >= 0x60 && opcode <= 0x7f) {
      at += opcode - 0x5f
      poolCount++
    } else if (opcode == 0x5b || endsBlock(opcode)) count++
  }
  return count
}

/** Ops after which the block's gas must be settled: jumps, ends, and what runs another frame. */
function endsBlock(opcode: u32): bool {
  return opcode == 0x56 || opcode == 0x57 || endsPath(opcode) || (opcode >= 0xf0 && opcode != 0xf3)
}

/** Ops after which nothing follows but a jump destination. */
function endsPath(opcode: u32): bool {
  return (
    opcode == 0x00 ||
    opcode == 0x56 ||
    opcode == 0xf3 ||
    opcode == 0xfd ||
    opcode == 0xff ||
    load<u8>(RULES_NEED + opcode) == 255
  )
}

function isJumpdest(at: usize): bool {
  return at < size && ((load<u8>(jumps + (at >> 3)) >> (u8(at) & 7)) & 1) != 0
}

function openBlock(at: usize): void {
  header = next
  next += RECORD_BYTES
  store<u32>(header, BLOCK)
  store<u32>(header, u32(at), 12)
  store<u32>(map + (at << 2), u32(header))
  blockGas = 0
  height = 0
  need = 0
  growth = 0
}

function closeBlock(): void {
  store<u16>(header, u16(need), 2)
  store<u32>(header, blockGas, 4)
  store<u32>(header, u32(growth) << 5, 8)
  // So far each op holds the gas up to and with itself; what it wants is the gas after it.
  for (let record = header + RECORD_BYTES; record < next; record += RECORD_BYTES) {
    const label = <u32>load<u16>(record)
    if (label == SMALL) continue
    store<u32>(record, blockGas - load<u32>(record, 8), 8)
  }
}

/** Adds an opcode's static gas and stack needs to the open block. */
function account(opcode: u32): void {
  const wants = <i32>load<u8>(RULES_NEED + opcode)
  if (wants == 255) return
  blockGas += <u32>load<u16>(RULES_GAS + (opcode << 1))
  if (wants - height > need) need = wants - height
  height += effectOf(opcode, wants)
  if (height > growth) growth = height
}

/** Words an opcode adds to the stack, or takes. */
function effectOf(opcode: u32, wants: i32): i32 {
  const grows = <i32>load<u8>(RULES_GROW + opcode)
  if (grows != 0) return grows
  return pushesOf(opcode) - wants
}

/** Words put on the stack by opcodes that do not grow it. */
function pushesOf(opcode: u32): i32 {
  if (opcode >= 0x90 && opcode <= 0x9f) return i32(opcode) - 0x8e
  if (
    opcode <= 0x00 ||
    opcode == 0x37 ||
    opcode == 0x39 ||
    opcode == 0x3c ||
    opcode == 0x3e ||
    opcode == 0x50
  )
    return 0
  if (
    opcode == 0x52 ||
    opcode == 0x53 ||
    opcode == 0x55 ||
    opcode == 0x56 ||
    opcode == 0x57 ||
    opcode == 0x5b
  )
    return 0
  if (opcode == 0x5d || opcode == 0x5e || (opcode >= 0xa0 && opcode <= 0xa4)) return 0
  if (opcode == 0xf3 || opcode == 0xfd || opcode == 0xff) return 0
  return 1
}

function emit(label: u32, argument: u32, immediate: u32, after: usize): void {
  store<u16>(next, u16(label))
  store<u16>(next, u16(argument), 2)
  store<u32>(next, immediate, 4)
  store<u32>(next, blockGas, 8)
  store<u32>(next, u32(after), 12)
  next += RECORD_BYTES
}

function emitSmall(value: u64): void {
  store<u32>(next, SMALL)
  store<u32>(next, 0, 4)
  store<u64>(next, value, 8)
  next += RECORD_BYTES
}

function emitAll(): void {
  let at: usize = 0
  openBlock(0)
  while (at < size) {
    if (<usize>load<u32>(header, 12) != at && isJumpdest(at)) {
      closeBlock()
      openBlock(at)
    }
    const opcode = <u32>load<u8>(bytes + at)
    if (opcode >= 0x60 && opcode <= 0x7f) at = emitPush(at, opcode)
    else if (opcode >= 0xe6 && opcode <= 0xe8 && load<u8>(RULES_NEED + opcode) != 255)
      at = emitDeep(at, opcode)
    else at = emitOther(at, opcode)
  }
  if (header != 0) {
    // Running off the end is STOP.
    emit(0x00, 0, 0, size)
    closeBlock()
  }
}

/** Ends the block after the op that stands before `at`; returns where decoding goes on. */
function afterOp(at: usize, opcode: u32): usize {
  if (!endsBlock(opcode)) return at
  closeBlock()
  if (endsPath(opcode)) {
    // Code that no jump reaches is not decoded.
    while (at < size && !isJumpdest(at)) {
      const skipped = <u32>load<u8>(bytes + at)
      at++
      if (skipped >= 0x60 && skipped <= 0x7f) at += <usize>(skipped - 0x5f)
    }
    if (at >= size) {
      header = 0
      return at
    }
  }
  openBlock(at)
  return at
}

function emitOther(at: usize, opcode: u32): usize {
  account(opcode)
  const after = at + 1
  if (load<u8>(RULES_NEED + opcode) == 255) emit(0xfe, 0, 0, after)
  else if (opcode == 0x5b) return after
  else if (opcode == 0x5f) emitSmall(0)
  else if (opcode >= 0x80 && opcode <= 0x8f) emit(0x80, (opcode - 0x7f) << 5, 0, after)
  else if (opcode == 0x90 && after < size && load<u8>(bytes + after) == 0x50) {
    account(0x50)
    emit(SWAP1_POP, 0, 0, after + 1)
    return after + 1
  } else if (opcode >= 0x90 && opcode <= 0x9f) emit(0x90, (opcode - 0x8e) << 5, 0, after)
  else emit(opcode, 0, 0, after)
  return afterOp(after, opcode)
}

/**
 * DUPN, SWAPN, EXCHANGE (EIP-8024): the byte that follows says how deep. One that says nothing fails, and is an opcode
 * of its own for whoever jumps behind the failing one.
 */
function emitDeep(at: usize, opcode: u32): usize {
  const operand = load<u8>(bytes + at + 1)
  const depth = opcode == 0xe8 ? pairLower(operand) : deepSingle(operand)
  const after = at + 1
  if (depth == DEEP_INVALID) {
    account(opcode)
    height -= effectOf(opcode, 0)
    emit(0xfe, 0, 0, after)
    return after
  }
  const reaches = opcode == 0xe6 ? i32(depth) : i32(depth) + 1
  if (reaches - height > need) need = reaches - height
  blockGas += <u32>load<u16>(RULES_GAS + (opcode << 1))
  if (opcode == 0xe6) {
    height++
    if (height > growth) growth = height
    emit(0x80, u32(depth) << 5, 0, after + 1)
  } else if (opcode == 0xe7) emit(0x90, u32(reaches) << 5, 0, after + 1)
  else emit(0xe8, u32(pairUpper(operand) + 1) << 5, u32(reaches) << 5, after + 1)
  return after + 1
}

/** A PUSH, fused with the op that follows where there is a label for the pair. */
function emitPush(at: usize, opcode: u32): usize {
  const count = <usize>(opcode - 0x5f)
  const after = at + 1 + count
  account(opcode)
  pushBytes(bytes + at + 1, count, pool)
  const second = after < size ? <u32>load<u8>(bytes + after) : 0
  const fused = fusedLabel(second)
  if (fused == 0) {
    if (count <= 8) emitSmall(load<u64>(pool))
    else {
      emit(POOL, 0, u32(pool), after)
      pool += 32
    }
    return after
  }
  if (fused == PUSH_JUMP || fused == PUSH_JUMPI) {
    const isFar = (load<u64>(pool, 8) | load<u64>(pool, 16) | load<u64>(pool, 24)) != 0
    const to = load<u64>(pool)
    if (isFar || to >= u64(size) || !isJumpdest(usize(to))) {
      // A jump that must fail, if it is taken: left to the single ops.
      emit(POOL, 0, u32(pool), after)
      pool += 32
      return after
    }
    account(second)
    emit(fused, 0, u32(to), after + 1)
    return afterOp(after + 1, second)
  }
  if ((fused == PUSH_MLOAD || fused == PUSH_MSTORE) && (count > 4 || load<u64>(pool) > 0xffffff)) {
    emit(POOL, 0, u32(pool), after)
    pool += 32
    return after
  }
  account(second)
  if (fused == PUSH_MLOAD || fused == PUSH_MSTORE) emit(fused, 0, load<u32>(pool), after + 1)
  else {
    emit(fused, 0, u32(pool), after + 1)
    pool += 32
  }
  return after + 1
}

function fusedLabel(second: u32): u32 {
  if (load<u8>(RULES_NEED + second) == 255) return 0
  switch (second) {
    case 0x01:
      return PUSH_ADD
    case 0x02:
      return PUSH_MUL
    case 0x03:
      return PUSH_SUB
    case 0x10:
      return PUSH_LT
    case 0x11:
      return PUSH_GT
    case 0x14:
      return PUSH_EQ
    case 0x16:
      return PUSH_AND
    case 0x1b:
      return PUSH_SHL
    case 0x1c:
      return PUSH_SHR
    case 0x51:
      return PUSH_MLOAD
    case 0x52:
      return PUSH_MSTORE
    case 0x56:
      return PUSH_JUMP
    case 0x57:
      return PUSH_JUMPI
    default:
      return 0
  }
}

/** Turns code offsets of static jumps into addresses of records. */
function resolve(records: usize): void {
  for (let record = records; record < next; record += RECORD_BYTES) {
    const label = <u32>load<u16>(record)
    if (label == PUSH_JUMP || label == PUSH_JUMPI) {
      store<u32>(record, load<u32>(map + ((<usize>load<u32>(record, 4)) << 2)), 4)
    }
  }
}
