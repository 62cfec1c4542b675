/**
 * How blocks come in: checked on the state of their parent, accepted, the head moved, and the write begun when it is due.
 * One block after the other, on this thread.
 *
 *     import, produce ─▶ check ─▶ accept ─▶ the new head, a side block, or another branch
 *                                   └─▶ flush, when much waits or long
 *
 * Not here: reading (`engine.ts`), what is kept (`tree/`), rules (`blockCheck.ts`).
 */
import { assert, toHex, VarveError } from '../base/index.ts'
import {
  blockFault,
  type ChainSpec,
  type HeaderChoices,
  replacesHead,
  totalDifficulty as totalDifficultyOf,
} from '../chain/index.ts'
import { asDecoded, type Block, type SenderRecovery } from '../codec/index.ts'
import { Machine } from '../evm/index.ts'
import type { BlockOutcome } from '../execute/index.ts'
import type { BlockJournal } from '../store/index.ts'
import { type CheckContext, checkBlock, checkRoot, outcomeFields, runBlock } from './blockCheck.ts'
import { draftAfter, resealed } from './draft.ts'
import type { EngineOptions } from './engine.ts'
import type { ImportOutcome } from './importOutcome.ts'
import { checkContinues, journalBlock, journalHead, replay } from './journaling.ts'
import type { PhaseClock } from './phases.ts'
import type { CheckTools, PipelineHost } from './pipeline/host.ts'
import type { BlockNode } from './tree/blockTree.ts'
import type { HeadMove, KeptChain } from './tree/keptChain.ts'
import { stateNotKept } from './tree/keptState.ts'
import { type BlockId, isCanonical, nodeOf } from './tree/lookup.ts'
import type { BlockWatch, EngineWatch } from './watch/blockWatch.ts'

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

const STAYS: HeadMove = { dropped: [], added: [] }

/** What the intake shares with its engine. */
export type IntakeParts = {
  readonly chain: KeptChain
  readonly spec: ChainSpec
  readonly clock: PhaseClock
  readonly recovery: SenderRecovery
  /** Where somebody watches. */
  readonly watch: EngineWatch | undefined
}

export class Intake {
  private readonly parts: IntakeParts
  private readonly options: EngineOptions
  private readonly machine: Machine
  private readonly batchBlockCount: number
  private readonly historyBlocks: number
  private readonly sideBlockCountMax: number
  private readonly batchMsMax: number
  private lastWriteMs = performance.now()
  private failure: unknown
  private isReplaying = false

  constructor(parts: IntakeParts, options: EngineOptions) {
    this.parts = parts
    this.options = options
    this.machine = options.machine ?? new Machine()
    this.batchBlockCount = options.batchBlockCount ?? BATCH_BLOCK_COUNT
    this.batchMsMax = options.batchMilliseconds ?? BATCH_MS_MAX
    this.historyBlocks = options.historyBlocks ?? HISTORY_BLOCK_COUNT
    assert(
      Number.isSafeInteger(this.historyBlocks) && this.historyBlocks >= 0,
      'historyBlocks: an integer from 0 up',
    )
    this.sideBlockCountMax = Math.max(
      SIDE_BLOCK_COUNT_MIN,
      SIDE_BLOCKS_PER_BLOCK * this.historyBlocks,
    )
  }

  get journal(): BlockJournal | undefined {
    return this.options.journal
  }

  /** False once a write has failed. */
  get isUsable(): boolean {
    return this.failure === undefined
  }

  /** See `Engine.import`. */
  import(given: Block, senders?: readonly Uint8Array[]): ImportOutcome {
    this.checkUsable()
    const block = asDecoded(given)
    const { header } = block
    if (this.knows(header.number, header.hash)) return { status: 'known', ...STAYS }
    const parent = this.parentOf(block)
    const watch = this.parts.watch?.begin()
    const outcome = this.parts.chain.check(parent, (roots) => {
      const { outcome: found } = checkBlock(block, { ...this.checkContext(parent), roots, senders })
      this.parts.clock.measure('root', () => checkRoot(block, found, roots))
      return found
    })
    watch?.checked(outcome, true)
    return this.accept(block, outcome, parent, watch)
  }

  /** See `Engine.produce`. */
  produce(choices: HeaderChoices, parentId: BlockId, senders?: readonly Uint8Array[]): Block {
    this.checkUsable()
    const parent = nodeOf(this.parts.chain, parentId)
    this.checkRoom(parent)
    const draft = draftAfter(parent, this.parts.spec, choices)
    const watch = this.parts.watch?.begin()
    const { outcome, block } = this.parts.chain.check(parent, (roots) => {
      const outcome = runBlock(draft.block, { ...this.checkContext(parent), roots, senders })
      const stateRoot = this.parts.clock.measure('root', () => roots.rootAfter(outcome.delta))
      const fields = { ...draft.fields, ...outcomeFields(outcome), stateRoot }
      return { outcome, block: resealed(draft.block, fields) }
    })
    watch?.checked(outcome, true)
    this.accept(block, outcome, parent, watch)
    return block
  }

  /** See `Engine.setHead`. */
  setHead(hash: Uint8Array): ImportOutcome {
    this.checkUsable()
    const node = nodeOf(this.parts.chain, hash)
    if (node === this.parts.chain.head) return { status: 'known', ...STAYS }
    const move = this.parts.clock.measure('root', () => this.parts.chain.switchTo(node))
    this.journalise((journal) => journalHead(journal, hash))
    return this.settle(move)
  }

  /** See `Engine.flush`. */
  flush(): void {
    this.checkUsable()
    this.lastWriteMs = performance.now()
    try {
      this.cutJournal(this.parts.clock.measure('write', () => this.write()))
    } catch (error) {
      this.failure = error
      throw error
    }
  }

  private write(): number | undefined {
    const { chain, watch } = this.parts
    if (watch === undefined) return chain.write()
    const report = watch.beginWrite(chain)
    return chain.write((bytes) => report(bytes, watch.takeTrie()))
  }

  /** Whether the chain has a block already. */
  knows(number: number, hash: Uint8Array): boolean {
    return (
      this.parts.chain.tree.get(hash) !== undefined || isCanonical(this.parts.chain, number, hash)
    )
  }

  /** The block that a new one stands on. */
  private parentOf({ header }: Block): BlockNode {
    const { tree, rows, head } = this.parts.chain
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

  /** Refuses a side block that could only be kept in the place of one that it stands on. */
  private checkRoom(parent: BlockNode): void {
    const { head, tree } = this.parts.chain
    if (parent === head || this.isReplaying) return
    if (this.parts.chain.hasRoom(parent, this.sideBlockCountMax)) return
    const number = parent.header.number + 1
    throw new VarveError(
      'ENGINE_SIDE_BLOCKS_TOO_MANY',
      `block ${number}: ${tree.sideCount} side blocks are kept already and all of them lead to it: set the head first`,
      { number, sideCount: tree.sideCount },
    )
  }

  /** What a block on top of `parent` is checked with. */
  checkContext(parent: BlockNode): Omit<CheckContext, 'roots'> {
    const { chain } = this.parts
    return {
      ...this.checkTools(),
      parent,
      ancestors: chain,
      view: chain.viewOf(parent),
      blockHash: chain.blockHashBefore(parent),
    }
  }

  /** What blocks are checked with, whatever they stand on. */
  private checkTools(): CheckTools {
    const { spec, recovery, clock, watch } = this.parts
    const { precompileSet, seals } = this.options
    const blockExecutor = watch?.executor(this.options.blockExecutor) ?? this.options.blockExecutor
    return { spec, machine: this.machine, recovery, precompileSet, seals, blockExecutor, clock }
  }

  private accept(
    block: Block,
    outcome: BlockOutcome,
    parent: BlockNode,
    watch: BlockWatch | undefined,
  ): ImportOutcome {
    watch?.accepting()
    const answer = this.takeIn(block, outcome, parent)
    watch?.accepted(block, answer)
    return answer
  }

  /** Takes in a verified block, and writes it to the journal. */
  private takeIn(
    block: Block,
    { receipts, delta, senders }: BlockOutcome,
    parent: BlockNode,
  ): ImportOutcome {
    const { chain } = this.parts
    const { header } = block
    const addRecord = (journal: BlockJournal) => journalBlock(journal, block, senders)
    const totalDifficulty = totalDifficultyOf(parent.totalDifficulty, header.difficulty)
    const record = { header, body: block, totalDifficulty, receipts }
    if (parent === chain.head) {
      const move = chain.extend(record, delta)
      this.journalise(addRecord)
      return this.settle(move)
    }
    const node = chain.branch(record, delta, parent)
    this.journalise(addRecord)
    if (!this.isReplaying) chain.limitSide(node, this.sideBlockCountMax)
    if (replacesHead(node, chain.head)) return this.settle(chain.switchTo(node))
    this.writeWhenDue()
    return { status: 'side', ...STAYS }
  }

  /** After the head has moved: older states go, and what is due is written. */
  private settle(move: HeadMove): ImportOutcome {
    // What was accepted may need states that a smaller history would not keep.
    if (!this.isReplaying) this.parts.chain.keepNewest(this.historyBlocks)
    this.writeWhenDue()
    return { status: move.dropped.length === 0 ? 'head' : 'reorg', ...move }
  }

  private writeWhenDue(): void {
    if (this.isWriteDue()) this.flush()
  }

  private isWriteDue(): boolean {
    if (this.options.writes === 'on flush') return false
    const { waitingCount, isWriteDue } = this.parts.chain
    return (
      this.hasWholeBatch() ||
      isWriteDue ||
      (waitingCount > 0 && performance.now() - this.lastWriteMs >= this.batchMsMax)
    )
  }

  /** Whether as much waits for a write as one should hold at most: behind a slow store no more may come. */
  private hasWholeBatch(): boolean {
    const { waitingCount, waitingBytes } = this.parts.chain
    return waitingCount >= this.batchBlockCount || waitingBytes >= BATCH_BYTES_MAX
  }

  /** What a pipeline asks of this engine. */
  pipelineHost(release: () => void): PipelineHost {
    const { spec, chain, watch } = this.parts
    return {
      spec,
      chain,
      watch,
      checkTools: () => this.checkTools(),
      knows: ({ number, hash }) => this.knows(number, hash),
      accept: (block, { outcome, state, totalDifficulty }) => {
        const { receipts, delta, senders } = outcome
        this.append((journal) => journalBlock(journal, block, senders))
        const record = { header: block.header, body: block, totalDifficulty, receipts }
        const move = chain.extendTo(record, delta.codes, state)
        chain.keepNewest(this.historyBlocks)
        return { status: 'head', ...move }
      },
      importInline: (block, senders) => this.import(block, senders),
      produceInline: (choices, senders) => this.produce(choices, 'latest', senders),
      flushInline: () => this.flush(),
      isWriteDue: () => this.isWriteDue(),
      noteWrite: () => {
        this.lastWriteMs = performance.now()
      },
      isFull: () => chain.isFull || this.hasWholeBatch(),
      fail: (error) => {
        this.failure = error
      },
      release,
      journal: this.options.journal,
      cutJournal: (sequence) => this.cutJournal(sequence),
    }
  }

  /** Takes in what a journal has and the store lacks. Its records are not written again. */
  replayJournal(): void {
    const { journal } = this.options
    const { chain } = this.parts
    if (journal === undefined) return
    const after = chain.storedJournalSequence()
    checkContinues(journal, after)
    if (journal.last > after) {
      this.isReplaying = true
      const replayer = {
        import: (block: Block, senders?: readonly Uint8Array[]) => this.import(block, senders),
        setHead: (hash: Uint8Array) => this.setHead(hash),
      }
      replay(journal, after, replayer, (sequence) => chain.noteJournaled(sequence))
      this.isReplaying = false
      this.keepAsAsked()
    } else journal.startAfter(after)
  }

  /** Gives up what this engine's options do not ask for. */
  private keepAsAsked(): void {
    const { chain } = this.parts
    chain.keepNewest(this.historyBlocks)
    chain.limitSide(chain.head, this.sideBlockCountMax)
  }

  /** Adds a record, durable before the call returns where the mode is `always`. A failure ends the engine. */
  private journalise(add: (journal: BlockJournal) => number): void {
    this.append(add)
    const { journal } = this.options
    if (journal?.sync.mode === 'always' && !this.isReplaying)
      this.parts.clock.measure('journal', () => journal.syncNow())
  }

  private append(add: (journal: BlockJournal) => number): void {
    const { journal } = this.options
    if (journal === undefined || this.isReplaying) return
    try {
      const { chain, clock } = this.parts
      chain.noteJournaled(clock.measure('journal', () => add(journal)))
    } catch (error) {
      this.failure = error
      throw error
    }
    // Records continue a chain that the store can begin.
    if (!this.parts.chain.isOnRecord) this.flush()
  }

  /** Gives up records that the store has. */
  private cutJournal(sequence: number | undefined): void {
    const { journal } = this.options
    if (journal === undefined || sequence === undefined) return
    journal.cut(sequence)
  }

  /** @throws VarveError ENGINE_FAILED */
  checkUsable(): void {
    if (this.failure !== undefined)
      throw new VarveError(
        'ENGINE_FAILED',
        'an earlier write failed: open the engine anew, it continues at the last block in the store',
        {},
        { cause: this.failure },
      )
  }
}

/** Error codes of this module. */
export type IntakeErrorCode =
  /** As many side blocks as are kept, and each of them is an ancestor of the new one. */
  | 'ENGINE_SIDE_BLOCKS_TOO_MANY'
  /** A write failed; this engine takes no more calls. */
  | 'ENGINE_FAILED'
