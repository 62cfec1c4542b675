/** Remembers why frames fail: the step that failed is heard before the exit of its frame. */
import { Status, type StepEvent } from '../evm/index.ts'

export class FaultWatch {
  /** The last step of all. */
  last: StepEvent | undefined

  step(event: StepEvent): void {
    this.last = event
  }

  /** The step that a frame failed with, or `undefined` where it ended otherwise. Called at each exit. */
  exit(depth: number, status: Status): StepEvent | undefined {
    const { last } = this
    this.last = undefined
    return status > Status.Revert && last?.depth === depth && last.error === status
      ? last
      : undefined
  }
}
