/**
 * Aim: both implementations give keccak-256 for any input, in any place, and instances on one memory do not disturb
 * each other. Method: a suite for both (`keccak.suite.ts`), a seeded fuzz run, threads, and an engine without
 * WebAssembly.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { toBareHex } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { fuzzKeccak } from './keccak.fuzz.ts'
import { keccakSuite } from './keccak.suite.ts'
import {
  createKeccakHasher,
  createKeccakKernel,
  keccak256,
  keccak256Batch,
  keccak256Into,
} from './keccak.ts'
import type { KeccakThreadTask } from './keccakThread.suite.ts'
import { keccak256Reference } from './reference/keccak.ts'
import { createKernelMemory, KernelModule } from './wasm.ts'

keccakSuite('kernel')
keccakSuite('reference')

test('keccak fuzz, 400 steps: kernel, twin and oracle agree', (context) => {
  const seed = 20_240_601
  context.diagnostic(`seed ${seed}`)
  fuzzKeccak(seed, 400)
})

test('keccak functions of the module use the kernel here', () => {
  assert.equal(createKeccakHasher().implementation, 'kernel')
  const input = new Prng(1).bytes(77)
  const expected = keccak_256(input)
  const target = new Uint8Array(32)
  keccak256Into(input, target, 0)
  assert.deepEqual(target, expected)
  assert.deepEqual(keccak256(input), expected)
  assert.deepEqual(keccak256Batch([input]), [expected])
  assert.deepEqual(keccak256Reference(input), expected)
})

test('keccak kernels of two threads on one memory do not disturb each other', async () => {
  const memory = createKernelMemory(4, 4)
  const bytes = new Uint8Array(memory.buffer)
  const random = new Prng(9)
  const threadCount = 2
  const recordCount = 41
  const expected: [number, Uint8Array][] = []
  const workers = Array.from({ length: threadCount }, (_, thread) => {
    const base = (thread + 1) * 65_536
    const recordOffset = base + 2048
    const records = new Uint32Array(memory.buffer, recordOffset, 3 * recordCount)
    for (let index = 0; index < recordCount; index++) {
      const input = random.bytes(random.below(600))
      const inputOffset = base + 8192 + index * 700
      const outputOffset = base + 4096 + index * 32
      bytes.set(input, inputOffset)
      records.set([inputOffset, input.length, outputOffset], 3 * index)
      expected.push([outputOffset, keccak_256(input)])
    }
    const workerData: KeccakThreadTask = {
      memory,
      // Next to each other, so that one reaching past its scratch would hit the other.
      scratchOffset: 1024 + thread * 1280,
      recordOffset,
      recordCount,
      roundCount: 300,
      barrierOffset: 0,
      threadCount,
    }
    return new Worker(new URL('./keccakThread.suite.js', import.meta.url), { workerData })
  })
  const exits = workers.map((worker) => once(worker, 'exit'))
  const answers = await Promise.all(workers.map((worker) => once(worker, 'message')))
  assert.deepEqual(answers.flat(), ['kernel', 'kernel'])
  await Promise.all(exits)
  for (const [offset, hash] of expected)
    assert.equal(toBareHex(bytes.slice(offset, offset + 32)), toBareHex(hash))
})

test('keccak kernels of one thread with a scratch each may alternate', () => {
  const memory = createKernelMemory(1, 1)
  const bytes = new Uint8Array(memory.buffer)
  const kernels = [0, 1280].map((scratch) => createKeccakKernel(memory, scratch))
  bytes.set(new Prng(10).bytes(400), 8192)
  for (const kernel of [...kernels, ...kernels]) {
    bytes.fill(0, 4096, 4128)
    kernel.hash(8192, 400, 4096)
    assert.deepEqual(bytes.slice(4096, 4128), keccak_256(bytes.slice(8192, 8592)))
  }
})

test('keccak without WebAssembly is served by the twin', async () => {
  const script = `
    const { parentPort, workerData } = require('node:worker_threads')
    delete globalThis.WebAssembly
    import(workerData).then((kernels) => {
      const memory = kernels.createKernelMemory(1, 1)
      const bytes = new Uint8Array(memory.buffer)
      const kernel = kernels.createKeccakKernel(memory, 0)
      kernel.hash(8192, 200, 4096)
      parentPort.postMessage([
        kernel.implementation,
        kernels.createKeccakHasher().implementation,
        kernels.keccak256(new Uint8Array(200)),
        bytes.slice(4096, 4128),
      ])
    })`
  const url = new URL('./index.js', import.meta.url).href
  const worker = new Worker(script, { eval: true, workerData: url })
  const [answer] = await once(worker, 'message')
  const expected = keccak_256(new Uint8Array(200))
  assert.deepEqual(answer, ['reference', 'reference', expected, expected])
  await worker.terminate()
})

test('a module that this engine refuses gives no instance, and is not tried again', () => {
  const future = new KernelModule<object>(btoa('\0asm\x63\0\0\0'))
  const memory = createKernelMemory(1, 1)
  assert.equal(future.instantiate(memory), undefined)
  assert.equal(future.instantiate(memory), undefined)
})
