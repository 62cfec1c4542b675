/** The summary stage on a thread of its own. It reads the store's nodes there, and the layers where they lie. */
import type { Block } from '../../codec/index.ts'
import type { TrieReport } from '../../commit/index.ts'
import type { DiffSource } from '../../state/index.ts'
import type { PackedBatch, SharedStore } from '../../store/index.ts'
import { Lane, workerUrl } from '../../threads/index.ts'
import { PhaseClock } from '../phases.ts'
import { namedAccounts } from './namedAccounts.ts'
import { type PostedSegment, type PostedSource, posted, SegmentSender } from './segmentPost.ts'
import type { SummaryStage, SummaryWatch } from './stages.ts'

export type SummaryThreadOptions = SharedStore & {
  readonly root: Uint8Array
  readonly nodeBytesMax: number
  /** Where somebody watches: whether reports have rows. */
  readonly watched?: { readonly hasRows: boolean } | undefined
}

export type SummaryRequest =
  | {
      readonly kind: 'advance' | 'retreat'
      readonly source: PostedSource
      readonly segments: readonly PostedSegment[]
    }
  | { readonly kind: 'prefetch'; readonly addresses: Uint8Array }
  | { readonly kind: 'collect' | 'markPersisted' | 'close' }

export type SummaryReply = {
  /** The root after `advance`, the rows after `collect`, else nothing. */
  readonly answer: Uint8Array | PackedBatch | undefined
  /** What was done for it, where somebody watches. */
  readonly report?: TrieReport | undefined
}

export class SummaryThread implements SummaryStage {
  private readonly lane: Lane<SummaryRequest, SummaryReply>
  private readonly segments = new SegmentSender()
  private readonly watch: SummaryWatch | undefined
  private readonly clock: PhaseClock

  constructor(options: SummaryThreadOptions, clock = new PhaseClock(), watch?: SummaryWatch) {
    this.clock = clock
    this.watch = watch
    const watched = watch === undefined ? undefined : { hasRows: watch.hasRows }
    const data: SummaryThreadOptions = { ...options, watched }
    this.lane = new Lane(workerUrl(import.meta.url, './summary.worker'), data)
  }

  async advance(source: DiffSource): Promise<Uint8Array> {
    return this.told(await this.step('advance', source)) as Uint8Array
  }

  async retreat(source: DiffSource): Promise<void> {
    await this.step('retreat', source)
  }

  prefetch(block: Block, senders: readonly Uint8Array[] | undefined): void {
    const addresses = namedAccounts(block, senders)
    if (addresses === undefined) return
    const book = (milliseconds: number) => this.clock.book('root', milliseconds)
    this.lane.run({ kind: 'prefetch', addresses }, [], book).catch(() => undefined)
  }

  async collect(): Promise<PackedBatch> {
    const book = (milliseconds: number) => this.clock.book('collect', milliseconds)
    return this.told(await this.lane.run({ kind: 'collect' }, [], book)) as PackedBatch
  }

  markPersisted(): void {
    // Where the thread has died, the next request says so.
    this.lane.run({ kind: 'markPersisted' }).catch(() => undefined)
  }

  async close(): Promise<void> {
    await this.lane.run({ kind: 'close' }).catch(() => undefined)
    await this.lane.close()
  }

  private told({ answer, report }: SummaryReply): SummaryReply['answer'] {
    if (report !== undefined) this.watch?.note(answer!, report)
    return answer
  }

  private step(kind: 'advance' | 'retreat', source: DiffSource): Promise<SummaryReply> {
    const segments = this.segments.missing(source)
    return this.lane.run({ kind, source: posted(source), segments }, [], (milliseconds) =>
      this.clock.book('root', milliseconds),
    )
  }
}
