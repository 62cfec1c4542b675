/**
 * The command's side of the work: hands requests to threads, or runs them here, and gives the replies back in the
 * order of the requests, so that the output is the same whatever the number of threads.
 */
import { WorkerPool } from '../../threads/index.ts'
import type { TestReply, TestRequest, TestResult } from './messages.ts'

/** Replies that may be waiting for an earlier one, for each thread. */
const REPLY_COUNT_PER_THREAD = 8

export type Answer<Result extends TestResult> = (request: TestRequest) => Promise<TestReply<Result>>

/** Who answers. */
export type TestTask<Result extends TestResult> = {
  /** Opens what answers on this thread. */
  open(): Promise<Answer<Result>>
  /** Entry of a thread that answers; it is handed `data`. */
  readonly entry: URL
  readonly data: unknown
}

/**
 * Answers requests in their order.
 * @param threadCount 1 runs everything on this thread
 */
export async function* answerRequests<Result extends TestResult>(
  requests: AsyncIterable<TestRequest>,
  task: TestTask<Result>,
  threadCount: number,
): AsyncGenerator<TestReply<Result>> {
  if (threadCount === 1) {
    const answer = await task.open()
    for await (const request of requests) yield answer(request)
    return
  }
  const { entry, data } = task
  const pool = new WorkerPool<TestRequest, TestReply<Result>>({ entry, threadCount, data })
  try {
    const pending: Promise<TestReply<Result>>[] = []
    for await (const request of requests) {
      await pool.room()
      const reply = pool.run(request, request.kind === 'lines' ? [request.bytes.buffer] : [])
      // It is awaited in its turn; until then a failure is not an unheard one.
      reply.catch(() => undefined)
      pending.push(reply)
      if (pending.length >= REPLY_COUNT_PER_THREAD * threadCount) yield await pending.shift()!
    }
    for (const reply of pending) yield await reply
  } finally {
    await pool.close()
  }
}
