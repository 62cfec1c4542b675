/** A worker's side: takes requests one after the other and answers each. */
import { parentPort, workerData } from 'node:worker_threads'
import { assert, isVarveError } from '../base/index.ts'
import type { PoolReply, PoolRequest, WireFault } from './messages.ts'

/** An answer, and the buffers in it that go over to the caller. */
export type Answer<Reply> = { readonly reply: Reply; readonly transfer?: readonly ArrayBuffer[] }

/**
 * Answers the pool's requests; called once by a worker's entry. Requests are handled one after the other, in their
 * order, also where `handle` waits.
 * @param start runs once, before the first request, with the data that the pool was made with
 */
export function serve<Options, Request, Reply>(
  start: (
    options: Options,
  ) => Promise<(request: Request) => Answer<Reply> | Promise<Answer<Reply>>>,
): void {
  const port = parentPort
  assert(port !== null, 'serve runs in a worker')
  const ready = start(workerData as Options)
  // Whoever sent a request hears of a failed start; without requests there is nobody to tell.
  ready.catch(() => undefined)
  let queue: Promise<unknown> = ready.catch(() => undefined)
  port.on('message', ({ id, request }: PoolRequest) => {
    queue = queue.then(async () => {
      const start = performance.now()
      const busyMs = (): number => performance.now() - start
      try {
        const { reply, transfer = [] } = await (await ready)(request as Request)
        port.postMessage({ id, reply, busyMs: busyMs() } satisfies PoolReply, [...transfer])
      } catch (error) {
        port.postMessage({ id, fault: wireFault(error), busyMs: busyMs() } satisfies PoolReply)
      }
    })
  })
}

/** A thrown value in a form that survives cloning. */
export function wireFault(error: unknown): WireFault {
  if (isVarveError(error)) return { code: error.code, message: error.message, data: error.data }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: undefined, message, data: {} }
}
