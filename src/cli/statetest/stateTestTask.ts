/**
 * The command's side of the work: hands requests to threads, or runs them here, and gives the replies back in the
 * order of the requests, so that the output is the same whatever the number of threads.
 */
import { assert } from '../../base/index.ts'
import { WorkerPool, workerUrl } from '../../threads/index.ts'
import type { StateTestOptions, StateTestReply, StateTestRequest } from './messages.ts'
import { openStateTestServer } from './serveStateTests.ts'

/** Replies that may be waiting for an earlier one, for each thread. */
const REPLY_COUNT_PER_THREAD = 8

/**
 * Answers requests in their order.
 * @param threadCount 1 runs everything on this thread
 * @param trace takes the text of traces by EIP-3155; on one thread only
 */
export async function* answerRequests(
  requests: AsyncIterable<StateTestRequest>,
  options: StateTestOptions,
  threadCount: number,
  trace?: (text: string) => void,
): AsyncGenerator<StateTestReply> {
  if (threadCount === 1) {
    const answer = await openStateTestServer(options, trace)
    for await (const request of requests) yield answer(request)
    return
  }
  assert(trace === undefined, 'a trace is in order on one thread only')
  const pool = new WorkerPool<StateTestRequest, StateTestReply>({
    entry: workerUrl(import.meta.url, './statetest.worker'),
    threadCount,
    data: options,
  })
  try {
    const pending: Promise<StateTestReply>[] = []
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
