/**
 * Recovers senders on other threads, ahead of the execution that needs them. A signature takes longer than the transfer
 * that it allows, and needs nothing but itself.
 *
 *     blocks ─▶ queue of blocks ahead (bounded) ─▶ block with its senders, in order
 *                  └─▶ batches of transactions ─▶ threads ─┘
 *
 * A block whose senders cannot be had, be it for a signature or a thread that died, comes without them: the executor
 * then recovers itself, and names what is wrong.
 */
import type { Block, Transaction } from '../../codec/index.ts'
import { threadCountDefault, WorkerPool, workerUrl } from '../../threads/index.ts'
import { packTransactions, unpackSenders } from './senderBatch.ts'

/** Transactions in one hand-over: some 4 ms of work, beside which the hand-over does not count. */
const BATCH_COUNT = 64
/** A block with fewer transactions is not worth a hand-over. */
const SMALL_BLOCK_COUNT = 4
/** Blocks and bytes of transactions that are held ahead, at most; one block is always taken. */
const BLOCKS_AHEAD_MAX = 64
const BYTES_AHEAD_MAX = 8 * 1024 * 1024

/** A block and the 20-byte senders of its transactions, where they are known. */
export type SentBlock = {
  readonly block: Block
  readonly senders: readonly Uint8Array[] | undefined
}

/** A block on its way. `undefined` where its senders are left to the executor. */
type Ahead = {
  readonly block: Block
  readonly size: number
  readonly senders: Promise<readonly Uint8Array[] | undefined> | undefined
}

export class SenderPool {
  private readonly pool: WorkerPool<Uint8Array, Uint8Array>

  /** Threads start with their first work. @param threadCount as many as the machine runs at once, without it */
  constructor(threadCount = threadCountDefault()) {
    this.pool = new WorkerPool({
      entry: workerUrl(import.meta.url, './senders.worker'),
      threadCount,
      // What is queued is bounded by what is held ahead.
      queueCountMax: Number.MAX_SAFE_INTEGER,
    })
  }

  /** Milliseconds that threads have spent on recovering, all of them together. */
  get busyMilliseconds(): number {
    return this.pool.busyMilliseconds
  }

  /** Senders of some transactions, in their order; `undefined` where one has none, or the threads fail. */
  async recover(transactions: readonly Transaction[]): Promise<Uint8Array[] | undefined> {
    const batches: Promise<Uint8Array>[] = []
    for (let at = 0; at < transactions.length; at += BATCH_COUNT) {
      const packed = packTransactions(transactions.slice(at, at + BATCH_COUNT))
      batches.push(this.pool.run(packed, [packed.buffer]))
    }
    try {
      const senders = (await Promise.all(batches)).map(unpackSenders)
      return senders.every((batch) => batch !== undefined) ? senders.flat() : undefined
    } catch {
      return undefined
    }
  }

  /**
   * The blocks in their order, each with its senders. What the source throws is thrown after the blocks before it.
   * Leaving the iteration early leaves nothing behind but work that threads have begun.
   */
  async *withSenders(source: Iterable<Block>): AsyncGenerator<SentBlock, void> {
    const blocks = source[Symbol.iterator]()
    const queue: Ahead[] = []
    let size = 0
    let end: { readonly failure?: unknown } | undefined
    try {
      while (true) {
        while (end === undefined && (queue.length === 0 || isRoom(queue.length, size))) {
          const next = takeNext(blocks)
          if (!('block' in next)) {
            end = next
            break
          }
          const ahead = this.send(next.block)
          size += ahead.size
          queue.push(ahead)
        }
        const first = queue.shift()
        if (first === undefined) break
        size -= first.size
        const { block, senders } = first
        yield { block, senders: senders === undefined ? undefined : await senders }
      }
    } finally {
      blocks.return?.()
    }
    if (end !== undefined && 'failure' in end) throw end.failure
  }

  async close(): Promise<void> {
    await this.pool.close()
  }

  private send(block: Block): Ahead {
    const { transactions } = block
    const size = transactions.reduce((sum, { raw }) => sum + raw.length, 0)
    const senders = transactions.length < SMALL_BLOCK_COUNT ? undefined : this.recover(transactions)
    return { block, size, senders }
  }
}

function isRoom(blockCount: number, size: number): boolean {
  return blockCount < BLOCKS_AHEAD_MAX && size < BYTES_AHEAD_MAX
}

function takeNext(
  blocks: Iterator<Block>,
): { readonly block: Block } | { readonly failure?: unknown } {
  try {
    const next = blocks.next()
    return next.done === true ? {} : { block: next.value }
  } catch (failure) {
    return { failure }
  }
}
