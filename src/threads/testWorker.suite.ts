/** Entry of a worker for tests: does what the request says. */
import { setTimeout as sleep } from 'node:timers/promises'
import { VarveError } from '../base/index.ts'
import { serve } from './serve.ts'

export type TestRequest = {
  readonly kind: 'echo' | 'fault' | 'bug' | 'die' | 'sleep' | 'transfer' | 'count' | 'function'
  readonly value?: number
  readonly bytes?: Uint8Array<ArrayBuffer>
}
export type TestReply = { readonly value: number; readonly bytes?: Uint8Array<ArrayBuffer> }

serve<{ readonly base: number; readonly failToStart?: boolean }, TestRequest, TestReply>(
  async ({ base, failToStart }) => {
    if (failToStart === true) throw new VarveError('TEST_START', 'cannot start')
    let count = 0
    return async ({ kind, value = 0, bytes }) => {
      count++
      switch (kind) {
        case 'echo':
          return { reply: { value: base + value } }
        case 'count':
          return { reply: { value: count } }
        case 'sleep':
          await sleep(value)
          return { reply: { value } }
        case 'transfer': {
          bytes![0] = 9
          return { reply: { value, bytes: bytes! }, transfer: [bytes!.buffer] }
        }
        case 'fault':
          throw new VarveError('TEST_FAULT', 'expected this', { value })
        case 'function':
          return { reply: { value: (() => 0) as unknown as number } }
        case 'die':
          process.exit(7)
          break
        default:
          throw new Error('a bug of the worker')
      }
      return { reply: { value: 0 } }
    }
  },
)
