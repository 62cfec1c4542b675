/**
 * keccak-256 of 32 bytes (a storage key), 136 (two blocks, the smallest) and 532 (a full branch node): single calls on
 * byte arrays, single calls and batches in memory, and the twin.
 */
import { toBareHex } from '../base/index.ts'
import { bench, Prng, report, timeNs } from '../testing/index.ts'
import { createKeccakHasher, createKeccakKernel, KECCAK_RECORD_BYTES } from './keccak.ts'
import { createKernelMemory } from './wasm.ts'

const RECORD_OFFSET = 2048

for (const length of [32, 136, 532])
  bench(`keccak ${length} bytes`, (mode) => {
    const { inputCount, roundCount, warmupCount } =
      mode === 'smoke'
        ? { inputCount: 8, roundCount: 1, warmupCount: 0 }
        : { inputCount: 1024, roundCount: 25, warmupCount: 8 }
    const random = new Prng(length)
    const inputs = Array.from({ length: inputCount }, () => random.bytes(length))
    const hasher = createKeccakHasher()
    const twin = createKeccakHasher({ implementation: 'reference' })
    const memory = createKernelMemory(16, 16)
    const kernel = createKeccakKernel(memory, 0)
    const outputOffset = RECORD_OFFSET + inputCount * KECCAK_RECORD_BYTES
    const inputOffset = outputOffset + inputCount * 32
    const records = new Uint32Array(memory.buffer, RECORD_OFFSET, 3 * inputCount)
    const bytes = new Uint8Array(memory.buffer)
    inputs.forEach((input, index) => {
      bytes.set(input, inputOffset + index * length)
      records.set([inputOffset + index * length, length, outputOffset + index * 32], 3 * index)
    })
    // The last hash stands for all: each shape must end with the same one.
    let hash = new Uint8Array(32)
    const fromMemory = (): void => {
      hash = bytes.slice(inputOffset - 32, inputOffset)
    }
    const shapes: Record<string, () => void> = {
      'bytes, one a call': () => {
        for (const input of inputs) hash = hasher.keccak256(input) as Uint8Array<ArrayBuffer>
      },
      'bytes, batch': () => {
        hash = hasher.keccak256Batch(inputs).at(-1) as Uint8Array<ArrayBuffer>
      },
      'memory, one a call': () => {
        for (let index = 0; index < inputCount; index++)
          kernel.hash(inputOffset + index * length, length, outputOffset + index * 32)
        fromMemory()
      },
      'memory, batch': () => {
        kernel.hashMany(RECORD_OFFSET, inputCount)
        fromMemory()
      },
      twin: () => {
        for (const input of inputs) hash = twin.keccak256(input) as Uint8Array<ArrayBuffer>
      },
    }
    const samples = new Map<string, number[]>()
    const checks = new Set<string>()
    for (let round = 0; round < warmupCount + roundCount; round++)
      for (const [name, work] of Object.entries(shapes)) {
        const figure = timeNs(work) / inputCount
        if (round >= warmupCount) samples.set(name, [...(samples.get(name) ?? []), figure])
        checks.add(toBareHex(hash))
      }
    if (checks.size !== 1) throw new Error('the shapes disagree')
    for (const [name, figures] of samples)
      report({
        name: `keccak ${length} B, ${name}`,
        unit: 'ns/hash',
        samples: figures,
        check: toBareHex(hash),
      })
  })
