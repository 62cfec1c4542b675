/** One budget for the memory of states, and how it is shared out. */
import { assert } from '../base/index.ts'
import type { StateMemory } from './tree/chainState.ts'

const MEMORY_BYTES = 2 ** 30
/** Least budget: some blocks' layers fit. */
export const MEMORY_BYTES_MIN = 64 * 2 ** 20
/** An account, or a slot, that was read, with its key and its place in the map. */
const CACHED_ACCOUNT_BYTES = 250
const CACHED_SLOT_BYTES = 250

/** How a budget is shared out. */
export type MemoryShares = {
  /** The chain's states. */
  readonly states: StateMemory
  readonly nodeBytesMax: number
  /** The layers of all branches together. */
  readonly branchBytesMax: number
}

/**
 * Seven sixteenths for the chain's layers and one for those of branches; an eighth each for accounts and slots that
 * were read; a quarter for trie nodes.
 */
export function stateMemory(bytes: number = MEMORY_BYTES): MemoryShares {
  assert(
    Number.isSafeInteger(bytes) && bytes >= MEMORY_BYTES_MIN,
    `memoryBytes: an integer from ${MEMORY_BYTES_MIN} up`,
  )
  return {
    states: {
      layerBytesMax: Math.floor((bytes * 7) / 16),
      accountCountMax: Math.floor(bytes / 8 / CACHED_ACCOUNT_BYTES),
      slotCountMax: Math.floor(bytes / 8 / CACHED_SLOT_BYTES),
    },
    nodeBytesMax: Math.floor(bytes / 4),
    branchBytesMax: Math.floor(bytes / 16),
  }
}
