/**
 * Takes the measure of blocks and writes for an observer. An engine without an observer has none of this.
 *
 *     begin ─▶ BlockWatch ── check, through `executor` ─▶ checked ─▶ rooted ─▶ accepted ─▶ observer.onBlock
 *
 * One check runs at a time; between `checked` and `accepted` others may, where stages overlap.
 */
import type { Block } from '../../codec/index.ts'
import { type TrieReport, TrieWatch } from '../../commit/index.ts'
import { type BlockExecutor, type BlockOutcome, executeBlock } from '../../execute/index.ts'
import type { AccountChange, CacheMisses } from '../../state/index.ts'
import type { ImportOutcome } from '../importOutcome.ts'
import type { PhaseClock, PhaseSeconds } from '../phases.ts'
import type { KeptChain } from '../tree/keptChain.ts'
import { type BlockCosts, blockCosts } from './blockCosts.ts'
import { evmCosts } from './evmCosts.ts'
import type { BlockReport, EngineObserver, WriteCounts } from './observer.ts'
import { ReadTally, WatchedView } from './readTally.ts'

/** What a watch asks of the engine that it belongs to. */
export type WatchParts = {
  readonly clock: PhaseClock
  /** Of the summaries on this thread. */
  readonly trie: TrieWatch
  /** Reads of the state that went to the store so far. */
  readonly misses: () => Readonly<CacheMisses>
  /** Executes an accepted block once more over its parent's state, in the given way. Changes nothing. */
  readonly replay: (block: Block, senders: readonly Uint8Array[], execute: BlockExecutor) => unknown
}

export class EngineWatch {
  readonly observer: EngineObserver
  readonly parts: WatchParts
  /** Reports that came with a root, or with the nodes of a write, from wherever they were made. */
  private readonly reports = new WeakMap<object, TrieReport>()
  private current: BlockWatch | undefined
  private nodeBytesLast = 0
  /** What summaries handed over, and no write has taken yet. */
  private collected: TrieReport[] = []

  constructor(observer: EngineObserver, parts: WatchParts) {
    this.observer = observer
    this.parts = parts
  }

  get hasRows(): boolean {
    return this.observer.wantsCosts === true
  }

  /** Bytes of trie nodes in memory, as last told. */
  get nodeBytes(): number {
    return this.nodeBytesLast
  }

  /** The check of a block begins. */
  begin(): BlockWatch {
    // What was done to the tries meanwhile belongs to no block.
    this.parts.trie.take()
    this.current = new BlockWatch(this)
    return this.current
  }

  /** Ends what `begin` began, where the check is over. */
  endCheck(): void {
    this.current = undefined
  }

  /** A way to execute blocks that watches the one whose check is under way. */
  executor(execute: BlockExecutor = executeBlock): BlockExecutor {
    return (block, context) => {
      const { current } = this
      if (current === undefined) return execute(block, context)
      const view = new WatchedView(context.view, current.tally)
      return execute(block, { ...context, view })
    }
  }

  /** Notes what a summary did for an answer of it. */
  note(answer: object, report: TrieReport): void {
    this.reports.set(answer, report)
    this.nodeBytesLast = report.nodeBytes
  }

  reportOf(answer: object): TrieReport {
    return this.reports.get(answer) ?? NO_REPORT
  }

  /** Nodes that a coming write has in it. @param answer as they came */
  noteCollect(answer: object): void {
    this.collected.push(this.reportOf(answer))
  }

  /**
   * A write begins.
   * @returns to be called at its end, with what the summaries on this thread did meanwhile
   */
  beginWrite({ waitingCount, head }: KeptChain): (bytes: number, trie?: TrieReport) => void {
    const start = performance.now()
    const { number } = head.header
    return (bytes, trie = NO_REPORT) => {
      const { accountCommits, storageCommits } = trie.parts
      const storeMs = performance.now() - start - accountCommits - storageCommits
      const collected = [...this.collected, trie]
      this.collected = []
      const sum = (of: (report: TrieReport) => number): number =>
        collected.reduce((total, report) => total + of(report), 0)
      this.observer.onWrite?.({
        ...{ blockCount: waitingCount, number, bytes, storeMs },
        nodesWritten: {
          account: sum(({ nodesWritten }) => nodesWritten.account),
          storage: sum(({ nodesWritten }) => nodesWritten.storage),
        },
        nodesDeleted: {
          account: sum(({ nodesDeleted }) => nodesDeleted.account),
          storage: sum(({ nodesDeleted }) => nodesDeleted.storage),
        },
        accountCommitMs: sum(({ parts }) => parts.accountCommits),
        storageCommitMs: sum(({ parts }) => parts.storageCommits),
      })
    }
  }

  /** All since the last call, of the summaries on this thread. */
  takeTrie(): TrieReport {
    const report = this.parts.trie.take()
    if (report.nodeBytes > 0) this.nodeBytesLast = report.nodeBytes
    return report
  }
}

/** One block on its way. */
export class BlockWatch {
  readonly tally: ReadTally
  private readonly watch: EngineWatch
  private readonly startMs = performance.now()
  private readonly missesBefore: CacheMisses
  private readonly before: PhaseSeconds
  private misses: CacheMisses = NO_MISSES
  private phases: Record<keyof PhaseSeconds, number> | undefined
  private outcome: BlockOutcome | undefined
  private trie: TrieReport = NO_REPORT
  private acceptStartMs = 0
  private beforeAccept: PhaseSeconds

  /** Use `EngineWatch.begin`. */
  constructor(watch: EngineWatch) {
    const { clock, misses } = watch.parts
    this.watch = watch
    this.tally = new ReadTally(watch.hasRows)
    this.missesBefore = { ...misses() }
    this.before = clock.seconds()
    this.beforeAccept = this.before
  }

  /** The check is over. @param isRooted whether the root was part of it, on this thread */
  checked(outcome: BlockOutcome, isRooted: boolean): void {
    const { watch, before, missesBefore } = this
    watch.endCheck()
    const now = watch.parts.misses()
    this.misses = {
      accounts: now.accounts - missesBefore.accounts,
      slots: now.slots - missesBefore.slots,
      codes: now.codes - missesBefore.codes,
      codeBytes: now.codeBytes - missesBefore.codeBytes,
    }
    const phases = { ...watch.parts.clock.seconds() }
    for (const phase of Object.keys(phases) as (keyof PhaseSeconds)[])
      phases[phase] = 1000 * (phases[phase] - before[phase])
    this.phases = phases
    this.outcome = outcome
    if (isRooted) this.trie = watch.takeTrie()
  }

  /** The root has come. @param root as it came */
  rooted(root: Uint8Array): void {
    this.trie = this.watch.reportOf(root)
    this.phases!.root = this.trie.updateMs
  }

  /** Acceptance begins. */
  accepting(): void {
    this.acceptStartMs = performance.now()
    this.beforeAccept = this.watch.parts.clock.seconds()
  }

  /** The block is part of the chain, or beside it: tells the observer. */
  accepted(block: Block, { status, dropped, added }: ImportOutcome): void {
    const { watch, tally, trie, startMs, acceptStartMs, beforeAccept } = this
    const { delta } = this.outcome!
    const now = performance.now()
    const sums = watch.parts.clock.seconds()
    const journal = 1000 * (sums.journal - beforeAccept.journal)
    const write = 1000 * (sums.write - beforeAccept.write)
    const phases = { ...this.phases!, journal, write }
    const acceptMs = Math.max(0, now - acceptStartMs - journal - write)
    const { validate, senders, execute, root } = phases
    const report: BlockReport = {
      block,
      status,
      droppedCount: dropped.length,
      addedCount: added.length,
      phases,
      acceptMs,
      totalMs: validate + senders + execute + root + journal + acceptMs,
      latencyMs: now - startMs,
      reads: tally.counts(this.misses),
      writes: writeCounts(delta.accounts, delta.codes),
      trie,
      costs: () => this.costs(block, report),
    }
    watch.observer.onBlock?.(report)
  }

  private costs(block: Block, report: BlockReport): BlockCosts {
    const outcome = this.outcome!
    const { delta, senders } = outcome
    return blockCosts({
      executeMs: report.phases.execute,
      readCounts: report.reads,
      writeCounts: report.writes,
      tally: this.tally,
      changes: delta.accounts,
      trie: this.trie,
      evm: evmCosts(block, outcome, (execute) => this.watch.parts.replay(block, senders, execute)),
    })
  }
}

function writeCounts(
  changes: readonly AccountChange[],
  newCodes: readonly { readonly code: Uint8Array }[],
): WriteCounts {
  let [accounts, accountsDeleted, slots, slotsDeleted, codeBytes] = [0, 0, 0, 0, 0]
  for (const { before, after, slots: changed } of changes) {
    if (after !== undefined) accounts++
    else if (before !== undefined) accountsDeleted++
    for (const slot of changed) {
      if (slot.after !== undefined) slots++
      else slotsDeleted++
    }
  }
  for (const { code } of newCodes) codeBytes += code.length
  return { accounts, accountsDeleted, slots, slotsDeleted, codes: newCodes.length, codeBytes }
}

const NO_MISSES: CacheMisses = { accounts: 0, slots: 0, codes: 0, codeBytes: 0 }
const NO_REPORT: TrieReport = new TrieWatch(false).take()
