/**
 * A second thread for the tests of `openSharedStore`. On the main thread it does nothing, but as a process of its own:
 * `node lmdbThread.suite.js exit|throw FOLDER` ends while its second thread is within a transaction; with `full`, under
 * a limit of the file's size, its second thread writes too much; prints a line of JSON (`FullReport`).
 *
 * The two sides share one number, so that the other one can wait without a turn of its event loop.
 */
import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { isVarveError } from '../base/index.ts'
import { openLmdbStore, openSharedStore } from './lmdbStore.ts'
import type { SharedStore, Store } from './store.ts'
import { metaKey, numberKey } from './tables.ts'
import { WriteBatch } from './writeBatch.ts'

export type ThreadRequest =
  /** Writes `rowCount` rows, all of `number`. */
  | { readonly kind: 'write'; readonly number: number; readonly rowCount: number }
  /** Writes one value of so many bytes. */
  | { readonly kind: 'writeLarge'; readonly byteCount: number }
  /** As `write`, of many rows, but tells -1 in the midst of the transaction, and then takes half a second more. */
  | { readonly kind: 'slow'; readonly number: number }
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

/** Rows of a slow write. */
export const SLOW_ROW_COUNT = 5000

function slowWrite(store: Store, number: number, onMidst: () => void): void {
  const batch = numberedBatch(number, SLOW_ROW_COUNT)
  const valueAt = batch.valueAt.bind(batch)
  let callCount = 0
  batch.valueAt = (operation) => {
    if (++callCount === SLOW_ROW_COUNT / 2) {
      onMidst()
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
    }
    return valueAt(operation)
  }
  store.write(batch)
}

/** Ends this process while its other thread writes. */
async function endWithinWrite(mode: string, folder: string): Promise<void> {
  const store = openLmdbStore(folder, { sync: 'os' })
  store.write(numberedBatch(1, 10))
  const progress = new Int32Array(new SharedArrayBuffer(4))
  const data: ThreadData = { shared: store.shared!, progress }
  const thread = new Worker(new URL(import.meta.url), { workerData: data })
  await once(thread, 'online')
  thread.postMessage({ kind: 'slow', number: 2 } satisfies ThreadRequest)
  // Answered after the end: the next write must not begin.
  thread.postMessage({ kind: 'slow', number: 3 } satisfies ThreadRequest)
  while (Atomics.load(progress, 0) !== -1) Atomics.wait(progress, 0, 0, 100)
  if (mode === 'exit') process.exit(3)
  throw new Error('planted')
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
      case 'slow':
        slowWrite(store, request.number, () => tell(-1))
        tell(request.number)
        break
      case 'close':
        store.close()
    }
  }
  parentPort.on('message', (request: ThreadRequest) =>
    parentPort?.postMessage(answer(() => work(request))),
  )
}

export type FullReport = {
  /** Of the second thread's write, of one of the first thread after it, and of a small one of the second after that. */
  readonly codes: readonly (string | undefined)[]
  /** What each thread's next read sees. */
  readonly number: number | undefined
}

async function writeTooMuch(folder: string): Promise<void> {
  const store = openLmdbStore(folder, { sync: 'os' })
  store.write(numberedBatch(1, 10))
  const data: ThreadData = {
    shared: store.shared!,
    progress: new Int32Array(new SharedArrayBuffer(4)),
  }
  const thread = new Worker(new URL(import.meta.url), { workerData: data })
  const ask = async (request: ThreadRequest): Promise<ThreadAnswer> => {
    const reply = once(thread, 'message')
    thread.postMessage(request)
    return (await reply)[0]
  }
  const codes = [
    (await ask({ kind: 'writeLarge', byteCount: 32 << 20 }))?.code,
    answer(() => store.write(numberedBatch(2, 10)))?.code,
    (await ask({ kind: 'write', number: 3, rowCount: 10 }))?.code,
  ]
  store.refresh()
  const report: FullReport = { codes, number: store.get('meta', NUMBER_KEY)?.[0] }
  await ask({ kind: 'close' })
  await thread.terminate()
  store.close()
  process.stdout.write(`${JSON.stringify(report)}\n`)
}

const [, script, mode, folder] = process.argv
if (isMainThread && script?.endsWith('lmdbThread.suite.js') && folder !== undefined) {
  if (mode === 'full') await writeTooMuch(folder)
  else await endWithinWrite(mode!, folder)
}
