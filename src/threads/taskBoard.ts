/**
 * Tasks that two threads take from one list, the owner and a helper, without a turn of the event loop on the owner's
 * side: for work of some hundred microseconds inside of a synchronous call.
 *
 *     owner    list the tasks ─▶ call the helper ─▶ take from the front … ─▶ wait for what the helper took ─▶ results
 *     helper                          (awake) ─▶ take from the back …
 *
 *     word 0   0 while the helper's thread runs, 1 after its end
 *     word 16 + i   state of task i: round x 4 + free, taken, done, failed
 *
 * A helper that wakes late finds nothing free, and nobody has waited for it. What a helper leaves, for whatever reason,
 * the owner does again; only one that took a task and neither ends it nor dies makes the owner give up, after a while.
 *
 * Not here: how a helper is woken, and what a task is.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { assert, VarveError } from '../base/index.ts'

/** What a helper needs; the port goes over to it. */
export type TaskBoardShare = { readonly words: SharedArrayBuffer; readonly port: MessagePort }

/** Most tasks of a round. */
export const TASK_COUNT_MAX = 64

const ENDED = 0
const FIRST_TASK = 16
const FREE = 0
const TAKEN = 1
const DONE = 2
const FAILED = 3
/** Rounds are numbered so that their states fit 31 bits; by the time that one comes again no helper remembers it. */
const ROUND_COUNT = 2 ** 28
/** Looks at a word before the thread lies down: some microseconds, less than being woken takes. */
const SPIN_COUNT = 4000
const WAIT_SLICE_MS = 20
const WAIT_MS_MAX = 30_000

type TaskAnswer = { readonly round: number; readonly index: number; readonly result: unknown }

export class TaskOwner<Task, Result> {
  readonly share: TaskBoardShare
  private readonly words: Int32Array
  private readonly port: MessagePort
  private readonly waitMsMax: number
  private round = 0

  /** @param waitMsMax how long to wait for a helper that neither answers nor ends */
  constructor(waitMsMax = WAIT_MS_MAX) {
    const { port1, port2 } = new MessageChannel()
    this.port = port1
    // An open port would keep the process alive.
    port1.unref()
    this.waitMsMax = waitMsMax
    const words = new SharedArrayBuffer(4 * (FIRST_TASK + TASK_COUNT_MAX))
    this.words = new Int32Array(words)
    this.share = { words, port: port2 }
  }

  /**
   * Does all tasks, each once, here or by the helper.
   * @param call wakes the helper, with the number of the round
   * @param own does a task here; `isAgain` where the helper may have done a part of it
   * @returns results in the order of the tasks
   * @throws VarveError TASK_HELPER_LOST, and what `own` throws; no other thread is at work then, but for a lost helper
   */
  run(
    tasks: readonly Task[],
    call: (round: number) => void,
    own: (task: Task, isAgain: boolean) => Result,
  ): Result[] {
    assert(tasks.length <= TASK_COUNT_MAX, 'task board: a round has at most 64 tasks')
    this.round = (this.round + 1) % ROUND_COUNT
    const base = 4 * this.round
    const { words } = this
    const results: Result[] = []
    for (let index = 0; index < tasks.length; index++)
      Atomics.store(words, FIRST_TASK + index, base + FREE)
    call(this.round)
    try {
      for (let index = 0; index < tasks.length; index++)
        if (this.claim(index, base)) results[index] = own(tasks[index]!, false)
    } finally {
      this.settle(tasks.length, base)
    }
    this.receive(results)
    for (let index = 0; index < tasks.length; index++)
      if (words[FIRST_TASK + index] !== base + DONE) results[index] = own(tasks[index]!, true)
    return results
  }

  /**
   * How long it takes until the helper has begun a task, in milliseconds; `limitMs` where it has not by then.
   * @param idle a task of no work
   * @param call as in `run`
   */
  handOverMs(
    idle: Task,
    call: (round: number, tasks: readonly Task[]) => void,
    limitMs: number,
  ): number {
    this.round = (this.round + 1) % ROUND_COUNT
    const free = 4 * this.round + FREE
    Atomics.store(this.words, FIRST_TASK, free)
    const start = performance.now()
    call(this.round, [idle])
    let tookMs = 0
    do tookMs = performance.now() - start
    while (Atomics.load(this.words, FIRST_TASK) === free && tookMs < limitMs)
    this.settle(1, 4 * this.round)
    return tookMs
  }

  close(): void {
    this.port.close()
  }

  /** Takes a task for this thread. Nobody waits for it, so it counts as done at once. */
  private claim(index: number, base: number): boolean {
    const word = FIRST_TASK + index
    return Atomics.compareExchange(this.words, word, base + FREE, base + DONE) === base + FREE
  }

  /** Returns once the helper is at none of the tasks and can take no more. */
  private settle(count: number, base: number): void {
    const { words } = this
    for (let index = 0; index < count; index++) {
      // What nobody took goes to the owner, who finds it failed.
      Atomics.compareExchange(words, FIRST_TASK + index, base + FREE, base + FAILED)
      this.waitWhileTaken(FIRST_TASK + index, base + TAKEN)
    }
  }

  private waitWhileTaken(word: number, taken: number): void {
    const { words } = this
    for (let spin = 0; spin < SPIN_COUNT; spin++) if (Atomics.load(words, word) !== taken) return
    const start = performance.now()
    while (Atomics.load(words, word) === taken && Atomics.load(words, ENDED) === 0) {
      Atomics.wait(words, word, taken, WAIT_SLICE_MS)
      const waitedMs = performance.now() - start
      if (waitedMs < this.waitMsMax) continue
      throw new VarveError<TaskBoardErrorCode>(
        'TASK_HELPER_LOST',
        `a helping thread took a task, and for ${Math.round(waitedMs)} ms has neither done it nor ended`,
        { waitedMs },
      )
    }
  }

  /** Results of this round. Those of older ones, whose tasks were done again, are dropped. */
  private receive(results: Result[]): void {
    for (;;) {
      const received = receiveMessageOnPort(this.port)
      if (received === undefined) return
      const { round, index, result } = received.message as TaskAnswer
      if (round === this.round) results[index] = result as Result
    }
  }
}

export class TaskHelper<Task, Result> {
  private readonly words: Int32Array
  private readonly port: MessagePort

  constructor({ words, port }: TaskBoardShare) {
    this.words = new Int32Array(words)
    this.port = port
    // Whoever waits is to know that it waits for nothing.
    process.once('exit', () => {
      Atomics.store(this.words, ENDED, 1)
      for (let index = 0; index < TASK_COUNT_MAX; index++)
        Atomics.notify(this.words, FIRST_TASK + index)
    })
  }

  /**
   * Takes tasks of a round until none is free.
   * @param work does one; a task for which it throws is done again by the owner
   */
  help(
    round: number,
    tasks: readonly Task[],
    work: (task: Task) => { readonly result: Result; readonly transfer: readonly ArrayBuffer[] },
  ): void {
    const { words } = this
    const base = 4 * round
    for (let index = tasks.length - 1; index >= 0; index--) {
      const word = FIRST_TASK + index
      if (Atomics.compareExchange(words, word, base + FREE, base + TAKEN) !== base + FREE) continue
      let state = FAILED
      try {
        const { result, transfer } = work(tasks[index]!)
        if (result !== undefined)
          this.port.postMessage({ round, index, result } satisfies TaskAnswer, [...transfer])
        state = DONE
      } catch {
        // The owner does it again, and sees the fault itself where it lies in the task.
      }
      Atomics.store(words, word, base + state)
      Atomics.notify(words, word)
    }
  }
}

/** Error codes of this module. */
export type TaskBoardErrorCode =
  /** A helping thread took a task and neither did it nor ended: memory that it may write to is not to be used again. */
  'TASK_HELPER_LOST'
