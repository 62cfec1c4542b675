/**
 * Work on one trie shared between threads: the children of the topmost branch are tasks, each for whichever thread is
 * free. What is above them stays with the owner.
 *
 *            root (extension)?          owner, last
 *                  B                    owner, last
 *        ┌───┬───┬─┴─┬───┬───┐
 *        0   1   2  …   e   f           tasks: hash, or walk and encode
 *
 * Tasks read the arena and write references of their own nodes. Results are joined in the order of the nibbles, so they
 * do not depend on who did what.
 */
import {
  BODY_WORD,
  FLAG_COMMITTED,
  HANDLE_WORDS,
  NO_NODE,
  type NodeHandle,
  NodeKind,
  type NodeMemory,
} from '../arena/index.ts'
import { assert } from '../base/index.ts'
import type { TrieNodeKernel } from '../kernels/index.ts'
import { ChangeWalk } from './changeWalk.ts'
import { type ChangeColumns, columnBuffers, encodeChanges } from './columnSet.ts'
import type { TrieCore } from './core.ts'
import { hashBelow, markDirty } from './hashTree.ts'

/** What a commit is asked for. */
export type SubtreeWants = { readonly wantsLeaves: boolean; readonly wantsPrevious: boolean }

/** What is done to one subtree. Can be posted. */
export type SubtreeTask =
  | { readonly kind: 'hash'; readonly node: NodeHandle }
  | (SubtreeWants & {
      readonly kind: 'commit'
      readonly former: NodeHandle
      readonly current: NodeHandle
      /** From the root to the subtree, one nibble a byte. */
      readonly path: Uint8Array
    })

/** What came of a 'commit' task; of a 'hash' task nothing does but references. */
export type SubtreeResult = {
  readonly columns: ChangeColumns
  readonly fresh: Uint32Array<ArrayBuffer>
  /** New leaves that a node above the subtree holds. */
  readonly pending: Uint32Array<ArrayBuffer>
}

/** Operations that may be shared. */
export type SharedOperation = 'hash' | 'commit'

/** Threads that help with a trie. The trie declares what it needs; who knows threads implements it. */
export type TrieHelpers = {
  /** Does an operation on so many changed leaves in one of two ways, as seems best. */
  choose<Result>(
    operation: SharedOperation,
    changeCount: number,
    alone: () => Result,
    shared: () => Result,
  ): Result
  /**
   * Has every task done, here by `own` or on another thread by `runSubtreeTask`. Where another thread failed or ended,
   * `own` does its task again. Results come in the order of the tasks.
   * @throws VarveError TRIE_HELPER_LOST where a thread neither answers nor ends: the arena is not to be used any more
   */
  run(
    tasks: readonly SubtreeTask[],
    own: (task: SubtreeTask, isAgain: boolean) => SubtreeResult | undefined,
  ): readonly (SubtreeResult | undefined)[]
}

/** Values above this are not for helpers: the encoding of a node may need more room than a window has. */
const SHARED_VALUE_BYTES_MAX = 128 * 1024

/** The topmost branch of the current tree, or 0 where it has none, or none that was changed. */
export function splitBranch({ arena, root }: TrieCore): NodeHandle {
  const { words } = arena
  let node = root
  if (node === NO_NODE) return node
  if (arena.kindOf(node) === NodeKind.Extension)
    node = words[node * HANDLE_WORDS + BODY_WORD] as NodeHandle
  if (arena.kindOf(node) !== NodeKind.Branch) return NO_NODE
  return (words[node * HANDLE_WORDS]! & FLAG_COMMITTED) === 0 ? node : NO_NODE
}

/** Whether a window has room for the encoding of any of its nodes. */
export function fitsHelpers({ valueBytesMax }: TrieCore): boolean {
  return valueBytesMax <= SHARED_VALUE_BYTES_MAX
}

/** Whether subtrees of this trie may be worked on by others. */
export function mayShare(core: TrieCore): boolean {
  return fitsHelpers(core) && splitBranch(core) !== NO_NODE
}

/** Hashes the subtrees with helpers. What is above them stays dirty. */
export function hashShared(core: TrieCore, helpers: TrieHelpers): void {
  const branch = splitBranch(core)
  const tasks: SubtreeTask[] = []
  for (let nibble = 0; nibble < 16; nibble++) {
    const node = core.arena.words[branch * HANDLE_WORDS + BODY_WORD + nibble] as NodeHandle
    if (node !== NO_NODE && isFresh(core, node)) tasks.push({ kind: 'hash', node })
  }
  helpers.run(tasks, (task, isAgain) => runSubtreeTask(core.arena, core.kernel, task, isAgain))
}

/** Walks and encodes the subtrees with helpers, and the top here. All is hashed before. Fills `walk.fresh`. */
export function commitShared(
  core: TrieCore,
  walk: ChangeWalk,
  wants: SubtreeWants,
): ChangeColumns[] {
  const { helpers } = core
  assert(helpers !== undefined, 'commit: there are helpers')
  const tasks: SubtreeTask[] = []
  walk.split(splitBranch(core), {
    visitSubtree(former: NodeHandle, current: NodeHandle, depth: number): void {
      tasks.push({ kind: 'commit', former, current, path: walk.path.slice(0, depth), ...wants })
    },
    leaveSubtrees() {},
  })
  // Two passes over the top, which is a node or two: the first finds the tasks, the second puts the results between.
  walk.compare(core.committedRoot, core.root, 0)
  const results = helpers.run(tasks, (task, isAgain) =>
    runSubtreeTask(core.arena, core.kernel, task, isAgain),
  )
  const pieces: ChangeColumns[] = []
  const encodeTop = (): void => {
    if (walk.list.count > 0)
      pieces.push(encodeChanges(core.arena, core.kernel, walk.list.piece(), wants.wantsPrevious))
    walk.list.clear()
  }
  let taken = 0
  walk.start(core.arena, wants.wantsLeaves)
  walk.split(splitBranch(core), {
    visitSubtree(): void {
      encodeTop()
      const result = results[taken++]
      assert(result !== undefined, 'commit: every subtree gave a result')
      pieces.push(result.columns)
      for (const node of result.fresh) walk.fresh.push(node)
      for (const leaf of result.pending) walk.pending.push(leaf)
    },
    leaveSubtrees() {},
  })
  walk.compare(core.committedRoot, core.root, 0)
  encodeTop()
  return pieces
}

let taskWalk: ChangeWalk | undefined

/**
 * Does a task, on whatever thread: `memory` and `kernel` are that thread's.
 * @param isAgain whether another thread may have done a part of it
 * @throws VarveError ARENA_FULL
 */
export function runSubtreeTask(
  memory: NodeMemory,
  kernel: TrieNodeKernel,
  task: SubtreeTask,
  isAgain = false,
): SubtreeResult | undefined {
  if (task.kind === 'hash') {
    if (isAgain) markDirty(memory.words, task.node)
    hashBelow(memory, kernel, task.node, false)
    return undefined
  }
  taskWalk ??= new ChangeWalk()
  const { former, current, path, wantsLeaves, wantsPrevious } = task
  taskWalk.start(memory, wantsLeaves)
  taskWalk.path.set(path)
  taskWalk.compare(former, current, path.length)
  return {
    columns: encodeChanges(memory, kernel, taskWalk.list.piece(), wantsPrevious),
    fresh: taskWalk.fresh.slice(),
    pending: taskWalk.pending.slice(),
  }
}

/** The buffers of a result, to be transferred with it. */
export function resultBuffers({ columns, fresh, pending }: SubtreeResult): ArrayBuffer[] {
  return [...columnBuffers(columns), fresh.buffer, pending.buffer]
}

function isFresh({ arena }: TrieCore, node: NodeHandle): boolean {
  return (arena.words[node * HANDLE_WORDS]! & FLAG_COMMITTED) === 0
}
