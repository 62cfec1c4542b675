/**
 * What tests of the ways to commit share: tries of every root shape with a change that waits to be committed, the list
 * of what a sink is told, and helpers that are no threads but take turns as a seed says.
 */
import {
  FLAG_DIRTY,
  HANDLE_WORDS,
  type NodeArena,
  NodeWindow,
  NodeWindowLoan,
} from '../arena/index.ts'
import { toBareHex } from '../base/index.ts'
import { keccak256, TrieNodeKernel } from '../kernels/index.ts'
import type { Prng } from '../testing/index.ts'
import type { TrieChange } from './batch.ts'
import type { ChangePiece } from './changeList.ts'
import { encodeChanges, tellChanges } from './columnSet.ts'
import { pathText } from './faults.ts'
import { type NodeEntry, NodeShape, type NodeSink } from './nodeSet.ts'
import {
  runSubtreeTask,
  type SubtreeResult,
  type SubtreeTask,
  type TrieHelpers,
} from './subtree.ts'

/** Writes down what it is told. */
export class SinkLog implements NodeSink {
  readonly lines: string[] = []

  node(entry: Readonly<NodeEntry>): void {
    const { paths, pathStart, pathEnd, bytes, start, end, hashes, hashStart, previous } = entry
    const hex = (of: Uint8Array, from: number, to: number): string =>
      toBareHex(of.subarray(from, to))
    const path = pathText(paths.subarray(pathStart, pathEnd))
    const before = previous === undefined ? 'nothing' : toBareHex(previous)
    const shapes = `${entry.shape}${entry.formerShape}`
    if (entry.shape === NodeShape.None) this.lines.push(`delete ${path} ${before} ${shapes}`)
    else {
      const hash = hex(hashes, hashStart, hashStart + 32)
      this.lines.push(`put ${path} ${hex(bytes, start, end)} ${hash} ${before} ${shapes}`)
    }
  }

  leaf(value: Uint8Array, parentHash: Uint8Array, key: Uint8Array): void {
    this.lines.push(`leaf ${toBareHex(value)} ${toBareHex(parentHash)} ${toBareHex(key)}`)
  }

  digest(): string {
    return toBareHex(keccak256(new TextEncoder().encode(this.lines.join('\n'))))
  }
}

/** The shapes that a root takes, before the change and after it. */
export const ROOT_SHAPES = [
  'empty to branch',
  'branch',
  'extension',
  'extension to branch',
  'branch to extension',
  'branch to empty',
  'leaf',
  'leaf to branch',
  'embedded children',
  'value in the branch',
  'one subtree',
  'as it was',
] as const
export type RootShape = (typeof ROOT_SHAPES)[number]

/** Changes that lead to a committed state, and those that wait to be committed. */
export function shapedChanges(
  shape: RootShape,
  prng: Prng,
  count: number,
): { readonly before: TrieChange[]; readonly after: TrieChange[] } {
  const value = (): Uint8Array => prng.bytes(prng.pick([1, 5, 31, 32, 33, 70, 110]))
  const key = (prefix: readonly number[]): Uint8Array => {
    const bytes = prng.bytes(32)
    bytes.set(prefix)
    return bytes
  }
  const keys = (many: number, prefix: readonly number[] = []): Uint8Array[] =>
    Array.from({ length: many }, () => key(prefix))
  const puts = (some: readonly Uint8Array[]): TrieChange[] =>
    some.map((one) => ({ key: one, value: value() }))
  const gone = (some: readonly Uint8Array[]): TrieChange[] =>
    some.map((one) => ({ key: one, value: undefined }))
  const base = keys(Math.max(4, count))
  const inner = keys(Math.max(4, count), [7, 7])
  const mixed = (some: readonly Uint8Array[]): TrieChange[] => [
    ...puts(some.filter(() => prng.oneIn(2))),
    ...gone(some.filter(() => prng.oneIn(3))),
    ...puts(keys(count >> 2, some === inner ? [7, 7] : [])),
  ]
  switch (shape) {
    case 'empty to branch':
      return { before: [], after: puts(base) }
    case 'branch':
      return { before: puts(base), after: mixed(base) }
    case 'extension':
      return { before: puts(inner), after: mixed(inner) }
    case 'extension to branch':
      return { before: puts(inner), after: [...mixed(inner), ...puts(keys(3))] }
    case 'branch to extension': {
      const others = base.filter((one) => one[0] !== 7)
      return { before: puts([...inner, ...others]), after: [...mixed(inner), ...gone(others)] }
    }
    case 'branch to empty':
      return { before: puts(base), after: gone(base) }
    case 'leaf':
      return { before: puts(base.slice(0, 1)), after: puts(base.slice(0, 1)) }
    case 'leaf to branch':
      return { before: puts(base.slice(0, 1)), after: puts(base) }
    case 'embedded children': {
      const tiny = Array.from({ length: 12 }, (_, index) => Uint8Array.of(index << 4, index))
      const one = (): Uint8Array => Uint8Array.of(1 + prng.below(200))
      return {
        before: tiny.filter(() => prng.oneIn(2)).map((each) => ({ key: each, value: one() })),
        after: tiny.map((each) => ({ key: each, value: prng.oneIn(4) ? undefined : one() })),
      }
    }
    case 'value in the branch': {
      const nested = base.flatMap((one) => [one, one.subarray(0, 1), new Uint8Array(0)])
      return { before: puts(nested.slice(0, nested.length >> 1)), after: mixed(nested) }
    }
    case 'one subtree':
      return { before: puts(base), after: puts(keys(count, [0x3a])) }
    case 'as it was': {
      const changes = puts(base)
      return { before: changes, after: changes }
    }
  }
}

/** A participant that is no thread but could be: it has a kernel of its own on the same memory. */
export class Participant {
  private readonly loan: NodeWindowLoan
  private readonly window: NodeWindow
  private readonly kernel: TrieNodeKernel

  constructor(arena: NodeArena) {
    this.loan = new NodeWindowLoan(arena)
    this.window = new NodeWindow(this.loan.share)
    this.kernel = new TrieNodeKernel(this.window)
  }

  do(task: SubtreeTask): SubtreeResult | undefined {
    this.window.refresh()
    return runSubtreeTask(this.window, this.kernel, task)
  }

  /** Leaves a task as a thread does that ends in the middle: some nodes look hashed and are not. */
  abandon(task: SubtreeTask, prng: Prng): void {
    if (task.kind !== 'hash') return
    const { words } = this.window
    if (prng.oneIn(2)) this.do(task)
    words[task.node * HANDLE_WORDS]! &= ~FLAG_DIRTY
    words.fill(0xdddddddd, task.node * HANDLE_WORDS + 2, task.node * HANDLE_WORDS + 10)
  }

  encode(piece: ChangePiece, sink: NodeSink): void {
    this.window.refresh()
    tellChanges(encodeChanges(this.window, this.kernel, piece, true), sink)
  }

  close(): void {
    this.loan.end()
  }
}

/** Helpers whose turns a seed decides; some of their tasks fail, or end in the middle. */
export class VirtualHelpers implements TrieHelpers {
  /** How often tasks were shared, and how often a helper left one. */
  readonly counts = { shared: 0, byOthers: 0, abandoned: 0 }
  private readonly others: readonly Participant[]
  private readonly prng: Prng

  constructor(others: readonly Participant[], prng: Prng) {
    this.others = others
    this.prng = prng
  }

  choose<Result>(_: string, __: number, _alone: () => Result, shared: () => Result): Result {
    this.counts.shared++
    return shared()
  }

  run(
    tasks: readonly SubtreeTask[],
    own: (task: SubtreeTask, isAgain: boolean) => SubtreeResult | undefined,
  ): readonly (SubtreeResult | undefined)[] {
    const { prng } = this
    const results: (SubtreeResult | undefined)[] = []
    const waiting = tasks.map((_, index) => index)
    const again: number[] = []
    while (waiting.length > 0) {
      // The owner takes the first task that is left, any other the last.
      if (prng.oneIn(this.others.length + 1)) {
        const index = waiting.shift()!
        results[index] = own(tasks[index]!, false)
        continue
      }
      const index = waiting.pop()!
      const other = prng.pick(this.others)
      if (prng.oneIn(8)) {
        other.abandon(tasks[index]!, prng)
        this.counts.abandoned++
        again.push(index)
      } else {
        results[index] = other.do(tasks[index]!)
        this.counts.byOthers++
      }
    }
    for (const index of again) results[index] = own(tasks[index]!, true)
    return results
  }
}

/** Takes pieces as a thread would that now and then gets a turn; tells them in order. */
export class VirtualConsumer {
  private readonly queue: ChangePiece[] = []
  private readonly participant: Participant
  private readonly prng: Prng
  private readonly sink: NodeSink

  constructor(participant: Participant, prng: Prng, sink: NodeSink) {
    this.participant = participant
    this.prng = prng
    this.sink = sink
  }

  take(piece: ChangePiece): void {
    // On its way between threads a piece is cloned.
    this.queue.push(structuredClone(piece))
    while (this.queue.length > 0 && this.prng.oneIn(2)) this.step()
  }

  finish(): void {
    while (this.queue.length > 0) this.step()
  }

  private step(): void {
    this.participant.encode(this.queue.shift()!, this.sink)
  }
}
