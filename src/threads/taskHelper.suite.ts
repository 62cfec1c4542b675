/** Entry of a worker for tests: a helper that does as a task says. */
import { serve } from './serve.ts'
import { type TaskBoardShare, TaskHelper } from './taskBoard.ts'

export type TestTask = {
  readonly kind: 'echo' | 'throw' | 'die' | 'hang'
  readonly value: number
  /** What the helper is to have done by now: raised by it with each task that it takes. */
  readonly progress: SharedArrayBuffer
}
export type TestResult = { readonly value: number; readonly byHelper: boolean }
export type TestHelp = { readonly round: number; readonly tasks: readonly TestTask[] }

serve<TaskBoardShare, TestHelp, undefined>(async (share) => {
  const helper = new TaskHelper<TestTask, TestResult>(share)
  return ({ round, tasks }) => {
    helper.help(round, tasks, ({ kind, value, progress }) => {
      const words = new Int32Array(progress)
      Atomics.add(words, 0, 1)
      Atomics.notify(words, 0)
      if (kind === 'throw') throw new Error('the helper cannot')
      if (kind === 'die') process.exit(5)
      if (kind === 'hang') Atomics.wait(words, 1, 0)
      return { result: { value: 2 * value, byHelper: true }, transfer: [] }
    })
    return { reply: undefined }
  }
})
