/** The summary stage on this thread. */
import type { DiffSource } from '../../state/index.ts'
import type { PackedBatch, Store } from '../../store/index.ts'
import { PhaseClock } from '../phases.ts'
import type { SummaryStage, SummaryWatch } from './stages.ts'
import { SummaryWork } from './summaryWork.ts'

export class InlineSummary implements SummaryStage {
  private readonly work: SummaryWork
  private readonly clock: PhaseClock
  private readonly watch: SummaryWatch | undefined

  constructor(
    store: Store,
    root: Uint8Array,
    nodeBytesMax: number,
    clock = new PhaseClock(),
    watch?: SummaryWatch,
  ) {
    this.clock = clock
    this.watch = watch
    this.work = new SummaryWork(store, root, nodeBytesMax, watch)
  }

  async advance(source: DiffSource): Promise<Uint8Array> {
    return this.told(this.clock.measure('root', () => this.work.advance(source)))
  }

  async retreat(source: DiffSource): Promise<void> {
    this.clock.measure('root', () => this.work.retreat(source))
  }

  /** Nothing runs meanwhile, so there is nothing to gain. */
  prefetch(): void {}

  async collect(): Promise<PackedBatch> {
    return this.told(this.clock.measure('collect', () => this.work.collect()))
  }

  markPersisted(): void {
    this.work.markPersisted()
  }

  async close(): Promise<void> {}

  private told<Answer extends object>(answer: Answer): Answer {
    this.watch?.note(answer, this.work.takeReport()!)
    return answer
  }
}
