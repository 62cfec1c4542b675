/**
 * Blocks of memory of a power of two, from 1 KiB up, each class with a list of free blocks. Big structures double by
 * taking a bigger block and giving the old one back, so the memory held is at most twice what is used.
 * Nothing here moves by itself: an address stays good until its owner grows or frees it.
 */
import { HEAP } from './layout'
import { FAULT_MEMORY, fail } from './status'

const CLASS_MIN: u32 = 10
/** 1 GiB: a single structure never gets bigger, but for the memory of a frame. */
const CLASS_MAX: u32 = 30
/** Class of a block of more than that: as big as asked for, on top of all others. */
export const CLASS_HUGE: u32 = 31
/** Heads of the free lists, one u32 a class, just below the heap. */
const FREE_LISTS: usize = HEAP - 256

let top: usize = 0
/** The newest huge block, and where it ends; 0 before there was any. */
let hugeBlock: usize = 0
let hugeEnd: usize = 0

export function initHeap(): void {
  top = HEAP
  hugeBlock = 0
  hugeEnd = 0
}

/** Smallest class whose blocks hold `bytes`. */
export function classOf(bytes: u32): u32 {
  if (bytes <= 1 << CLASS_MIN) return CLASS_MIN
  return 32 - clz<u32>(bytes - 1)
}

/** Takes a block of 1 << `sizeClass` bytes, not cleared. Traps with FAULT_MEMORY where there is no room. */
export function allocate(sizeClass: u32): usize {
  if (sizeClass > CLASS_MAX) fail(FAULT_MEMORY)
  const list = FREE_LISTS + ((<usize>sizeClass) << 2)
  const free = <usize>load<u32>(list)
  if (free != 0) {
    store<u32>(list, load<u32>(free))
    return free
  }
  return take(u64(1) << u64(sizeClass))
}

/** Takes fresh bytes above all others. */
function take(bytes: u64): usize {
  const block = top
  const end = u64(block) + bytes
  // Below 2 GiB addresses stay positive in JavaScript too.
  if (end > 0x7fff0000) fail(FAULT_MEMORY)
  const have = u64(memory.size()) << 16
  if (end > have) {
    // Growing costs a call each: take 4 MiB at least, or just what is missing where the room ends.
    const missing = i32((end - have + 0xffff) >> 16)
    if (memory.grow(max(missing, 64)) < 0 && memory.grow(missing) < 0) fail(FAULT_MEMORY)
  }
  top = usize(end)
  return block
}

/**
 * Moves `used` bytes to a huge block of `needed`, frees the old one, returns the new one. One that nothing lies above
 * grows where it is; what lies below another block when it is freed is lost until the heap starts anew.
 */
export function regrowHuge(block: usize, sizeClass: u32, used: u32, needed: u32): usize {
  if (sizeClass == CLASS_HUGE && block == hugeBlock && top == hugeEnd) {
    take(u64(needed - u32(top - block)))
    hugeEnd = top
    return block
  }
  const bigger = take(u64(needed))
  hugeBlock = bigger
  hugeEnd = top
  if (sizeClass == 0) return bigger
  memory.copy(bigger, block, used)
  release(block, sizeClass)
  return bigger
}

/** Gives a block back. */
export function release(block: usize, sizeClass: u32): void {
  if (sizeClass == CLASS_HUGE) {
    if (block == hugeBlock && top == hugeEnd) top = block
    return
  }
  const list = FREE_LISTS + ((<usize>sizeClass) << 2)
  store<u32>(block, load<u32>(list))
  store<u32>(list, u32(block))
}

/** Moves `used` bytes to a block of the next class that holds `needed`, frees the old one, returns the new one. */
export function regrow(block: usize, sizeClass: u32, used: u32, needed: u32): usize {
  const bigger = allocate(max(sizeClass + 1, classOf(needed)))
  memory.copy(bigger, block, used)
  release(block, sizeClass)
  return bigger
}

/** Bytes of the heap handed out so far, free blocks included. */
export function heapBytes(): u32 {
  return u32(top - HEAP)
}
