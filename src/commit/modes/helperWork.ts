/** A helper's side: tasks from a shared operation, and the sink of a commit that is made in pieces. On any thread. */
import { NodeWindow } from '../../arena/index.ts'
import { assert } from '../../base/index.ts'
import { trieNodeKernel } from '../../kernels/index.ts'
import { type Answer, TaskHelper } from '../../threads/index.ts'
import {
  encodeChanges,
  resultBuffers,
  runSubtreeTask,
  type SubtreeResult,
  type SubtreeTask,
  tellChanges,
} from '../../trie/index.ts'
import type { ChangeSink, SinkModule } from './changeSink.ts'
import type { HelperOptions, HelperReply, HelperRequest } from './messages.ts'

type AnySink = ChangeSink<unknown, unknown>

export class HelperWork {
  private readonly window: NodeWindow
  private readonly tasks: TaskHelper<SubtreeTask, SubtreeResult | undefined>
  private readonly cancelled: Int32Array
  private sink: AnySink | undefined

  constructor({ window, board, cancelled }: HelperOptions) {
    this.window = new NodeWindow(window)
    this.tasks = new TaskHelper(board)
    this.cancelled = new Int32Array(cancelled)
    // The kernel is compiled before the first task asks for it.
    trieNodeKernel(this.window)
  }

  async answer(request: HelperRequest): Promise<Answer<HelperReply>> {
    switch (request.kind) {
      case 'help':
        this.help(request.round, request.tasks)
        return { reply: undefined }
      case 'load':
        await import(request.module)
        return { reply: undefined }
      case 'open': {
        // Whatever a commit before left unfinished goes.
        this.sink = undefined
        const module = (await import(request.module)) as SinkModule<unknown, unknown, unknown>
        this.sink = module.openSink(request.options)
        return { reply: undefined }
      }
      case 'begin':
        this.sink?.begin(request.tag)
        return { reply: undefined }
      case 'piece':
        this.tell(request)
        return { reply: undefined }
      case 'finish': {
        const { sink } = this
        this.sink = undefined
        assert(sink !== undefined, 'helper: a sink is open')
        return sink.finish()
      }
    }
  }

  private help(round: number, tasks: readonly SubtreeTask[]): void {
    this.window.refresh()
    const kernel = trieNodeKernel(this.window)
    this.tasks.help(round, tasks, (task) => {
      const result = runSubtreeTask(this.window, kernel, task)
      return { result, transfer: result === undefined ? [] : resultBuffers(result) }
    })
  }

  /** After a fault the sink is gone: its caller has that fault, and what follows is passed over. */
  private tell({
    piece,
    wantsPrevious,
    cancelCount,
  }: Extract<HelperRequest, { kind: 'piece' }>): void {
    const { sink, window } = this
    if (sink === undefined || Atomics.load(this.cancelled, 0) !== cancelCount) return
    window.refresh()
    try {
      tellChanges(encodeChanges(window, trieNodeKernel(window), piece, wantsPrevious), sink)
    } catch (fault) {
      this.sink = undefined
      throw fault
    }
  }
}
