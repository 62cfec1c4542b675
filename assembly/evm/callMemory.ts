/**
 * Memory of the frames and the return data. Frames lie one above the other in one block, the running one on top, so
 * only the top ever grows; frames hold offsets from the block's base, as the block may move.
 */
import { allocate, regrow } from './heap'
import { GAS_MEMORY_SQUARE, GAS_MEMORY_WORD } from './rules'
import { FAULT_MEMORY, GAS_OVERFLOW, OUT_OF_GAS, fail } from './status'
import { saturate } from './word'

let base: usize = 0
let sizeClass: u32 = 0
/** Address of the running frame's memory. */
export let memoryAt: usize = 0
/** Its size, a multiple of 32. */
export let memorySize: u32 = 0
let returnBase: usize = 0
let returnClass: u32 = 0
/** Bytes RETURNDATASIZE gives. */
export let returnSize: u32 = 0

/** Largest offset that the gas of memory is computed for; beyond, any gas is too little. */
const REACH_MAX: u64 = 0x1fffffffe0

export function initCallMemory(): void {
  sizeClass = 18
  base = allocate(sizeClass)
  returnClass = 12
  returnBase = allocate(returnClass)
}

// @ts-ignore: decorator
@inline
export function memoryBase(): usize {
  return base
}

/** Makes the frame's memory the running one. */
export function enterMemory(offset: u32, size: u32): void {
  memoryAt = base + offset
  memorySize = size
}

/** Makes room up to `end` bytes from the base. */
export function reserveMemory(end: u64): void {
  while (end + 64 > u64(1) << u64(sizeClass)) {
    if (sizeClass >= 30) fail(FAULT_MEMORY)
    const offset = memoryAt - base
    base = regrow(base, sizeClass, u32(offset) + memorySize, 0)
    sizeClass++
    memoryAt = base + offset
  }
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
  reserveMemory(u64(memoryAt - base) + size)
  memory.fill(memoryAt + memorySize, 0, usize(size) - memorySize)
  memorySize = u32(size)
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
  while (size > u32(1) << returnClass) {
    returnBase = regrow(returnBase, returnClass, 0, size)
    returnClass = returnClass + 1 > classFor(size) ? returnClass + 1 : classFor(size)
  }
  returnSize = size
  return returnBase
}

function classFor(size: u32): u32 {
  return 32 - clz<u32>(size - 1)
}
