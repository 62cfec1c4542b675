/**
 * Who takes the changes of a commit. The same code serves on the committing thread and on another one, so it is a
 * module: a worker loads it by its address and gets all it needs by `openSink`. Closures do not cross threads.
 *
 *     begin(tag) ─▶ (node | leaf)* ─▶ begin(tag) ─▶ … ─▶ finish() ─▶ result
 *
 * The calls are the same in every mode, in the same order, all on one thread. Where a call throws, or the commit is
 * cancelled, nothing of what was told counts: the sink keeps it to itself until `finish`, and is dropped.
 */
import type { Answer } from '../../threads/index.ts'
import type { NodeSink } from '../../trie/index.ts'

export type ChangeSink<Tag, Result> = NodeSink & {
  /** The changes of another trie follow. @param tag as the committing side gave it; cloned between threads */
  begin(tag: Tag): void
  /** All was told. The result can be cloned; the buffers named go over to the committing side. */
  finish(): Answer<Result>
}

/** What a sink's module exports. */
export type SinkModule<Options, Tag, Result> = {
  readonly openSink: (options: Options) => ChangeSink<Tag, Result>
}

export type SinkSource<Options, Tag, Result> = {
  /** Address of the module, for a worker. */
  readonly module: URL
  /** Its `openSink`, for this thread. */
  readonly open: (options: Options) => ChangeSink<Tag, Result>
  /** Can be cloned. */
  readonly options: Options
}
