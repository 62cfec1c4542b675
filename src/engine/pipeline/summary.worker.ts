/** Entry of the summary's thread. */
import { openSharedStore } from '../../store/index.ts'
import { type Answer, serve } from '../../threads/index.ts'
import { SegmentShelf } from './segmentPost.ts'
import type { SummaryReply, SummaryRequest, SummaryThreadOptions } from './summaryThread.ts'
import { SummaryWork } from './summaryWork.ts'

const DONE: SummaryReply = { answer: undefined }

serve<SummaryThreadOptions, SummaryRequest, SummaryReply>(async (options) => {
  const store = openSharedStore(options)
  const { root, nodeBytesMax, watched } = options
  const work = new SummaryWork(store, root, nodeBytesMax, watched)
  const shelf = new SegmentShelf()
  return (request): Answer<SummaryReply> => {
    switch (request.kind) {
      case 'advance':
        shelf.add(request.segments)
        return {
          reply: {
            answer: work.advance(shelf.source(request.source)),
            report: work.takeReport(),
          },
        }
      case 'retreat':
        shelf.add(request.segments)
        work.retreat(shelf.source(request.source))
        return { reply: DONE }
      case 'prefetch':
        work.prefetch(request.addresses)
        return { reply: DONE }
      case 'collect': {
        const answer = work.collect()
        const reply = { answer, report: work.takeReport() }
        return { reply, transfer: [answer.slab.buffer, answer.fields.buffer] }
      }
      case 'markPersisted':
        work.markPersisted()
        return { reply: DONE }
      case 'close':
        store.close()
        return { reply: DONE }
    }
  }
})
