/**
 * Runs a workload on a database: blocks are made, executed, hashed and written, and the time of each part is taken.
 *
 *     Workload ─▶ BlockFeed (senders known, or recovered on threads, blocks ahead) ─▶ Pipeline.produce ─▶ close
 *                                                             without a pipeline: Engine.produce ─▶ flush
 *
 * Every transaction must be accepted and succeed, else the run fails.
 */
import { toHex, VarveError } from '../../base/index.ts'
import type { Header } from '../../codec/index.ts'
import {
  type Engine,
  openEngine,
  type Pipeline,
  type PipelineOptions,
  type Pushed,
  SenderPool,
} from '../../engine/index.ts'
import {
  type BlockJournal,
  type JournalSync,
  openLmdbStore,
  type Store,
} from '../../store/index.ts'
import { BATCH_MS, openDatabase } from '../database.ts'
import type { Watching } from '../metrics/watching.ts'
import { AccountBook, type AccountCounts, decodeCounts } from './accountBook.ts'
import { BlockFeed, type FeedOptions } from './blockFeed.ts'
import { copyDatabase } from './checkpoint.ts'
import { latencyOf, MemoryGauge, type RunReport, reportTimes } from './report.ts'
import { StageClock } from './stageClock.ts'
import { type ExecutorKind, watchedExecutor } from './watchedExecutor.ts'
import { type WeightedKind, Workload } from './workload.ts'

export type RunOptions = FeedOptions & {
  readonly folder: string
  /** Where the database is copied to before the run; without it the run goes on the database itself. */
  readonly checkpointFolder?: string
  readonly blockSize: number
  readonly transactionsPerSender: number
  /** How many accounts send; asked once the database is open. @throws UsageError */
  mainSignersOf(counts: AccountCounts): number
  readonly additionalDestinationCount: number
  readonly kinds: readonly WeightedKind[]
  readonly hotspotProbability: number
  readonly connectedGroupCount: number
  readonly shuffleConnected: boolean
  readonly moduleWorkingSet: number
  readonly executor: ExecutorKind
  /** Signs for real, and recovers. */
  readonly recoverSenders: boolean
  /** Threads that recover; as many as the machine runs at once, without it. */
  readonly recoverThreadCount?: number
  readonly verifyNonces: boolean
  readonly seed: number
  readonly sync: JournalSync
  /** Whether stages overlap. */
  readonly isPipelined: boolean
  /** Roots are made, and nothing is written: the database stays as it is. */
  readonly skipCommit: boolean
  readonly memoryBytes?: number
  /** Blocks behind the head whose states are kept; the engine's own number without it. */
  readonly historyBlocks?: number
  readonly onBlock?: (done: number) => void
  readonly watching?: Watching | undefined
}

const SECONDS_PER_BLOCK = 12n
const COINBASE = new Uint8Array(20).fill(0xcb)

/** @throws UsageError, VarveError EXECUTOR_*, TX_*, STORE_*, ENGINE_*, ARENA_CHUNKS_FULL where nothing is written */
export async function runExecutor(options: RunOptions): Promise<RunReport> {
  const { folder, checkpointFolder, skipCommit, sync } = options
  const checkpoint = checkpointFolder === undefined ? null : copyDatabase(folder, checkpointFolder)
  const target = checkpointFolder ?? folder
  if (skipCommit) {
    const store = openLmdbStore(target)
    try {
      return { ...(await runOn(store, options)), checkpoint }
    } finally {
      store.close()
    }
  }
  const { store, journal, close } = openDatabase(target, sync)
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
  const { executor, skipCommit, memoryBytes, historyBlocks, watching } = options
  const tally = { gas: 0n }
  const engine = await openEngine({
    store,
    blockExecutor: watchedExecutor(executor, tally),
    batchMilliseconds: BATCH_MS,
    writes: skipCommit ? 'on flush' : 'when due',
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(historyBlocks === undefined ? {} : { historyBlocks }),
    ...(journal === undefined ? {} : { journal }),
    ...(watching?.observer === undefined ? {} : { observer: watching.observer }),
  })
  watching?.attach(engine)
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
  const pool = options.recoverSenders ? new SenderPool(options.recoverThreadCount) : undefined
  try {
    const feed = new BlockFeed(workload, options, pool)
    const isJournaled = journal !== undefined
    // A store that only this thread can open has its stages here.
    const isThreaded = options.isPipelined && store.shared !== undefined
    const run = await measuredRun({ engine, workload, feed, isThreaded, isJournaled }, options)
    return reportOf(run, { counts, gas: tally.gas, options })
  } finally {
    await pool?.close()
  }
}

type RunParts = {
  readonly engine: Engine
  readonly workload: Workload
  readonly feed: BlockFeed
  readonly isThreaded: boolean
  readonly isJournaled: boolean
}

/** Runs all blocks, through a pipeline where that is asked for, and ends it whatever happens. */
async function measuredRun(parts: RunParts, options: RunOptions) {
  const { engine, workload, feed } = parts
  const { isPipelined, skipCommit, verifyNonces } = options
  feed.prepare()
  const pipeline = isPipelined ? engine.pipeline(skipCommit ? WITHOUT_WRITES : {}) : undefined
  try {
    const run = await timedRun(parts, options, pipeline)
    return { ...run, noncesVerified: verifyNonces ? checkNonces(engine, workload) : null }
  } finally {
    await pipeline?.close()
  }
}

/** The write at a pipeline's end, the only one there is then, leaves nothing: the engine is not asked after it. */
const WITHOUT_WRITES: PipelineOptions = {
  through: ({ summary, commit }) => ({
    summary,
    commit: { write: async () => 0, close: () => commit.close() },
  }),
}

/**
 * Takes the time of everything from the first block, or from its making where that is not done ahead, to the last
 * write, or to the last root where nothing is written.
 */
async function timedRun(
  { engine, feed, isThreaded, isJournaled }: RunParts,
  { blocks, onBlock, skipCommit, watching }: RunOptions,
  pipeline: Pipeline | undefined,
) {
  const latencies: number[] = []
  const roots: string[] = []
  const memory = new MemoryGauge()
  let { timestamp } = engine.head.header
  let last: Pushed | undefined
  const clock = new StageClock(engine, feed, { isThreaded, isCommitted: !skipCommit })
  await feed.recoverAhead()
  for (let done = 1; done <= blocks; done++) {
    const { transactions, senders } = await feed.next()
    const blockStart = performance.now()
    timestamp += SECONDS_PER_BLOCK
    const choices = { coinbase: COINBASE, timestamp, transactions }
    const finish = ({ stateRoot }: Header): void => {
      latencies[done - 1] = performance.now() - blockStart
      roots[done - 1] = toHex(stateRoot)
      memory.sample(engine.status.layerBytes)
      onBlock?.(done)
    }
    if (pipeline === undefined) finish(engine.produce(choices, 'latest', senders).header)
    else {
      last = await pipeline.produce(choices, senders)
      // A block that fails fails the next call.
      last.accepted.then(({ block }) => finish(block.header)).catch(() => undefined)
    }
    await watching?.rest()
  }
  if (skipCommit) {
    await pipeline?.drain()
    await last?.accepted
    const { seconds } = clock
    return { ...clock.times(), seconds, durableSeconds: null, latencies, roots, memory }
  }
  // Without a journal a block is durable with its write alone.
  if (!isJournaled) await pipeline?.flush()
  await last?.durable()
  const durableSeconds = clock.seconds
  if (pipeline === undefined) engine.flush()
  else await pipeline.flush()
  const { seconds } = clock
  return { ...clock.times(), seconds, durableSeconds, latencies, roots, memory }
}

function reportOf(
  run: Awaited<ReturnType<typeof measuredRun>>,
  what: { readonly counts: AccountCounts; readonly gas: bigint; readonly options: RunOptions },
): RunReport {
  const { counts, gas, options } = what
  const { seconds, durableSeconds, latencies, roots, memory, noncesVerified } = run
  const transactions = options.blocks * options.blockSize
  return {
    database: counts,
    executor: options.executor,
    pipeline: options.isPipelined ? 'on' : 'off',
    kinds: options.kinds.map(({ kind }) => kind),
    checkpoint: null,
    isCommitted: !options.skipCommit,
    blocks: options.blocks,
    transactions,
    seconds,
    tps: transactions / seconds,
    durableSeconds,
    durableTps: durableSeconds === null ? null : transactions / durableSeconds,
    gas,
    gasPerSecond: Number(gas) / seconds,
    latencyMs: latencyOf(latencies),
    ...reportTimes(run, { transactions, gas, seconds }),
    roots,
    noncesVerified,
    memory: memory.report(),
  }
}

/** Returns how many accounts were looked at. */
function checkNonces(engine: Engine, workload: Workload): number {
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
  /** An account has not the nonce that follows from what it sent. */
  'EXECUTOR_NONCE_WRONG'
