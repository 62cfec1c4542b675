/**
 * Makes the current tree the committed one and yields the net change, in one of three ways that give the same changes
 * in the same order:
 *
 *     commitTree      hash ─▶ walk ─▶ encode, here; or with helpers (`subtree.ts`), a subtree a thread
 *     commitInPieces  subtree by subtree: hash ─▶ walk ─▶ piece of handles ─▶ whoever encodes and tells it, perhaps on
 *                     another thread while the next subtree is hashed and walked here
 *
 * Until a commit has ended well nothing is given up: the tree of the last commit is there, and so are the changes.
 */
import { FLAG_COMMITTED, HANDLE_WORDS, NO_NODE, type NodeHandle } from '../arena/index.ts'
import { assert, EMPTY_TRIE_ROOT } from '../base/index.ts'
import type { ChangePiece } from './changeList.ts'
import { ChangeWalk } from './changeWalk.ts'
import { type ChangeColumns, ColumnNodeSet, encodeChanges, tellChanges } from './columnSet.ts'
import { freeNode, hashOf, type TrieCore } from './core.ts'
import type { HandleList } from './handleList.ts'
import { hashBelow, hashTree } from './hashTree.ts'
import { dropLinks } from './load.ts'
import type { NodeSink } from './nodeSet.ts'
import { commitShared, mayShare, splitBranch } from './subtree.ts'

export type CommitOptions = {
  /** List the leaves that are new, for consumers that follow values to other data. */
  readonly leaves?: boolean
  /** False leaves the bytes from before out of the set, which spares their encoding. */
  readonly previous?: boolean
}

/** Entries of a piece that is handed out: some tens of microseconds of work, against about ten that a message takes. */
const PIECE_ENTRIES = 256

/**
 * Hashes what is dirty, takes the net change, and makes the current tree the committed one. An unchanged trie gives
 * an empty set.
 * @throws VarveError ARENA_FULL; the trie is as before then, and a later commit gives the whole change
 */
export function commitTree(core: TrieCore, options: CommitOptions = {}): ColumnNodeSet {
  const { open, pieces } = walkWhole(core, options)
  open.finish()
  return new ColumnNodeSet(open.root, pieces)
}

/**
 * As `commitTree`, and tells a sink the change. The trie counts it as stored once the commit that is returned is told
 * to `finish`.
 * @throws VarveError ARENA_FULL, and what the sink throws; the trie is as before then
 */
export function commitTold(
  core: TrieCore,
  sink: NodeSink,
  options: CommitOptions = {},
): OpenCommit {
  const { open, pieces } = walkWhole(core, options)
  try {
    for (const columns of pieces) tellChanges(columns, sink)
  } catch (fault) {
    open.cancel()
    throw fault
  }
  return open
}

/** Hashes, walks and encodes the whole change. Encoding may find the arena full, so it comes before anything is given up. */
function walkWhole(
  core: TrieCore,
  { leaves: wantsLeaves = false, previous: wantsPrevious = true }: CommitOptions,
): { open: OpenCommit; pieces: ChangeColumns[] } {
  hashTree(core)
  const { arena, kernel, helpers } = core
  if (core.root === core.committedRoot)
    return { open: new OpenCommit(core, rootHash(core), undefined), pieces: [] }
  const walk = takeWalk()
  walk.start(arena, wantsLeaves)
  const alone = (): ChangeColumns[] => {
    walk.compare(core.committedRoot, core.root, 0)
    return [encodeChanges(arena, kernel, walk.list.piece(), wantsPrevious)]
  }
  const shared = (): ChangeColumns[] => commitShared(core, walk, { wantsLeaves, wantsPrevious })
  const pieces =
    helpers === undefined || !mayShare(core)
      ? alone()
      : helpers.choose('commit', core.uncommittedCount, alone, shared)
  return { open: new OpenCommit(core, rootHash(core), walk), pieces }
}

/** A commit whose pieces are out. Nodes that they name stay where they are until it ends; the trie is closed until then. */
export class OpenCommit {
  /** Root of the trie after the commit. */
  readonly root: Uint8Array
  private readonly core: TrieCore
  private walk: ChangeWalk | undefined

  constructor(core: TrieCore, root: Uint8Array, walk: ChangeWalk | undefined) {
    this.core = core
    this.root = root
    this.walk = walk
    core.isCommitOpen = true
  }

  /** All pieces were taken in: from here on the trie counts them as stored. */
  finish(): void {
    assert(this.core.isCommitOpen, 'commit: it ends once')
    this.core.isCommitOpen = false
    if (this.walk === undefined) return
    finish(this.core, this.walk.fresh)
    this.release()
  }

  /** Something failed, and no thread reads the nodes any more: the trie is as it was before, with all its changes. */
  cancel(): void {
    assert(this.core.isCommitOpen, 'commit: it ends once')
    this.core.isCommitOpen = false
    this.release()
  }

  private release(): void {
    if (this.walk !== undefined) returnWalk(this.walk)
    this.walk = undefined
  }
}

/**
 * Walks the net change and hands it out in pieces, in order, hashing each subtree just before it is walked. Whoever
 * takes a piece may encode it at once, on any thread; the trie stays closed until the commit that is returned ends.
 * @throws VarveError ARENA_FULL, and whatever `take` throws; the trie is as before then
 */
export function commitInPieces(
  core: TrieCore,
  take: (piece: ChangePiece) => void,
  options: CommitOptions = {},
): OpenCommit {
  if (core.root === core.committedRoot) return new OpenCommit(core, rootHash(core), undefined)
  const walk = takeWalk()
  const { list } = walk
  const handOut = (entryCountMin: number): void => {
    if (list.count < entryCountMin) return
    take(list.piece())
    list.clear()
  }
  walk.start(core.arena, options.leaves === true)
  const branch = splitBranch(core)
  if (branch === NO_NODE) hashTree(core)
  else
    walk.split(branch, {
      visitSubtree(former: NodeHandle, current: NodeHandle, depth: number): void {
        hashBelow(core.arena, core.kernel, current, false)
        walk.compare(former, current, depth)
        handOut(PIECE_ENTRIES)
      },
      leaveSubtrees: () => hashTree(core),
    })
  walk.compare(core.committedRoot, core.root, 0)
  handOut(1)
  return new OpenCommit(core, rootHash(core), walk)
}

function rootHash(core: TrieCore): Uint8Array {
  return core.root === NO_NODE ? Uint8Array.from(EMPTY_TRIE_ROOT) : hashOf(core, core.root)
}

/** Makes the current tree the committed one and frees what only the former one used. */
function finish(core: TrieCore, fresh: HandleList): void {
  const { words } = core.arena
  for (let index = 0; index < fresh.count; index++)
    words[fresh.handles[index]! * HANDLE_WORDS]! |= FLAG_COMMITTED
  for (const handle of core.retired) dropLinks(core, handle)
  for (const handle of core.retired) freeNode(core, handle)
  core.retired.length = 0
  core.committedRoot = core.root
  core.uncommittedCount = 0
  core.shapeVersion++
  assert(core.linkCount === 0, 'commit: every link belongs to a node that was retired')
}

/** Walks keep the memory of their lists from one commit to the next. One that failed is not used again. */
const idleWalks: ChangeWalk[] = []

function takeWalk(): ChangeWalk {
  return idleWalks.pop() ?? new ChangeWalk()
}

function returnWalk(walk: ChangeWalk): void {
  if (idleWalks.length < 4) idleWalks.push(walk)
}
