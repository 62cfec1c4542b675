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
  type NodeArena,
  type NodeHandle,
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
const kernels = new WeakMap<NodeArena, TrieNodeKernel>()

/** The kernel of an arena, made when first asked for. Belongs to the arena's owner thread. */
export function trieNodeKernel(arena: NodeArena): TrieNodeKernel {
  let kernel = kernels.get(arena)
  if (kernel === undefined) {
    kernel = new TrieNodeKernel(arena)
    kernels.set(arena, kernel)
  }
  return kernel
}

/** Makes `implementation` serve an arena, for tests and comparisons. */
export function useTrieNodeImplementation(
  arena: NodeArena,
  implementation: TrieNodeImplementation,
): void {
  kernels.set(arena, new TrieNodeKernel(arena, implementation))
}

export class TrieNodeKernel {
  readonly implementation: TrieNodeImplementation
  private readonly arena: NodeArena
  private readonly code: TrieNodeExports

  /** @param implementation forces one; without it the kernel serves wherever it can */
  constructor(arena: NodeArena, implementation?: TrieNodeImplementation) {
    this.arena = arena
    const wasm = implementation === 'reference' ? undefined : wasmModule.instantiate(arena.memory)
    assert(
      wasm !== undefined || implementation !== 'kernel',
      'trie node: the kernel was asked for, and this machine cannot run it',
    )
    this.implementation = wasm === undefined ? 'reference' : 'kernel'
    this.code = wasm ?? new TrieNodeReference(arena)
    this.code.prepare(KECCAK_SCRATCH_OFFSET)
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
      this.arena.words.set(handles.subarray(start, start + count), LIST_OFFSET / 4)
      const done = this.hashInto(count, ENCODING_OFFSET, ENCODING_BYTES, isRoot)
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
      this.arena.words.set(handles.subarray(start, start + asked), LIST_OFFSET / 4)
      const done = this.encodeInto(asked, ENCODING_OFFSET, ENCODING_BYTES)
      if (done > 0) this.sinkFrom(ENCODING_OFFSET, done, sink)
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
    if (bytes.length <= ENCODING_BYTES) return this.compareHash(bytes, hash, ENCODING_OFFSET)
    const room = this.arena.allocate(bytes.length)
    const head = this.arena.words[room * 2]!
    const equal = this.compareHash(bytes, hash, room * 8)
    this.release(room, head)
    return equal
  }

  /** Hashes the first `count` of the list with encodings in the region given; returns how many it did. */
  private hashInto(count: number, output: number, outputBytes: number, isRoot: boolean): number {
    return this.code.hashNodes(
      LIST_OFFSET,
      count,
      output,
      outputBytes,
      RECORD_OFFSET,
      KECCAK_SCRATCH_OFFSET,
      isRoot ? 1 : 0,
    )
  }

  private encodeInto(count: number, output: number, outputBytes: number): number {
    return this.code.encodeNodes(LIST_OFFSET, count, output, outputBytes, LENGTH_OFFSET)
  }

  private compareHash(bytes: Uint8Array, hash: Uint8Array, offset: number): boolean {
    const memory = this.arena.bytes
    memory.set(bytes, offset)
    this.code.hash(offset, bytes.length, LENGTH_OFFSET, KECCAK_SCRATCH_OFFSET)
    for (let index = 0; index < HASH_BYTES; index++)
      if (memory[LENGTH_OFFSET + index] !== hash[index]) return false
    return true
  }

  private sinkFrom(offset: number, count: number, sink: EncodingSink): void {
    const { bytes, words } = this.arena
    const lengths = words.subarray(LENGTH_OFFSET / 4, LENGTH_OFFSET / 4 + count)
    sink(bytes, offset, lengths, count)
  }

  /** Lends a slot big enough for one node's encoding; the node's handle is then alone in the list. */
  private withRoomFor(handle: NodeHandle, use: (offset: number, byteCount: number) => void): void {
    const byteCount = encodingBytesMax(this.arena, handle)
    const room = this.arena.allocate(byteCount)
    const head = this.arena.words[room * 2]!
    this.arena.words[LIST_OFFSET / 4] = handle
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
