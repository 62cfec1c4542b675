/** Aim: requests of one worker are answered in order, and whatever becomes of it, none waits for ever. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isVarveError } from '../base/index.ts'
import { Lane } from './lane.ts'
import type { TestReply, TestRequest } from './testWorker.suite.ts'
import { workerUrl } from './workerUrl.ts'

const entry = workerUrl(import.meta.url, './testWorker.suite')

async function withLane(
  work: (lane: Lane<TestRequest, TestReply>) => Promise<void>,
  data: object = {},
): Promise<void> {
  const lane = new Lane<TestRequest, TestReply>(entry, { base: 100, ...data })
  try {
    await work(lane)
  } finally {
    await lane.close()
  }
}

test('answers come in the order of the requests, also behind a long one', async () => {
  await withLane(async (lane) => {
    const order: number[] = []
    const requests: TestRequest[] = [
      { kind: 'sleep', value: 30 },
      { kind: 'echo', value: 1 },
      { kind: 'echo', value: 2 },
    ]
    await Promise.all(
      requests.map((request) => lane.run(request).then(({ value }) => order.push(value))),
    )
    assert.deepEqual(order, [30, 101, 102])
  })
})

test('the time of a request is its own: not the one that it waited behind another', async () => {
  await withLane(async (lane) => {
    const busy: number[] = []
    const note = (milliseconds: number) => busy.push(milliseconds)
    const long = lane.run({ kind: 'sleep', value: 80 }, [], note)
    await lane.run({ kind: 'echo' }, [], note)
    await long
    await assert.rejects(lane.run({ kind: 'fault' }, [], note), { code: 'TEST_FAULT' })
    assert.equal(busy.length, 3)
    assert.ok(busy[0]! >= 75, `${busy[0]} ms`)
    assert.ok(busy[1]! < 40, `${busy[1]} ms`)
  })
})

test('a fault of one request is its own; the worker keeps its state', async () => {
  await withLane(async (lane) => {
    const checks = [
      assert.rejects(lane.run({ kind: 'fault', value: 3 }), (error) => {
        assert(isVarveError(error, 'TEST_FAULT'))
        assert.deepEqual(error.data, { value: 3 })
        return true
      }),
      assert.rejects(lane.run({ kind: 'bug' }), { code: 'THREAD_FAILED' }),
      // A request that can not be sent.
      assert.rejects(lane.run({ kind: 'echo', value: (() => 0) as unknown as number }), {
        name: 'DataCloneError',
      }),
    ]
    const count = lane.run({ kind: 'count' })
    await Promise.all(checks)
    assert.equal((await count).value, 3)
  })
})

test('a worker that dies fails what waits and what comes after', async () => {
  await withLane(async (lane) => {
    const requests: TestRequest[] = [{ kind: 'die' }, { kind: 'count' }]
    const isDeath = (error: unknown): boolean =>
      isVarveError(error, 'THREAD_DIED') && error.data['exitCode'] === 7
    await Promise.all(requests.map((request) => assert.rejects(lane.run(request), isDeath)))
    await assert.rejects(lane.run({ kind: 'count' }), { code: 'THREAD_DIED' })
  })
})

test('a worker that cannot start says why to each request', async () => {
  await withLane(
    async (lane) => {
      await assert.rejects(lane.run({ kind: 'echo' }), { code: 'TEST_START' })
      await assert.rejects(lane.run({ kind: 'echo' }), { code: 'TEST_START' })
    },
    { failToStart: true },
  )
  const lane = new Lane<TestRequest, TestReply>(workerUrl(import.meta.url, './noSuchWorker'), {})
  await assert.rejects(lane.run({ kind: 'echo' }), { code: 'THREAD_DIED' })
  await lane.close()
})

test('closing rejects what is under way and what comes after; twice is fine', async () => {
  const lane = new Lane<TestRequest, TestReply>(entry, { base: 0 })
  const replies = [0, 1].map(() => lane.run({ kind: 'sleep', value: 60_000 }))
  const checks = replies.map((reply) => assert.rejects(reply, { code: 'THREAD_POOL_CLOSED' }))
  await lane.close()
  await Promise.all(checks)
  await assert.rejects(lane.run({ kind: 'echo' }), { code: 'THREAD_POOL_CLOSED' })
  await lane.close()
})
