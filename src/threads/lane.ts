/**
 * One worker that gets requests as they come and answers them in their order: for a worker that keeps a state. The next
 * request lies in its mailbox while the caller is busy, where a pool would hold it back.
 *
 *     run ─▶ mailbox ─▶ worker (`serve`) ─▶ reply
 */
import { type MessagePort, Worker } from 'node:worker_threads'
import type { VarveError } from '../base/index.ts'
import { endThread } from './endThread.ts'
import type { PoolReply, PoolRequest } from './messages.ts'
import { closedFault, diedFault, faultOfWire } from './pool.ts'
import { workerArguments } from './workerArguments.ts'

type Waiting = {
  readonly resolve: (reply: unknown) => void
  readonly reject: (error: unknown) => void
  readonly onBusy: ((milliseconds: number) => void) | undefined
}

export class Lane<Request, Reply> {
  private readonly worker: Worker
  private readonly waiting = new Map<number, Waiting>()
  private lastId = 0
  private failure: unknown

  /**
   * Starts the worker. It keeps the process alive until `close`.
   * @param data handed to its `serve`; cloned
   * @param ports in `data`, which go over to the worker
   */
  constructor(entry: URL, data: unknown, ports: readonly MessagePort[] = []) {
    this.worker = new Worker(entry, {
      workerData: data,
      transferList: [...ports],
      ...workerArguments(),
    })
    let cause: unknown
    this.worker.on('message', (message: PoolReply) => this.settle(message))
    this.worker.on('error', (error) => {
      cause = error
    })
    this.worker.on('exit', (exitCode) => this.fail(diedFault(exitCode, cause)))
  }

  /**
   * Sends a request. How many are under way is the caller's to bound.
   * @param transfer buffers of the request that go over to the worker
   * @param onBusy told, before the reply, how long the worker took for it
   * @returns the reply; rejects with the worker's own VarveError, THREAD_FAILED for a bug of the worker, THREAD_DIED
   *   where the thread ended, THREAD_POOL_CLOSED
   */
  run(
    request: Request,
    transfer: readonly ArrayBuffer[] = [],
    onBusy?: (milliseconds: number) => void,
  ): Promise<Reply> {
    if (this.failure !== undefined) return Promise.reject(this.failure)
    const id = ++this.lastId
    return new Promise<unknown>((resolve, reject) => {
      this.worker.postMessage({ id, request } satisfies PoolRequest, [...transfer])
      this.waiting.set(id, { resolve, reject, onBusy })
    }) as Promise<Reply>
  }

  /** Whether the worker has ended, or was closed. */
  get hasFailed(): boolean {
    return this.failure !== undefined
  }

  /** Ends the worker. Requests without reply are rejected with THREAD_POOL_CLOSED. */
  async close(): Promise<void> {
    this.fail(closedFault())
    await endThread(this.worker)
  }

  private settle(message: PoolReply): void {
    const waiting = this.waiting.get(message.id)
    this.waiting.delete(message.id)
    waiting?.onBusy?.(message.busyMs)
    if ('fault' in message) waiting?.reject(faultOfWire(message.fault))
    else waiting?.resolve(message.reply)
  }

  private fail(error: VarveError): void {
    this.failure ??= error
    for (const { reject } of this.waiting.values()) reject(error)
    this.waiting.clear()
  }
}
