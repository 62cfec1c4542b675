/**
 * Runs blockchain tests through the engine, as a node would meet their blocks: imported in order, each accepted or
 * refused for the expected reason; then head and state are compared in full.
 */
import { bytesEqual, isVarveError, toHex, type VarveError } from '../../base/index.ts'
import { type EthashVerifier, openEthash, transactionsRootOf } from '../../chain/index.ts'
import { type Block, encodeBlock, type Header, sealHeader } from '../../codec/index.ts'
import {
  describeDifference,
  type Engine,
  type EngineOptions,
  openEngine,
  verifyStore,
} from '../../engine/index.ts'
import { Machine, type PrecompileSet, preparePrecompiles } from '../../evm/index.ts'
import { isTransactionRejection } from '../../execute/index.ts'
import { Prng } from '../../measure/index.ts'
import { memoryStore, type Store } from '../../store/index.ts'
import { isExpectedException, isTransactionException } from '../testfiles/expectedException.ts'
import type { TestResult } from '../testfiles/messages.ts'
import { RootCalculator } from '../testfiles/preState.ts'
import type { BlockTest, TestBlock } from './blockTest.ts'
import { asFault, type BlockWay, type Fault, InlineWay } from './blockWay.ts'
import { bytesOf, PipelinedWay, seedOf } from './pipelinedWay.ts'
import { accountsDifference, rootOfAccounts } from './postState.ts'

/** How one test ended; the shape of a row of `--json`. */
export type BlockTestResult = TestResult & {
  /** Of the head; empty where no chain could be opened. */
  readonly stateRoot: string
  /** Hash of the head; empty where no chain could be opened. */
  readonly lastBlockHash: string
}

/** Sees each block before the engine does, with the engine at the block's parent or wherever its head is. */
export type BlockObserver = {
  /**
   * @returns called after the import with the engine's fault, if any; what it finds wrong is its result, `undefined` where
   *   all is as it should be
   */
  watch(
    block: Block,
    engine: Engine,
    entry: TestBlock,
  ): (fault: VarveError | undefined) => string | undefined
}

/** How blocks come in. `on` and `delayed` are held against `off`; see `pipelinedWay.ts`. */
export type PipelineMode =
  | { readonly kind: 'off' | 'on' }
  /** Every stage is late at random. */
  | { readonly kind: 'delayed'; readonly seed: number }

export type BlockTestRunOptions = {
  /** These precompiles, whatever the file says about its making. */
  readonly precompileSet?: PrecompileSet | undefined
  readonly observer?: BlockObserver | undefined
  /** `off` without it. */
  readonly pipeline?: PipelineMode | undefined
  /** As the engine takes it. */
  readonly memoryBytes?: number | undefined
}

/** Blocks of one write, at most, where stages are delayed: writes then come between the blocks of a short test. */
const DELAYED_BATCH_BLOCKS_MAX = 4
/** Stores up to this size are verified row by row; only worst cases that deploy thousands of contracts are bigger. */
const VERIFIED_BYTES_MAX = 64 * 1024 * 1024

/** Runs one test after another on one machine. Belongs to one thread. */
export class BlockTestRunner {
  private readonly machine = new Machine()
  private readonly roots = new RootCalculator()
  private seals: Promise<EthashVerifier> | undefined

  static async open(): Promise<BlockTestRunner> {
    await preparePrecompiles()
    return new BlockTestRunner()
  }

  /** A fault of the engine fails the test and not the run. */
  async run(test: BlockTest, options: BlockTestRunOptions = {}): Promise<BlockTestResult> {
    const { network: fork, name } = test
    const store = memoryStore()
    const engineOptions = await this.engineOptions(test, options)
    const openAnew = (other: Store) => openEngine({ ...engineOptions, store: other })
    let engine: Engine
    try {
      engine = await openAnew(store)
    } catch (error) {
      if (!isVarveError(error)) throw error
      const problem = `genesis: [${error.code}] ${error.message}`
      return { name, pass: false, fork, stateRoot: '', lastBlockHash: '', error: problem }
    }
    const { observer, pipeline = { kind: 'off' } } = options
    const seed = pipeline.kind === 'delayed' ? seedOf(pipeline.seed, name) : undefined
    const way =
      pipeline.kind === 'off'
        ? new InlineWay(engine)
        : new PipelinedWay(engine, { store, openAnew, seed, comparedBytesMax: VERIFIED_BYTES_MAX })
    const genesisFault = genesisProblem(test, engine.head.header)
    const blocksFault = await blocksProblem(test.blocks, { way, engine, observer })
    const wayFault = await way.finish()
    const problem = genesisFault ?? blocksFault ?? this.endProblem(test, engine, store) ?? wayFault
    const { stateRoot, hash } = engine.head.header
    return {
      name,
      pass: problem === undefined,
      fork,
      stateRoot: toHex(stateRoot),
      lastBlockHash: toHex(hash),
      ...(problem === undefined ? {} : { error: problem }),
    }
  }

  private async engineOptions(
    test: BlockTest,
    { precompileSet = test.precompileSet, pipeline, memoryBytes }: BlockTestRunOptions,
  ): Promise<Omit<EngineOptions, 'store'>> {
    const { genesis } = test
    const { machine } = this
    const seals = test.isSealed ? { seals: await this.openSeals() } : {}
    const memory = memoryBytes === undefined ? {} : { memoryBytes }
    const batch =
      pipeline?.kind === 'delayed'
        ? {
            batchBlockCount: new Prng(seedOf(pipeline.seed, test.name)).between(
              1,
              DELAYED_BATCH_BLOCKS_MAX,
            ),
          }
        : {}
    return { genesis, precompileSet, machine, ...seals, ...memory, ...batch }
  }

  /** One for all tests: its cache takes seconds to make. */
  private openSeals(): Promise<EthashVerifier> {
    this.seals ??= openEthash()
    return this.seals
  }

  /** What is wrong at the end, or `undefined`. */
  private endProblem(test: BlockTest, engine: Engine, store: Store): string | undefined {
    const { hash, number, stateRoot } = engine.head.header
    if (!bytesEqual(hash, test.lastBlockHash))
      return `expected head ${toHex(test.lastBlockHash)}, found block ${number} ${toHex(hash)}`
    const { post } = test
    if (post.kind === 'accounts') {
      const difference = accountsDifference(post.accounts, engine, store)
      if (difference !== undefined) return difference
      const root = rootOfAccounts(post.accounts, this.roots)
      return bytesEqual(root, stateRoot)
        ? undefined
        : `expected state root ${toHex(root)}, found ${toHex(stateRoot)}`
    }
    if (post.kind === 'root' && !bytesEqual(post.root, stateRoot))
      return `expected state root ${toHex(post.root)}, found ${toHex(stateRoot)}`
    // Without accounts to compare with, the flat rows have to make the root; hashing a gigabyte of code again is not due.
    if (bytesOf(store) > VERIFIED_BYTES_MAX) return undefined
    for (const difference of verifyStore(store)) return `store: ${describeDifference(difference)}`
    return undefined
  }
}

function genesisProblem({ genesisRlp }: BlockTest, header: Header): string | undefined {
  if (genesisRlp === undefined) return undefined
  const body = header.withdrawalsRoot === undefined ? {} : { withdrawals: [] }
  const found = encodeBlock({ header, transactions: [], uncles: [], ...body })
  return bytesEqual(found, genesisRlp)
    ? undefined
    : `expected genesis ${toHex(genesisRlp)}, found ${toHex(found)}`
}

type Means = {
  readonly way: BlockWay
  readonly engine: Engine
  readonly observer: BlockObserver | undefined
}

/** Hands all blocks over, then judges their answers. */
async function blocksProblem(
  blocks: readonly TestBlock[],
  means: Means,
): Promise<string | undefined> {
  const judges: Judge[] = []
  for (const block of blocks) judges.push(await handOver(block, means))
  for (const [index, judge] of judges.entries()) {
    const problem = await judge()
    if (problem !== undefined) return `block ${index}: ${problem}`
  }
  return undefined
}

/** Says what is wrong with what became of a block. */
type Judge = () => Promise<string | undefined>

async function handOver(entry: TestBlock, { way, engine, observer }: Means): Promise<Judge> {
  const { decode, expectException, hash } = entry
  let block: Block
  try {
    block = decode()
  } catch (error) {
    const problem = faultProblem(expectException, asFault(error))
    return async () => problem
  }
  if (hash !== undefined && !bytesEqual(hash, block.header.hash)) {
    const problem = `expected hash ${toHex(hash)}, found ${toHex(block.header.hash)}`
    return async () => problem
  }
  const judge = observer?.watch(block, engine, entry)
  const index = await way.hand(block)
  const isDeeper = expectException !== undefined && isTransactionException(expectException)
  if (judge === undefined && !isDeeper)
    return async () => faultProblem(expectException, await way.answer(index))
  // An observer has to meet the engine at the next block's parent, so this one's answer is waited for.
  const fault = await way.answer(index)
  const found = isDeeper ? await deeperFault(block, way, fault) : fault
  const problem = faultProblem(expectException, found) ?? judge?.(fault)
  return async () => problem
}

/**
 * Tools put a transaction into a finished block without a new root for the header. What is wrong with the transaction
 * shows once the header has it.
 */
async function deeperFault(block: Block, way: BlockWay, fault: Fault): Promise<Fault> {
  if (fault?.code !== 'BLOCK_TRANSACTIONS_ROOT_INVALID') return fault
  const transactionsRoot = transactionsRootOf(block.transactions)
  const header = sealHeader({ ...block.header, transactionsRoot })
  const deeper = await way.answer(await way.hand({ ...block, header }))
  return deeper !== undefined && isTransactionRejection(deeper) ? deeper : fault
}

function faultProblem(expected: string | undefined, fault: Fault): string | undefined {
  const found = fault === undefined ? 'the block was accepted' : `[${fault.code}] ${fault.message}`
  if (expected === undefined) return fault === undefined ? undefined : `refused: ${found}`
  if (fault !== undefined && isExpectedException(expected, fault.code)) return undefined
  return `expected ${expected}, found ${found}`
}
