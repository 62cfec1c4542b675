/**
 * Computes the references of all dirty nodes, from the leaves up. The walk sorts dirty nodes by height; a kernel call
 * then hashes all of one height, so that its two lanes stay full and one call serves thousands of nodes.
 *
 *     height 2          root
 *     height 1      B          B
 *     height 0    L L  L    L  L L        one kernel call a row
 */
import {
  BODY_WORD,
  DETAIL_WORD,
  FLAG_COMMITTED,
  FLAG_DIRTY,
  HANDLE_WORDS,
  KIND_MASK,
  NO_NODE,
  type NodeHandle,
  NodeKind,
  type NodeMemory,
} from '../arena/index.ts'
import { assert } from '../base/index.ts'
import type { TrieNodeKernel } from '../kernels/index.ts'
import type { TrieCore } from './core.ts'
import { HandleList } from './handleList.ts'
import { hashShared, mayShare } from './subtree.ts'

// Numbers of the layout, in this file for speed.
const BRANCH = 3
const EXTENSION = 2
const KIND = 0xff
const DIRTY = 0x100
const COMMITTED = 0x200
const WORDS = 2
const DETAIL = 1
const BODY = 10
assert(BRANCH === NodeKind.Branch && EXTENSION === NodeKind.Extension, 'hash: node kinds')
assert(KIND === KIND_MASK && DIRTY === FLAG_DIRTY && COMMITTED === FLAG_COMMITTED, 'hash: flags')
assert(WORDS === HANDLE_WORDS && DETAIL === DETAIL_WORD && BODY === BODY_WORD, 'hash: layout')

/** Dirty nodes by height. Used by one call at a time: nothing in between calls a reader. */
const levels: HandleList[] = [new HandleList()]

/**
 * Makes every reference of the tree valid; the root's is a hash, however short its encoding.
 * Cost: the dirty nodes only. Content does not change.
 * @throws VarveError ARENA_FULL; the rest is hashed by the next call
 */
export function hashTree(core: TrieCore): void {
  const { arena, kernel, root, helpers } = core
  if (root === NO_NODE || (arena.words[root * WORDS]! & DIRTY) === 0) return
  const alone = (): void => hashBelow(arena, kernel, root, true)
  if (helpers === undefined || !mayShare(core)) alone()
  else
    helpers.choose('hash', core.unhashedCount, alone, () => {
      hashShared(core, helpers)
      alone()
    })
  core.unhashedCount = 0
}

/**
 * The same for the nodes from `node` down. Subtrees that share no node may be hashed on several threads at a time.
 * @param isRoot a root is hashed even where its encoding is shorter than a hash
 */
export function hashBelow(
  { words }: NodeMemory,
  kernel: TrieNodeKernel,
  node: NodeHandle,
  isRoot: boolean,
): void {
  if (node === NO_NODE || (words[node * WORDS]! & DIRTY) === 0) return
  for (const level of levels) level.count = 0
  const height = collect(words, node)
  for (let index = 0; index < height; index++) {
    const level = levels[index]!
    kernel.hashNodes(level.handles, 0, level.count, false)
  }
  const top = levels[height]!
  assert(top.count === 1 && top.handles[0] === node, 'hash: the top node stands alone in its row')
  kernel.hashNodes(top.handles, 0, 1, isRoot)
}

/** Files a dirty node and all dirty ones below it; returns its height over the lowest of them. */
function collect(words: Uint32Array, handle: number): number {
  const word = handle * WORDS
  const kind = words[word]! & KIND
  let height = 0
  if (kind === BRANCH) {
    // The value of a branch, bit 16, is no node.
    for (let mask = words[word + DETAIL]! & 0xffff; mask !== 0; mask &= mask - 1) {
      const child = words[word + BODY + 31 - Math.clz32(mask & -mask)]!
      if ((words[child * WORDS]! & DIRTY) === 0) continue
      const below = collect(words, child) + 1
      if (below > height) height = below
    }
  } else if (kind === EXTENSION) {
    const child = words[word + BODY]!
    if ((words[child * WORDS]! & DIRTY) !== 0) height = collect(words, child) + 1
  }
  if (height >= levels.length) levels.push(new HandleList())
  levels[height]!.push(handle)
  return height
}

/** Marks all nodes of a subtree that no commit has taken as not hashed. */
export function markDirty(words: Uint32Array, handle: number): void {
  const word = handle * WORDS
  if ((words[word]! & COMMITTED) !== 0) return
  words[word]! |= DIRTY
  const kind = words[word]! & KIND
  if (kind === EXTENSION) markDirty(words, words[word + BODY]!)
  if (kind !== BRANCH) return
  for (let mask = words[word + DETAIL]! & 0xffff; mask !== 0; mask &= mask - 1)
    markDirty(words, words[word + BODY + 31 - Math.clz32(mask & -mask)]!)
}
