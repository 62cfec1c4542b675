/**
 * Runs blockchain tests through the engine, as a node would meet their blocks: imported in order, each accepted or
 * refused for the expected reason; then head and state are compared in full.
 */
import { bytesEqual, isVarveError, toHex, type VarveError } from '../../base/index.ts'
import { type EthashVerifier, openEthash, transactionsRootOf } from '../../chain/index.ts'
import { type Block, encodeBlock, sealHeader } from '../../codec/index.ts'
import { describeDifference, type Engine, openEngine, verifyStore } from '../../engine/index.ts'
import { Machine, type PrecompileSet, preparePrecompiles } from '../../evm/index.ts'
import { isTransactionRejection } from '../../execute/index.ts'
import { memoryStore, type Store } from '../../store/index.ts'
import { isExpectedException, isTransactionException } from '../testfiles/expectedException.ts'
import type { TestResult } from '../testfiles/messages.ts'
import { RootCalculator } from '../testfiles/preState.ts'
import type { BlockTest, TestBlock } from './blockTest.ts'
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

export type BlockTestRunOptions = {
  /** These precompiles, whatever the file says about its making. */
  readonly precompileSet?: PrecompileSet | undefined
  readonly observer?: BlockObserver | undefined
}

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
    const store = memoryStore()
    const { genesis, network: fork, name } = test
    const { precompileSet = test.precompileSet, observer } = options
    const { machine } = this
    const seals = test.isSealed ? { seals: await this.openSeals() } : {}
    let engine: Engine
    try {
      engine = await openEngine({ store, genesis, precompileSet, machine, ...seals })
    } catch (error) {
      if (!isVarveError(error)) throw error
      const problem = `genesis: [${error.code}] ${error.message}`
      return { name, pass: false, fork, stateRoot: '', lastBlockHash: '', error: problem }
    }
    const problem =
      genesisProblem(test, engine) ??
      blocksProblem(test.blocks, engine, observer) ??
      this.endProblem(test, engine, store)
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
    engine.flush()
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
    if (storeBytes(store) > VERIFIED_BYTES_MAX) return undefined
    for (const difference of verifyStore(store)) return `store: ${describeDifference(difference)}`
    return undefined
  }
}

function storeBytes(store: Store): number {
  return store.tableStats().reduce((sum, { bytes }) => sum + bytes, 0)
}

function genesisProblem(test: BlockTest, engine: Engine): string | undefined {
  const { header } = engine.head
  const { genesisRlp } = test
  if (genesisRlp === undefined) return undefined
  const body = header.withdrawalsRoot === undefined ? {} : { withdrawals: [] }
  const found = encodeBlock({ header, transactions: [], uncles: [], ...body })
  return bytesEqual(found, genesisRlp)
    ? undefined
    : `expected genesis ${toHex(genesisRlp)}, found ${toHex(found)}`
}

function blocksProblem(
  blocks: readonly TestBlock[],
  engine: Engine,
  observer: BlockObserver | undefined,
): string | undefined {
  for (const [index, block] of blocks.entries()) {
    const problem = blockProblem(block, engine, observer)
    if (problem !== undefined) return `block ${index}: ${problem}`
  }
  return undefined
}

function blockProblem(
  entry: TestBlock,
  engine: Engine,
  observer: BlockObserver | undefined,
): string | undefined {
  const { decode, expectException, hash } = entry
  let block: Block
  try {
    block = decode()
  } catch (error) {
    return faultProblem(expectException, asFault(error))
  }
  if (hash !== undefined && !bytesEqual(hash, block.header.hash))
    return `expected hash ${toHex(hash)}, found ${toHex(block.header.hash)}`
  const judge = observer?.watch(block, engine, entry)
  const fault = importFault(block, engine)
  const isDeeper = expectException !== undefined && isTransactionException(expectException)
  const found = isDeeper ? deeperFault(block, engine, fault) : fault
  return faultProblem(expectException, found) ?? judge?.(fault)
}

function importFault(block: Block, engine: Engine): VarveError | undefined {
  try {
    engine.import(block)
    return undefined
  } catch (error) {
    return asFault(error)
  }
}

/**
 * Tools put a transaction into a finished block without a new root for the header. What is wrong with the transaction
 * shows once the header has it.
 */
function deeperFault(
  block: Block,
  engine: Engine,
  fault: VarveError | undefined,
): VarveError | undefined {
  if (fault?.code !== 'BLOCK_TRANSACTIONS_ROOT_INVALID') return fault
  const transactionsRoot = transactionsRootOf(block.transactions)
  const header = sealHeader({ ...block.header, transactionsRoot })
  const deeper = importFault({ ...block, header }, engine)
  return deeper !== undefined && isTransactionRejection(deeper) ? deeper : fault
}

/** A refusal. @throws what is a bug */
function asFault(error: unknown): VarveError {
  if (isVarveError(error)) return error
  throw error
}

function faultProblem(
  expected: string | undefined,
  fault: VarveError | undefined,
): string | undefined {
  const found = fault === undefined ? 'the block was accepted' : `[${fault.code}] ${fault.message}`
  if (expected === undefined) return fault === undefined ? undefined : `refused: ${found}`
  if (fault !== undefined && isExpectedException(expected, fault.code)) return undefined
  return `expected ${expected}, found ${found}`
}
