/**
 * Runs a workload on a database: blocks are made, executed, hashed and written, and the time of each part is taken.
 *
 *     Workload ─▶ senders (by construction, or recovered on threads, blocks ahead) ─▶ Pipeline.produce ─▶ close
 *                                                                       without a pipeline: Engine.produce ─▶ flush
 *
 * Every transaction must be accepted and succeed, else the run fails.
 */
import { toHex, VarveError } from '../../base/index.ts'
import type { Header } from '../../codec/index.ts'
import {
  type Engine,
  openEngine,
  type Pipeline,
  type Pushed,
  SenderPool,
} from '../../engine/index.ts'
import { type BlockExecutor, executeBlock, executeTransfers } from '../../execute/index.ts'
import type { BlockJournal, JournalSync, Store } from '../../store/index.ts'
import { BATCH_MS, openDatabase } from '../database.ts'
import { AccountBook, type AccountCounts, decodeCounts } from './accountBook.ts'
import { copyDatabase } from './checkpoint.ts'
import { NATIVE_TOKEN } from './nativeToken.ts'
import { latencyOf, memoryOf, type RunReport, stagesOf } from './report.ts'
import { type WeightedKind, Workload, type WorkloadBlock } from './workload.ts'

export type RunOptions = {
  readonly folder: string
  /** Where the database is copied to before the run; without it the run goes on the database itself. */
  readonly checkpointFolder?: string
  readonly blocks: number
  readonly blockSize: number
  readonly transactionsPerSender: number
  /** How many accounts send; asked once the database is open. @throws UsageError */
  mainSignersOf(counts: AccountCounts): number
  readonly additionalDestinationCount: number
  readonly kinds: readonly WeightedKind[]
  readonly hotspotProbability: number
  readonly connectedGroupCount: number
  readonly shuffleConnected: boolean
  readonly executor: 'evm' | 'native'
  /** All blocks are made before the clock starts. */
  readonly generateThenExecute: boolean
  /** As that, and all senders are recovered before the first block is executed. */
  readonly splitStages: boolean
  /** Signs for real, and recovers. */
  readonly recoverSenders: boolean
  readonly verifyNonces: boolean
  readonly seed: number
  readonly sync: JournalSync
  /** Whether stages overlap. */
  readonly isPipelined: boolean
  readonly memoryBytes?: number
  readonly onBlock?: (done: number) => void
}

/** Blocks whose senders are recovered while another one is executed. */
const BLOCKS_AHEAD = 2
const SECONDS_PER_BLOCK = 12n
const COINBASE = new Uint8Array(20).fill(0xcb)

/** @throws UsageError, VarveError EXECUTOR_*, TX_*, STORE_*, ENGINE_* */
export async function runExecutor(options: RunOptions): Promise<RunReport> {
  const { folder, checkpointFolder } = options
  const checkpoint = checkpointFolder === undefined ? null : copyDatabase(folder, checkpointFolder)
  const { store, journal, close } = openDatabase(checkpointFolder ?? folder, options.sync)
  try {
    return { ...(await runOn(store, options, journal)), checkpoint }
  } finally {
    close()
  }
}

/** Runs on an open store, which then holds the blocks. */
export async function runOn(
  store: Store,
  options: RunOptions,
  journal?: BlockJournal,
): Promise<RunReport> {
  const tally = { gas: 0n }
  const blockExecutor = watchedExecutor(options.executor, tally)
  const memory = options.memoryBytes === undefined ? {} : { memoryBytes: options.memoryBytes }
  const engine = await openEngine({
    store,
    blockExecutor,
    batchMilliseconds: BATCH_MS,
    ...memory,
    ...(journal === undefined ? {} : { journal }),
  })
  const counts = decodeCounts(engine.header(0)!.header.extraData)
  const workload = new Workload({
    ...options,
    book: new AccountBook(counts),
    chainId: engine.spec.chainId,
    mainSignerCount: options.mainSignersOf(counts),
    run: engine.head.header.number,
    isSigned: options.recoverSenders,
    nonceOf: (address) => engine.at('latest').account(address)?.nonce ?? 0n,
  })
  const pool = options.recoverSenders ? new SenderPool() : undefined
  try {
    const feed = new BlockFeed(workload, options, pool)
    const run = await measuredRun(engine, feed, {
      ...options,
      isJournaled: journal !== undefined,
    })
    const noncesVerified = options.verifyNonces ? verifyNonces(engine, workload) : null
    const { seconds, durableSeconds, latencies, stages, roots } = run
    const transactions = options.blocks * options.blockSize
    return {
      database: counts,
      executor: options.executor,
      kinds: options.kinds.map(({ kind }) => kind),
      checkpoint: null,
      blocks: options.blocks,
      transactions,
      seconds,
      tps: transactions / seconds,
      durableSeconds,
      durableTps: transactions / durableSeconds,
      gas: tally.gas,
      gasPerSecond: Number(tally.gas) / seconds,
      latencyMs: latencyOf(latencies),
      stages: stagesOf(stages, transactions, seconds),
      roots,
      noncesVerified,
      memory: memoryOf(),
    }
  } finally {
    await pool?.close()
  }
}

/** Runs all blocks, through a pipeline where that is asked for, and ends it whatever happens. */
async function measuredRun(
  engine: Engine,
  feed: BlockFeed,
  options: RunOptions & { readonly isJournaled: boolean },
) {
  feed.prepare()
  const pipeline = options.isPipelined ? engine.pipeline() : undefined
  try {
    return await timedRun(engine, feed, { ...options, pipeline })
  } finally {
    await pipeline?.close()
  }
}

type TimedOptions = RunOptions & {
  readonly pipeline: Pipeline | undefined
  readonly isJournaled: boolean
}

/** Takes the time of everything from the first block, or from its making where that is not done ahead, to the last write. */
async function timedRun(
  engine: Engine,
  feed: BlockFeed,
  { blocks, onBlock, pipeline, isJournaled }: TimedOptions,
) {
  const latencies: number[] = []
  const roots: string[] = []
  let { timestamp } = engine.head.header
  let last: Pushed | undefined
  const start = performance.now()
  await feed.recoverAhead()
  for (let done = 1; done <= blocks; done++) {
    const { transactions, senders } = await feed.next()
    const blockStart = performance.now()
    timestamp += SECONDS_PER_BLOCK
    const choices = { coinbase: COINBASE, timestamp, transactions }
    const finish = ({ stateRoot }: Header): void => {
      latencies[done - 1] = performance.now() - blockStart
      roots[done - 1] = toHex(stateRoot)
      onBlock?.(done)
    }
    if (pipeline === undefined) finish(engine.produce(choices, 'latest', senders).header)
    else {
      last = await pipeline.produce(choices, senders)
      // A block that fails fails the next call.
      last.accepted.then(({ block }) => finish(block.header)).catch(() => undefined)
    }
  }
  // Without a journal a block is durable with its write alone.
  if (!isJournaled) await pipeline?.flush()
  await last?.durable()
  const durableSeconds = (performance.now() - start) / 1000
  const writtenBefore = engine.phases.write
  if (pipeline === undefined) engine.flush()
  else await pipeline.close()
  const seconds = (performance.now() - start) / 1000
  const { decode: _, ...phases } = engine.phases
  const stages = { ...feed.seconds, ...phases }
  // Latencies of blocks that overlap add up to nothing.
  if (pipeline !== undefined) return { seconds, durableSeconds, latencies, roots, stages }
  const blocksSeconds = latencies.reduce((sum, latency) => sum + latency, 0) / 1000
  const { validate, senders, execute, root } = phases
  // Headers, bodies and receipts of blocks that are made: their lists' roots, seals and rows.
  const seal = blocksSeconds - validate - senders - execute - root - writtenBefore
  return {
    ...{ seconds, durableSeconds, latencies, roots },
    stages: { ...stages, seal: Math.max(0, seal) },
  }
}

/** Gives the blocks with their senders, as far ahead as the options say. */
class BlockFeed {
  private readonly workload: Workload
  private readonly options: RunOptions
  private readonly pool: SenderPool | undefined
  private readonly made: WorkloadBlock[] = []
  private readonly ahead: Promise<WorkloadBlock>[] = []
  private madeCount = 0
  private readonly milliseconds = { generate: 0, recover: 0 }

  constructor(workload: Workload, options: RunOptions, pool: SenderPool | undefined) {
    this.workload = workload
    this.options = options
    this.pool = pool
  }

  /** Time of making blocks, and of waiting for their senders. */
  get seconds(): { readonly generate: number; readonly recover: number } {
    const { generate, recover } = this.milliseconds
    return { generate: generate / 1000, recover: recover / 1000 }
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
    const start = performance.now()
    this.send(this.options.blocks)
    await Promise.all(this.ahead)
    this.milliseconds.recover += performance.now() - start
  }

  async next(): Promise<WorkloadBlock> {
    if (this.pool === undefined) return this.made.shift() ?? this.make()
    this.send(BLOCKS_AHEAD + 1)
    const start = performance.now()
    const block = await this.ahead.shift()!
    this.milliseconds.recover += performance.now() - start
    return block
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
    const block = this.workload.next()
    this.madeCount++
    this.milliseconds.generate += performance.now() - start
    return block
  }
}

async function recovered(
  { transactions }: WorkloadBlock,
  pool: SenderPool,
): Promise<WorkloadBlock> {
  const senders = await pool.recover(transactions)
  if (senders === undefined)
    throw new VarveError<RunErrorCode>(
      'EXECUTOR_SENDER_MISSING',
      'expected a sender for each signed transaction, got none for some',
    )
  return { transactions, senders }
}

/** Fails on what no workload means to do. */
function watchedExecutor(kind: 'evm' | 'native', tally: { gas: bigint }): BlockExecutor {
  return (block, context) => {
    const outcome =
      kind === 'evm'
        ? executeBlock(block, context)
        : executeTransfers(block, context, [NATIVE_TOKEN])
    const { number } = block.header
    if (outcome === undefined) {
      // Where a transaction is refused, this says which and why.
      executeBlock(block, context)
      throw new VarveError<RunErrorCode>(
        'EXECUTOR_NOT_NATIVE',
        `block ${number}: expected transfers alone, got a transaction that takes the EVM`,
        { blockNumber: number },
      )
    }
    const index = outcome.receipts.findIndex((receipt) => receipt.outcome !== 1)
    if (index >= 0)
      throw new VarveError<RunErrorCode>(
        'EXECUTOR_TRANSACTION_FAILED',
        `block ${number}, transaction ${index}: expected success, got a failure`,
        { blockNumber: number, transactionIndex: index },
      )
    tally.gas += outcome.gasUsed
    return outcome
  }
}

/** Returns how many accounts were looked at. */
function verifyNonces(engine: Engine, workload: Workload): number {
  const view = engine.at('latest')
  let count = 0
  for (const { address, nonce } of workload.expectedNonces()) {
    const found = view.account(address)?.nonce
    if (found !== nonce)
      throw new VarveError<RunErrorCode>(
        'EXECUTOR_NONCE_WRONG',
        `account ${toHex(address)}: expected nonce ${nonce}, got ${found ?? 'no account'}`,
        { address: toHex(address), expected: nonce, found },
      )
    count++
  }
  return count
}

/** Error codes of this module. */
export type RunErrorCode =
  /** A sender could not be recovered from a signature that the run has made. */
  | 'EXECUTOR_SENDER_MISSING'
  /** The native executor met what is none of its transfers. */
  | 'EXECUTOR_NOT_NATIVE'
  /** A transaction of a workload reverted or ran out of gas. */
  | 'EXECUTOR_TRANSACTION_FAILED'
  /** An account has not the nonce that follows from what it sent. */
  | 'EXECUTOR_NONCE_WRONG'
