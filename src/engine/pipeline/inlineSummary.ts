/** The summary stage on this thread. */
import type { DiffSource } from '../../state/index.ts'
import type { PackedBatch, Store } from '../../store/index.ts'
import type { SummaryStage } from './stages.ts'
import { SummaryWork } from './summaryWork.ts'

export class InlineSummary implements SummaryStage {
  private readonly work: SummaryWork

  constructor(store: Store, root: Uint8Array, nodeBytesMax: number) {
    this.work = new SummaryWork(store, root, nodeBytesMax)
  }

  async advance(source: DiffSource): Promise<Uint8Array> {
    return this.work.advance(source)
  }

  async retreat(source: DiffSource): Promise<void> {
    this.work.retreat(source)
  }

  async collect(): Promise<PackedBatch> {
    return this.work.collect()
  }

  markPersisted(): void {
    this.work.markPersisted()
  }

  async close(): Promise<void> {}
}
