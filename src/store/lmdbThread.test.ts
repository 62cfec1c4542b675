/**
 * @isolate: starts threads that share a database, and processes that end while one writes.
 * Aim: a second thread writes while the first one reads: whole states only, new ones at once after `refresh`, iterations
 * undisturbed; faults come with their code; a process that ends meanwhile ends, with the write whole.
 * Method: real threads; the reader waits on shared memory, so that its event loop makes no turn in between.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { isVarveError } from '../base/index.ts'
import { openLmdbStore } from './lmdbStore.ts'
import {
  type FullReport,
  NUMBER_KEY,
  numberedBatch,
  SLOW_ROW_COUNT,
  type ThreadAnswer,
  type ThreadData,
  type ThreadRequest,
} from './lmdbThread.suite.ts'
import { memoryStore } from './memoryStore.ts'
import type { Store } from './store.ts'
import { numberKey } from './tables.ts'

const root = mkdtempSync(join(tmpdir(), 'varve-lmdb-thread-'))
after(() => rmSync(root, { recursive: true }))
let folderCount = 0

type Writer = {
  readonly thread: Worker
  /** The newest number that the thread has written, or -1 where it hangs. */
  readonly progress: Int32Array
  readonly ask: (request: ThreadRequest) => Promise<ThreadAnswer>
}

async function withWriter(
  work: (store: Store, writer: Writer) => Promise<void>,
  options: { readonly mapSize?: number } = {},
): Promise<void> {
  const store = openLmdbStore(join(root, `db${folderCount++}`), { sync: 'os', ...options })
  const progress = new Int32Array(new SharedArrayBuffer(4))
  const data: ThreadData = { shared: store.shared!, progress }
  const thread = new Worker(new URL('./lmdbThread.suite.js', import.meta.url), {
    workerData: data,
  })
  try {
    await once(thread, 'online')
    const ask = async (request: ThreadRequest): Promise<ThreadAnswer> => {
      const reply = once(thread, 'message')
      thread.postMessage(request)
      return (await reply)[0]
    }
    await work(store, { thread, progress, ask })
  } finally {
    // As `endThread` in `threads/` says, which this folder does not know.
    await sleep(50)
    await thread.terminate()
    store.close()
  }
}

const numberIn = (store: Store): number | undefined => store.get('meta', NUMBER_KEY)?.[0]

/** Waits for the thread without a turn of the event loop. */
function waitFor(progress: Int32Array, number: number): void {
  while (Atomics.load(progress, 0) !== number) {
    const before = Atomics.load(progress, 0)
    if (before !== number)
      assert.notEqual(Atomics.wait(progress, 0, before, 20_000), 'timed-out', 'the thread answers')
  }
}

test('within one turn reads see one state, and the newest one after refresh', async () => {
  await withWriter(async (store, { thread, progress }) => {
    store.write(numberedBatch(1, 10))
    assert.equal(numberIn(store), 1)
    thread.postMessage({ kind: 'write', number: 2, rowCount: 10 } satisfies ThreadRequest)
    waitFor(progress, 2)
    assert.equal(numberIn(store), 1, 'what this test is about: without refresh it is the old one')
    store.refresh()
    assert.equal(numberIn(store), 2)
    store.refresh()
    assert.equal(numberIn(store), 2)
  })
})

test('an iteration keeps its state over refreshes and writes of either thread', async () => {
  await withWriter(async (store, { thread, progress }) => {
    store.write(numberedBatch(1, 500))
    const iteration = store.range('accounts')[Symbol.iterator]()
    assert.equal(iteration.next().value?.value[0], 1)
    thread.postMessage({ kind: 'write', number: 2, rowCount: 700 } satisfies ThreadRequest)
    waitFor(progress, 2)
    store.refresh()
    assert.equal(numberIn(store), 2)
    store.write(numberedBatch(3, 900))
    let count = 1
    for (let step = iteration.next(); !step.done; step = iteration.next(), count++)
      assert.equal(step.value.value[0], 1)
    assert.equal(count, 500)
    assert.equal([...store.range('accounts')].length, 900)
  })
})

test('while a thread writes on and the map grows, every read state is whole', async () => {
  await withWriter(
    async (store, { ask }) => {
      const written = 40
      store.write(numberedBatch(0, 100))
      let isDone = false
      const writing = (async () => {
        for (let number = 1; number <= written; number++)
          assert.equal(await ask({ kind: 'write', number, rowCount: 400 * number }), undefined)
        isDone = true
      })()
      let readCount = 0
      let last = 0
      while (!isDone) {
        const number = numberIn(store)!
        assert.ok(number >= last, 'states come in their order')
        last = number
        for (let row = 0; row < Math.max(100, 400 * number); row += 97)
          assert.equal(store.get('accounts', numberKey(row))![0], number)
        readCount++
        await new Promise((resume) => setImmediate(resume))
      }
      await writing
      store.refresh()
      assert.equal(numberIn(store), written)
      assert.ok(readCount > 0)
    },
    { mapSize: 256 * 1024 },
  )
})

test('both threads write in turn', async () => {
  await withWriter(async (store, { ask }) => {
    for (let number = 1; number <= 20; number += 2) {
      store.write(numberedBatch(number, 300))
      assert.equal(numberIn(store), number)
      assert.equal(await ask({ kind: 'write', number: number + 1, rowCount: 300 }), undefined)
      store.refresh()
      assert.equal(numberIn(store), number + 1)
    }
  })
})

test('a write that fails for want of room says so by its code, and no thread writes after it', {
  skip: process.platform === 'win32' && 'no limit of file sizes',
}, async () => {
  const folder = join(root, `db${folderCount++}`)
  const script = join(import.meta.dirname, 'lmdbThread.suite.js')
  // In units of 512 bytes or 1 KiB, as the shell has it; the write needs 32 MiB.
  const command = 'ulimit -f 8192 && exec "$0" "$@"'
  const child = spawn('sh', ['-c', command, process.execPath, script, 'full', folder], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const late = setTimeout(() => child.kill('SIGKILL'), 20_000)
  const ended = once(child, 'exit')
  let output = ''
  for await (const part of child.stdout) output += part
  const [code] = await ended
  clearTimeout(late)
  assert.equal(code, 0, 'the process goes on')
  const report: FullReport = JSON.parse(output)
  assert.deepEqual(report, { codes: ['STORE_IO', 'STORE_IO', 'STORE_IO'], number: 1 })
  const store = openLmdbStore(folder)
  assert.equal(numberIn(store), 1)
  store.write(numberedBatch(4, 10))
  assert.equal(numberIn(store), 4, 'opened again, it works')
  store.close()
})

for (const [mode, exitCode] of [
  ['exit', 3],
  ['throw', 1],
] as const)
  test(`a process that ends while another thread writes (${mode}) ends after that write`, async () => {
    const folder = join(root, `db${folderCount++}`)
    const script = join(import.meta.dirname, 'lmdbThread.suite.js')
    const child = spawn(process.execPath, [script, mode, folder], { stdio: 'ignore' })
    const late = setTimeout(() => child.kill('SIGKILL'), 20_000)
    const [code, signal] = await once(child, 'exit')
    clearTimeout(late)
    assert.deepEqual([code, signal], [exitCode, null], 'it ends by itself')
    const store = openLmdbStore(folder)
    assert.equal(numberIn(store), 2, 'the write under way is whole, the next one did not begin')
    assert.equal([...store.range('accounts')].length, SLOW_ROW_COUNT)
    store.close()
  })

test('a store opened for reading, and one in memory, are for no further thread', async () => {
  await withWriter(async (store, { ask }) => {
    // A thread is not to be ended while it opens the database.
    assert.equal(await ask({ kind: 'write', number: 1, rowCount: 1 }), undefined)
    assert.deepEqual(Object.keys(store.shared!).sort(), ['folder', 'gate', 'sync'])
  })
  assert.equal(memoryStore().shared, undefined)
  const folder = join(root, 'db0')
  const reader = openLmdbStore(folder, { readOnly: true })
  assert.equal(reader.shared, undefined)
  reader.refresh()
  reader.close()
  assert.throws(
    () => reader.refresh(),
    (error) => isVarveError(error, 'STORE_CLOSED'),
  )
})
