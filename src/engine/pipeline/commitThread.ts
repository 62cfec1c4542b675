/** The commit stage on a thread of its own: rows are made and written there, from layers that lie in shared memory. */
import type { PackedBatch, SharedStore } from '../../store/index.ts'
import { Lane, workerUrl } from '../../threads/index.ts'
import { PhaseClock } from '../phases.ts'
import { type PostedSegment, type PostedSource, posted, SegmentSender } from './segmentPost.ts'
import type { CommitStage, CommitWork } from './stages.ts'

export type CommitRequest =
  | {
      readonly kind: 'write'
      readonly rows: PackedBatch
      readonly nodes: PackedBatch
      readonly state: PostedSource
      readonly deltas: readonly {
        readonly number: number
        readonly hash: Uint8Array
        readonly source: PostedSource
      }[]
      readonly segments: readonly PostedSegment[]
    }
  | { readonly kind: 'close' }

export class CommitThread implements CommitStage {
  private readonly lane: Lane<CommitRequest, number>
  private readonly segments = new SegmentSender()
  private readonly clock: PhaseClock

  constructor(store: SharedStore, clock = new PhaseClock()) {
    this.clock = clock
    this.lane = new Lane(workerUrl(import.meta.url, './commit.worker'), store)
  }

  async write({ rows, nodes, state, deltas }: CommitWork): Promise<number> {
    const request: CommitRequest = {
      kind: 'write',
      rows,
      nodes,
      state: posted(state),
      deltas: deltas.map(({ number, hash, source }) => ({ number, hash, source: posted(source) })),
      // All layers of one chain lie in the same segments, so one source names those of all.
      segments: this.segments.missing(state),
    }
    return await this.lane.run(
      request,
      [rows, nodes].flatMap(({ slab, fields }) => [slab.buffer, fields.buffer]),
      (milliseconds) => this.clock.book('write', milliseconds),
    )
  }

  async close(): Promise<void> {
    // The answer comes after a write under way: a thread that is ended within one never ends.
    await this.lane.run({ kind: 'close' }).catch(() => undefined)
    await this.lane.close()
  }
}
