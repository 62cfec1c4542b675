/** The commit stage on this thread, and the write that it shares with the other one. */
import { type Store, WriteBatch } from '../../store/index.ts'
import { PhaseClock } from '../phases.ts'
import { writeState } from '../write/stateBatch.ts'
import type { CommitStage, CommitWork } from './stages.ts'

export class InlineCommit implements CommitStage {
  private readonly store: Store
  private readonly clock: PhaseClock

  constructor(store: Store, clock = new PhaseClock()) {
    this.clock = clock
    this.store = store
  }

  async write(work: CommitWork): Promise<number> {
    return this.clock.measure('write', () => writeWork(this.store, work))
  }

  async close(): Promise<void> {}
}

/**
 * Writes all of it in one transaction, and tells how many bytes.
 * @throws VarveError ENGINE_WRITE_MISMATCH, STORE_*; see `writeState`
 */
export function writeWork(store: Store, { rows, nodes, ...layers }: CommitWork): number {
  const batch = new WriteBatch()
  batch.reserve(2 * (rows.slab.length + nodes.slab.length))
  batch.addPacked(rows)
  batch.addPacked(nodes)
  writeState(store, batch, layers)
  return batch.byteCount
}
