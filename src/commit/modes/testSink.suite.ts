/** A sink for tests, as a module: writes down what it is told, and fails where its options say. */
import { VarveError } from '../../base/index.ts'
import type { Answer } from '../../threads/index.ts'
import { SinkLog } from '../../trie/commitModes.suite.ts'
import type { NodeEntry } from '../../trie/index.ts'
import type { ChangeSink } from './changeSink.ts'

export type TestSinkOptions = {
  /** The call in which it throws, counted over nodes and leaves; never without it. */
  readonly throwAt?: number
  /** The call in which the thread ends. */
  readonly dieAt?: number
  readonly throwInFinish?: boolean
  readonly throwInOpen?: boolean
}

export type TestSinkResult = { readonly lines: readonly string[]; readonly bytes: Uint8Array }

class TestSink implements ChangeSink<string, TestSinkResult> {
  private readonly log = new SinkLog()
  private readonly options: TestSinkOptions
  private callCount = 0

  constructor(options: TestSinkOptions) {
    this.options = options
    if (options.throwInOpen === true) throw new VarveError('TEST_SINK', 'it does not open')
  }

  begin(tag: string): void {
    this.log.lines.push(`trie ${tag}`)
  }

  node(entry: Readonly<NodeEntry>): void {
    this.count()
    this.log.node(entry)
  }

  leaf(value: Uint8Array, parentHash: Uint8Array, key: Uint8Array): void {
    this.count()
    this.log.leaf(value, parentHash, key)
  }

  finish(): Answer<TestSinkResult> {
    if (this.options.throwInFinish === true) throw new VarveError('TEST_SINK', 'no end')
    const bytes = new Uint8Array(64).fill(7)
    return { reply: { lines: this.log.lines, bytes }, transfer: [bytes.buffer] }
  }

  private count(): void {
    const call = this.callCount++
    if (call === this.options.throwAt) throw new VarveError('TEST_SINK', 'expected this', { call })
    if (call === this.options.dieAt) process.exit(9)
  }
}

export function openSink(options: TestSinkOptions): TestSink {
  return new TestSink(options)
}
