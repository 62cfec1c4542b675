/** The commit stage on this thread, and the write that it shares with the other one. */
import { diffAccounts } from '../../state/index.ts'
import { type Store, WriteBatch } from '../../store/index.ts'
import { putDeltas, putFlatState } from '../stateBatch.ts'
import type { CommitStage, CommitWork } from './stages.ts'

export class InlineCommit implements CommitStage {
  private readonly store: Store

  constructor(store: Store) {
    this.store = store
  }

  async write(work: CommitWork): Promise<void> {
    writeWork(this.store, work)
  }

  async close(): Promise<void> {}
}

/** Writes all of it in one transaction. @throws VarveError STORE_* */
export function writeWork(store: Store, { rows, nodes, state, deltas }: CommitWork): void {
  const batch = new WriteBatch()
  batch.addPacked(rows)
  batch.addPacked(nodes)
  putFlatState(batch, diffAccounts(state))
  putDeltas(batch, deltas)
  store.write(batch)
}
