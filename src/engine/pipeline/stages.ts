/**
 * What blocks go through besides their execution. Each stage runs on this thread or on one of its own, and answers in
 * the order in which it was asked; results never depend on where it runs.
 */

import type { Block } from '../../codec/index.ts'
import type { TrieReport } from '../../commit/index.ts'
import type { DiffSource } from '../../state/index.ts'
import type { PackedBatch, Store } from '../../store/index.ts'
import { PhaseClock } from '../phases.ts'
import type { LayerRows } from '../write/stateBatch.ts'
import { CommitThread } from './commitThread.ts'
import { InlineCommit } from './inlineCommit.ts'
import { InlineSummary } from './inlineSummary.ts'
import { SummaryThread } from './summaryThread.ts'

/** The hashes of the chain's newest state. */
export interface SummaryStage {
  /** The state root after one more block. @param source the block's layer alone, open until the answer */
  advance(source: DiffSource): Promise<Uint8Array>
  /** Takes the newest block back. @param source as given to `advance` */
  retreat(source: DiffSource): Promise<void>
  /**
   * Tells of the block that is about to be executed, so that nodes of the accounts that it names may be loaded meanwhile.
   * A hint: it changes no result and reports no fault.
   * @param senders where they are known already
   */
  prefetch(block: Block, senders: readonly Uint8Array[] | undefined): void
  /** Nodes that changed since the last call, net, as rows of a batch. They count as written from here on. */
  collect(): Promise<PackedBatch>
  /** Tells that the store holds all that was collected. */
  markPersisted(): void
  /** Ends the stage. */
  close(): Promise<void>
}

/** All that one write holds. */
export type CommitWork = LayerRows & {
  /** Rows of blocks, codes, index and head record. */
  readonly rows: PackedBatch
  readonly nodes: PackedBatch
}

/** Writes to the store. */
export interface CommitStage {
  /** Writes all of it in one transaction, and tells how many bytes. @throws VarveError STORE_*; the store is then as it was */
  write(work: CommitWork): Promise<number>
  close(): Promise<void>
}

export type Stages = { readonly summary: SummaryStage; readonly commit: CommitStage }

export type StagesOptions = {
  /** Bytes of trie nodes that are kept over a write. */
  readonly nodeBytesMax: number
  /** Whether stages may have threads of their own. A store that only this thread can open runs them here. */
  readonly isThreaded: boolean
  /** Books the time of stages as `root`, `collect` and `write`, wherever they run. */
  readonly clock?: PhaseClock
  /** Told what the summary did for each of its answers. */
  readonly watch?: SummaryWatch | undefined
}

/** Whoever watches the summary. */
export type SummaryWatch = {
  /** Whether nodes are put down to keys. */
  readonly hasRows: boolean
  note(answer: object, report: TrieReport): void
}

/** Opens the stages over a store that holds the chain up to its head. @param root of the head's state */
export function openStages(store: Store, root: Uint8Array, options: StagesOptions): Stages {
  const { nodeBytesMax, isThreaded, clock = new PhaseClock(), watch } = options
  const { shared } = store
  if (!isThreaded || shared === undefined)
    return {
      summary: new InlineSummary(store, root, nodeBytesMax, clock, watch),
      commit: new InlineCommit(store, clock),
    }
  return {
    summary: new SummaryThread({ ...shared, root, nodeBytesMax }, clock, watch),
    commit: new CommitThread(shared, clock),
  }
}
