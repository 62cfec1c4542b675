/**
 * The blocks of a run with their senders, in order: made ahead or as they are asked for, recovered on threads while
 * others execute, or known by construction.
 */
import { VarveError } from '../../base/index.ts'
import type { SenderPool } from '../../engine/index.ts'
import type { Workload, WorkloadBlock } from './workload.ts'

export type FeedOptions = {
  readonly blocks: number
  /** All blocks are made before the clock starts. */
  readonly generateThenExecute: boolean
  /** As that, and all senders are recovered before the first block is executed. */
  readonly splitStages: boolean
  /** Puts something between the workload and the run: faults, for tests. */
  readonly through?: (block: WorkloadBlock, index: number) => WorkloadBlock
}

/** Blocks whose senders are recovered while another one is executed. */
const BLOCKS_AHEAD = 2

export class BlockFeed {
  private readonly workload: Workload
  private readonly options: FeedOptions
  private readonly pool: SenderPool | undefined
  private readonly made: WorkloadBlock[] = []
  private readonly ahead: Promise<WorkloadBlock>[] = []
  private madeCount = 0
  private generateMs = 0

  /** @param pool recovers senders; without it they are those that the workload names */
  constructor(workload: Workload, options: FeedOptions, pool: SenderPool | undefined) {
    this.workload = workload
    this.options = options
    this.pool = pool
  }

  /** Seconds of making blocks, and of recovering, which is the sum over all threads. */
  get seconds(): { readonly generate: number; readonly recover: number } {
    const recoverMs = this.pool?.busyMilliseconds ?? 0
    return { generate: this.generateMs / 1000, recover: recoverMs / 1000 }
  }

  /** Makes what is to be made before the clock starts. */
  prepare(): void {
    const { generateThenExecute, splitStages, blocks } = this.options
    if (generateThenExecute || splitStages)
      while (this.madeCount < blocks) this.made.push(this.make())
  }

  /** Recovers what is to be recovered before the first block is executed. */
  async recoverAhead(): Promise<void> {
    if (!this.options.splitStages || this.pool === undefined) return
    this.send(this.options.blocks)
    await Promise.all(this.ahead)
  }

  async next(): Promise<WorkloadBlock> {
    if (this.pool === undefined) return this.made.shift() ?? this.make()
    this.send(BLOCKS_AHEAD + 1)
    return await this.ahead.shift()!
  }

  /** Sends blocks to the threads until so many are there or on their way. */
  private send(count: number): void {
    while (this.ahead.length < count) {
      if (this.made.length === 0 && this.madeCount === this.options.blocks) return
      const block = recovered(this.made.shift() ?? this.make(), this.pool!)
      // A run that fails leaves those behind that nobody waits for any more.
      block.catch(() => undefined)
      this.ahead.push(block)
    }
  }

  private make(): WorkloadBlock {
    const start = performance.now()
    const { through = (block) => block } = this.options
    const block = through(this.workload.next(), this.madeCount++)
    this.generateMs += performance.now() - start
    return block
  }
}

async function recovered(
  { transactions }: WorkloadBlock,
  pool: SenderPool,
): Promise<WorkloadBlock> {
  const senders = await pool.recover(transactions)
  if (senders === undefined)
    throw new VarveError<FeedErrorCode>(
      'EXECUTOR_SENDER_MISSING',
      'expected a sender for each signed transaction, got none for some',
    )
  return { transactions, senders }
}

/** Error codes of this module. */
export type FeedErrorCode =
  /** A sender could not be recovered from a signature that the run has made. */
  'EXECUTOR_SENDER_MISSING'
