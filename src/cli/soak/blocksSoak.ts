/**
 * Blocks through a pipeline for so many minutes, with all that happens to a chain on the way: new accounts, tokens, swaps,
 * storage, refused blocks, branches, a pipeline that is closed and opened anew. The database grows, memory must not.
 */
import { assert, isVarveError } from '../../base/index.ts'
import { type Block, sealHeader } from '../../codec/index.ts'
import { type Engine, openEngine, type Pipeline } from '../../engine/index.ts'
import type { JournalSync } from '../../store/index.ts'
import { openDatabase } from '../database.ts'
import { AccountBook } from '../executor/accountBook.ts'
import { createDatabase } from '../executor/createDatabase.ts'
import type { TransactionKind } from '../executor/kinds.ts'
import { Workload, type WorkloadBlock } from '../executor/workload.ts'

export type BlocksSoakOptions = {
  /** Where the database is made; must be empty or not there. */
  readonly folder: string
  readonly minutes: number
  readonly memoryBytes: number
  readonly sync: JournalSync
  readonly seed: number
  /** @param share of the time, 0 to 1 */
  readonly onBlock: (share: number, blocks: number) => void
}

export type BlocksSoakReport = {
  readonly blocks: number
  readonly transactions: number
  readonly seconds: number
  readonly blocksPerSecond: number
  readonly refusedBlocks: number
  readonly branches: number
  readonly reopenings: number
  /** Of the tables in the end. */
  readonly databaseBytes: number
}

const COUNTS = { accounts: 20_000, signers: 2_000, moduleCopies: 1 }
const BALANCE = 10n ** 24n
const KINDS: readonly (readonly [kind: TransactionKind, weight: number])[] = [
  ['native-transfer', 8],
  ['account-generation', 2],
  ['erc20-transfer', 4],
  ['hot-slot', 2],
  ['storage-write-32', 2],
  ['storage-write-1k', 1],
  ['amm-swap', 2],
]
const BLOCK_SIZE = 60
/** Writes come so often that a short soak sees many. */
const BATCH_MS = 1000
/** Every so many blocks, a block is tried on a branch, and a spoiled one refused, before the real one. */
const DETOUR_PERIOD = 20
const REOPEN_PERIOD = 500
const COINBASE = new Uint8Array(20).fill(0xcb)
const SECONDS_PER_BLOCK = 12n

/** @throws VarveError STORE_*, JOURNAL_*, ENGINE_* */
export async function soakBlocks(options: BlocksSoakOptions): Promise<BlocksSoakReport> {
  const { folder, sync, memoryBytes } = options
  createDatabase({ ...COUNTS, folder, balance: BALANCE })
  const { store, journal, close } = openDatabase(folder, sync)
  try {
    const engine = await openEngine({ store, journal, memoryBytes, batchMilliseconds: BATCH_MS })
    const report = await new BlocksSoak(engine, options).run()
    const databaseBytes = store.tableStats().reduce((sum, { bytes }) => sum + bytes, 0)
    return { ...report, databaseBytes }
  } finally {
    close()
  }
}

class BlocksSoak {
  private readonly engine: Engine
  private readonly options: BlocksSoakOptions
  private readonly workload: Workload
  private pipeline: Pipeline
  private blocks = 0
  private refusedBlocks = 0
  private branches = 0
  private reopenings = 0

  constructor(engine: Engine, options: BlocksSoakOptions) {
    this.engine = engine
    this.options = options
    this.workload = workloadOf(engine, options.seed)
    this.pipeline = engine.pipeline()
  }

  async run(): Promise<Omit<BlocksSoakReport, 'databaseBytes'>> {
    const { minutes, onBlock } = this.options
    const startMs = performance.now()
    const seconds = () => (performance.now() - startMs) / 1000
    try {
      while (seconds() < 60 * minutes) {
        const block = this.workload.next()
        this.blocks++
        if (this.blocks % REOPEN_PERIOD === 0) await this.reopen()
        if (this.blocks % DETOUR_PERIOD === 0) await this.detour(block)
        const { transactions, senders } = block
        const timestamp = SECONDS_PER_BLOCK * BigInt(this.blocks + 1)
        await this.pipeline.produce({ coinbase: COINBASE, timestamp, transactions }, senders)
        onBlock(seconds() / (60 * minutes), this.blocks)
      }
      await this.pipeline.drain()
      const { number } = this.engine.head.header
      assert(number === this.blocks, 'soak: every block was accepted')
    } finally {
      await this.pipeline.close()
    }
    const { blocks, refusedBlocks, branches, reopenings } = this
    return {
      ...{ blocks, transactions: blocks * BLOCK_SIZE, seconds: seconds() },
      ...{ blocksPerSecond: blocks / seconds(), refusedBlocks, branches, reopenings },
    }
  }

  private async reopen(): Promise<void> {
    await this.pipeline.close()
    this.pipeline = this.engine.pipeline()
    this.reopenings++
  }

  /** The next block on a branch, and with a wrong root through the pipeline: neither may leave anything behind. */
  private async detour({ transactions, senders }: WorkloadBlock): Promise<void> {
    await this.pipeline.drain()
    const branch = this.engine.at('latest').fork()
    branch.execute(transactions, { senders })
    const other = branch.fork()
    const block = other.block()
    other.release()
    branch.release()
    this.branches += 2
    assert(block !== undefined, 'soak: a branch has its block')
    const stateRoot = new Uint8Array(32).fill(0xee)
    const spoiled: Block = { ...block, header: sealHeader({ ...block.header, stateRoot }) }
    const { accepted } = await this.pipeline.push(spoiled, senders)
    const fault = await accepted.then(
      () => undefined,
      (error: unknown) => error,
    )
    if (!isVarveError(fault, 'BLOCK_STATE_ROOT_MISMATCH')) throw fault
    this.refusedBlocks++
  }
}

function workloadOf(engine: Engine, seed: number): Workload {
  return new Workload({
    book: new AccountBook(COUNTS),
    chainId: engine.spec.chainId,
    blockSize: BLOCK_SIZE,
    transactionsPerSender: 3,
    mainSignerCount: COUNTS.signers,
    additionalDestinationCount: COUNTS.accounts - COUNTS.signers,
    kinds: KINDS.map(([kind, weight]) => ({ kind, weight })),
    hotspotProbability: 0.5,
    connectedGroupCount: 0,
    shuffleConnected: false,
    moduleWorkingSet: 1,
    seed,
    run: 0,
    isSigned: false,
    nonceOf: (address) => engine.at('latest').account(address)?.nonce ?? 0n,
  })
}
