/** A thread of the test that shares one memory: hashes its own inputs over and over with its own scratch. */
import { parentPort, workerData } from 'node:worker_threads'
import { createKeccakKernel } from './keccak.ts'
import type { KernelMemory } from './wasm.ts'

export type KeccakThreadTask = {
  readonly memory: KernelMemory
  readonly scratchOffset: number
  readonly recordOffset: number
  readonly recordCount: number
  readonly roundCount: number
  /** Offset of an i32 that each thread raises when ready; all start together. */
  readonly barrierOffset: number
  readonly threadCount: number
}

if (parentPort !== null) {
  const task = workerData as KeccakThreadTask
  const kernel = createKeccakKernel(task.memory, task.scratchOffset, { implementation: 'kernel' })
  const records = new Uint32Array(task.memory.buffer, task.recordOffset, 3 * task.recordCount)
  const barrier = new Int32Array(task.memory.buffer, task.barrierOffset, 1)
  Atomics.add(barrier, 0, 1)
  while (Atomics.load(barrier, 0) < task.threadCount);
  for (let round = 0; round < task.roundCount; round++) {
    if (round % 2 === 0) kernel.hashMany(task.recordOffset, task.recordCount)
    else
      for (let field = 0; field < records.length; field += 3)
        kernel.hash(records[field]!, records[field + 1]!, records[field + 2]!)
  }
  parentPort.postMessage(kernel.implementation)
}
