/**
 * Writes to the store what was accepted, behind the blocks that go on: one large transaction at a time, never for a
 * block's sake.
 *
 *     collect (after the newest block) ─▶ all of it accepted? ─▶ beginWrite ─▶ CommitStage ─▶ publish, in this order:
 *                                            no: kept for the next one           summary, state, journal
 *
 * The nodes that were collected belong to one block, and the rows must be those of the same one: the head must be that
 * block in the moment when they arrive. Where blocks come so fast that it is not, the second try holds them up.
 */
import { assert } from '../../base/index.ts'
import { type PackedBatch, WriteBatch } from '../../store/index.ts'
import type { KeptChain } from '../tree/keptChain.ts'
import type { EngineWatch } from '../watch/blockWatch.ts'
import type { Stages } from './stages.ts'
import type { StepOrder } from './stepOrder.ts'

export type WriteBehindOptions = {
  readonly chain: KeptChain
  readonly stages: Stages
  readonly order: StepOrder
  readonly watch?: EngineWatch | undefined
  /** Told after each write, with the number of the newest journal record that it has the effect of. */
  readonly onWritten: (sequence: number) => void
}

export class WriteBehind {
  private readonly options: WriteBehindOptions
  /** Nodes that the summary counts as written and the store lacks, oldest first. */
  private nodes: PackedBatch[] = []
  private underWay: Promise<void> | undefined
  private isLate = false

  constructor(options: WriteBehindOptions) {
    this.options = options
  }

  get isWriting(): boolean {
    return this.underWay !== undefined
  }

  /** Whether no block may be added until the write has begun. */
  get isHolding(): boolean {
    return this.isLate
  }

  /** Waits for the write under way. @throws VarveError STORE_* */
  async settled(): Promise<void> {
    await this.underWay
  }

  /**
   * Begins a write of all blocks up to the newest one that the summary was told of.
   * @param number of that block
   */
  begin(number: number): Promise<void> {
    assert(this.underWay === undefined, 'write-behind: one write at a time')
    const write = this.write(number).finally(() => {
      this.underWay = undefined
    })
    this.underWay = write
    return write
  }

  private async write(number: number): Promise<void> {
    const { chain, stages, order, watch, onWritten } = this.options
    const collected = await stages.summary.collect()
    this.nodes.push(collected)
    watch?.noteCollect(collected)
    this.isLate = order.at('accepted') !== number
    if (this.isLate) return
    const report = watch?.beginWrite(chain)
    const plan = chain.beginWrite()
    if (plan === undefined) return
    order.reach('collected', number)
    const { batch, state, deltas } = plan
    const nodes = joined(this.nodes)
    this.nodes = []
    try {
      const bytes = await stages.commit.write({ rows: batch.pack(), nodes, state, deltas })
      report?.(bytes)
    } catch (error) {
      chain.cancelWrite()
      throw error
    }
    order.reach('written', number)
    stages.summary.markPersisted()
    order.reach('summaryPublished', number)
    const sequence = chain.finishWrite()
    order.reach('statePublished', number)
    onWritten(sequence)
    order.reach('journalCut', number)
  }
}

/** Several node sets one after the other: of each node the newest counts. */
function joined(batches: readonly PackedBatch[]): PackedBatch {
  const [only] = batches
  if (only !== undefined && batches.length === 1) return only
  const all = new WriteBatch()
  for (const batch of batches) all.addPacked(batch)
  return all.take()
}
