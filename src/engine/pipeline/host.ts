/** What a pipeline asks of the engine that it belongs to. */
import type { ChainSpec, HeaderChoices } from '../../chain/index.ts'
import type { Block, Header } from '../../codec/index.ts'
import type { BlockJournal } from '../../store/index.ts'
import type { CheckContext } from '../blockCheck.ts'
import type { ImportOutcome } from '../importOutcome.ts'
import type { KeptChain } from '../tree/keptChain.ts'
import type { EngineWatch } from '../watch/blockWatch.ts'
import type { SpeculativeBlock } from './speculation.ts'

/** What blocks are checked with, whatever they stand on. */
export type CheckTools = Omit<
  CheckContext,
  'parent' | 'view' | 'ancestors' | 'blockHash' | 'roots' | 'senders'
>

export type PipelineHost = {
  readonly spec: ChainSpec
  readonly chain: KeptChain
  readonly watch: EngineWatch | undefined
  checkTools(): CheckTools
  knows(header: Header): boolean
  /** Makes a block whose root is confirmed the head. Takes its state over. */
  accept(block: Block, checked: SpeculativeBlock): ImportOutcome
  /** As `Engine.import` and `produce`, on this thread. */
  importInline(block: Block, senders?: readonly Uint8Array[]): ImportOutcome
  produceInline(choices: HeaderChoices, senders?: readonly Uint8Array[]): Block
  flushInline(): void
  /** Whether enough waits for a write, by what the engine is told of batches. */
  isWriteDue(): boolean
  /** Tells that a write has begun. */
  noteWrite(): void
  /** Whether the memory for states is nearly used up, or a whole batch waits, so that a write must end first. */
  isFull(): boolean
  /** Tells of a failure after which the engine takes no more calls. */
  fail(error: unknown): void
  /** Where accepted blocks are on record before the store has them. */
  readonly journal: BlockJournal | undefined
  /** Gives up the journal's records up to this one: the store has them. */
  cutJournal(sequence: number): void
  /** Gives the engine back to its owner. */
  release(): void
}
