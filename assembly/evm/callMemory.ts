/**
 * Memory of the frames and the return data. Each frame's memory is a heap block of its own, taken when the frame first
 * uses memory and given back when it ends, so a frame's growth moves nothing but itself. While a frame waits for its
 * callee its block stays put: a callee reads its input right there.
 */
import { allocate, CLASS_HUGE, classOf, regrow, regrowHuge, release } from './heap'
import { GAS_MEMORY_SQUARE, GAS_MEMORY_WORD } from './rules'
import { FAULT_MEMORY, fail, GAS_OVERFLOW, OUT_OF_GAS } from './status'
import { saturate } from './word'

/** Address of the running frame's memory, 0 before it has any. */
export let memoryAt: usize = 0
/** Its size, a multiple of 32. */
export let memorySize: u32 = 0
/** Heap class of its block, 0 before it has any. */
let memoryClass: u32 = 0
/** The input of the transaction's own message. */
let inputBase: usize = 0
let inputClass: u32 = 0
let returnBase: usize = 0
let returnClass: u32 = 0
/** Bytes RETURNDATASIZE gives. */
export let returnSize: u32 = 0

/** Largest offset that the gas of memory is computed for; beyond, any gas is too little. */
export const REACH_MAX: u64 = 0x1fffffffe0
/** Largest memory of a block of a class: 1 GiB less what reads at its end need. More takes a huge block. */
const CLASSED_SIZE_MAX: u64 = (1 << 30) - 64
/** What reads at the end of memory may touch beyond it. */
const END_BYTES: u64 = 64
/** No memory of the kernel holds more. */
const SIZE_MAX: u64 = 1 << 31

export function initCallMemory(): void {
  inputClass = 12
  inputBase = allocate(inputClass)
  returnClass = 12
  returnBase = allocate(returnClass)
}

/** Makes a frame's memory the running one. */
export function enterMemory(at: usize, size: u32, sizeClass: u32): void {
  memoryAt = at
  memorySize = size
  memoryClass = sizeClass
}

// @ts-ignore: decorator
@inline
export function currentMemoryClass(): u32 {
  return memoryClass
}

/** Gives the running frame's memory back. */
export function dropMemory(): void {
  if (memoryClass != 0) release(memoryAt, memoryClass)
  enterMemory(0, 0, 0)
}

// @ts-ignore: decorator
@inline
function cost(words: u64): u64 {
  return GAS_MEMORY_WORD * words + (words * words) / GAS_MEMORY_SQUARE
}

/** Pays for and clears memory up to `end`, which is beyond what there is. */
function grow(end: u64, gas: i64): i64 {
  if (end > REACH_MAX) return -GAS_OVERFLOW
  const words = (end + 31) >> 5
  const left = gas - i64(cost(words) - cost(u64(memorySize) >> 5))
  if (left < 0) return -OUT_OF_GAS
  const size = words << 5
  if (size > SIZE_MAX) fail(FAULT_MEMORY)
  const needed = u32(size)
  if (size > CLASSED_SIZE_MAX) {
    memoryAt = regrowHuge(memoryAt, memoryClass, memorySize, u32(size + END_BYTES))
    memoryClass = CLASS_HUGE
  } else if (memoryClass == 0) {
    memoryClass = classOf(needed)
    memoryAt = allocate(memoryClass)
  } else if (needed > u32(1) << memoryClass) {
    const bigger = classOf(needed)
    memoryAt = regrow(memoryAt, memoryClass, memorySize, needed)
    memoryClass = bigger
  }
  memory.fill(memoryAt + memorySize, 0, needed - memorySize)
  memorySize = needed
  return left
}

/** Gas left after memory reaches `end`; minus a status where it cannot. */
// @ts-ignore: decorator
@inline
export function reach(end: u64, gas: i64): i64 {
  return end <= u64(memorySize) ? gas : grow(end, gas)
}

/** Gas left after memory holds the range whose offset and size are words; nothing is paid for an empty range. */
export function reachRange(offset: usize, size: usize, gas: i64): i64 {
  const bytes = saturate(size)
  if (bytes == 0) return gas
  const start = saturate(offset)
  if (bytes > REACH_MAX || start > REACH_MAX) return -GAS_OVERFLOW
  return reach(start + bytes, gas)
}

/** No gas is enough. */
export const NO_COST: i64 = i64.MIN_VALUE

/** Gas that memory up to `offset + size` would cost, or NO_COST. */
export function endCost(offset: u64, size: u64): i64 {
  if (size > REACH_MAX || offset > REACH_MAX - size) return NO_COST
  const end = offset + size
  if (end <= u64(memorySize)) return 0
  return i64(cost((end + 31) >> 5) - cost(u64(memorySize) >> 5))
}

/** Gas that `reachRange` would take, or NO_COST. */
export function rangeCost(offset: usize, size: usize): i64 {
  const bytes = saturate(size)
  return bytes == 0 ? 0 : endCost(saturate(offset), bytes)
}

/** Room for the input of the next message; what was there is lost. */
export function inputSpace(size: u32): usize {
  if (size > u32(1) << inputClass) {
    const sizeClass = classOf(size)
    const block = allocate(sizeClass)
    release(inputBase, inputClass)
    inputBase = block
    inputClass = sizeClass
  }
  return inputBase
}

// @ts-ignore: decorator
@inline
export function messageInput(): usize {
  return inputBase
}

export function setReturnSize(size: u32): void {
  returnSize = size
}

// @ts-ignore: decorator
@inline
export function returnData(): usize {
  return returnBase
}

/** Sets the size of the return data and returns where they go; what was there is lost. */
export function returnDataSpace(size: u32): usize {
  if (size > u32(1) << returnClass) {
    const sizeClass = classOf(size)
    const block = allocate(sizeClass)
    release(returnBase, returnClass)
    returnBase = block
    returnClass = sizeClass
  }
  returnSize = size
  return returnBase
}
