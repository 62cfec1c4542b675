/** Entry of the thread that writes. */
import { openSharedStore, type SharedStore } from '../../store/index.ts'
import { serve } from '../../threads/index.ts'
import type { CommitRequest } from './commitThread.ts'
import { writeWork } from './inlineCommit.ts'
import { SegmentShelf } from './segmentPost.ts'

serve<SharedStore, CommitRequest, number>(async (shared) => {
  const store = openSharedStore(shared)
  const shelf = new SegmentShelf()
  return (request) => {
    if (request.kind === 'close') {
      store.close()
      return { reply: 0 }
    }
    const { rows, nodes, state, deltas, segments } = request
    shelf.add(segments)
    const reply = writeWork(store, {
      rows,
      nodes,
      state: shelf.source(state),
      deltas: deltas.map((row) => ({ ...row, source: shelf.source(row.source) })),
    })
    return { reply }
  }
})
