/**
 * A node arena as a thread sees it that does not own it: it reads nodes and writes their references, with a kernel
 * whose regions lie in a slot of their own. It gives no slots out and takes none back.
 *
 *     owner   regions │ nodes …            │ slot with the regions of a window │ nodes …
 *
 * The owner frees nothing that a window works on, and no two threads write to one node.
 */
import { assert, VarveError } from '../base/index.ts'
import { HANDLE_BYTES, NODES_OFFSET } from './layout.ts'
import type { NodeArena, NodeArenaErrorCode, NodeHandle, NodeMemory } from './nodeArena.ts'

/** What a thread needs to open a window; can be posted. */
export type NodeWindowShare = {
  readonly memory: { readonly buffer: ArrayBufferLike }
  readonly regionOffset: number
}

/** The regions of one window, in the owner's hands. */
export class NodeWindowLoan {
  readonly share: NodeWindowShare
  private readonly arena: NodeArena
  private readonly slot: NodeHandle
  private isOver = false

  /** Takes about 384 KiB of the arena. @throws VarveError ARENA_FULL */
  constructor(arena: NodeArena) {
    this.arena = arena
    // The regions begin with 64 idle bytes, so the head of the slot stays what it is.
    this.slot = arena.allocate(NODES_OFFSET + REGION_ALIGNMENT)
    arena.words[this.slot * 2]! |= LENT
    const offset = this.slot * HANDLE_BYTES
    const regionOffset = Math.ceil(offset / REGION_ALIGNMENT) * REGION_ALIGNMENT
    this.share = { memory: arena.memory, regionOffset }
  }

  /** Gives the slot back, once no thread uses the window any more. */
  end(): void {
    assert(!this.isOver, 'arena: a loan ends once')
    this.isOver = true
    this.arena.free(this.slot)
  }
}

/** A kind that is no node's and not free. */
const LENT = 0xff
const REGION_ALIGNMENT = 16

export class NodeWindow implements NodeMemory {
  readonly memory: { readonly buffer: ArrayBufferLike }
  readonly regionOffset: number
  bytes: Uint8Array
  words: Uint32Array

  constructor({ memory, regionOffset }: NodeWindowShare) {
    this.memory = memory
    this.regionOffset = regionOffset
    this.bytes = new Uint8Array(memory.buffer)
    this.words = new Uint32Array(memory.buffer)
  }

  /** Takes notice of memory that the owner added. */
  refresh(): void {
    if (this.memory.buffer.byteLength === this.bytes.length) return
    this.bytes = new Uint8Array(this.memory.buffer)
    this.words = new Uint32Array(this.memory.buffer)
  }

  /** @throws VarveError ARENA_FULL, always */
  allocate(byteCount: number): NodeHandle {
    throw new VarveError<NodeArenaErrorCode>(
      'ARENA_FULL',
      `node arena: ${byteCount} bytes asked through a window, which gives out none`,
      { askedBytes: byteCount },
    )
  }

  slotBytes(): number {
    return 0
  }

  free(): void {
    assert(false, 'arena: a window frees nothing')
  }
}
