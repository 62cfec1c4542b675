/**
 * keccak-256 (Yellow Paper, KEC). Two faces of one kernel:
 * - `keccak256` and its relatives take and give byte arrays, by way of a small memory of their own;
 * - `createKeccakKernel` hashes bytes that already lie in the caller's shared memory, one or many at a call.
 * Where WebAssembly or its SIMD is missing, the twin in `reference/` serves both.
 *
 * Not here: SHA3-256, which pads differently; hashing of trie nodes, which encodes them first.
 */
import { assert, VERIFY } from '../base/index.ts'
import { keccakModule } from './generated/keccak.ts'
import { keccak256ReferenceInto } from './reference/keccak.ts'
import { createKernelMemory, type KernelMemory, KernelModule, PAGE_BYTES } from './wasm.ts'

/** Bytes of scratch that each kernel instance needs in the memory it works on; see `assembly/keccak/layout.ts`. */
export const KECCAK_SCRATCH_BYTES = 1280
/** The scratch starts at a multiple of this. */
export const KECCAK_SCRATCH_ALIGNMENT = 16
/** Bytes of a record of `hashMany`: input offset, length, output offset, each a little-endian u32. */
export const KECCAK_RECORD_BYTES = 12

const HASH_BYTES = 32
/** Bytes absorbed by one permutation. */
const RATE_BYTES = 136

/** `kernel` is the wasm module, `reference` the plain TypeScript twin; both give the same bytes. */
export type KeccakImplementation = 'kernel' | 'reference'
export type KeccakOptions = {
  /** Forces one implementation; without it the kernel serves wherever it can. For tests and comparisons. */
  readonly implementation?: KeccakImplementation
}

/** What `assembly/keccak/index.ts` exports. */
type KeccakExports = {
  prepare(scratch: number): void
  hash(input: number, length: number, output: number, scratch: number): void
  hashMany(records: number, count: number, scratch: number): void
  begin(scratch: number): void
  absorb(input: number, blockCount: number, scratch: number): void
  finish(input: number, length: number, output: number, scratch: number): void
}

const wasmModule = new KernelModule<KeccakExports>(keccakModule)

/** Keccak over one memory. Offsets are absolute in it; belongs to the thread that created it. */
export type KeccakKernel = {
  readonly implementation: KeccakImplementation
  /** Hashes `length` bytes at `inputOffset` (any alignment) into the 32 bytes at `outputOffset`. */
  hash(inputOffset: number, length: number, outputOffset: number): void
  /**
   * Hashes `count` inputs named by records of `KECCAK_RECORD_BYTES` at `recordOffset`, a multiple of 4, two at a time
   * whatever their lengths: 0.7 of the time of single calls. The order of writes is not defined: no output may
   * overlap an input, a record, or the scratch.
   */
  hashMany(recordOffset: number, count: number): void
}

/**
 * A keccak kernel on `memory`, which must be a shared `WebAssembly.Memory` (the twin takes any buffer).
 * @param scratchOffset multiple of 16; the `KECCAK_SCRATCH_BYTES` from there belong to this kernel for good, and to
 *   nobody else: each thread and each kernel brings its own.
 */
export function createKeccakKernel(
  memory: KernelMemory,
  scratchOffset: number,
  options: KeccakOptions = {},
): KeccakKernel {
  assert(
    Number.isInteger(scratchOffset) &&
      scratchOffset >= 0 &&
      scratchOffset % KECCAK_SCRATCH_ALIGNMENT === 0,
    'keccak: scratch offset is no multiple of 16',
  )
  assert(
    scratchOffset + KECCAK_SCRATCH_BYTES <= memory.buffer.byteLength,
    'keccak: scratch reaches past the memory',
  )
  const wasm = instantiate(memory, options)
  if (wasm === undefined) return referenceKernel(memory)
  wasm.prepare(scratchOffset)
  return {
    implementation: 'kernel',
    hash(inputOffset, length, outputOffset) {
      if (VERIFY) checkRange(memory, inputOffset, length, outputOffset)
      wasm.hash(inputOffset, length, outputOffset, scratchOffset)
    },
    hashMany(recordOffset, count) {
      if (VERIFY) checkRecords(memory, recordOffset, count)
      wasm.hashMany(recordOffset, count, scratchOffset)
    },
  }
}

function instantiate(memory: KernelMemory, options: KeccakOptions): KeccakExports | undefined {
  if (options.implementation === 'reference') return undefined
  const wasm = wasmModule.instantiate(memory)
  assert(
    wasm !== undefined || options.implementation === undefined,
    'keccak: the kernel was asked for, and this machine cannot run it',
  )
  return wasm
}

function referenceKernel(memory: KernelMemory): KeccakKernel {
  const hash = (inputOffset: number, length: number, outputOffset: number): void => {
    checkRange(memory, inputOffset, length, outputOffset)
    const bytes = new Uint8Array(memory.buffer)
    const input = bytes.subarray(inputOffset, inputOffset + length)
    keccak256ReferenceInto(input, bytes, outputOffset)
  }
  const hashMany = (recordOffset: number, count: number): void => {
    checkRecords(memory, recordOffset, count)
    const records = new Uint32Array(memory.buffer, recordOffset, 3 * count)
    for (let field = 0; field < records.length; field += 3)
      hash(records[field]!, records[field + 1]!, records[field + 2]!)
  }
  return { implementation: 'reference', hash, hashMany }
}

function checkRange(memory: KernelMemory, input: number, length: number, output: number): void {
  const end = memory.buffer.byteLength
  assert(input >= 0 && length >= 0 && input + length <= end, 'keccak: input outside of the memory')
  assert(output >= 0 && output + HASH_BYTES <= end, 'keccak: output outside of the memory')
}

function checkRecords(memory: KernelMemory, recordOffset: number, count: number): void {
  assert(recordOffset % 4 === 0 && count >= 0, 'keccak: records are not aligned')
  const records = new Uint32Array(memory.buffer, recordOffset, 3 * count)
  for (let field = 0; field < records.length; field += 3)
    checkRange(memory, records[field]!, records[field + 1]!, records[field + 2]!)
}

/** Keccak of byte arrays. Memory used is 128 KiB, whatever is hashed. */
export type KeccakHasher = {
  readonly implementation: KeccakImplementation
  /** The hash of `input`, any length, as 32 fresh bytes. */
  keccak256(input: Uint8Array): Uint8Array
  /** Writes the hash of `input` to the 32 bytes of `target` at `targetOffset`. `target` may be `input`. */
  keccak256Into(input: Uint8Array, target: Uint8Array, targetOffset: number): void
  /** The hashes of `inputs`, in their order, each 32 fresh bytes. */
  keccak256Batch(inputs: readonly Uint8Array[]): Uint8Array[]
}

/** A hasher with a memory of its own; the functions of this module share one a thread. */
export function createKeccakHasher(options: KeccakOptions = {}): KeccakHasher {
  if (options.implementation !== 'reference') {
    const memory = createKernelMemory(MEMORY_PAGES, MEMORY_PAGES)
    const wasm = instantiate(memory, options)
    if (wasm !== undefined) return new WasmHasher(memory, wasm)
  }
  const keccak256Into: KeccakHasher['keccak256Into'] = (input, target, targetOffset) => {
    checkTarget(target, targetOffset)
    keccak256ReferenceInto(input, target, targetOffset)
  }
  const keccak256 = (input: Uint8Array): Uint8Array => {
    const hash = new Uint8Array(HASH_BYTES)
    keccak256ReferenceInto(input, hash, 0)
    return hash
  }
  return {
    implementation: 'reference',
    keccak256,
    keccak256Into,
    keccak256Batch: (inputs) => inputs.map(keccak256),
  }
}

/*
 * The hasher's memory, two pages that never grow:
 *
 *        0  scratch          1280
 *     1280  output of a single hash, 32
 *     2048  records          1024 x 12
 *    14336  outputs          1024 x 32
 *    47104  inputs           83968, or 617 blocks of a long input
 */
const MEMORY_PAGES = 2
const SCRATCH_OFFSET = 0
const OUTPUT_OFFSET = 1280
const RECORD_OFFSET = 2048
const BATCH_COUNT_MAX = 1024
const BATCH_OUTPUT_OFFSET = RECORD_OFFSET + BATCH_COUNT_MAX * KECCAK_RECORD_BYTES
const INPUT_OFFSET = BATCH_OUTPUT_OFFSET + BATCH_COUNT_MAX * HASH_BYTES
const INPUT_BYTES = MEMORY_PAGES * PAGE_BYTES - INPUT_OFFSET
const CHUNK_BLOCKS = Math.floor(INPUT_BYTES / RATE_BYTES)
const CHUNK_BYTES = CHUNK_BLOCKS * RATE_BYTES
assert(OUTPUT_OFFSET === SCRATCH_OFFSET + KECCAK_SCRATCH_BYTES, 'keccak: scratch and output meet')
assert(OUTPUT_OFFSET + HASH_BYTES <= RECORD_OFFSET, 'keccak: output and records overlap')

class WasmHasher implements KeccakHasher {
  readonly implementation = 'kernel'
  private readonly wasm: KeccakExports
  private readonly bytes: Uint8Array
  private readonly records: Uint32Array

  constructor(memory: KernelMemory, wasm: KeccakExports) {
    this.wasm = wasm
    this.bytes = new Uint8Array(memory.buffer)
    this.records = new Uint32Array(memory.buffer, RECORD_OFFSET, 3 * BATCH_COUNT_MAX)
    wasm.prepare(SCRATCH_OFFSET)
  }

  keccak256(input: Uint8Array): Uint8Array {
    this.hashToOutput(input)
    const hash = new Uint8Array(HASH_BYTES)
    copyHash(this.bytes, OUTPUT_OFFSET, hash, 0)
    return hash
  }

  keccak256Into(input: Uint8Array, target: Uint8Array, targetOffset: number): void {
    checkTarget(target, targetOffset)
    this.hashToOutput(input)
    copyHash(this.bytes, OUTPUT_OFFSET, target, targetOffset)
  }

  keccak256Batch(inputs: readonly Uint8Array[]): Uint8Array[] {
    const hashes: Uint8Array[] = []
    let inputIndex = 0
    while (inputIndex < inputs.length) {
      const count = this.fillBatch(inputs, inputIndex)
      if (count === 0) hashes.push(this.keccak256(inputs[inputIndex++]!))
      else this.wasm.hashMany(RECORD_OFFSET, count, SCRATCH_OFFSET)
      for (let index = 0; index < count; index++) {
        const hash = new Uint8Array(HASH_BYTES)
        copyHash(this.bytes, BATCH_OUTPUT_OFFSET + index * HASH_BYTES, hash, 0)
        hashes.push(hash)
      }
      inputIndex += count
    }
    return hashes
  }

  /** Copies inputs from `first` on, with their records, as many as fit; none where the first alone does not. */
  private fillBatch(inputs: readonly Uint8Array[], first: number): number {
    const { bytes, records } = this
    const countMax = Math.min(BATCH_COUNT_MAX, inputs.length - first)
    let offset = INPUT_OFFSET
    let count = 0
    for (; count < countMax; count++) {
      const input = inputs[first + count]!
      if (offset + input.length > INPUT_OFFSET + INPUT_BYTES) break
      copyInput(input, bytes, offset)
      records[3 * count] = offset
      records[3 * count + 1] = input.length
      records[3 * count + 2] = BATCH_OUTPUT_OFFSET + count * HASH_BYTES
      offset += input.length
    }
    return count
  }

  private hashToOutput(input: Uint8Array): void {
    const { bytes, wasm } = this
    const { length } = input
    if (length <= INPUT_BYTES) {
      copyInput(input, bytes, INPUT_OFFSET)
      wasm.hash(INPUT_OFFSET, length, OUTPUT_OFFSET, SCRATCH_OFFSET)
      return
    }
    wasm.begin(SCRATCH_OFFSET)
    let offset = 0
    for (; length - offset >= CHUNK_BYTES; offset += CHUNK_BYTES) {
      bytes.set(input.subarray(offset, offset + CHUNK_BYTES), INPUT_OFFSET)
      wasm.absorb(INPUT_OFFSET, CHUNK_BLOCKS, SCRATCH_OFFSET)
    }
    bytes.set(input.subarray(offset), INPUT_OFFSET)
    wasm.finish(INPUT_OFFSET, length - offset, OUTPUT_OFFSET, SCRATCH_OFFSET)
  }
}

function copyInput(input: Uint8Array, bytes: Uint8Array, offset: number): void {
  bytes.set(input, offset)
}

function copyHash(
  from: Uint8Array,
  offset: number,
  target: Uint8Array,
  targetOffset: number,
): void {
  for (let index = 0; index < HASH_BYTES; index++)
    target[targetOffset + index] = from[offset + index]!
}

function checkTarget(target: Uint8Array, targetOffset: number): void {
  assert(
    targetOffset >= 0 && targetOffset + HASH_BYTES <= target.length,
    'keccak: target has no 32 bytes at the offset',
  )
}

let shared: KeccakHasher | undefined
function sharedHasher(): KeccakHasher {
  return (shared ??= createKeccakHasher())
}

/**
 * The keccak-256 hash of `input`, any length, as 32 fresh bytes.
 * Cost: 0.35 µs for up to 135 bytes and 0.3 µs for each further 136.
 */
export function keccak256(input: Uint8Array): Uint8Array {
  return sharedHasher().keccak256(input)
}

/**
 * Writes the keccak-256 hash of `input` to the 32 bytes of `target` at `targetOffset`. `target` may be `input`.
 * @throws AssertionFault where `target` ends before that.
 */
export function keccak256Into(input: Uint8Array, target: Uint8Array, targetOffset: number): void {
  sharedHasher().keccak256Into(input, target, targetOffset)
}

/** The keccak-256 hashes of `inputs`, in their order, each 32 fresh bytes. Memory beside them is bounded. */
export function keccak256Batch(inputs: readonly Uint8Array[]): Uint8Array[] {
  return sharedHasher().keccak256Batch(inputs)
}
