/**
 * Encodes and hashes trie nodes where they lie in a node arena. One kernel an arena, shared by all its tries.
 * Where WebAssembly or its SIMD is missing, the twin in `reference/` serves.
 *
 * Not here: which nodes are dirty and in which order; that is the walk of `trie/`.
 */
import {
  ENCODING_BYTES,
  ENCODING_OFFSET,
  KECCAK_SCRATCH_OFFSET,
  LENGTH_OFFSET,
  LIST_CAPACITY,
  LIST_OFFSET,
  type NodeHandle,
  type NodeMemory,
  RECORD_OFFSET,
} from '../arena/index.ts'
import { assert, HASH_BYTES } from '../base/index.ts'
import { trieNodeModule } from './generated/trie-node.ts'
import { encodingBytesMax, TrieNodeReference } from './reference/trieNode.ts'
import { KernelModule } from './wasm.ts'

/** What `assembly/trie-node/index.ts` exports, and the twin provides. Offsets are absolute in the arena's memory. */
export type TrieNodeExports = {
  prepare(scratch: number): void
  hash(input: number, length: number, output: number, scratch: number): void
  hashNodes(
    list: number,
    count: number,
    output: number,
    outputBytes: number,
    records: number,
    scratch: number,
    isRoot: number,
  ): number
  encodeNodes(
    list: number,
    count: number,
    output: number,
    outputBytes: number,
    lengths: number,
  ): number
}

export type TrieNodeImplementation = 'kernel' | 'reference'

/** Takes encodings: `count` of them, one behind the other from `start` of `bytes`. The views die with the call. */
export type EncodingSink = (
  bytes: Uint8Array,
  start: number,
  lengths: Uint32Array,
  count: number,
) => void

const wasmModule = new KernelModule<TrieNodeExports>(trieNodeModule)
const kernels = new WeakMap<NodeMemory, TrieNodeKernel>()

/** The kernel of an arena or a window, made when first asked for. Belongs to the thread that has it. */
export function trieNodeKernel(arena: NodeMemory): TrieNodeKernel {
  let kernel = kernels.get(arena)
  if (kernel === undefined) {
    kernel = new TrieNodeKernel(arena)
    kernels.set(arena, kernel)
  }
  return kernel
}

/** Makes `implementation` serve an arena, for tests and comparisons. */
export function useTrieNodeImplementation(
  arena: NodeMemory,
  implementation: TrieNodeImplementation,
): void {
  kernels.set(arena, new TrieNodeKernel(arena, implementation))
}

export class TrieNodeKernel {
  readonly implementation: TrieNodeImplementation
  private readonly arena: NodeMemory
  private readonly code: TrieNodeExports
  // The regions of this thread, in bytes of the memory.
  private readonly scratch: number
  private readonly list: number
  private readonly records: number
  private readonly lengths: number
  private readonly encodings: number

  /** @param implementation forces one; without it the kernel serves wherever it can */
  constructor(arena: NodeMemory, implementation?: TrieNodeImplementation) {
    this.arena = arena
    const wasm = implementation === 'reference' ? undefined : wasmModule.instantiate(arena.memory)
    assert(
      wasm !== undefined || implementation !== 'kernel',
      'trie node: the kernel was asked for, and this machine cannot run it',
    )
    this.implementation = wasm === undefined ? 'reference' : 'kernel'
    this.code = wasm ?? new TrieNodeReference(arena)
    const { regionOffset } = arena
    this.scratch = regionOffset + KECCAK_SCRATCH_OFFSET
    this.list = regionOffset + LIST_OFFSET
    this.records = regionOffset + RECORD_OFFSET
    this.lengths = regionOffset + LENGTH_OFFSET
    this.encodings = regionOffset + ENCODING_OFFSET
    this.code.prepare(this.scratch)
  }

  /**
   * Computes the references of `handles[start … end)`, nodes of one level whose children's references are up to date,
   * and clears their dirty flags.
   * @param isRoot a root is hashed even where its encoding is shorter than a hash
   * @throws VarveError ARENA_FULL where a node of over 256 KiB finds no room for its encoding; nodes before it are done
   */
  hashNodes(handles: Uint32Array, start: number, end: number, isRoot: boolean): void {
    while (start < end) {
      const count = Math.min(end - start, LIST_CAPACITY)
      this.arena.words.set(handles.subarray(start, start + count), this.list / 4)
      const done = this.hashInto(count, this.encodings, ENCODING_BYTES, isRoot)
      start += done
      if (done === count) continue
      this.withRoomFor(handles[start]! as NodeHandle, (offset, byteCount) => {
        assert(
          this.hashInto(1, offset, byteCount, isRoot) === 1,
          'trie node: the room made for a big node is too small',
        )
      })
      start++
    }
  }

  /**
   * Hands the encodings of `handles[0 … count)` to `sink`, in their order and in as few calls as the region allows.
   * @throws VarveError ARENA_FULL as `hashNodes`
   */
  encodeNodes(handles: Uint32Array, count: number, sink: EncodingSink): void {
    let start = 0
    while (start < count) {
      const asked = Math.min(count - start, LIST_CAPACITY)
      this.arena.words.set(handles.subarray(start, start + asked), this.list / 4)
      const done = this.encodeInto(asked, this.encodings, ENCODING_BYTES)
      if (done > 0) this.sinkFrom(this.encodings, done, sink)
      start += done
      if (done > 0) continue
      this.withRoomFor(handles[start]! as NodeHandle, (offset, byteCount) => {
        assert(
          this.encodeInto(1, offset, byteCount) === 1,
          'trie node: the room made for a big node is too small',
        )
        this.sinkFrom(offset, 1, sink)
      })
      start++
    }
  }

  /**
   * Whether `hash` is the hash of `bytes`.
   * @throws VarveError ARENA_FULL where `bytes` are over 256 KiB and find no room
   */
  isHashOf(bytes: Uint8Array, hash: Uint8Array): boolean {
    if (bytes.length <= ENCODING_BYTES) return this.compareHash(bytes, hash, this.encodings)
    const room = this.arena.allocate(bytes.length)
    const head = this.arena.words[room * 2]!
    const equal = this.compareHash(bytes, hash, room * 8)
    this.release(room, head)
    return equal
  }

  /** Hashes the first `count` of the list with encodings in the region given; returns how many it did. */
  private hashInto(count: number, output: number, outputBytes: number, isRoot: boolean): number {
    return this.code.hashNodes(
      this.list,
      count,
      output,
      outputBytes,
      this.records,
      this.scratch,
      isRoot ? 1 : 0,
    )
  }

  private encodeInto(count: number, output: number, outputBytes: number): number {
    return this.code.encodeNodes(this.list, count, output, outputBytes, this.lengths)
  }

  private compareHash(bytes: Uint8Array, hash: Uint8Array, offset: number): boolean {
    const memory = this.arena.bytes
    memory.set(bytes, offset)
    this.code.hash(offset, bytes.length, this.lengths, this.scratch)
    for (let index = 0; index < HASH_BYTES; index++)
      if (memory[this.lengths + index] !== hash[index]) return false
    return true
  }

  private sinkFrom(offset: number, count: number, sink: EncodingSink): void {
    const { bytes, words } = this.arena
    const lengths = words.subarray(this.lengths / 4, this.lengths / 4 + count)
    sink(bytes, offset, lengths, count)
  }

  /** Lends a slot big enough for one node's encoding; the node's handle is then alone in the list. */
  private withRoomFor(handle: NodeHandle, use: (offset: number, byteCount: number) => void): void {
    const byteCount = encodingBytesMax(this.arena, handle)
    const room = this.arena.allocate(byteCount)
    const head = this.arena.words[room * 2]!
    this.arena.words[this.list / 4] = handle
    try {
      use(room * 8, this.arena.slotBytes(room))
    } finally {
      this.release(room, head)
    }
  }

  private release(room: NodeHandle, head: number): void {
    // Bytes were written over the slot's head. Any kind but Free will do for the moment it takes to free it.
    this.arena.words[room * 2] = head | 0xff
    this.arena.free(room)
  }
}
