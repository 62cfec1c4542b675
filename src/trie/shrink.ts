/**
 * Bounds the memory of a clean trie: loaded nodes from some level down go back to stubs. The upper levels stay, as
 * every later read passes them.
 */
import {
  BODY_WORD,
  DETAIL_WORD,
  HANDLE_WORDS,
  KIND_MASK,
  NO_NODE,
  type NodeHandle,
  NodeKind,
  REFERENCE_BYTES,
  REFERENCE_LENGTH_SHIFT,
  STUB_BYTES,
  VALUE_SLOT,
} from '../arena/index.ts'
import { freeSubtree, hashOf, newStub, type TrieCore } from './core.ts'
import { unloadChild } from './load.ts'

/**
 * Lets go of the deepest levels of loaded nodes until the trie holds `bytesMax` or less; the root's stub (40 bytes)
 * always stays. A trie with uncommitted changes is left alone: its nodes are not in the store.
 * @returns bytes given back
 */
export function shrinkTree(core: TrieCore, bytesMax: number): number {
  const { root } = core
  const before = core.usedBytes
  if (root === NO_NODE || root !== core.committedRoot || before <= bytesMax) return 0
  if (core.arena.kindOf(root) === NodeKind.Stub) return 0
  const bytesByLevel: number[] = []
  const storedByLevel: number[] = []
  measure(core, root, 0, bytesByLevel, storedByLevel)
  let level = 0
  let kept = 0
  while (level < bytesByLevel.length) {
    const deeper = kept + bytesByLevel[level]!
    const stubs = (storedByLevel[level + 1] ?? 0) * STUB_BYTES
    if (deeper + stubs > bytesMax) break
    kept = deeper
    level++
  }
  if (level === 0) {
    const hash = hashOf(core, root)
    freeSubtree(core, root)
    core.root = newStub(core, hash, 0)
    core.committedRoot = core.root
  } else unloadBelow(core, root, level)
  core.shapeVersion++
  return before - core.usedBytes
}

/** Adds up bytes by level; a level is a step from one stored node to the next. */
function measure(
  core: TrieCore,
  node: NodeHandle,
  level: number,
  bytesByLevel: number[],
  storedByLevel: number[],
): void {
  bytesByLevel[level] = (bytesByLevel[level] ?? 0) + core.arena.slotBytes(node)
  // The value of a branch is a leaf too, and goes with it.
  if ((core.arena.words[node * HANDLE_WORDS]! & KIND_MASK) === NodeKind.Branch) {
    const value = core.arena.words[node * HANDLE_WORDS + BODY_WORD + VALUE_SLOT] as NodeHandle
    if (value !== NO_NODE) bytesByLevel[level]! += core.arena.slotBytes(value)
  }
  forEachChild(core, node, (child) => {
    const isLoaded = isLoadedStored(core, child)
    if (isLoaded) storedByLevel[level + 1] = (storedByLevel[level + 1] ?? 0) + 1
    measure(core, child, isLoaded ? level + 1 : level, bytesByLevel, storedByLevel)
  })
}

function unloadBelow(core: TrieCore, node: NodeHandle, levelCount: number): void {
  forEachChild(core, node, (child, slot) => {
    if (!isLoadedStored(core, child)) unloadBelow(core, child, levelCount)
    else if (levelCount === 1) unloadChild(core, node, slot)
    else unloadBelow(core, child, levelCount - 1)
  })
}

/** Whether a child is a node of its own in the store, and in memory. */
function isLoadedStored(core: TrieCore, child: NodeHandle): boolean {
  const head = core.arena.words[child * HANDLE_WORDS]!
  const length = (head >>> REFERENCE_LENGTH_SHIFT) & 0xff
  return (head & KIND_MASK) !== NodeKind.Stub && length === REFERENCE_BYTES
}

function forEachChild(
  core: TrieCore,
  node: NodeHandle,
  visit: (child: NodeHandle, slot: number) => void,
): void {
  const word = node * HANDLE_WORDS
  const kind = core.arena.words[word]! & KIND_MASK
  const mask = kind === NodeKind.Branch ? core.arena.words[word + DETAIL_WORD]! & 0xffff : 1
  if (kind !== NodeKind.Branch && kind !== NodeKind.Extension) return
  for (let slot = 0; slot < 16; slot++)
    if ((mask & (1 << slot)) !== 0)
      visit(core.arena.words[word + BODY_WORD + slot] as NodeHandle, slot)
}
