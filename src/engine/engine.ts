/**
 * The face of the package: a chain's blocks go in, verified state comes out, durable on a store.
 *
 *     open ─▶ import(block) … ─▶ flush ─▶ close          at('latest') ─▶ view: account, storage, proof, root
 *                  │
 *                  ├─ refused: throws with a code, the engine stands where it stood
 *                  └─ accepted: in memory at once, in the store with the next write
 *
 * A write holds a batch of blocks with all that belongs to them and the head record, in one transaction: a process
 * that dies leaves the store at the end of some batch. Between writes a block lives in memory only; the block
 * journal that closes this gap hooks into `accept`.
 */
import { bytesEqual, EMPTY_TRIE_ROOT, toHex, VarveError } from '../base/index.ts'
import {
  ANCESTOR_COUNT,
  AncestorWindow,
  type ChainSpec,
  checkGenesisHash,
  type Genesis,
  type HeaderChoices,
  headerAfter,
  isMergedAfter,
  receiptFields,
  totalDifficulty as totalDifficultyOf,
} from '../chain/index.ts'
import { type Block, type Header, SenderRecovery, sealHeader } from '../codec/index.ts'
import { BlockRoots, StateSummary, storedNodes } from '../commit/index.ts'
import { Machine, type PrecompileSet } from '../evm/index.ts'
import { requestsHash } from '../execute/index.ts'
import { FlatState, PendingState, type StateDelta } from '../state/index.ts'
import { type Store, WriteBatch } from '../store/index.ts'
import {
  type CheckContext,
  type CheckedBlock,
  checkBlock,
  checkRoot,
  runBlock,
} from './blockCheck.ts'
import {
  type BlockRecord,
  type ChainIdentity,
  emptyBody,
  putBlock,
  putHead,
  putIdentity,
  readCanonicalHash,
  readHead,
  readIdentity,
  readStoredBody,
  readStoredHeader,
  type StoredHeader,
} from './chainRecords.ts'
import { buildGenesis } from './genesisState.ts'
import { PhaseClock, type PhaseSeconds } from './phases.ts'
import { putFlatState, putNodes } from './stateBatch.ts'
import { EngineView } from './view.ts'

/** Blocks in one write, unless a limit below is met first. */
const BATCH_BLOCK_COUNT = 4096
/** Milliseconds from a block's acceptance to its write, at most, while blocks keep coming. */
const BATCH_MS_MAX = 2000

export type EngineOptions = {
  /** Where the chain lies, or will lie. The engine does not close it. */
  readonly store: Store
  /**
   * The chain's beginning. Needed where the store is empty; where it is not, the genesis must be that of the store.
   */
  readonly genesis?: Genesis
  /** Blocks in one write, 1 up. */
  readonly batchBlockCount?: number
  /** Precompiles of the protocol, unless the chain was made under a draft. */
  readonly precompileSet?: PrecompileSet
}

/** A block that was accepted and is not in the store yet. */
type Unwritten = {
  readonly number: number
  readonly hash: Uint8Array
  readonly delta: StateDelta
}

/**
 * Opens a chain on a store. An empty store is not written to before the first `flush`. Importing is faster after
 * `preparePrecompiles` of `evm/`.
 * @throws VarveError ENGINE_GENESIS_MISSING, ENGINE_CHAIN_MISMATCH, GENESIS_HASH_MISMATCH, ENGINE_RECORD_INVALID,
 *   ENGINE_SCHEMA_UNKNOWN, ENGINE_BLOCK_MISSING, ENGINE_BLOCK_INVALID, SECP256K1_UNAVAILABLE
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  return new Engine(options, await SenderRecovery.open())
}

export class Engine {
  readonly spec: ChainSpec
  readonly genesisHash: Uint8Array
  private readonly store: Store
  /** Where the time goes; whoever reads and decodes blocks for this engine books its part here. */
  readonly clock = new PhaseClock()
  private readonly pending: PendingState
  private readonly batch = new WriteBatch()
  private readonly batchBlockCount: number
  private readonly machine = new Machine()
  private readonly recovery: SenderRecovery
  private readonly precompileSet: PrecompileSet | undefined
  private summary: StateSummary
  private ancestors: AncestorWindow
  private headBlock: StoredHeader
  private unwritten: Unwritten[] = []
  private identityUnwritten: ChainIdentity | undefined
  private lastWriteMs = performance.now()
  private failure: unknown

  /** Use `openEngine`. */
  constructor(options: EngineOptions, recovery: SenderRecovery) {
    const { store, genesis, batchBlockCount = BATCH_BLOCK_COUNT } = options
    this.store = store
    this.recovery = recovery
    this.precompileSet = options.precompileSet
    this.batchBlockCount = batchBlockCount
    this.pending = new PendingState(new FlatState(store))
    const identity = readIdentity(store)
    if (identity === undefined) {
      this.summary = new StateSummary(storedNodes(store), EMPTY_TRIE_ROOT)
      this.ancestors = new AncestorWindow()
      this.headBlock = this.startChain(genesis)
      this.spec = genesis!.spec
      this.genesisHash = this.headBlock.header.hash
    } else {
      this.spec = identity.spec
      this.genesisHash = identity.genesisHash
      if (genesis !== undefined) checkSameChain(store, identity, genesis)
      this.headBlock = readHeadBlock(store)
      this.summary = new StateSummary(storedNodes(store), this.headBlock.header.stateRoot)
      this.ancestors = readAncestors(store, this.headBlock.header)
    }
  }

  /** The newest accepted block and the difficulty of the chain up to it. */
  get head(): StoredHeader {
    return this.headBlock
  }

  /** False once a write has failed. */
  get isUsable(): boolean {
    return this.failure === undefined
  }

  /** Time spent so far, by phase. */
  get phases(): PhaseSeconds {
    return this.clock.seconds()
  }

  /**
   * Verifies a block on top of the head and accepts it. Every 4,096 blocks, and at least every two seconds while
   * blocks come, what was accepted is written.
   * @param senders of the transactions, where `SenderPool` has recovered them from these signatures
   * @throws VarveError with the code of the broken rule; the engine then stands where it stood
   */
  import(block: Block, senders?: readonly Uint8Array[]): void {
    this.checkUsable()
    const checked = this.withRoots((roots) => {
      const found = checkBlock(block, { ...this.checkContext(roots), senders })
      this.clock.measure('root', () => checkRoot(block, found.outcome, roots))
      return found
    })
    this.acceptBlock(block, checked)
  }

  /**
   * Makes the next block and accepts it as `import` would. The way of chains that have no other maker: demonstrations,
   * simulators, tests.
   * @throws VarveError with the code of the rule that the choices break; the engine then stands where it stood
   */
  produce(choices: HeaderChoices): Block {
    this.checkUsable()
    const { header: parent, totalDifficulty } = this.headBlock
    const isMerged = isMergedAfter(this.spec.schedule, totalDifficulty)
    const fields = headerAfter(parent, this.spec, {
      ...choices,
      ...(isMerged === undefined ? {} : { isMerged }),
    })
    const { transactions = [], uncles = [], withdrawals = [] } = choices
    const lists = { transactions, uncles }
    const body = fields.withdrawalsRoot === undefined ? lists : { ...lists, withdrawals }
    const draft: Block = { header: sealHeader(fields), ...body }
    const { outcome, stateRoot } = this.withRoots((roots) => {
      const outcome = runBlock(draft, this.checkContext(roots))
      return { outcome, stateRoot: roots.rootAfter(outcome.delta) }
    })
    const { receipts, requests } = outcome
    const header = sealHeader({
      ...fields,
      ...receiptFields(receipts),
      ...(requests === undefined ? {} : { requestsHash: requestsHash(requests) }),
      stateRoot,
    })
    const block = { header, ...body }
    this.acceptBlock(block, {
      outcome,
      totalDifficulty: totalDifficultyOf(totalDifficulty, header.difficulty),
    })
    return block
  }

  /**
   * Writes all accepted blocks, with their state and the head record, in one transaction.
   * @throws VarveError STORE_*; the store is then as it was, and the engine must be opened anew
   */
  flush(): void {
    this.checkUsable()
    this.lastWriteMs = performance.now()
    if (this.unwritten.length === 0) return
    this.clock.measure('write', () => {
      try {
        this.fillBatch()
        this.store.write(this.batch)
      } catch (error) {
        this.failure = error
        throw error
      } finally {
        this.batch.clear()
      }
    })
    this.pending.markPersisted()
    this.unwritten = []
    this.identityUnwritten = undefined
  }

  /**
   * The state after a block. So far the newest one is kept.
   * @throws VarveError ENGINE_STATE_NOT_KEPT for any other block
   */
  at(block: 'latest' | number): EngineView {
    this.checkUsable()
    const { number } = this.headBlock.header
    if (block !== 'latest' && block !== number)
      throw new VarveError(
        'ENGINE_STATE_NOT_KEPT',
        `the state of block ${block} is not kept: the head is at block ${number}`,
        { number: block, head: number },
      )
    return new EngineView({
      state: this.pending,
      // Read at each call: a refused block makes the engine open a new summary.
      summary: () => this.summary,
      head: () => this.headBlock.header,
    })
  }

  /** Hash of the canonical block at a height, or `undefined` above the head. */
  canonicalHash(number: number): Uint8Array | undefined {
    const first = this.unwritten[0]?.number
    if (first !== undefined && number >= first) return this.unwritten[number - first]?.hash
    return readCanonicalHash(this.store, number)
  }

  /** Accepts block 0 of an empty store. */
  private startChain(genesis: Genesis | undefined): StoredHeader {
    if (genesis === undefined)
      throw new VarveError(
        'ENGINE_GENESIS_MISSING',
        `${this.store.description} is empty: a genesis is needed to start a chain`,
      )
    const { header, delta } = buildGenesis(genesis, this.summary)
    checkGenesisHash(header, genesis.spec.genesisHash)
    const record = {
      header,
      totalDifficulty: header.difficulty,
      body: emptyBody(header),
      receipts: [],
    }
    this.accept(record, delta)
    this.identityUnwritten = { genesisHash: header.hash, spec: genesis.spec }
    return record
  }

  private checkContext(roots: BlockRoots): CheckContext {
    return {
      spec: this.spec,
      parent: this.headBlock,
      ancestors: this.ancestors,
      view: this.pending,
      // An ancestor of the block at hand is always there.
      blockHash: (number) => this.canonicalHash(Number(number))!,
      machine: this.machine,
      recovery: this.recovery,
      precompileSet: this.precompileSet,
      roots,
      clock: this.clock,
    }
  }

  /** Works on the roots of the next block; where that throws, the summary is as it was before. */
  private withRoots<Result>(work: (roots: BlockRoots) => Result): Result {
    const roots = new BlockRoots(this.summary)
    try {
      return work(roots)
    } catch (error) {
      if (roots.hasStarted) this.reopenSummary()
      throw error
    }
  }

  private acceptBlock(block: Block, { outcome, totalDifficulty }: CheckedBlock): void {
    const { header } = block
    this.accept({ header, body: block, totalDifficulty, receipts: outcome.receipts }, outcome.delta)
    if (this.isWriteDue()) this.flush()
  }

  /** Makes a verified block the head. The journal of accepted blocks, once there is one, is written here. */
  private accept(record: BlockRecord, delta: StateDelta): void {
    this.pending.apply(delta)
    // Its rows go into the batch at once: what is kept of a block until the write is bytes, not objects.
    putBlock(this.batch, record)
    const { number, hash } = record.header
    this.unwritten.push({ number, hash, delta })
    this.headBlock = record
    this.ancestors.push({
      header: record.header,
      uncleHashes: record.body.uncles.map((uncle) => uncle.hash),
    })
  }

  private isWriteDue(): boolean {
    return (
      this.unwritten.length >= this.batchBlockCount ||
      performance.now() - this.lastWriteMs >= BATCH_MS_MAX
    )
  }

  private fillBatch(): void {
    const { batch } = this
    putNodes(batch, this.summary.collect())
    putFlatState(batch, this.pending)
    if (this.identityUnwritten !== undefined) putIdentity(batch, this.identityUnwritten)
    const { number, hash, stateRoot } = this.headBlock.header
    putHead(batch, { number, hash, stateRoot })
  }

  /** Drops a summary that a refused block has touched: the stored one, with the accepted deltas on top. */
  private reopenSummary(): void {
    const root =
      this.identityUnwritten === undefined ? readHead(this.store).stateRoot : EMPTY_TRIE_ROOT
    this.summary = new StateSummary(storedNodes(this.store), root)
    for (const { delta } of this.unwritten) this.summary.update(delta)
  }

  private checkUsable(): void {
    if (this.failure !== undefined)
      throw new VarveError(
        'ENGINE_FAILED',
        'an earlier write failed: open the engine anew, it continues at the last block in the store',
        {},
        { cause: this.failure },
      )
  }
}

/** Compares by the hash that is known beforehand, else by the block that the genesis makes. */
function checkSameChain(store: Store, identity: ChainIdentity, genesis: Genesis): void {
  const given =
    genesis.spec.genesisHash ??
    buildGenesis(genesis, new StateSummary(storedNodes(store), EMPTY_TRIE_ROOT)).header.hash
  if (!bytesEqual(given, identity.genesisHash))
    throw new VarveError(
      'ENGINE_CHAIN_MISMATCH',
      `the database is of another chain: expected genesis ${toHex(given)}, got ${toHex(identity.genesisHash)}`,
      { expected: toHex(given), found: toHex(identity.genesisHash) },
    )
}

function readHeadBlock(store: Store): StoredHeader {
  const head = readHead(store)
  const block = readStoredHeader(store, head.number, head.hash)
  if (!bytesEqual(block.header.stateRoot, head.stateRoot))
    throw new VarveError(
      'ENGINE_RECORD_INVALID',
      `the record "head" says state root ${toHex(head.stateRoot)}, the header of block ${head.number} ${toHex(block.header.stateRoot)}`,
      { record: 'head' },
    )
  return block
}

/** The last blocks up to the head, for the uncle rules. */
function readAncestors(store: Store, head: Header): AncestorWindow {
  const window = new AncestorWindow()
  for (
    let number = Math.max(0, head.number - ANCESTOR_COUNT + 1);
    number <= head.number;
    number++
  ) {
    const hash = readCanonicalHash(store, number)
    if (hash === undefined)
      throw new VarveError(
        'ENGINE_BLOCK_MISSING',
        `block ${number}: no canonical block in the store`,
        { number },
      )
    const { header } = readStoredHeader(store, number, hash)
    const { uncles } = readStoredBody(store, header)
    window.push({ header, uncleHashes: uncles.map((uncle) => uncle.hash) })
  }
  return window
}

/** Error codes of this module. */
export type EngineErrorCode =
  /** The store is empty and no genesis was given. */
  | 'ENGINE_GENESIS_MISSING'
  /** The store holds another chain than the genesis given. */
  | 'ENGINE_CHAIN_MISMATCH'
  /** A write failed; this engine takes no more calls. */
  | 'ENGINE_FAILED'
