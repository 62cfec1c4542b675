/**
 * The face of the package: a chain's blocks go in, verified state comes out, durable on a store.
 *
 *     open ─▶ import(block) … ─▶ flush ─▶ close          at(block) ─▶ view: account, storage, proof, root
 *                  │
 *                  ├─ refused: throws with a code, the engine stands where it stood
 *                  └─ accepted: in memory at once, in the store with the next write
 *                       ├─ on top of the head: the new head
 *                       └─ elsewhere: a side block, and the head moves to it where its branch is the heavier one
 *
 * A write holds a batch of blocks with all that belongs to them and the head record, in one transaction: a process
 * that dies leaves the store at the end of some batch. Between writes a block lives in memory only.
 *
 * Not here: what is kept and how it moves (`tree/keptChain.ts`), rules (`chain/`), effects (`execute/`).
 */
import { bytesEqual, EMPTY_TRIE_ROOT, toHex, VarveError } from '../base/index.ts'
import {
  type ChainSpec,
  checkGenesisHash,
  type EthashVerifier,
  type Genesis,
  type HeaderChoices,
} from '../chain/index.ts'
import { type Block, type Receipt, SenderRecovery } from '../codec/index.ts'
import { StateSummary, storedNodes, TrieWatch } from '../commit/index.ts'
import { Machine, type PrecompileSet } from '../evm/index.ts'
import type { BlockExecutor } from '../execute/index.ts'
import type { BlockJournal, Store } from '../store/index.ts'
import { runBlock } from './blockCheck.ts'
import { BranchBases, type BranchStatus } from './branch/branchBases.ts'
import { type ChainIdentity, readIdentity, type StoredHeader } from './chainRecords.ts'
import { buildGenesis } from './genesisState.ts'
import type { ImportOutcome } from './importOutcome.ts'
import { Intake } from './intake.ts'
import { stateMemory } from './memory.ts'
import { PhaseClock, type PhaseSeconds } from './phases.ts'
import { Pipeline, type PipelineOptions } from './pipeline/pipeline.ts'
import { openStages, type Stages } from './pipeline/stages.ts'
import { type RecordedWitness, recordWitness } from './stateless/makeWitness.ts'
import type { BlockWitness } from './stateless/witness.ts'
import type { StateMemory } from './tree/chainState.ts'
import { KeptChain } from './tree/keptChain.ts'
import { stateNotKept } from './tree/keptState.ts'
import { type BlockId, blockOf, headerOf, nameOf, nodeOf, receiptsOf } from './tree/lookup.ts'
import { EngineView } from './view.ts'
import { EngineWatch } from './watch/blockWatch.ts'
import { type EngineStatus, engineStatus } from './watch/engineStatus.ts'
import type { EngineObserver } from './watch/observer.ts'

export type EngineOptions = {
  /** Where the chain lies, or will lie. The engine does not close it. */
  readonly store: Store
  /**
   * The chain's beginning. Needed where the store is empty; where it is not, the genesis must be that of the store.
   */
  readonly genesis?: Genesis
  /** Blocks in one write, 1 up. */
  readonly batchBlockCount?: number
  /**
   * Makes each accepted block durable by itself, so that writes may be few and large. What it has and the store lacks is
   * taken in when the engine opens. A store that has had one must have it again. The engine does not close it.
   */
  readonly journal?: BlockJournal
  /** Milliseconds from a block's acceptance to its write, at most, while blocks keep coming; 2,000 without it. */
  readonly batchMilliseconds?: number
  /**
   * When accepted blocks are written: as they become many, old or large, or by `flush` and by the end of a pipeline
   * alone. Then every change is held in memory until it is used up, which ends the engine with ARENA_CHUNKS_FULL.
   */
  readonly writes?: 'when due' | 'on flush'
  /**
   * How many blocks behind the head a state is kept: 0 up, 128 without it. As far back questions are answered and the
   * head can move. Cost: the change of each of these blocks in memory or in the store, no trie nodes. A smaller number
   * than before takes effect with the next block, a larger one as blocks come.
   */
  readonly historyBlocks?: number
  /**
   * Bytes that states may take: the layers of blocks that no write has passed, and accounts, slots and trie nodes that
   * were read; a sixteenth is for branches. 64 MiB up, 1 GiB without it. Blocks wait for a write before it is passed, a
   * branch refuses to go on.
   */
  readonly memoryBytes?: number
  /** Precompiles of the protocol, unless the chain was made under a draft. */
  readonly precompileSet?: PrecompileSet
  /** Verifies proofs of work; without it a seal is taken as given. Nothing can be produced under it. */
  readonly seals?: EthashVerifier
  /** Told of each block and each write. Without it nothing is counted. */
  readonly observer?: EngineObserver
  /** In the place of `executeBlock`; must give what that gives. */
  readonly blockExecutor?: BlockExecutor
  /** What blocks run on; may serve other engines, one block after the other. */
  readonly machine?: Machine
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
  /** Where the time goes; whoever reads and decodes blocks for this engine books its part here. */
  readonly clock = new PhaseClock()
  private readonly chain: KeptChain
  private readonly intake: Intake
  private readonly forks: BranchBases
  private readonly store: Store
  private readonly nodeBytesMax: number
  private readonly branchBytesMax: number
  private openPipeline: Pipeline | undefined
  private readonly watch: EngineWatch | undefined
  /** For witnesses and replays alone: it forgets the codes that the other one keeps from block to block. */
  private recorderMachine: Machine | undefined

  /** Use `openEngine`. */
  constructor(options: EngineOptions, recovery: SenderRecovery) {
    const { store, genesis, memoryBytes } = options
    const { states: memory, nodeBytesMax, branchBytesMax } = stateMemory(memoryBytes)
    this.store = store
    this.nodeBytesMax = nodeBytesMax
    this.branchBytesMax = branchBytesMax
    const { observer } = options
    const trie = observer === undefined ? undefined : new TrieWatch(observer.wantsCosts === true)
    const identity = readIdentity(store)
    if (identity === undefined) {
      this.chain = startChain(store, genesis, { memory, trie })
      this.spec = genesis!.spec
      this.genesisHash = this.chain.head.header.hash
    } else {
      this.spec = identity.spec
      this.genesisHash = identity.genesisHash
      if (genesis !== undefined) checkSameChain(store, identity, genesis)
      this.chain = KeptChain.open(store, memory, trie)
    }
    const { chain, spec, clock } = this
    this.watch =
      observer === undefined
        ? undefined
        : new EngineWatch(observer, {
            clock,
            trie: trie!,
            misses: () => chain.stateStatus.misses,
            replay: (block, senders, execute) => this.replay(block, senders, execute),
          })
    this.intake = new Intake({ chain, spec, clock, recovery, watch: this.watch }, options)
    this.forks = new BranchBases({ chain, spec, intake: this.intake, bytesMax: branchBytesMax })
    this.intake.replayJournal()
  }

  /** The newest block of the canonical chain and the difficulty of the chain up to it. */
  get head(): StoredHeader {
    return this.chain.head
  }

  /** Numbers of the canonical blocks whose states are kept, and how many side blocks have theirs kept besides. */
  get kept(): { readonly oldest: number; readonly newest: number; readonly sideCount: number } {
    const { floor, head, sideCount } = this.chain.tree
    return { oldest: floor.header.number, newest: head.header.number, sideCount }
  }

  /** Branches that are not released, and the bytes that their layers take together. */
  get branches(): BranchStatus {
    return this.forks.status
  }

  /** False once a write has failed. */
  get isUsable(): boolean {
    return this.intake.isUsable
  }

  /** How full everything is, at this moment. Cost: some reads of fields, and the sizes of the journal's files. */
  get status(): EngineStatus {
    const { chain, watch, nodeBytesMax, branchBytesMax, branches } = this
    const { journal } = this.intake
    const pipeline = this.openPipeline?.status
    return engineStatus({
      chain,
      journal,
      pipeline,
      branches,
      branchBytesMax,
      nodeBytesMax,
      watch,
    })
  }

  /** Time spent so far, by phase. */
  get phases(): PhaseSeconds {
    return this.clock.seconds()
  }

  /**
   * Verifies a block on top of any block whose state is kept, and accepts it. Which branch is the chain:
   * `chain/forkChoice.ts`. Every 4,096 blocks, and at least every two seconds while blocks come, what was accepted is
   * written.
   * @param given where a program has put it together, its encoding counts, and the hash of that
   * @param senders of the transactions, where `SenderPool` has recovered them from these signatures
   * @throws VarveError with the code of the broken rule; BLOCK_PARENT_UNKNOWN, ENGINE_STATE_NOT_KEPT where the parent
   *   is not there or too old; ENGINE_SIDE_BLOCKS_TOO_MANY. The engine then stands where it stood.
   */
  import(given: Block, senders?: readonly Uint8Array[]): ImportOutcome {
    this.checkOwn()
    return this.intake.import(given, senders)
  }

  /**
   * Makes a block on top of the head, or of another kept block, and accepts it as `import` would. The way of chains
   * that have no other maker: demonstrations, simulators, tests.
   * @param senders of the transactions, where the caller knows them; every rule but the curve's is checked all the same
   * @throws VarveError with the code of the rule that the choices break; the engine then stands where it stood
   */
  produce(
    choices: HeaderChoices,
    parentId: BlockId = 'latest',
    senders?: readonly Uint8Array[],
  ): Block {
    this.checkOwn()
    return this.intake.produce(choices, parentId, senders)
  }

  /**
   * Makes a block the head, as a consensus client says after the merge: one of a side branch, or an ancestor of the
   * head. Blocks that leave the chain stay as side blocks.
   * @throws VarveError ENGINE_STATE_NOT_KEPT for a block that is unknown or too old
   */
  setHead(hash: Uint8Array): ImportOutcome {
    this.checkOwn()
    return this.intake.setHead(hash)
  }

  /**
   * Writes all accepted blocks, with their state and the head record, in one transaction.
   * @throws VarveError STORE_*; the store is then as it was, and the engine must be opened anew
   */
  flush(): void {
    this.checkOwn()
    this.intake.flush()
  }

  /**
   * The state after a block: the newest one, one of the blocks behind it as far as they are kept, or that of a kept
   * side block. Stays what it is while the engine goes on.
   * @throws VarveError ENGINE_STATE_NOT_KEPT
   */
  at(block: BlockId): EngineView {
    this.intake.checkUsable()
    return new EngineView(this.chain, nodeOf(this.chain, block), this.forks)
  }

  /** A header with its total difficulty, or `undefined` where there is no such block. */
  header(block: BlockId): StoredHeader | undefined {
    return headerOf(this.chain, block)
  }

  /** A whole block, or `undefined` where there is none. @throws VarveError ENGINE_BLOCK_MISSING, ENGINE_BLOCK_INVALID */
  block(block: BlockId): Block | undefined {
    return blockOf(this.chain, block)
  }

  /** Receipts of a canonical block; `undefined` for one that is not part of the chain, or not any more. */
  receipts(block: BlockId): Receipt[] | undefined {
    return receiptsOf(this.chain, block)
  }

  /** Hash of the canonical block at a height, or `undefined` above the head. */
  canonicalHash(number: number): Uint8Array | undefined {
    return this.chain.canonical.hash(number)
  }

  /** What `BLOCKHASH` reads on top of a kept block. @throws VarveError ENGINE_STATE_NOT_KEPT */
  blockHashBefore(parent: BlockId): (number: bigint) => Uint8Array {
    return this.chain.blockHashBefore(nodeOf(this.chain, parent))
  }

  /**
   * The witness of a block, with which `varve/stateless` verifies it without a database. The block is run once more.
   * @throws VarveError ENGINE_STATE_NOT_KEPT where its parent's state is not kept; block 0 has none
   */
  witness(block: BlockId): BlockWitness {
    const found = this.block(block)
    if (found === undefined || found.header.number === 0)
      throw stateNotKept(`the parent of block ${nameOf(block)}`, this.chain.tree)
    const { witness, fault } = this.recordWitness(found)
    if (fault !== undefined) throw fault
    return witness
  }

  /**
   * As `witness`, of any block on top of a kept one, whether it was imported or not. Of a block that is refused it
   * holds what the refusal took, so that others can see that from the witness. Changes nothing.
   * @param machine to run it on; the engine keeps one for this where none is given
   * @throws VarveError ENGINE_STATE_NOT_KEPT
   */
  recordWitness(block: Block, machine: Machine = this.recorder): RecordedWitness {
    this.intake.checkUsable()
    const { chain } = this
    const parent = nodeOf(this.chain, block.header.parentHash)
    const hashOf = chain.blockHashBefore(parent)
    return recordWitness(block, {
      ...this.intake.checkContext(parent),
      clock: new PhaseClock(),
      blockExecutor: undefined,
      machine,
      nodes: chain.nodesOf(parent, chain.stateOf(parent)),
      ancestor: (number) => this.header(hashOf(BigInt(number)))!.header,
    })
  }

  /**
   * Opens a pipeline over this engine: blocks whose stages overlap. Until it is closed, blocks come in through it alone;
   * questions are answered as ever.
   * @throws VarveError ENGINE_PIPELINED where one is open
   */
  pipeline(options: PipelineOptions = {}): Pipeline {
    this.checkOwn()
    const { chain, store, nodeBytesMax, clock } = this
    const host = this.intake.pipelineHost(() => {
      this.openPipeline = undefined
    })
    const open = (): Stages =>
      openStages(store, chain.head.header.stateRoot, {
        nodeBytesMax,
        clock,
        isThreaded: options.isThreaded ?? true,
        watch: this.watch,
      })
    this.openPipeline = new Pipeline(host, open, options)
    return this.openPipeline
  }

  /** Executes a kept block once more over its parent's state, without a root and without a comparison. */
  private replay(block: Block, senders: readonly Uint8Array[], execute: BlockExecutor): void {
    const parent = nodeOf(this.chain, block.header.parentHash)
    runBlock(block, {
      ...this.intake.checkContext(parent),
      clock: new PhaseClock(),
      seals: undefined,
      blockExecutor: execute,
      machine: this.recorder,
      roots: { rootAfter: () => EMPTY_TRIE_ROOT },
      senders,
    })
  }

  /** @throws VarveError ENGINE_FAILED, ENGINE_PIPELINED */
  private checkOwn(): void {
    this.intake.checkUsable()
    if (this.openPipeline === undefined) return
    throw new VarveError<EngineErrorCode>(
      'ENGINE_PIPELINED',
      'blocks come in through the pipeline that is open: close it first',
    )
  }

  private get recorder(): Machine {
    this.recorderMachine ??= new Machine()
    return this.recorderMachine
  }
}

function startChain(
  store: Store,
  genesis: Genesis | undefined,
  { memory, trie }: { readonly memory: StateMemory; readonly trie: TrieWatch | undefined },
): KeptChain {
  if (genesis === undefined)
    throw new VarveError(
      'ENGINE_GENESIS_MISSING',
      `${store.description} is empty: a genesis is needed to start a chain`,
    )
  const chain = KeptChain.begin(store, genesis, memory, trie)
  checkGenesisHash(chain.head.header, genesis.spec.genesisHash)
  return chain
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

/** Error codes of this module. */
export type EngineErrorCode =
  /** The store is empty and no genesis was given. */
  | 'ENGINE_GENESIS_MISSING'
  /** The store holds another chain than the genesis given. */
  | 'ENGINE_CHAIN_MISMATCH'
  /** A block is handed to the engine itself while a pipeline over it is open. */
  | 'ENGINE_PIPELINED'
