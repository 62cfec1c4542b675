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
import { assert, bytesEqual, EMPTY_TRIE_ROOT, toHex, VarveError } from '../base/index.ts'
import {
  blockFault,
  type ChainSpec,
  checkGenesisHash,
  type EthashVerifier,
  type Genesis,
  type HeaderChoices,
  headerAfter,
  isMergedAfter,
  replacesHead,
  totalDifficulty as totalDifficultyOf,
} from '../chain/index.ts'
import {
  asDecoded,
  type Block,
  bodyOf,
  joinDecoded,
  type Receipt,
  SenderRecovery,
  sealHeader,
} from '../codec/index.ts'
import { StateSummary, storedNodes } from '../commit/index.ts'
import { Machine, type PrecompileSet } from '../evm/index.ts'
import type { BlockExecutor, BlockOutcome } from '../execute/index.ts'
import type { Store } from '../store/index.ts'
import { type CheckContext, checkBlock, checkRoot, outcomeFields, runBlock } from './blockCheck.ts'
import { type ChainIdentity, readIdentity, type StoredHeader } from './chainRecords.ts'
import { buildGenesis } from './genesisState.ts'
import { PhaseClock, type PhaseSeconds } from './phases.ts'
import { type RecordedWitness, recordWitness } from './stateless/makeWitness.ts'
import type { BlockWitness } from './stateless/witness.ts'
import type { BlockNode } from './tree/blockTree.ts'
import { type HeadMove, KeptChain } from './tree/keptChain.ts'
import { stateNotKept } from './tree/keptState.ts'
import {
  type BlockId,
  blockOf,
  headerOf,
  isCanonical,
  nameOf,
  nodeOf,
  receiptsOf,
} from './tree/lookup.ts'
import { EngineView } from './view.ts'

/** Blocks in one write, unless a limit below is met first. */
const BATCH_BLOCK_COUNT = 4096
/** Milliseconds from a block's acceptance to its write, at most, while blocks keep coming. */
const BATCH_MS_MAX = 2000
/** Bytes of blocks and receipts that wait for a write, at most, give or take one block. */
const BATCH_BYTES_MAX = 64 * 1024 * 1024
/** Blocks behind the head whose states are kept. */
const HISTORY_BLOCK_COUNT = 128
/** Side blocks for each block of history, and at least so many: enough for several whole branches. */
const SIDE_BLOCKS_PER_BLOCK = 8
const SIDE_BLOCK_COUNT_MIN = 64

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
   * How many blocks behind the head a state is kept: 0 up, 128 without it. As far back questions are answered and the
   * head can move. Cost: the change of each of these blocks in memory or in the store, no trie nodes. A smaller number
   * than before takes effect with the next block, a larger one as blocks come.
   */
  readonly historyBlocks?: number
  /** Precompiles of the protocol, unless the chain was made under a draft. */
  readonly precompileSet?: PrecompileSet
  /** Verifies proofs of work; without it a seal is taken as given. Nothing can be produced under it. */
  readonly seals?: EthashVerifier
  /** In the place of `executeBlock`; must give what that gives. */
  readonly blockExecutor?: BlockExecutor
  /** What blocks run on; may serve other engines, one block after the other. */
  readonly machine?: Machine
}

/**
 * What became of a block, and how the head moved.
 * - `head`: the head moved forward, to it
 * - `side`: kept beside the chain; the head stays
 * - `reorg`: the head moved to it over to another branch, or back
 * - `known`: it was there before; nothing changed
 */
export type ImportOutcome = HeadMove & { readonly status: 'head' | 'side' | 'reorg' | 'known' }

const STAYS: HeadMove = { dropped: [], added: [] }

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
  private readonly batchBlockCount: number
  private readonly historyBlocks: number
  private readonly sideBlockCountMax: number
  private readonly machine: Machine
  /** For witnesses alone: it forgets the codes that the other one keeps from block to block. */
  private recorderMachine: Machine | undefined
  private readonly recovery: SenderRecovery
  private readonly precompileSet: PrecompileSet | undefined
  private readonly seals: EthashVerifier | undefined
  private readonly blockExecutor: BlockExecutor | undefined
  private lastWriteMs = performance.now()
  private failure: unknown

  /** Use `openEngine`. */
  constructor(options: EngineOptions, recovery: SenderRecovery) {
    const { store, genesis, batchBlockCount = BATCH_BLOCK_COUNT } = options
    this.recovery = recovery
    this.precompileSet = options.precompileSet
    this.seals = options.seals
    this.blockExecutor = options.blockExecutor
    this.machine = options.machine ?? new Machine()
    this.batchBlockCount = batchBlockCount
    this.historyBlocks = options.historyBlocks ?? HISTORY_BLOCK_COUNT
    assert(
      Number.isSafeInteger(this.historyBlocks) && this.historyBlocks >= 0,
      'historyBlocks: an integer from 0 up',
    )
    this.sideBlockCountMax = Math.max(
      SIDE_BLOCK_COUNT_MIN,
      SIDE_BLOCKS_PER_BLOCK * this.historyBlocks,
    )
    const identity = readIdentity(store)
    if (identity === undefined) {
      this.chain = startChain(store, genesis)
      this.spec = genesis!.spec
      this.genesisHash = this.chain.head.header.hash
    } else {
      this.spec = identity.spec
      this.genesisHash = identity.genesisHash
      if (genesis !== undefined) checkSameChain(store, identity, genesis)
      this.chain = KeptChain.open(store)
    }
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

  /** False once a write has failed. */
  get isUsable(): boolean {
    return this.failure === undefined
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
    this.checkUsable()
    const block = asDecoded(given)
    const { header } = block
    if (this.knows(header.number, header.hash)) return { status: 'known', ...STAYS }
    const parent = this.parentOf(block)
    const outcome = this.chain.check(parent, (roots) => {
      const { outcome: found } = checkBlock(block, { ...this.checkContext(parent), roots, senders })
      this.clock.measure('root', () => checkRoot(block, found, roots))
      return found
    })
    return this.accept(block, outcome, parent)
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
    this.checkUsable()
    const parent = nodeOf(this.chain, parentId)
    this.checkRoom(parent)
    const isMerged = isMergedAfter(this.spec.schedule, parent.totalDifficulty)
    const fields = headerAfter(parent.header, this.spec, {
      ...choices,
      ...(isMerged === undefined ? {} : { isMerged }),
    })
    const { transactions = [], uncles = [], withdrawals = [] } = choices
    const lists = { transactions, uncles }
    const given = fields.withdrawalsRoot === undefined ? lists : { ...lists, withdrawals }
    // What cannot be written down is no block: a choice out of its range is refused here.
    const draft = asDecoded({ header: sealHeader(fields), ...given })
    const { outcome, block } = this.chain.check(parent, (roots) => {
      const outcome = runBlock(draft, { ...this.checkContext(parent), roots, senders })
      const header = sealHeader({
        ...fields,
        ...outcomeFields(outcome),
        stateRoot: this.clock.measure('root', () => roots.rootAfter(outcome.delta)),
      })
      return { outcome, block: joinDecoded(header, bodyOf(draft)) }
    })
    this.accept(block, outcome, parent)
    return block
  }

  /**
   * Makes a block the head, as a consensus client says after the merge: one of a side branch, or an ancestor of the
   * head. Blocks that leave the chain stay as side blocks.
   * @throws VarveError ENGINE_STATE_NOT_KEPT for a block that is unknown or too old
   */
  setHead(hash: Uint8Array): ImportOutcome {
    this.checkUsable()
    const node = nodeOf(this.chain, hash)
    if (node === this.chain.head) return { status: 'known', ...STAYS }
    return this.settle(this.clock.measure('root', () => this.chain.switchTo(node)))
  }

  /**
   * Writes all accepted blocks, with their state and the head record, in one transaction.
   * @throws VarveError STORE_*; the store is then as it was, and the engine must be opened anew
   */
  flush(): void {
    this.checkUsable()
    this.lastWriteMs = performance.now()
    try {
      this.clock.measure('write', () => this.chain.write())
    } catch (error) {
      this.failure = error
      throw error
    }
  }

  /**
   * The state after a block: the newest one, one of the blocks behind it as far as they are kept, or that of a kept
   * side block. Stays what it is while the engine goes on.
   * @throws VarveError ENGINE_STATE_NOT_KEPT
   */
  at(block: BlockId): EngineView {
    this.checkUsable()
    return new EngineView(this.chain, nodeOf(this.chain, block))
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
    this.checkUsable()
    const { chain } = this
    const parent = nodeOf(this.chain, block.header.parentHash)
    const hashOf = chain.blockHashBefore(parent)
    return recordWitness(block, {
      ...this.checkContext(parent),
      clock: new PhaseClock(),
      blockExecutor: undefined,
      machine,
      nodes: chain.nodesOf(parent, chain.stateOf(parent)),
      ancestor: (number) => this.header(hashOf(BigInt(number)))!.header,
    })
  }

  private knows(number: number, hash: Uint8Array): boolean {
    return this.chain.tree.get(hash) !== undefined || isCanonical(this.chain, number, hash)
  }

  /** The block that a new one stands on. */
  private parentOf({ header }: Block): BlockNode {
    const { tree, rows, head } = this.chain
    const { number, parentHash } = header
    const parent = tree.get(parentHash)
    if (parent === undefined) {
      if (rows.numberOf(parentHash) === undefined)
        throw blockFault(
          'BLOCK_PARENT_UNKNOWN',
          number,
          'parent hash',
          head.header.hash,
          parentHash,
        )
      throw stateNotKept(`the parent of block ${number}, ${toHex(parentHash)},`, tree)
    }
    this.checkRoom(parent)
    return parent
  }

  private get recorder(): Machine {
    this.recorderMachine ??= new Machine()
    return this.recorderMachine
  }

  /** Refuses a side block that could only be kept in the place of one that it stands on. */
  private checkRoom(parent: BlockNode): void {
    const { head, tree } = this.chain
    if (parent === head || this.chain.hasRoom(parent, this.sideBlockCountMax)) return
    const number = parent.header.number + 1
    throw new VarveError(
      'ENGINE_SIDE_BLOCKS_TOO_MANY',
      `block ${number}: ${tree.sideCount} side blocks are kept already and all of them lead to it: set the head first`,
      { number, sideCount: tree.sideCount },
    )
  }

  private checkContext(parent: BlockNode): Omit<CheckContext, 'roots'> {
    const { chain, spec, machine, recovery, precompileSet, seals, clock, blockExecutor } = this
    return {
      spec,
      parent,
      ancestors: chain,
      view: chain.viewOf(parent),
      blockHash: chain.blockHashBefore(parent),
      machine,
      recovery,
      precompileSet,
      seals,
      blockExecutor,
      clock,
    }
  }

  /** Takes in a verified block. The journal of accepted blocks, once there is one, is written here. */
  private accept(
    block: Block,
    { receipts, delta }: BlockOutcome,
    parent: BlockNode,
  ): ImportOutcome {
    const { chain } = this
    const { header } = block
    const totalDifficulty = totalDifficultyOf(parent.totalDifficulty, header.difficulty)
    const record = { header, body: block, totalDifficulty, receipts }
    if (parent === chain.head) return this.settle(chain.extend(record, delta))
    const node = chain.branch(record, delta, parent)
    chain.limitSide(node, this.sideBlockCountMax)
    if (replacesHead(node, chain.head)) return this.settle(chain.switchTo(node))
    this.writeWhenDue()
    return { status: 'side', ...STAYS }
  }

  /** After the head has moved: older states go, and what is due is written. */
  private settle(move: HeadMove): ImportOutcome {
    this.chain.keepNewest(this.historyBlocks)
    this.writeWhenDue()
    return { status: move.dropped.length === 0 ? 'head' : 'reorg', ...move }
  }

  private writeWhenDue(): void {
    const { waitingCount, waitingBytes } = this.chain
    if (
      waitingCount >= this.batchBlockCount ||
      waitingBytes >= BATCH_BYTES_MAX ||
      performance.now() - this.lastWriteMs >= BATCH_MS_MAX
    )
      this.flush()
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

function startChain(store: Store, genesis: Genesis | undefined): KeptChain {
  if (genesis === undefined)
    throw new VarveError(
      'ENGINE_GENESIS_MISSING',
      `${store.description} is empty: a genesis is needed to start a chain`,
    )
  const chain = KeptChain.begin(store, genesis)
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
  /** As many side blocks as are kept, and each of them is an ancestor of the new one. */
  | 'ENGINE_SIDE_BLOCKS_TOO_MANY'
  /** A write failed; this engine takes no more calls. */
  | 'ENGINE_FAILED'
