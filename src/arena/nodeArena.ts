/**
 * Memory for the nodes of any number of tries: slots of a few sizes in one shared `WebAssembly.Memory`, addressed by
 * handle, so that kernels read nodes where they lie and memory in use is a number.
 *
 *     allocate ──▶ free list of the size class ──▶ bump pointer ──▶ grow ──▶ a bigger free slot ──▶ ARENA_FULL
 *
 * Owner: the thread that made it; others may read while it stands still. A handle dies when its slot is freed. Under
 * `VERIFY` a freed slot is filled with a pattern that is checked when the slot is given out again, so a write through
 * a stale handle is found; reads go through `kindOf`, which refuses a free slot.
 *
 * Not here: what the bytes of a node mean (`layout.ts`) and when a node is no longer needed (`trie/`).
 */
import { assert, VarveError, VERIFY } from '../base/index.ts'
import {
  HANDLE_BYTES,
  HANDLE_WORDS,
  KIND_MASK,
  NODES_OFFSET,
  NodeKind,
  POISON_BYTE,
  SIZE_CLASS_BYTES,
  SIZE_CLASS_SHIFT,
  WORD_BYTES,
} from './layout.ts'

declare const nodeHandleBrand: unique symbol
/** Names a slot of one node arena: byte offset / 8. 0 is the empty node. */
export type NodeHandle = number & { readonly [nodeHandleBrand]: 'NodeHandle' }

/** The empty node. */
export const NO_NODE = 0 as NodeHandle

const PAGE_BYTES = 65_536
/** Byte offsets stay below 2^31, where they are small integers to every engine. */
const ARENA_BYTES_LIMIT = 2 ** 31 - PAGE_BYTES
const ARENA_BYTES_DEFAULT = 2 ** 30
const BYTES_FIRST = 2 ** 20
const SMALL_BYTES_MAX = 512

/** Size class of a request of up to 8 x index bytes, for the small ones. */
const smallClass = new Uint8Array(SMALL_BYTES_MAX / HANDLE_BYTES + 1)
for (let units = 0, sizeClass = 0; units < smallClass.length; units++) {
  if (units * HANDLE_BYTES > SIZE_CLASS_BYTES[sizeClass]!) sizeClass++
  smallClass[units] = sizeClass
}
const classBytes = Uint32Array.from(SIZE_CLASS_BYTES)

type SharedMemory = { readonly buffer: SharedArrayBuffer; grow(pageCount: number): number }
type WebAssemblyApi = {
  readonly Memory?: new (descriptor: {
    initial: number
    maximum: number
    shared: boolean
  }) => SharedMemory
}

/** Memory with nodes in it, as its owner's thread has it or another one: what the walks and the kernel work on. */
export type NodeMemory = {
  /** What a kernel is instantiated on. */
  readonly memory: { readonly buffer: ArrayBufferLike }
  readonly bytes: Uint8Array
  /** The same memory as words; a node's first word is at handle x 2. */
  readonly words: Uint32Array
  /** Where the regions of this thread's kernel begin; `layout.ts` counts from there. A multiple of 16. */
  readonly regionOffset: number
  /** @throws VarveError ARENA_FULL */
  allocate(byteCount: number): NodeHandle
  slotBytes(handle: NodeHandle): number
  free(handle: NodeHandle): void
}

export type NodeArenaOptions = {
  /** Most bytes the memory may take, at most 2 GiB less one page; 1 GiB without it. Reserved as address space. */
  readonly bytesMax?: number
}

export class NodeArena implements NodeMemory {
  readonly regionOffset = 0
  /** What a kernel is instantiated on. */
  readonly memory: { readonly buffer: ArrayBufferLike }
  /** Most bytes the memory may take. */
  readonly bytesMax: number
  /** The whole memory. Replaced when it grows: fetch again after anything that may allocate. */
  bytes: Uint8Array
  /** The same memory as words; a node's first word is at handle x 2. */
  words: Uint32Array

  private readonly wasmMemory: SharedMemory | undefined
  private readonly freeHeads = new Uint32Array(SIZE_CLASS_BYTES.length)
  private bumpOffset = NODES_OFFSET
  private usedByteCount = 0
  private usedSlotCount = 0

  constructor(options: NodeArenaOptions = {}) {
    const asked = options.bytesMax ?? ARENA_BYTES_DEFAULT
    assert(asked >= NODES_OFFSET && asked <= ARENA_BYTES_LIMIT, 'arena: bytesMax is out of range')
    const pageCountMax = Math.max(Math.ceil(asked / PAGE_BYTES), NODES_OFFSET / PAGE_BYTES)
    this.bytesMax = pageCountMax * PAGE_BYTES
    const first = Math.min(BYTES_FIRST, this.bytesMax) / PAGE_BYTES
    const Memory = (globalThis as { WebAssembly?: WebAssemblyApi }).WebAssembly?.Memory
    if (Memory === undefined) {
      // Without WebAssembly the twins serve, on a buffer that has its full size from the start.
      this.memory = { buffer: new SharedArrayBuffer(this.bytesMax) }
      this.wasmMemory = undefined
    } else {
      this.wasmMemory = new Memory({ initial: first, maximum: pageCountMax, shared: true })
      this.memory = this.wasmMemory
    }
    this.bytes = new Uint8Array(this.memory.buffer)
    this.words = new Uint32Array(this.memory.buffer)
  }

  /** Bytes of the slots given out and not freed. Exact. */
  get usedBytes(): number {
    return this.usedByteCount
  }

  /** Slots given out and not freed. */
  get usedCount(): number {
    return this.usedSlotCount
  }

  /** Bytes of memory taken from the system, of which `usedBytes` are in use. Never falls. */
  get reservedBytes(): number {
    return this.bytes.length
  }

  /**
   * Gives out a slot of at least `byteCount` bytes whose word 0 holds the size class alone; the rest is what was
   * there before.
   * @param byteCount 0 to 32 MiB
   * @throws VarveError ARENA_FULL; nothing has changed then
   */
  allocate(byteCount: number): NodeHandle {
    const sizeClass =
      byteCount <= SMALL_BYTES_MAX
        ? smallClass[(byteCount + HANDLE_BYTES - 1) >> 3]!
        : largeClass(byteCount)
    let handle = this.freeHeads[sizeClass]!
    if (handle !== 0) this.takeFree(handle, sizeClass)
    else handle = this.takeNew(sizeClass)
    const words = this.words
    const word = handle * HANDLE_WORDS
    const actualClass = words[word]! >>> SIZE_CLASS_SHIFT
    words[word] = actualClass << SIZE_CLASS_SHIFT
    this.usedByteCount += classBytes[actualClass]!
    this.usedSlotCount++
    return handle as NodeHandle
  }

  /** Takes a slot back. Its handle is dead from here on. */
  free(handle: NodeHandle): void {
    const word = handle * HANDLE_WORDS
    const words = this.words
    const sizeClass = words[word]! >>> SIZE_CLASS_SHIFT
    if (VERIFY) {
      assert(this.kindOf(handle) !== NodeKind.Free, 'arena: a slot is freed twice')
      this.bytes.fill(
        POISON_BYTE,
        handle * HANDLE_BYTES,
        handle * HANDLE_BYTES + classBytes[sizeClass]!,
      )
    }
    words[word] = (sizeClass << SIZE_CLASS_SHIFT) | NodeKind.Free
    words[word + 1] = this.freeHeads[sizeClass]!
    this.freeHeads[sizeClass] = handle
    this.usedByteCount -= classBytes[sizeClass]!
    this.usedSlotCount--
  }

  /** Bytes of a slot. */
  slotBytes(handle: NodeHandle): number {
    return classBytes[this.words[handle * HANDLE_WORDS]! >>> SIZE_CLASS_SHIFT]!
  }

  /** What a live slot holds. Under `VERIFY` a stale handle is an assertion fault. */
  kindOf(handle: NodeHandle): NodeKind {
    const kind = this.words[handle * HANDLE_WORDS]! & KIND_MASK
    if (VERIFY) {
      assert(handle > 0 && handle * HANDLE_BYTES < this.bumpOffset, 'arena: the handle is outside')
      assert(kind !== NodeKind.Free, 'arena: a freed slot is used')
    }
    return kind as NodeKind
  }

  private takeFree(handle: number, sizeClass: number): void {
    this.freeHeads[sizeClass] = this.words[handle * HANDLE_WORDS + 1]!
    if (VERIFY) this.checkPoison(handle)
  }

  /** A slot beyond the used part, or else a free one of a bigger class. */
  private takeNew(sizeClass: number): number {
    const offset = this.bumpOffset
    const end = offset + classBytes[sizeClass]!
    if (end <= this.bytes.length || this.grow(end)) {
      this.bumpOffset = end
      this.words[offset / WORD_BYTES] = sizeClass << SIZE_CLASS_SHIFT
      return offset / HANDLE_BYTES
    }
    for (let bigger = sizeClass + 1; bigger < classBytes.length; bigger++) {
      const handle = this.freeHeads[bigger]!
      if (handle === 0) continue
      this.takeFree(handle, bigger)
      return handle
    }
    throw new VarveError<NodeArenaErrorCode>(
      'ARENA_FULL',
      `node arena: ${classBytes[sizeClass]} bytes asked, ${this.usedByteCount} in use, limit ${this.bytesMax}`,
      {
        askedBytes: classBytes[sizeClass]!,
        usedBytes: this.usedByteCount,
        bytesMax: this.bytesMax,
      },
    )
  }

  /** Grows the memory by a half at least, so that growing is rare; true where `end` now lies inside. */
  private grow(end: number): boolean {
    if (this.wasmMemory === undefined || end > this.bytesMax) return false
    const current = this.bytes.length
    const target = Math.min(this.bytesMax, Math.max(end, current + (current >> 1)))
    try {
      this.wasmMemory.grow(Math.ceil((target - current) / PAGE_BYTES))
    } catch {
      // The system refuses memory: to the caller the arena is full.
      return false
    }
    // A view made before still sees the old length.
    this.bytes = new Uint8Array(this.memory.buffer)
    this.words = new Uint32Array(this.memory.buffer)
    return true
  }

  private checkPoison(handle: number): void {
    const start = handle * HANDLE_BYTES
    const end = start + classBytes[this.words[handle * HANDLE_WORDS]! >>> SIZE_CLASS_SHIFT]!
    for (let offset = start + HANDLE_BYTES; offset < end; offset++)
      assert(this.bytes[offset] === POISON_BYTE, 'arena: a freed slot was written to')
  }
}

function largeClass(byteCount: number): number {
  let low = 0
  let high = classBytes.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (classBytes[middle]! < byteCount) low = middle + 1
    else high = middle
  }
  assert(low < classBytes.length, 'arena: no slot is that big')
  return low
}

/** Error codes of this module. */
export type NodeArenaErrorCode =
  /** The memory has reached its limit and no free slot is big enough. */
  'ARENA_FULL'
