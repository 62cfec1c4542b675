/**
 * A second thread for the tests of `openSharedStore`. Does nothing on the main thread.
 *
 * The two sides share one number, so that the other one can wait without a turn of its event loop.
 */
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { isVarveError } from '../base/index.ts'
import { openSharedStore } from './lmdbStore.ts'
import type { SharedStore } from './store.ts'
import { metaKey, numberKey } from './tables.ts'
import { WriteBatch } from './writeBatch.ts'

export type ThreadRequest =
  /** Writes `rowCount` rows, all of `number`. */
  | { readonly kind: 'write'; readonly number: number; readonly rowCount: number }
  /** Writes one value of so many bytes. */
  | { readonly kind: 'writeLarge'; readonly byteCount: number }
  /** Begins a transaction, tells so by the shared number, and never ends it. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'close' }

/** `undefined`, or the code and message of what was thrown. */
export type ThreadAnswer = { readonly code: string; readonly message: string } | undefined

export type ThreadData = { readonly shared: SharedStore; readonly progress: Int32Array }

/** What every row of a write says. */
export const NUMBER_KEY = metaKey('number')

/** Rows that all hold one number: whoever sees two of them sees a torn write. */
export function numberedBatch(number: number, rowCount: number): WriteBatch {
  const batch = new WriteBatch()
  const value = new Uint8Array(100).fill(number)
  for (let row = 0; row < rowCount; row++) batch.put('accounts', numberKey(row), value)
  batch.put('meta', NUMBER_KEY, value)
  return batch
}

function answer(work: () => void): ThreadAnswer {
  try {
    work()
    return undefined
  } catch (error) {
    const code = isVarveError(error) ? error.code : 'none'
    return { code, message: String(error) }
  }
}

if (!isMainThread && parentPort !== null && 'shared' in (workerData as object)) {
  const { shared, progress } = workerData as ThreadData
  const store = openSharedStore(shared)
  const tell = (number: number): void => {
    Atomics.store(progress, 0, number)
    Atomics.notify(progress, 0)
  }
  const work = (request: ThreadRequest): void => {
    switch (request.kind) {
      case 'write':
        store.write(numberedBatch(request.number, request.rowCount))
        tell(request.number)
        break
      case 'writeLarge': {
        const batch = new WriteBatch()
        batch.put('codes', Uint8Array.of(1), new Uint8Array(request.byteCount).fill(1))
        store.write(batch)
        break
      }
      case 'hang': {
        const batch = numberedBatch(99, 10_000)
        const valueAt = batch.valueAt.bind(batch)
        let callCount = 0
        batch.valueAt = (operation) => {
          if (++callCount === 5000) {
            tell(-1)
            for (;;) {}
          }
          return valueAt(operation)
        }
        store.write(batch)
        break
      }
      case 'close':
        store.close()
    }
  }
  parentPort.on('message', (request: ThreadRequest) =>
    parentPort?.postMessage(answer(() => work(request))),
  )
}
