/** How full an engine is, for whoever asks now and then. */
import type { BlockJournal } from '../../store/index.ts'
import type { BranchStatus } from '../branch/branchBases.ts'
import type { PipelineStatus } from '../pipeline/pipeline.ts'
import type { KeptChain } from '../tree/keptChain.ts'
import type { EngineWatch } from './blockWatch.ts'

export type EngineStatus = {
  /** Number of the head, and seconds since 1970 that its header says. */
  readonly headNumber: number
  readonly headTimestamp: number
  /** Blocks whose states are kept: the canonical ones, and beside them. */
  readonly keptCount: number
  readonly sideCount: number
  /** What waits for the next write; bytes without state. */
  readonly waitingBlocks: number
  readonly waitingBytes: number
  /** Layers of states that the store has not passed. */
  readonly layerCount: number
  readonly layerBytes: number
  readonly layerBytesMax: number
  readonly branches: BranchStatus
  readonly branchBytesMax: number
  /** Trie nodes in memory, as last told: 0 where nobody watches. A write brings them down to the most. */
  readonly nodeBytes: number
  readonly nodeBytesMax: number
  /** Where there is one. Records are numbered from 1. */
  readonly journal:
    | { readonly last: number; readonly durable: number; readonly bytes: number }
    | undefined
  /** Where one is open. */
  readonly pipeline: PipelineStatus | undefined
}

export function engineStatus(parts: {
  readonly chain: KeptChain
  readonly journal: BlockJournal | undefined
  readonly pipeline: PipelineStatus | undefined
  readonly branches: BranchStatus
  readonly branchBytesMax: number
  readonly nodeBytesMax: number
  readonly watch: EngineWatch | undefined
}): EngineStatus {
  const { chain, journal, pipeline, branches, branchBytesMax, nodeBytesMax, watch } = parts
  const { head, tree, waitingCount, waitingBytes } = chain
  const { layers, layerBytesMax } = chain.stateStatus
  const { number, timestamp } = head.header
  return {
    headNumber: number,
    headTimestamp: Number(timestamp),
    keptCount: number - tree.floor.header.number + 1,
    sideCount: tree.sideCount,
    waitingBlocks: waitingCount,
    waitingBytes,
    layerCount: layers.layerCount,
    layerBytes: layers.usedBytes,
    layerBytesMax,
    branches,
    branchBytesMax,
    nodeBytes: watch?.nodeBytes ?? 0,
    nodeBytesMax,
    journal:
      journal === undefined
        ? undefined
        : { last: journal.last, durable: journal.durable, bytes: journal.bytes },
    pipeline,
  }
}
