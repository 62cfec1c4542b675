/**
 * A fixed number of worker threads that answer requests. Requests wait in one bounded queue and go to whichever thread
 * is free; a thread holds one request at a time, so none waits behind a long one.
 *
 *     run ─▶ queue (bounded) ─▶ free thread ─▶ reply
 *
 * A thread that dies fails its request alone and is replaced. Not here: what the requests mean, and running them
 * without threads, which the caller does by calling the same code that the worker serves.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { assert, VarveError } from '../base/index.ts'
import { endThread } from './endThread.ts'
import type { PoolReply, PoolRequest, WireFault } from './messages.ts'
import { workerArguments } from './workerArguments.ts'

export type WorkerPoolOptions = {
  /** From `workerUrl`. */
  readonly entry: URL
  /** At least 1. */
  readonly threadCount: number
  /** Handed to every worker's `serve`; cloned. */
  readonly data?: unknown
  /** Requests that may wait beside those being worked on; twice the threads without it. */
  readonly queueCountMax?: number
}

type Job = {
  readonly request: unknown
  readonly transfer: readonly ArrayBuffer[]
  readonly resolve: (reply: unknown) => void
  readonly reject: (error: Error) => void
}

/** `worker` is `undefined` before the first request, and after the thread died. */
type Thread = { worker: Worker | undefined; job: Job | undefined; jobId: number }

/** Threads that this machine runs at once. */
export function threadCountDefault(): number {
  return availableParallelism()
}

export class WorkerPool<Request, Reply> {
  private readonly options: WorkerPoolOptions
  private readonly queueCountMax: number
  private readonly threads: Thread[] = []
  private readonly queue: Job[] = []
  private readonly waiting: (() => void)[] = []
  private isClosed = false
  private busyMs = 0

  /** Threads start with their first request, and keep the process alive until `close`. */
  constructor(options: WorkerPoolOptions) {
    assert(options.threadCount >= 1, 'a pool has at least one thread')
    this.options = options
    this.queueCountMax = options.queueCountMax ?? 2 * options.threadCount
    for (let index = 0; index < options.threadCount; index++)
      this.threads.push({ worker: undefined, job: undefined, jobId: 0 })
  }

  /** Requests that wait; those being worked on are not counted. */
  get queuedCount(): number {
    return this.queue.length
  }

  /** Milliseconds that threads took for requests, all of them together. */
  get busyMilliseconds(): number {
    return this.busyMs
  }

  /**
   * Sends a request.
   * @param transfer buffers of the request that go over to the worker; the caller's views of them are dead afterwards
   * @returns the reply; rejects with the worker's own VarveError, THREAD_FAILED for a bug of the worker, THREAD_DIED
   *   where the thread ended, THREAD_POOL_CLOSED
   * @throws VarveError THREAD_QUEUE_FULL where the queue is at its limit: wait for `room`
   */
  run(request: Request, transfer: readonly ArrayBuffer[] = []): Promise<Reply> {
    if (this.isClosed) return Promise.reject(closedFault())
    const thread = this.threads.find(({ job }) => job === undefined)
    if (thread === undefined && this.queue.length >= this.queueCountMax)
      throw new VarveError<PoolErrorCode>(
        'THREAD_QUEUE_FULL',
        `thread pool: expected at most ${this.queueCountMax} waiting requests`,
        { queueCountMax: this.queueCountMax },
      )
    return new Promise<Reply>((resolve, reject) => {
      const job: Job = { request, transfer, resolve: resolve as Job['resolve'], reject }
      if (thread === undefined) this.queue.push(job)
      else this.give(thread, job)
    })
  }

  /** Resolves once `run` has a place for a request. */
  async room(): Promise<void> {
    while (!this.isClosed && this.queue.length >= this.queueCountMax && this.isBusy)
      await new Promise<void>((resolve) => this.waiting.push(resolve))
  }

  /** Ends the threads. Requests without reply are rejected with THREAD_POOL_CLOSED. */
  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    for (const job of this.queue.splice(0)) job.reject(closedFault())
    for (const thread of this.threads) thread.job?.reject(closedFault())
    this.tellWaiting()
    await Promise.all(this.threads.map(({ worker }) => worker && endThread(worker)))
  }

  private get isBusy(): boolean {
    return this.threads.every(({ job }) => job !== undefined)
  }

  private start(thread: Thread): Worker {
    const worker = new Worker(this.options.entry, {
      workerData: this.options.data,
      ...workerArguments(),
    })
    thread.worker = worker
    let cause: unknown
    worker.on('message', (message: PoolReply) => {
      const { job } = thread
      if (job === undefined || message.id !== thread.jobId) return
      this.busyMs += message.busyMs
      if ('fault' in message) job.reject(faultOfWire(message.fault))
      else job.resolve(message.reply)
      this.giveNext(thread)
    })
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', (exitCode) => {
      if (this.isClosed) return
      const { job } = thread
      // A new one starts with the next request: an entry that cannot be loaded then fails its requests, one each.
      thread.worker = undefined
      job?.reject(diedFault(exitCode, cause))
      this.giveNext(thread)
    })
    return worker
  }

  private give(thread: Thread, job: Job): void {
    thread.job = job
    thread.jobId++
    const message: PoolRequest = { id: thread.jobId, request: job.request }
    try {
      const worker = thread.worker ?? this.start(thread)
      worker.postMessage(message, [...job.transfer])
    } catch (error) {
      job.reject(error as Error)
      this.giveNext(thread)
    }
  }

  private giveNext(thread: Thread): void {
    thread.job = undefined
    const job = this.queue.shift()
    if (job !== undefined) this.give(thread, job)
    this.tellWaiting()
  }

  private tellWaiting(): void {
    for (const resolve of this.waiting.splice(0)) resolve()
  }
}

export function faultOfWire(fault: WireFault): Error {
  return fault.code === undefined
    ? new VarveError<PoolErrorCode>('THREAD_FAILED', `worker: ${fault.message}`)
    : new VarveError(fault.code, fault.message, fault.data)
}

export function diedFault(exitCode: number, cause: unknown): VarveError<PoolErrorCode> {
  const reason = cause instanceof Error ? `: ${cause.message}` : ''
  return new VarveError(
    'THREAD_DIED',
    `worker: expected a reply, the thread ended with ${exitCode}${reason}`,
    { exitCode },
    { cause },
  )
}

export function closedFault(): VarveError<PoolErrorCode> {
  return new VarveError('THREAD_POOL_CLOSED', 'thread pool: it was closed')
}

/** Error codes of this module. */
export type PoolErrorCode =
  /** A worker threw what is no VarveError; its stack is in the message. */
  | 'THREAD_FAILED'
  /** A thread ended before it replied: it ran out of memory, or was ended from outside. */
  | 'THREAD_DIED'
  /** More requests wait than the pool takes. */
  | 'THREAD_QUEUE_FULL'
  /** The pool ended before the request was answered. */
  | 'THREAD_POOL_CLOSED'
