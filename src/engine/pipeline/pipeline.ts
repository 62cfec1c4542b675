/**
 * Blocks on their way through stages that overlap: while the root of one is made, the next ones execute, and what was
 * confirmed is written behind them.
 *
 *     push, produce ─▶ execute over the tip's state ─▶ tip         this thread
 *                          └─▶ SummaryStage ─▶ root               another one, or this
 *                                 root ─▶ compare, accept (the chain's head moves) ─▶ journal
 *                                             └─▶ WriteBehind ─▶ CommitStage ─▶ publish
 *
 * A block whose root is not its header's is refused, and all that were built on it go with it: the engine then stands
 * where it stood before. Results are those of `Engine.import`, whatever the timing. What does not continue the tip, and
 * blocks before Byzantium, whose receipts hold roots, go through the engine without stages, after all others.
 *
 * Not here: the rules (`blockCheck.ts`), what the stages run on (`stages.ts`), the order of steps (`stepOrder.ts`).
 */
import { bytesEqual, Fork, VarveError } from '../../base/index.ts'
import { type HeaderChoices, isMergedAfter, rulesAt, totalDifficulty } from '../../chain/index.ts'
import { asDecoded, type Block } from '../../codec/index.ts'
import type { BlockOutcome } from '../../execute/index.ts'
import { type CheckContext, checkBlock, outcomeFields, rootFault, runBlock } from '../blockCheck.ts'
import { draftAfter, resealed } from '../draft.ts'
import { Pacer } from '../pacer.ts'
import type { PipelineHost } from './host.ts'
import {
  type Accepted,
  type Answer,
  HashNotKnown,
  Speculation,
  type SpeculativeBlock,
} from './speculation.ts'
import type { Stages } from './stages.ts'
import { type StepListener, StepOrder } from './stepOrder.ts'
import { WriteBehind } from './writeBehind.ts'

/** Blocks that may wait for their roots. Each holds its layer and its receipts. */
const ROOTLESS_BLOCKS_MAX = 8
/** Milliseconds of work on this thread between two turns of the event loop, in which answers of the stages come in. */
const SLICE_MS = 5
/** Blocks that go without stages after one that had to. */
const INLINE_BLOCKS_AFTER_SWITCH = 64

export type PipelineOptions = {
  /** Whether stages run on threads of their own, where the store allows it; true without it. */
  readonly isThreaded?: boolean
  /** Blocks that go without stages after one that had to, since the way in and out costs a write; 64 without it. */
  readonly inlineBlocksAfterSwitch?: number
  /** Puts something between the pipeline and its stages: delays, faults, measurements. */
  readonly through?: (stages: Stages) => Stages
  /** Told of each step of each block, in the order that `stepOrder.ts` declares. */
  readonly onStep?: StepListener
}

/** A block on its way. */
export type Pushed = {
  /**
   * Resolves once the block is accepted and survives the end of the process: with its record in the journal, or, where
   * there is none, with the write that it comes to be part of, or that `flush` begins.
   */
  readonly durable: () => Promise<void>
  /** What became of it, once its root is confirmed. Rejects with the code of the broken rule. */
  readonly accepted: Promise<Accepted>
}

/** Where a pipeline is. Numbers of blocks are those of the newest one that a step is done with. */
export type PipelineStatus = {
  /** Blocks that wait for their roots, and how many may. */
  readonly rootlessCount: number
  readonly rootlessCountMax: number
  readonly isWriting: boolean
  readonly executed: number
  readonly rooted: number
  /** In the store, and read from there. */
  readonly published: number
}

export class Pipeline {
  private readonly host: PipelineHost
  private readonly openStages: () => Stages
  private readonly options: PipelineOptions
  private readonly speculation: Speculation
  private readonly order: StepOrder
  private stages: Stages | undefined
  private writer: WriteBehind | undefined
  private inlineLeft = 0
  private readonly pacer = new Pacer(SLICE_MS)
  private readonly sleepers: (() => void)[] = []
  private closed = false
  private failure: unknown

  /** Use `Engine.pipeline`. */
  constructor(host: PipelineHost, openStages: () => Stages, options: PipelineOptions = {}) {
    this.host = host
    this.openStages = openStages
    this.speculation = new Speculation(host.chain)
    this.order = new StepOrder(host.chain.head.header.number, options.onStep)
    this.options = options
  }

  /**
   * Verifies a block and hands it on. Resolves once it was executed; its root, and with it the last word on it, comes
   * later. Waits while too much is under way. One call at a time: the next after this one has resolved.
   * @throws VarveError with the code of a rule that is broken before the root, as `Engine.import`
   */
  async push(given: Block, senders?: readonly Uint8Array[]): Promise<Pushed> {
    const block = asDecoded(given)
    await this.room()
    if (!this.continuesTip(block)) {
      // Roots that are still to come may be those of its ancestors.
      await this.drain()
      if (!this.continuesTip(block)) return await this.importInline(block, senders)
    }
    if (!this.enter(block.header.timestamp)) return await this.importInline(block, senders)
    this.foretell(block, senders)
    const watch = this.host.watch?.begin()
    const { outcome } = checkBlock(block, this.checkContext(senders))
    return this.handOn(block, outcome, { watch })
  }

  /**
   * Makes a block on top of the newest one, as `Engine.produce`. Its header, and so its hash, is known with its root.
   * From Prague on, where a block's state holds its parent's hash (EIP-2935), the parent's root is waited for.
   * @throws VarveError with the code of the rule that the choices break
   */
  async produce(choices: HeaderChoices, senders?: readonly Uint8Array[]): Promise<Pushed> {
    await this.room()
    // There a block's state holds its parent's hash.
    if (this.forkAfterTip(choices.timestamp) >= Fork.Prague) await this.drain()
    if (!this.enter(choices.timestamp)) {
      await this.drain()
      const block = this.host.produceInline(choices, senders)
      this.order.reset(block.header.number)
      return this.settled({ status: 'head', dropped: [], added: [block.header], block })
    }
    try {
      return this.make(choices, senders)
    } catch (error) {
      if (!(error instanceof HashNotKnown)) throw error
      await this.drain()
      return this.make(choices, senders)
    }
  }

  /** How far blocks are, and how much is under way. */
  get status(): PipelineStatus {
    const { order, speculation, writer } = this
    return {
      rootlessCount: speculation.count,
      rootlessCountMax: ROOTLESS_BLOCKS_MAX,
      isWriting: writer?.isWriting === true,
      executed: order.at('executed'),
      rooted: order.at('rooted'),
      published: order.at('statePublished'),
    }
  }

  /** Waits until every block that was handed in is accepted, or refused. */
  async drain(): Promise<void> {
    while (this.speculation.count > 0 && this.failure === undefined) await this.change()
    this.checkUsable()
  }

  /** Waits until all blocks are in the store. @throws VarveError STORE_*; the engine must then be opened anew */
  async flush(): Promise<void> {
    await this.drain()
    if (this.writer !== undefined) await this.writeAll(this.writer)
    else this.host.flushInline()
    this.checkUsable()
  }

  /** Writes all, ends the stages and gives the engine back to its owner. Call it also after a refusal. */
  async close(): Promise<void> {
    if (this.closed) return
    try {
      if (this.failure === undefined) await this.flush()
    } finally {
      this.closed = true
      await this.leave()
      this.host.release()
    }
  }

  private make(choices: HeaderChoices, senders: readonly Uint8Array[] | undefined): Pushed {
    const { tip } = this.speculation
    const draft = draftAfter(tip, this.host.spec, choices)
    this.foretell(draft.block, senders)
    const watch = this.host.watch?.begin()
    const outcome = runBlock(draft.block, this.checkContext(senders))
    const fields = { ...draft.fields, ...outcomeFields(outcome) }
    return this.handOn(resealed(draft.block, fields), outcome, { watch, fields })
  }

  /** Tells the summary of a block ahead, where that has nothing else to do. */
  private foretell(block: Block, senders: readonly Uint8Array[] | undefined): void {
    if (this.speculation.count === 0) this.stages!.summary.prefetch(block, senders)
  }

  /** Makes an executed block the tip, and asks for its root. */
  private handOn(
    block: Block,
    outcome: BlockOutcome,
    { watch, fields }: { watch: SpeculativeBlock['watch']; fields?: SpeculativeBlock['fields'] },
  ): Pushed {
    watch?.checked(outcome, false)
    const { tip } = this.speculation
    const { header } = block
    const state = tip.state.apply(outcome.delta)
    let answer: Answer | undefined
    const accepted = new Promise<Accepted>((resolve, reject) => {
      answer = { resolve, reject }
    })
    // Whoever is not interested in the single block learns of a refusal from the next call.
    accepted.catch(() => undefined)
    const entry: SpeculativeBlock = {
      header,
      totalDifficulty: totalDifficulty(tip.totalDifficulty, header.difficulty),
      block,
      fields,
      outcome,
      state,
      span: state.since(tip.state),
      answer: answer!,
      watch,
    }
    this.speculation.add(entry)
    this.order.reach('executed', header.number)
    this.stages!.summary.advance(entry.span.diffSource()).then(
      (root) => this.confirm(entry, root),
      (error: unknown) => this.fail(error),
    )
    this.writeWhenDue()
    return { accepted, durable: () => this.durable(accepted) }
  }

  private settled(accepted: Accepted): Pushed {
    const given = Promise.resolve(accepted)
    return { accepted: given, durable: () => this.durable(given) }
  }

  private async durable(accepted: Promise<Accepted>): Promise<void> {
    const { number } = (await accepted).block.header
    const { journal } = this.host
    if (journal === undefined) {
      while (this.order.at('statePublished') < number && this.failure === undefined)
        await this.change()
      this.checkUsable()
      return
    }
    await journal.whenDurable(journal.last)
    if (this.order.at('journaled') < number) this.order.reach('journaled', number)
  }

  /** Takes the root of the oldest block. */
  private confirm(entry: SpeculativeBlock, root: Uint8Array): void {
    // Blocks on a refused one still get their answers.
    if (this.speculation.first !== entry) return
    try {
      const { number } = entry.header
      const block = sealed(entry, root, this.host.chain.head.header.hash)
      if (!bytesEqual(root, block.header.stateRoot)) {
        this.refuse(rootFault(block.header, root))
        return
      }
      this.order.reach('rooted', number)
      this.speculation.shift()
      entry.span.close()
      entry.watch?.rooted(root)
      entry.watch?.accepting()
      const outcome = this.host.accept(block, entry)
      entry.watch?.accepted(block, outcome)
      this.order.reach('accepted', number)
      this.wake()
      entry.answer.resolve({ ...outcome, block })
    } catch (error) {
      this.fail(error)
    }
  }

  /** Drops the oldest block, for the given reason, and all that were built on it. */
  private refuse(reason: VarveError): void {
    const { summary } = this.stages!
    const refused = this.speculation.first
    for (const block of this.speculation.takeBack()) {
      const { span, state, answer } = block
      answer.reject(block === refused ? reason : ancestorRefused(block, reason))
      state.release()
      summary
        .retreat(span.diffSource())
        // The other thread reads the layer until then.
        .then(() => span.close())
        .catch((error: unknown) => this.fail(error))
    }
    const { number } = this.host.chain.head.header
    this.order.withdrawAbove(number)
    this.wake()
  }

  /** Ends everything: a stage failed, and what it holds is not known any more. */
  private fail(error: unknown): void {
    if (this.failure !== undefined) return
    this.failure = error
    for (const { state, answer } of this.speculation.takeBack()) {
      state.release()
      answer.reject(error)
    }
    this.host.fail(error)
    this.wake()
  }

  private checkContext(senders: readonly Uint8Array[] | undefined): CheckContext {
    const { speculation, host } = this
    const { tip } = speculation
    return {
      ...host.checkTools(),
      parent: tip,
      view: tip.state,
      ancestors: speculation,
      blockHash: speculation.blockHash(),
      roots: NO_ROOTS,
      senders,
    }
  }

  private continuesTip({ header }: Block): boolean {
    const { tip } = this.speculation
    return tip.header.number + 1 === header.number && bytesEqual(tip.header.hash, header.parentHash)
  }

  /** Opens the stages where the next block can go through them. */
  private enter(timestamp: bigint): boolean {
    if (this.forkAfterTip(timestamp) < Fork.Byzantium) return false
    if (this.stages !== undefined) return true
    if (this.inlineLeft > 0) {
      this.inlineLeft--
      return false
    }
    this.host.flushInline()
    const { through = (stages) => stages } = this.options
    const stages = through(this.openStages())
    this.host.chain.lendSummary()
    this.stages = stages
    const { order, host } = this
    const { chain, watch } = host
    const onWritten = (sequence: number): void => {
      host.cutJournal(sequence)
      this.wake()
    }
    this.writer = new WriteBehind({ chain, watch, stages, order, onWritten })
    return true
  }

  private forkAfterTip(timestamp: bigint): Fork {
    const { spec } = this.host
    const { header, totalDifficulty: total } = this.speculation.tip
    return rulesAt(spec, header.number + 1, timestamp, isMergedAfter(spec.schedule, total)).fork
  }

  /** Writes all and ends the stages; the engine's own summary is then what hashes. */
  private async leave(): Promise<void> {
    const { stages, writer } = this
    if (stages === undefined) return
    try {
      if (this.failure === undefined) await this.writeAll(writer!)
    } finally {
      this.stages = undefined
      this.writer = undefined
      await Promise.all([stages.summary.close(), stages.commit.close()])
      this.host.chain.takeSummaryBack()
    }
  }

  private async importInline(block: Block, senders?: readonly Uint8Array[]): Promise<Pushed> {
    if (this.host.knows(block.header)) {
      const known = { status: 'known', dropped: [], added: [], block } as const
      return this.settled(known)
    }
    if (this.stages !== undefined) {
      await this.leave()
      this.inlineLeft = this.options.inlineBlocksAfterSwitch ?? INLINE_BLOCKS_AFTER_SWITCH
    }
    const outcome = this.host.importInline(block, senders)
    this.order.reset(this.host.chain.head.header.number)
    return this.settled({ ...outcome, block })
  }

  /** Begins a write where one is due. */
  private writeWhenDue(): void {
    const { writer } = this
    if (writer === undefined || writer.isWriting || !this.host.isWriteDue()) return
    this.host.noteWrite()
    writer
      .begin(this.speculation.tip.header.number)
      .catch((error: unknown) => this.fail(error))
      .finally(() => this.wake())
  }

  /** Writes everything that was accepted; nothing waits for its root. */
  private async writeAll(writer: WriteBehind): Promise<void> {
    try {
      await writer.settled()
      await writer.begin(this.host.chain.head.header.number)
    } catch (error) {
      this.fail(error)
      throw error
    }
  }

  /** Waits while too much is under way, and lets answers in. @throws what `checkUsable` throws */
  private async room(): Promise<void> {
    this.checkUsable()
    if (this.pacer.isDue) await this.pacer.rest()
    while (!this.hasRoom) await this.change()
    this.checkUsable()
  }

  private get hasRoom(): boolean {
    if (this.failure !== undefined) return true
    const { speculation, writer, host } = this
    if (speculation.count >= ROOTLESS_BLOCKS_MAX) return false
    if (writer === undefined || !writer.isWriting) return true
    return !writer.isHolding && !host.isFull()
  }

  /** Resolves when a block was confirmed or refused, or a write has ended. */
  private change(): Promise<void> {
    return new Promise((resume) => this.sleepers.push(resume))
  }

  private wake(): void {
    for (const resume of this.sleepers.splice(0)) resume()
  }

  private checkUsable(): void {
    if (this.closed)
      throw new VarveError<PipelineErrorCode>('PIPELINE_CLOSED', 'the pipeline was closed')
    if (this.failure !== undefined) throw this.failure
  }
}

/** Before Byzantium alone a block's execution asks for roots, and such blocks do not come here. */
const NO_ROOTS: CheckContext['roots'] = {
  rootAfter: () => {
    throw new Error('no root is made while a block of the pipeline runs')
  },
}

/** The block under its own header: of one that is being made, with its root and its parent's hash put in. */
function sealed(
  { block, fields }: SpeculativeBlock,
  stateRoot: Uint8Array,
  parentHash: Uint8Array,
): Block {
  if (fields === undefined) return block
  return resealed(block, { ...fields, parentHash, stateRoot })
}

function ancestorRefused({ header }: SpeculativeBlock, cause: VarveError): VarveError {
  return new VarveError<PipelineErrorCode>(
    'PIPELINE_ANCESTOR_REFUSED',
    `block ${header.number} goes with the block that it stands on: ${cause.message}`,
    { number: header.number },
    { cause },
  )
}

/** Error codes of this module. */
export type PipelineErrorCode =
  /** A call after `close`. */
  | 'PIPELINE_CLOSED'
  /** A block was executed on one that then turned out to have another root than its header says. */
  | 'PIPELINE_ANCESTOR_REFUSED'
