/** The one way to end a worker. */
import type { Worker } from 'node:worker_threads'

/** Longer than an optimising compilation takes. */
const REST_MS = 50

/**
 * Ends a worker, after a rest. Node 20 aborts the process where code of a worker is still being optimised, on a thread
 * of its own, while that worker's heap is taken down; a worker that has had nothing to do for a while has no such code.
 */
export async function endThread(worker: Worker): Promise<void> {
  await new Promise((resume) => setTimeout(resume, REST_MS))
  await worker.terminate()
}
