/** keccak-256 of a storage key, of the smallest message of two blocks, and of a full branch node. */
import {
  createKeccakHasher,
  createKeccakKernel,
  createKernelMemory,
  KECCAK_RECORD_BYTES,
} from '../../../kernels/index.ts'
import { type BenchCase, type PreparedBench, Prng } from '../../../measure/index.ts'
import { digestOfAll } from '../digest.ts'

const INPUT_COUNT = 512
const RECORD_OFFSET = 2048
const HASH_BYTES = 32

/** The inputs of a size, for whoever hashes them. */
export function keccakInputs(length: number): Uint8Array[] {
  const random = new Prng(length)
  return Array.from({ length: INPUT_COUNT }, () => random.bytes(length))
}

/** The proof is of the hashes that differ: inputs do. */
export function proveHashes(hashes: readonly Uint8Array[]): { operations: number; digest: string } {
  const distinct = new Set(hashes.map((hash) => hash.join()))
  return { operations: distinct.size, digest: digestOfAll(hashes) }
}

function inMemory(length: number, isBatch: boolean): PreparedBench {
  const inputs = keccakInputs(length)
  const memory = createKernelMemory(16, 16)
  const kernel = createKeccakKernel(memory, 0)
  const outputOffset = RECORD_OFFSET + INPUT_COUNT * KECCAK_RECORD_BYTES
  const inputOffset = outputOffset + INPUT_COUNT * HASH_BYTES
  const records = new Uint32Array(memory.buffer, RECORD_OFFSET, 3 * INPUT_COUNT)
  const bytes = new Uint8Array(memory.buffer)
  inputs.forEach((input, index) => {
    bytes.set(input, inputOffset + index * length)
    records.set(
      [inputOffset + index * length, length, outputOffset + index * HASH_BYTES],
      3 * index,
    )
  })
  const outputs = bytes.subarray(outputOffset, inputOffset)
  return {
    before: () => void outputs.fill(0),
    run() {
      if (isBatch) kernel.hashMany(RECORD_OFFSET, INPUT_COUNT)
      else
        for (let index = 0; index < INPUT_COUNT; index++)
          kernel.hash(inputOffset + index * length, length, outputOffset + index * HASH_BYTES)
    },
    prove: () =>
      proveHashes(
        inputs.map((_, index) => outputs.slice(index * HASH_BYTES, (index + 1) * HASH_BYTES)),
      ),
  }
}

function onBytes(length: number, arm: string): PreparedBench {
  const inputs = keccakInputs(length)
  const hasher = createKeccakHasher(arm === 'twin' ? { implementation: 'reference' } : {})
  const hashes: Uint8Array[] = new Array(INPUT_COUNT)
  return {
    before: () => void hashes.fill(new Uint8Array(HASH_BYTES)),
    run() {
      for (let index = 0; index < INPUT_COUNT; index++)
        hashes[index] = hasher.keccak256(inputs[index]!)
    },
    prove: () => proveHashes(hashes),
  }
}

const SIZES = [
  { size: 32, digest: '4e122418a4cb7fa3' },
  { size: 136, digest: '2fdcf2957517e589' },
  { size: 532, digest: '71a40536cb63e6d2' },
]

export const CASES: readonly BenchCase[] = [
  {
    group: 'keccak',
    name: 'hash',
    about: '512 messages in the kernel’s memory, one call for all; or on byte arrays, a call each',
    operation: 'hash',
    sizeUnit: 'bytes',
    sizes: SIZES,
    smoke: SIZES[0]!,
    arms: ['memory-batch', 'memory', 'bytes', 'twin'],
    operationsOf: () => INPUT_COUNT,
    prepare: (length, arm) =>
      arm.startsWith('memory') ? inMemory(length, arm === 'memory-batch') : onBytes(length, arm),
  },
]
