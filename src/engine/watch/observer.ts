/**
 * What an engine tells whoever watches it: plain numbers, once a block and once a write. Without an observer nothing is
 * counted and no clock is read for it.
 *
 * Not here: names, quantiles, endpoints. Those are the observer's.
 */
import type { Block } from '../../codec/index.ts'
import type { NodeCounts, TrieReport } from '../../commit/index.ts'
import type { CacheMisses } from '../../state/index.ts'
import type { ImportOutcome } from '../importOutcome.ts'
import type { Phase } from '../phases.ts'
import type { BlockCosts } from './blockCosts.ts'

/** Called between blocks, on the engine's thread. Must not throw, and must not call the engine but for questions. */
export type EngineObserver = {
  /** Whether `BlockReport.costs` is asked for: each read and each change is then noted by its key. */
  readonly wantsCosts?: boolean
  onBlock?(report: BlockReport): void
  onWrite?(report: WriteReport): void
}

/** What execution asked the parent's state for. Each key is asked for once a block. Times in milliseconds. */
export type ReadCounts = {
  readonly accounts: number
  readonly accountMs: number
  readonly slots: number
  readonly slotMs: number
  readonly codes: number
  readonly codeMs: number
  readonly codeBytes: number
  /** What of it neither the layers nor the cache had. */
  readonly misses: Readonly<CacheMisses>
}

/** What a block changes. Slots that go with their account, or as it is cleared, are not counted. */
export type WriteCounts = {
  readonly accounts: number
  readonly accountsDeleted: number
  readonly slots: number
  readonly slotsDeleted: number
  readonly codes: number
  readonly codeBytes: number
}

/** A block that was accepted. Times in milliseconds. */
export type BlockReport = {
  readonly block: Block
  readonly status: ImportOutcome['status']
  /** Blocks that left the canonical chain by it, and blocks that joined. */
  readonly droppedCount: number
  readonly addedCount: number
  /** Work on the block, wherever it was done. `write` is what began with its acceptance, on this thread. */
  readonly phases: Readonly<Record<Phase, number>>
  /** Taking it in: its place in the chain, its rows. */
  readonly acceptMs: number
  /** Sum of the phases but `decode`, `collect` and `write`, and of `acceptMs`. */
  readonly totalMs: number
  /** From the start of its check to its acceptance; with waits for other blocks where stages overlap. */
  readonly latencyMs: number
  readonly reads: ReadCounts
  readonly writes: WriteCounts
  readonly trie: TrieReport
  /**
   * What of it caused the cost. To be asked within `onBlock`, and only where the observer `wantsCosts`.
   * Cost: one more execution of the block, with a listener.
   */
  costs(): BlockCosts
}

/** One transaction of the store. Times in milliseconds. */
export type WriteReport = {
  readonly blockCount: number
  /** Number of the head in it. */
  readonly number: number
  /** Keys and values. */
  readonly bytes: number
  readonly nodesWritten: NodeCounts
  readonly nodesDeleted: NodeCounts
  /** Collecting the nodes of the account trie, and of the storage tries. */
  readonly accountCommitMs: number
  readonly storageCommitMs: number
  /** Making the batch, and the store's transaction. */
  readonly storeMs: number
}
