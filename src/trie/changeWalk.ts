/**
 * Finds the net change since the last commit, by comparing the tree of that commit with the current one. Updates copy
 * what they change and share the rest by handle, so the comparison stops wherever both trees name the same node.
 *
 * Both trees are walked along the same path. A cursor is a node that covers the path: it starts there, or is an
 * extension that passes through. Nodes that start at the path are written, deleted or found equal:
 *
 *        old     new      stored at this path
 *         -       S       written
 *         S       S'      written, with the old bytes as `previous`, unless the hashes agree
 *         S       e       deleted: the new node is embedded in its parent
 *         S       -       deleted, also where a longer extension now passes through
 *
 * S: stored, that is the root or 32 bytes and more. e: embedded.
 *
 * A new leaf waits until the written node that holds it is listed: itself, or the one it is embedded in. The walk only
 * reads, so several may be under way in one arena, each on a thread of its own.
 */
import {
  BODY_WORD,
  DETAIL_WORD,
  FLAG_COMMITTED,
  HANDLE_BYTES,
  HANDLE_WORDS,
  KEY_OFFSET,
  KIND_MASK,
  NO_NODE,
  type NodeHandle,
  NodeKind,
  type NodeMemory,
  REFERENCE_BYTES,
  REFERENCE_LENGTH_SHIFT,
  REFERENCE_OFFSET,
  VALUE_SLOT,
} from '../arena/index.ts'
import { assert, TRIE_KEY_BYTES_MAX, VERIFY } from '../base/index.ts'
import { ChangeList } from './changeList.ts'
import { HandleList } from './handleList.ts'
import { nibbleAt } from './nibbles.ts'

// Numbers of the layout, in this file for speed.
const LEAF = 1
const EXTENSION = 2
const BRANCH = 3
const LINK = 5
const KIND = 0xff
const COMMITTED = 0x200
const WORDS = 2
const DETAIL = 1
const BODY = 10
assert(
  LEAF === NodeKind.Leaf && EXTENSION === NodeKind.Extension && BRANCH === NodeKind.Branch,
  'walk: node kinds',
)
assert(LINK === NodeKind.Link && KIND === KIND_MASK && COMMITTED === FLAG_COMMITTED, 'walk: flags')
assert(WORDS === HANDLE_WORDS && DETAIL === DETAIL_WORD && BODY === BODY_WORD, 'walk: layout')

/**
 * Takes the comparison of one child of the branch where a walk is split; both cursors may be 0, and differ. `depth` is
 * the child's; its path lies in the walk's `path`.
 */
export type SubtreeVisitor = {
  visitSubtree(former: NodeHandle, current: NodeHandle, depth: number): void
  /** All subtrees were visited: from here on references of the nodes above are looked at. */
  leaveSubtrees(): void
}

export class ChangeWalk {
  /** Path of the cursors, one nibble a byte. */
  readonly path = new Uint8Array(2 * TRIE_KEY_BYTES_MAX + 1)
  /** Where entries go. */
  list = new ChangeList()
  /** Nodes of the current tree that are not committed yet. */
  readonly fresh = new HandleList()
  /** New leaves, in the order of the walk, whose holder is not listed yet. */
  readonly pending = new HandleList()
  private words: Uint32Array = new Uint32Array(0)
  private bytes: Uint8Array = new Uint8Array(0)
  private wantsLeaves = false
  private splitBranch = NO_NODE
  private visitor: SubtreeVisitor | undefined

  /** Empties the walk's lists. References of the nodes that it meets are valid then. */
  start({ words, bytes }: NodeMemory, wantsLeaves: boolean): void {
    this.words = words
    this.bytes = bytes
    this.wantsLeaves = wantsLeaves
    this.list.clear()
    this.fresh.count = 0
    this.pending.count = 0
    this.visitor = undefined
    this.splitBranch = NO_NODE
  }

  /** Has the children of `branch` compared by `visitor`, for the next comparison that meets it. */
  split(branch: NodeHandle, visitor: SubtreeVisitor): void {
    this.splitBranch = branch
    this.visitor = visitor
  }

  /** Compares two cursors at `depth`; either may be 0. */
  compare(former: NodeHandle, current: NodeHandle, depth: number): void {
    if (former === current) return
    if (former === NO_NODE) {
      this.addTree(current, depth)
      return
    }
    if (current === NO_NODE) {
      this.dropTree(former, depth)
      return
    }
    const pendingStart = this.pending.count
    if (this.startsAt(current, depth)) this.visitFresh(current)
    this.compareBelow(former, current, depth)
    const formerStored = this.isStoredAt(former, depth)
    const currentStored = this.isStoredAt(current, depth)
    if (formerStored && currentStored && this.sameReference(former, current)) {
      // Where the hash is the same nothing is written, so no leaf below is new to anybody.
      this.pending.count = pendingStart
      return
    }
    if (currentStored) this.addWrite(current, depth, formerStored ? former : NO_NODE, pendingStart)
    else if (formerStored) this.list.add(this.path, depth, NO_NODE, former)
  }

  private compareBelow(former: NodeHandle, current: NodeHandle, depth: number): void {
    const { words } = this
    const formerKind = words[former * WORDS]! & KIND
    const currentKind = words[current * WORDS]! & KIND
    if (currentKind === LEAF && formerKind === LEAF) return
    if (currentKind === BRANCH && words[current * WORDS + BODY + VALUE_SLOT] !== 0)
      this.visitValue(current)
    const visitor = current === this.splitBranch ? this.visitor : undefined
    for (let nibble = 0; nibble < 16; nibble++) {
      const before = this.followLink(this.childAlong(former, formerKind, depth, nibble))
      const after = this.childAlong(current, currentKind, depth, nibble)
      if (before === after) continue
      this.path[depth] = nibble
      if (visitor === undefined) this.compare(before, after, depth + 1)
      else visitor.visitSubtree(before, after, depth + 1)
    }
    visitor?.leaveSubtrees()
  }

  /** The cursor one nibble further along `nibble`, or 0. */
  private childAlong(node: NodeHandle, kind: number, depth: number, nibble: number): NodeHandle {
    const { words } = this
    const word = node * WORDS
    if (kind === BRANCH) return words[word + BODY + nibble] as NodeHandle
    if (kind !== EXTENSION) return NO_NODE
    if (nibbleAt(this.bytes, node * HANDLE_BYTES + KEY_OFFSET, depth) !== nibble) return NO_NODE
    return depth + 1 === words[word + DETAIL]! >>> 16 ? (words[word + BODY] as NodeHandle) : node
  }

  /** The cursor of the former tree, `from` at `depth`, after the nibbles of an extension of the current one. */
  cursorAfter(from: NodeHandle, depth: number, extension: NodeHandle): NodeHandle {
    const end = this.words[extension * WORDS + DETAIL]! >>> 16
    const offset = extension * HANDLE_BYTES + KEY_OFFSET
    let cursor = from
    for (let index = depth; index < end && cursor !== NO_NODE; index++) {
      const kind = this.words[cursor * WORDS]! & KIND
      const nibble = nibbleAt(this.bytes, offset, index)
      cursor = this.followLink(this.childAlong(cursor, kind, index, nibble))
    }
    return cursor
  }

  /** A cursor of the new tree where the former one had nothing. */
  private addTree(node: NodeHandle, depth: number): void {
    const { words } = this
    const word = node * WORDS
    if (VERIFY)
      assert(
        (words[word]! & COMMITTED) === 0,
        'commit: a shared node has no place in the former tree',
      )
    const pendingStart = this.pending.count
    const kind = words[word]! & KIND
    if (this.startsAt(node, depth)) this.visitFresh(node)
    if (kind === BRANCH) {
      if (words[word + BODY + VALUE_SLOT] !== 0) this.visitValue(node)
      const visitor = node === this.splitBranch ? this.visitor : undefined
      for (let mask = words[word + DETAIL]! & 0xffff; mask !== 0; mask &= mask - 1) {
        const nibble = 31 - Math.clz32(mask & -mask)
        const child = words[word + BODY + nibble] as NodeHandle
        this.path[depth] = nibble
        if (visitor === undefined) this.addTree(child, depth + 1)
        else visitor.visitSubtree(NO_NODE, child, depth + 1)
      }
      visitor?.leaveSubtrees()
    } else if (kind === EXTENSION) {
      const end = this.followPath(node, depth)
      this.addTree(words[word + BODY] as NodeHandle, end)
    }
    if (this.isStoredAt(node, depth)) this.addWrite(node, depth, NO_NODE, pendingStart)
  }

  /** A cursor of the former tree where the new one has nothing. */
  private dropTree(node: NodeHandle, depth: number): void {
    const { words } = this
    const word = node * WORDS
    const kind = words[word]! & KIND
    if (VERIFY) assert(kind <= BRANCH, 'commit: what was deleted had been loaded')
    if (kind === BRANCH) {
      for (let nibble = 0; nibble < 16; nibble++) {
        const child = this.followLink(words[word + BODY + nibble] as NodeHandle)
        if (child === NO_NODE) continue
        this.path[depth] = nibble
        this.dropTree(child, depth + 1)
      }
    } else if (kind === EXTENSION) {
      const end = this.followPath(node, depth)
      this.dropTree(this.followLink(words[word + BODY] as NodeHandle), end)
    }
    if (this.isStoredAt(node, depth)) this.list.add(this.path, depth, NO_NODE, node)
  }

  private followLink(node: NodeHandle): NodeHandle {
    const { words } = this
    if ((words[node * WORDS]! & KIND) !== LINK) return node
    return words[node * WORDS + DETAIL] as NodeHandle
  }

  /** Appends the rest of an extension to the path; returns its end. */
  private followPath(node: NodeHandle, depth: number): number {
    const end = this.words[node * WORDS + DETAIL]! >>> 16
    const offset = node * HANDLE_BYTES + KEY_OFFSET
    for (let index = depth; index < end; index++)
      this.path[index] = nibbleAt(this.bytes, offset, index)
    return end
  }

  /** Whether a cursor's node begins at `depth`, and is not only passing. */
  private startsAt(node: NodeHandle, depth: number): boolean {
    const word = node * WORDS
    const kind = this.words[word]! & KIND
    return kind > EXTENSION || (this.words[word + DETAIL]! & 0xffff) === depth
  }

  private isStoredAt(node: NodeHandle, depth: number): boolean {
    if (!this.startsAt(node, depth)) return false
    const length = (this.words[node * WORDS]! >>> REFERENCE_LENGTH_SHIFT) & 0xff
    return length === REFERENCE_BYTES
  }

  private sameReference(a: NodeHandle, b: NodeHandle): boolean {
    const { words } = this
    for (let word = REFERENCE_OFFSET / 4; word < BODY; word++)
      if (words[a * WORDS + word] !== words[b * WORDS + word]) return false
    return true
  }

  private visitFresh(node: NodeHandle): void {
    const head = this.words[node * WORDS]!
    if ((head & COMMITTED) !== 0) return
    this.fresh.push(node)
    if (this.wantsLeaves && (head & KIND) === LEAF) this.pending.push(node)
  }

  private visitValue(branch: NodeHandle): void {
    this.visitFresh(this.words[branch * WORDS + BODY + VALUE_SLOT] as NodeHandle)
  }

  private addWrite(
    node: NodeHandle,
    depth: number,
    former: NodeHandle,
    pendingStart: number,
  ): void {
    const { list, pending } = this
    list.add(this.path, depth, node, former)
    for (let index = pendingStart; index < pending.count; index++)
      list.addLeaf(pending.handles[index]!)
    pending.count = pendingStart
  }
}
