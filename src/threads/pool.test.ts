/** Aim: every request gets exactly one answer, whatever happens to its thread. Method: a worker that does as it is told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isVarveError } from '../base/index.ts'
import { WorkerPool } from './pool.ts'
import type { TestReply, TestRequest } from './testWorker.suite.ts'
import { workerUrl } from './workerUrl.ts'

const entry = workerUrl(import.meta.url, './testWorker.suite')

async function withPool(
  threadCount: number,
  work: (pool: WorkerPool<TestRequest, TestReply>) => Promise<void>,
  data: Record<string, unknown> = {},
): Promise<void> {
  const pool = new WorkerPool<TestRequest, TestReply>({
    entry,
    threadCount,
    data: { base: 100, ...data },
  })
  try {
    await work(pool)
  } finally {
    await pool.close()
  }
}

test('an entry has the extension of the file that names it', () => {
  assert.equal(workerUrl('file:///a/b.js', './x.worker').href, 'file:///a/x.worker.js')
  assert.equal(workerUrl('file:///a/b.ts', './x.worker').href, 'file:///a/x.worker.ts')
})

test('replies belong to their requests, on one thread and on several', async () => {
  for (const threadCount of [1, 3])
    await withPool(threadCount, async (pool) => {
      const replies: Promise<TestReply>[] = []
      for (let value = 0; value < 20; value++) {
        await pool.room()
        replies.push(pool.run({ kind: 'echo', value }))
      }
      const values = (await Promise.all(replies)).map(({ value }) => value)
      assert.deepEqual(
        values,
        Array.from({ length: 20 }, (_, value) => 100 + value),
      )
    })
})

test('a request does not wait behind a long one while a thread is free', async () => {
  await withPool(2, async (pool) => {
    const long = pool.run({ kind: 'sleep', value: 60_000 })
    long.catch(() => undefined)
    for (let value = 0; value < 5; value++)
      assert.equal((await pool.run({ kind: 'echo', value })).value, 100 + value)
  })
})

test('the queue is bounded, and room is told', async () => {
  await withPool(1, async (pool) => {
    const replies = [0, 1, 2].map(() => pool.run({ kind: 'sleep', value: 20 }))
    assert.equal(pool.queuedCount, 2)
    assert.throws(() => pool.run({ kind: 'echo' }), { code: 'THREAD_QUEUE_FULL' })
    await pool.room()
    assert.equal(pool.queuedCount, 1)
    await Promise.all([...replies, pool.run({ kind: 'echo' })])
    assert.equal(pool.queuedCount, 0)
  })
})

test('buffers change their owner, there and back', async () => {
  await withPool(1, async (pool) => {
    const bytes = new Uint8Array(8)
    const reply = pool.run({ kind: 'transfer', bytes }, [bytes.buffer])
    assert.equal(bytes.length, 0)
    assert.deepEqual((await reply).bytes, Uint8Array.of(9, 0, 0, 0, 0, 0, 0, 0))
  })
})

test('a fault keeps code and data; a bug keeps its stack; the thread goes on', async () => {
  await withPool(1, async (pool) => {
    await assert.rejects(pool.run({ kind: 'fault', value: 3 }), (error) => {
      assert(isVarveError(error, 'TEST_FAULT'))
      assert.deepEqual(error.data, { value: 3 })
      return true
    })
    await assert.rejects(pool.run({ kind: 'bug' }), (error) => {
      assert(isVarveError(error, 'THREAD_FAILED'))
      assert.match(error.message, /a bug of the worker[\s\S]*testWorker/)
      return true
    })
    await assert.rejects(pool.run({ kind: 'function' }), { code: 'THREAD_FAILED' })
    assert.equal((await pool.run({ kind: 'count' })).value, 4)
  })
})

test('a thread that dies fails its own request; the next one gets a new thread', async () => {
  await withPool(1, async (pool) => {
    const dying = pool.run({ kind: 'die' })
    const next = pool.run({ kind: 'count' })
    await assert.rejects(dying, (error) => {
      assert(isVarveError(error, 'THREAD_DIED'))
      assert.equal(error.data['exitCode'], 7)
      return true
    })
    assert.equal((await next).value, 1)
  })
})

test('a worker that cannot start fails each request with the reason', async () => {
  await withPool(
    1,
    async (pool) => {
      await assert.rejects(pool.run({ kind: 'echo' }), { code: 'TEST_START' })
      await assert.rejects(pool.run({ kind: 'echo' }), { code: 'TEST_START' })
    },
    { failToStart: true },
  )
})

test('an entry that is not there fails each request, and ends nothing else', async () => {
  const pool = new WorkerPool<TestRequest, TestReply>({
    entry: workerUrl(import.meta.url, './noSuchWorker'),
    threadCount: 1,
  })
  await assert.rejects(pool.run({ kind: 'echo' }), { code: 'THREAD_DIED' })
  await assert.rejects(pool.run({ kind: 'echo' }), { code: 'THREAD_DIED' })
  await pool.close()
})

test('closing rejects what is open and what comes after', async () => {
  const pool = new WorkerPool<TestRequest, TestReply>({ entry, threadCount: 1, data: { base: 0 } })
  const replies = [0, 1].map(() => pool.run({ kind: 'sleep', value: 60_000 }))
  const checks = replies.map((reply) => assert.rejects(reply, { code: 'THREAD_POOL_CLOSED' }))
  await pool.close()
  await Promise.all(checks)
  await assert.rejects(pool.run({ kind: 'echo' }), { code: 'THREAD_POOL_CLOSED' })
})
