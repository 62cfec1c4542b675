/**
 * A helping thread for the tries of one arena, and the choice of what it does:
 *
 *     hash, commit   `TrieHelpers` of the tries: subtrees shared, inside of the synchronous call
 *     sink           `commitTo`: the change told to a consumer, here, or on the helper while this thread goes on
 *
 * The helper starts with the first operation that may need it. Until it is awake, after it has died, and for what is
 * small, all is done here, with equal results. One thread owns a crew: that of the arena.
 */
import { NO_NODE, type NodeArena, NodeWindowLoan } from '../../arena/index.ts'
import { trieNodeKernel } from '../../kernels/index.ts'
import { Lane, TaskOwner, workerUrl } from '../../threads/index.ts'
import {
  type ChangePiece,
  encodeChanges,
  type OpenCommit,
  pieceBuffers,
  type SharedOperation,
  type SubtreeResult,
  type SubtreeTask,
  type Trie,
  type TrieHelpers,
  tellChanges,
} from '../../trie/index.ts'
import type { SinkSource } from './changeSink.ts'
import type { HelperOptions, HelperReply, HelperRequest } from './messages.ts'
import { type CommitMode, type CommitModeWish, ModeChooser } from './modeChooser.ts'
import { fitModel } from './modeFit.ts'

/** A trie whose change is told, and what the sink is told about it. */
export type CommitPart<Tag> = { readonly trie: Trie; readonly tag: Tag }

export type CommitToOptions = {
  /** Tell the leaves that are new. */
  readonly leaves?: boolean
  /** Tell the bytes from before. */
  readonly previous?: boolean
  /** Ends the commit as if it had failed, before its sink has finished. */
  readonly signal?: AbortSignal
}

const MODES: Record<SharedOperation, readonly CommitMode[]> = {
  hash: ['inline', 'parallel'],
  commit: ['inline', 'parallel'],
}
const SINK_MODES: readonly CommitMode[] = ['inline', 'worker', 'parallel']
const INLINE_ONLY: readonly CommitMode[] = ['inline']

/** Tries to hand over a task at the start, and the longest that one is waited for. */
const HAND_OVER_COUNT = 5
const HAND_OVER_LIMIT_MS = 2

type Helper = { readonly lane: Lane<HelperRequest, HelperReply>; readonly loan: NodeWindowLoan }

export class TrieCrew implements TrieHelpers {
  readonly chooser: ModeChooser
  private readonly arena: NodeArena
  private readonly tasks = new TaskOwner<SubtreeTask, SubtreeResult | undefined>()
  private readonly cancelled = new Int32Array(new SharedArrayBuffer(4))
  private helper: Helper | undefined
  private isClosed = false
  /** Commits whose pieces are with the helper. */
  private openCommitCount = 0
  /** A commit whose parts are to be done in one way, whatever their own sizes say. */
  private forced: CommitMode | undefined

  constructor(arena: NodeArena, wish: CommitModeWish = 'auto', chooser = new ModeChooser(wish)) {
    this.arena = arena
    this.chooser = chooser
  }

  choose<Result>(
    operation: SharedOperation,
    leafCount: number,
    alone: () => Result,
    shared: () => Result,
  ): Result {
    if (this.forced !== undefined) return this.forced === 'parallel' ? shared() : alone()
    const choice = this.chooser.choose(operation, leafCount, this.open(MODES[operation]))
    if (choice.reason === 'small') return alone()
    const start = performance.now()
    const result = choice.mode === 'parallel' ? shared() : alone()
    this.chooser.done(choice, (performance.now() - start) * 1e6)
    return result
  }

  run(
    tasks: readonly SubtreeTask[],
    own: (task: SubtreeTask, isAgain: boolean) => SubtreeResult | undefined,
  ): readonly (SubtreeResult | undefined)[] {
    return this.tasks.run(tasks, (round) => this.call({ kind: 'help', round, tasks }), own)
  }

  /**
   * Commits tries and tells a sink what changed, trie by trie. The tries count the change as stored once the sink has
   * finished. Until then they are closed (TRIE_BUSY) where the commit is under way.
   * @returns what the sink's `finish` gave
   * @throws what the sink throws, THREAD_* where the helper ended, the signal's reason; every trie is as before then,
   *   with all its changes, and may be committed again
   */
  async commitTo<Options, Tag, Result>(
    parts: readonly CommitPart<Tag>[],
    source: SinkSource<Options, Tag, Result>,
    options: CommitToOptions = {},
  ): Promise<Result> {
    let leafCount = 0
    let fitsHelper = true
    for (const { trie } of parts) {
      leafCount += trie.changeCount
      fitsHelper &&= trie.fitsHelpers
    }
    const modes = fitsHelper ? this.open(SINK_MODES) : INLINE_ONLY
    const choice = this.chooser.choose('sink', leafCount, modes)
    const start = performance.now()
    let result: Result
    if (choice.mode === 'worker') {
      this.openCommitCount++
      try {
        result = await this.commitToHelper(parts, source, options)
      } finally {
        this.openCommitCount--
      }
    } else result = this.commitHere(parts, source, options, choice.mode)
    this.chooser.done(choice, (performance.now() - start) * 1e6)
    return result
  }

  /** Has a sink's module loaded by the helper, ahead of the first commit. */
  prepare(module: URL): void {
    this.call({ kind: 'load', module: module.href })
  }

  /** Ends the helper. No operation is under way then; the tries go on alone. */
  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    this.tasks.close()
    const { helper } = this
    if (helper === undefined) return
    await helper.lane.close()
    helper.loan.end()
  }

  private open(modes: readonly CommitMode[]): readonly CommitMode[] {
    return this.isClosed || this.helper?.lane.hasFailed === true ? INLINE_ONLY : modes
  }

  private commitHere<Options, Tag, Result>(
    parts: readonly CommitPart<Tag>[],
    source: SinkSource<Options, Tag, Result>,
    { leaves = false, previous = true, signal }: CommitToOptions,
    mode: CommitMode,
  ): Result {
    const sink = source.open(source.options)
    const kernel = trieNodeKernel(this.arena)
    const commits: OpenCommit[] = []
    this.forced = mode
    try {
      for (const { trie, tag } of parts) {
        signal?.throwIfAborted()
        sink.begin(tag)
        if (mode === 'parallel') commits.push(trie.commitTold(sink, { leaves, previous }))
        else {
          const take = (piece: ChangePiece): void =>
            tellChanges(encodeChanges(this.arena, kernel, piece, previous), sink)
          commits.push(trie.commitInPieces(take, { leaves, previous }))
        }
      }
      const { reply } = sink.finish()
      for (const commit of commits) commit.finish()
      return reply
    } catch (fault) {
      for (const commit of commits) commit.cancel()
      throw fault
    } finally {
      this.forced = undefined
    }
  }

  private async commitToHelper<Options, Tag, Result>(
    parts: readonly CommitPart<Tag>[],
    source: SinkSource<Options, Tag, Result>,
    options: CommitToOptions,
  ): Promise<Result> {
    const { leaves = false, previous = true, signal } = options
    const { lane } = this.start()
    const commits: OpenCommit[] = []
    const told: Promise<HelperReply>[] = []
    const cancelCount = Atomics.load(this.cancelled, 0)
    let fault: unknown
    const send = (request: HelperRequest, transfer: readonly ArrayBuffer[] = []): void => {
      const reply = lane.run(request, transfer)
      // The first fault is the cause of those after it, and the walk need not go on.
      reply.catch((error: unknown) => {
        fault ??= error
      })
      told.push(reply)
    }
    try {
      this.forced = 'inline'
      try {
        send({ kind: 'open', module: source.module.href, options: source.options })
        for (const { trie, tag } of parts) {
          send({ kind: 'begin', tag })
          const take = (piece: ChangePiece): void => {
            signal?.throwIfAborted()
            send(
              { kind: 'piece', piece, wantsPrevious: previous, cancelCount },
              pieceBuffers(piece),
            )
          }
          try {
            commits.push(trie.commitInPieces(take, { leaves, previous }))
          } catch (error) {
            // The helper may still read its nodes.
            commits.push(trie.hold())
            throw error
          }
        }
      } finally {
        this.forced = undefined
      }
      const onAbort = (): void => void Atomics.add(this.cancelled, 0, 1)
      signal?.addEventListener('abort', onAbort, { once: true })
      await Promise.allSettled(told)
      signal?.removeEventListener('abort', onAbort)
      if (fault !== undefined) throw fault
      signal?.throwIfAborted()
      const result = (await lane.run({ kind: 'finish' })) as Result
      for (const commit of commits) commit.finish()
      return result
    } catch (error) {
      // No node may be freed while the helper reads: it answers what it has, or its thread has ended.
      Atomics.add(this.cancelled, 0, 1)
      await Promise.allSettled(told)
      for (const commit of commits) commit.cancel()
      throw fault ?? error
    }
  }

  /** Sends what needs no answer. A helper that has died is found dead by the next choice. */
  private call(request: HelperRequest): void {
    if (this.isClosed) return
    this.start()
      .lane.run(request)
      .catch(() => undefined)
  }

  private start(): Helper {
    if (this.helper !== undefined) return this.helper
    const loan = new NodeWindowLoan(this.arena)
    const { share } = this.tasks
    const data: HelperOptions = {
      window: loan.share,
      board: share,
      cancelled: this.cancelled.buffer as SharedArrayBuffer,
    }
    const lane = new Lane<HelperRequest, HelperReply>(
      workerUrl(import.meta.url, './helper.worker'),
      data,
      [share.port],
    )
    this.helper = { lane, loan }
    // By the time that it answers it is awake, and has compiled what it runs.
    lane.run({ kind: 'help', round: 0, tasks: [] }).then(
      () => this.fit(),
      () => undefined,
    )
    return this.helper
  }

  /** Measures what handing over costs on this machine, between two operations. */
  private fit(): void {
    if (this.isClosed || this.openCommitCount > 0 || this.chooser.isForced) return
    const idle: SubtreeTask = { kind: 'hash', node: NO_NODE }
    let handOverMs = HAND_OVER_LIMIT_MS
    for (let run = 0; run < HAND_OVER_COUNT; run++) {
      const call = (round: number, tasks: readonly SubtreeTask[]): void =>
        this.call({ kind: 'help', round, tasks })
      handOverMs = Math.min(handOverMs, this.tasks.handOverMs(idle, call, HAND_OVER_LIMIT_MS))
    }
    this.chooser.fit(fitModel(this.arena, this, handOverMs * 1e6))
  }
}
