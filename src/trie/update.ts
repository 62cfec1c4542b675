/**
 * Applies a sorted batch of changes in one walk.
 *
 * Every function takes a node and the range of changes that fall below it, and returns the node that stands there
 * afterwards: the same handle where nothing changed, 0 where nothing is left. Nodes that exist are never written but
 * copied (`core.ts`), so a fault in the middle leaves the tree as it was: what was created is freed and forgotten.
 *
 * All changes below a branch are done before the branch looks at what is left of it. So a sibling is read from the
 * store only where the branch really collapses, whatever the order of puts and deletes.
 *
 * Recursion is at most one frame a nibble of a key, so at most 510 deep.
 */
import {
  BODY_WORD,
  DETAIL_WORD,
  FLAG_COMMITTED,
  HANDLE_BYTES,
  HANDLE_WORDS,
  KEY_OFFSET,
  NO_NODE,
  type NodeHandle,
  NodeKind,
  VALUE_SLOT,
} from '../arena/index.ts'
import { assert } from '../base/index.ts'
import { returnBatch, type TrieChange, takeBatch } from './batch.ts'
import { copyBranch, freeNode, newBranch, type TrieCore } from './core.ts'
import { loadedChild, loadedRoot } from './load.ts'
import { commonNibbles, nibbleAt } from './nibbles.ts'
import {
  commonWithNode,
  created,
  dropDeletes,
  dropStrayDeletes,
  extend,
  extensionFrom,
  findLeafKey,
  joinLoaded,
  joinPath,
  leafHasValue,
  leafOf,
  movedLeaf,
  rangeEnd,
  setChild,
  setSlot,
  supersede,
  type Update,
} from './updateNodes.ts'

// Numbers of the layout, in this file for speed.
const LEAF = 1
const EXTENSION = 2
const BRANCH = 3
const VALUE = 16
const WORDS = 2
const BYTES = 8
const DETAIL = 1
const BODY = 10
const KEY = 44
assert(
  LEAF === NodeKind.Leaf && EXTENSION === NodeKind.Extension && BRANCH === NodeKind.Branch,
  'update: node kinds',
)
assert(VALUE === VALUE_SLOT && KEY === KEY_OFFSET && BODY === BODY_WORD, 'update: layout')
assert(WORDS === HANDLE_WORDS && BYTES === HANDLE_BYTES && DETAIL === DETAIL_WORD, 'update: units')

/**
 * Applies `changes`, later ones of the same key winning. All or nothing.
 * @returns whether the tree changed
 * @throws VarveError TRIE_NODE_MISSING, TRIE_NODE_INVALID, TRIE_KEY_INVALID, TRIE_VALUE_INVALID, ARENA_FULL
 */
export function applyChanges(core: TrieCore, changes: readonly TrieChange[]): boolean {
  const batch = takeBatch()
  const update: Update = { core, batch, created: [], superseded: [] }
  try {
    batch.fill(changes)
    if (batch.count === 0) return false
    const before = loadedRoot(core)
    const after = apply(update, before, 0, batch.count, 0)
    if (after === before) {
      assert(update.created.length === 0, 'update: nothing changed, yet nodes were made')
      return false
    }
    settle(update)
    core.root = after
    core.shapeVersion++
    core.unhashedCount += batch.count
    core.uncommittedCount += batch.count
    return true
  } catch (fault) {
    for (const handle of update.created) freeNode(core, handle)
    throw fault
  } finally {
    returnBatch(batch)
  }
}

/** Frees what the new tree does without; nodes of the last commit wait for the next one. */
function settle(update: Update): void {
  const { core } = update
  const { words } = core.arena
  for (const handle of update.superseded) {
    if ((words[handle * WORDS]! & FLAG_COMMITTED) !== 0) core.retired.push(handle)
    else freeNode(core, handle)
  }
}

/** `node` is loaded; changes `low` to `high` share their first `depth` nibbles with it; there is at least one. */
function apply(u: Update, node: NodeHandle, low: number, high: number, depth: number): NodeHandle {
  if (node === NO_NODE) {
    const end = dropDeletes(u.batch, low, high)
    return end === low ? NO_NODE : build(u, low, end, depth)
  }
  switch (u.core.arena.kindOf(node)) {
    case LEAF:
      return applyToLeaf(u, node, low, high, depth)
    case EXTENSION:
      return applyToExtension(u, node, low, high, depth, true)
    default:
      return applyToBranch(u, node, low, high, depth)
  }
}

/** The subtree of puts alone. */
function build(u: Update, low: number, high: number, depth: number): NodeHandle {
  const { batch } = u
  if (high - low === 1) return leafOf(u, low, depth)
  const { keys, keyOffsets, keyLengths } = batch
  const first = keyOffsets[low]!
  const last = high - 1
  const limit = 2 * Math.min(keyLengths[low]!, keyLengths[last]!)
  const fork = commonNibbles(keys, first, keys, keyOffsets[last]!, depth, limit)
  const branch = created(u, newBranch(u.core))
  let mask = 0
  let at = low
  if (2 * keyLengths[at]! === fork) {
    setSlot(u, branch, VALUE, leafOf(u, at, fork))
    mask = 1 << VALUE
    at++
  }
  while (at < high) {
    const nibble = nibbleAt(keys, keyOffsets[at]!, fork)
    const end = rangeEnd(batch, at, high, fork, nibble)
    const child = end - at === 1 ? leafOf(u, at, fork + 1) : build(u, at, end, fork + 1)
    setSlot(u, branch, nibble, child)
    mask |= 1 << nibble
    at = end
  }
  u.core.arena.words[branch * WORDS + DETAIL] = mask
  return extend(u, branch, low, depth, fork)
}

function applyToLeaf(
  u: Update,
  leaf: NodeHandle,
  low: number,
  high: number,
  depth: number,
): NodeHandle {
  const { batch } = u
  const same = findLeafKey(u, leaf, low, high)
  if (same >= 0) {
    const value = batch.values[same]
    if (value === undefined || !leafHasValue(u, leaf, value)) {
      supersede(u, leaf)
      return apply(u, NO_NODE, low, high, depth)
    }
    // The leaf stands as it is: the change is none.
    batch.values[same] = undefined
    batch.deleteCount++
  }
  const end = dropDeletes(batch, low, high)
  return end === low ? leaf : merge(u, leaf, low, end, depth)
}

/** The subtree of puts and of a leaf that exists, whose key is none of theirs; the leaf lies deeper from here on. */
function merge(u: Update, leaf: NodeHandle, low: number, high: number, depth: number): NodeHandle {
  const { keys, keyOffsets, keyLengths } = u.batch
  const { arena } = u.core
  const leafKey = leaf * BYTES + KEY
  const leafNibbles = 2 * (arena.words[leaf * WORDS + DETAIL]! >>> 16)
  const first = keyOffsets[low]!
  const firstNibbles = 2 * keyLengths[low]!
  const lastNibbles = 2 * keyLengths[high - 1]!
  let fork = Math.min(firstNibbles, lastNibbles, leafNibbles)
  fork = commonNibbles(keys, first, keys, keyOffsets[high - 1]!, depth, fork)
  fork = commonNibbles(keys, first, arena.bytes, leafKey, depth, fork)
  const leafNibble = leafNibbles === fork ? VALUE : nibbleAt(arena.bytes, leafKey, fork)

  const branch = created(u, newBranch(u.core))
  let mask = 1 << leafNibble
  let at = low
  if (leafNibble === VALUE) setSlot(u, branch, VALUE, movedLeaf(u, leaf, fork, true))
  else if (firstNibbles === fork) {
    setSlot(u, branch, VALUE, leafOf(u, at, fork))
    mask |= 1 << VALUE
    at++
  }
  let isPlaced = leafNibble === VALUE
  while (at < high) {
    const nibble = nibbleAt(keys, keyOffsets[at]!, fork)
    const end = rangeEnd(u.batch, at, high, fork, nibble)
    const holdsLeaf = nibble === leafNibble
    const child = holdsLeaf ? merge(u, leaf, at, end, fork + 1) : build(u, at, end, fork + 1)
    if (holdsLeaf) isPlaced = true
    setSlot(u, branch, nibble, child)
    mask |= 1 << nibble
    at = end
  }
  if (!isPlaced) setSlot(u, branch, leafNibble, movedLeaf(u, leaf, fork + 1, false))
  u.core.arena.words[branch * WORDS + DETAIL] = mask
  return extend(u, branch, low, depth, fork)
}

/**
 * An extension seen from `depth`, at or after its start. `owns` is false where a caller has superseded it already and
 * only what lies from `depth` on is wanted.
 */
function applyToExtension(
  u: Update,
  node: NodeHandle,
  low: number,
  high: number,
  depth: number,
  owns: boolean,
): NodeHandle {
  const { core, batch } = u
  const end = core.arena.words[node * WORDS + DETAIL]! >>> 16
  const rangeHigh = dropStrayDeletes(u, node, low, high, depth, end)
  if (rangeHigh === low) return owns ? node : extensionFrom(u, node, depth)
  const fork = Math.min(
    commonWithNode(u, node, low, depth, end),
    commonWithNode(u, node, rangeHigh - 1, depth, end),
  )
  if (fork < end) {
    if (owns) supersede(u, node)
    return splitExtension(u, node, low, rangeHigh, depth, fork)
  }
  const child = loadedChild(core, node, 0, batch.keys, batch.keyOffsets[low]!, end)
  const after = apply(u, child, low, rangeHigh, end)
  if (after === child && owns) return node
  if (owns) supersede(u, node)
  return joinPath(u, node, after, depth, end)
}

/** Some put leaves the extension at nibble `fork`: a branch goes there. */
function splitExtension(
  u: Update,
  node: NodeHandle,
  low: number,
  high: number,
  depth: number,
  fork: number,
): NodeHandle {
  const { core, batch } = u
  const { keys, keyOffsets, keyLengths } = batch
  const ownNibble = nibbleAt(core.arena.bytes, node * BYTES + KEY, fork)
  const branch = created(u, newBranch(core))
  let mask = 0
  let at = low
  if (2 * keyLengths[at]! === fork) {
    setSlot(u, branch, VALUE, leafOf(u, at, fork))
    mask |= 1 << VALUE
    at++
  }
  let isPlaced = false
  while (at < high) {
    const nibble = nibbleAt(keys, keyOffsets[at]!, fork)
    const end = rangeEnd(batch, at, high, fork, nibble)
    let child: NodeHandle
    if (nibble === ownNibble) {
      child = applyBelowExtension(u, node, at, end, fork + 1)
      isPlaced = true
    } else child = build(u, at, end, fork + 1)
    setSlot(u, branch, nibble, child)
    if (child !== NO_NODE) mask |= 1 << nibble
    at = end
  }
  if (!isPlaced) {
    setSlot(u, branch, ownNibble, extensionFrom(u, node, fork + 1))
    mask |= 1 << ownNibble
  }
  core.arena.words[branch * WORDS + DETAIL] = mask
  const after = normalized(u, branch, NO_NODE, low, fork)
  return joinPath(u, node, after, depth, fork)
}

/** What an extension leads to, seen from `depth`, which may be its end. */
function applyBelowExtension(
  u: Update,
  node: NodeHandle,
  low: number,
  high: number,
  depth: number,
): NodeHandle {
  const { core, batch } = u
  const end = core.arena.words[node * WORDS + DETAIL]! >>> 16
  if (depth < end) return applyToExtension(u, node, low, high, depth, false)
  const child = loadedChild(core, node, 0, batch.keys, batch.keyOffsets[low]!, end)
  return apply(u, child, low, high, depth)
}

function applyToBranch(
  u: Update,
  node: NodeHandle,
  low: number,
  high: number,
  depth: number,
): NodeHandle {
  const { core, batch } = u
  const { arena } = core
  const { keys, keyOffsets, keyLengths } = batch
  let copy: NodeHandle = NO_NODE
  let at = low
  if (2 * keyLengths[at]! === depth) {
    const before = arena.words[node * WORDS + BODY + VALUE] as NodeHandle
    const after = changedValue(u, before, at, depth)
    if (after !== before) {
      copy = created(u, copyBranch(core, node))
      setChild(u, copy, VALUE, after)
    }
    at++
  }
  while (at < high) {
    const offset = keyOffsets[at]!
    const nibble = nibbleAt(keys, offset, depth)
    const end = rangeEnd(batch, at, high, depth, nibble)
    const before = loadedChild(core, node, nibble, keys, offset, depth + 1)
    const after = apply(u, before, at, end, depth + 1)
    if (after !== before && copy === NO_NODE) copy = created(u, copyBranch(core, node))
    // Loading may have replaced the stub that the copy was made with.
    if (copy !== NO_NODE) setChild(u, copy, nibble, after)
    at = end
  }
  if (copy === NO_NODE) return node
  supersede(u, node)
  return normalized(u, copy, node, low, depth)
}

/** The value of a branch after the change at `index`. */
function changedValue(u: Update, before: NodeHandle, index: number, depth: number): NodeHandle {
  const value = u.batch.values[index]
  if (before === NO_NODE) return value === undefined ? NO_NODE : leafOf(u, index, depth)
  if (value !== undefined && leafHasValue(u, before, value)) return before
  supersede(u, before)
  return value === undefined ? NO_NODE : leafOf(u, index, depth)
}

/**
 * A new branch as the rules of the trie want it: gone without entries, joined with its child where that is the only
 * entry. `former` is the node of which `branch` is a copy, or 0: a stub is loaded there, since the former node lives
 * on where the update fails.
 */
function normalized(
  u: Update,
  branch: NodeHandle,
  former: NodeHandle,
  low: number,
  depth: number,
): NodeHandle {
  const { core, batch } = u
  const mask = core.arena.words[branch * WORDS + DETAIL]!
  if ((mask & (mask - 1)) !== 0) return branch
  supersede(u, branch)
  if (mask === 0) return NO_NODE
  const slot = 31 - Math.clz32(mask)
  const child = core.arena.words[branch * WORDS + BODY + slot] as NodeHandle
  if (slot === VALUE) return movedLeaf(u, child, depth, true)
  return joinBranch(u, child, former, slot, batch.keyOffsets[low]!, depth)
}

/** The only child of a branch at `depth`, moved to the branch's place. */
function joinBranch(
  u: Update,
  child: NodeHandle,
  former: NodeHandle,
  slot: number,
  keyOffset: number,
  depth: number,
): NodeHandle {
  const { core, batch } = u
  const path = childPath
  const pathBytes = (depth + 1 + 1) >> 1
  for (let index = 0; index < pathBytes; index++) path[index] = batch.keys[keyOffset + index]!
  const last = depth >> 1
  path[last] = (depth & 1) === 0 ? slot << 4 : (path[last]! & 0xf0) | slot
  let loaded = child
  if (core.arena.kindOf(child) === NodeKind.Stub) {
    assert(former !== NO_NODE, 'update: a new branch has no stub for an only child')
    const ownPath = path.slice(0, pathBytes)
    loaded = loadedChild(core, former, slot, ownPath, 0, depth + 1)
    return joinLoaded(u, loaded, ownPath, depth)
  }
  return joinLoaded(u, loaded, path, depth)
}

/** Path of a branch's only child. Filled and used without a call of a reader in between. */
const childPath = new Uint8Array(256)
