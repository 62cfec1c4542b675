/** Entry of the summary's thread. */
import { openSharedStore } from '../../store/index.ts'
import { type Answer, serve } from '../../threads/index.ts'
import { SegmentShelf } from './segmentPost.ts'
import type { SummaryReply, SummaryRequest, SummaryThreadOptions } from './summaryThread.ts'
import { SummaryWork } from './summaryWork.ts'

serve<SummaryThreadOptions, SummaryRequest, SummaryReply>(async (options) => {
  const store = openSharedStore(options)
  const work = new SummaryWork(store, options.root, options.nodeBytesMax)
  const shelf = new SegmentShelf()
  return (request): Answer<SummaryReply> => {
    switch (request.kind) {
      case 'advance':
        shelf.add(request.segments)
        return { reply: work.advance(shelf.source(request.source)) }
      case 'retreat':
        shelf.add(request.segments)
        work.retreat(shelf.source(request.source))
        return { reply: undefined }
      case 'collect': {
        const reply = work.collect()
        return { reply, transfer: [reply.slab.buffer, reply.fields.buffer] }
      }
      case 'markPersisted':
        work.markPersisted()
        return { reply: undefined }
      case 'close':
        store.close()
        return { reply: undefined }
    }
  }
})
