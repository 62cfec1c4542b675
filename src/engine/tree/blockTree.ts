/**
 * The blocks whose states are kept, as a tree: the newest stretch of the canonical chain, and the side branches that
 * start from it.
 *
 *     floor ── 101 ── 102 ── 103 ── head          canonical: one node a number
 *                 └── 102'── 103'                 side: executed and verified like the others
 *
 * The floor is the oldest kept state: every path between two kept states leads over nodes of the tree. It only rises;
 * what falls out of the tree below it takes its side branches along.
 *
 * Not here: states and deltas (`history.ts`), rows (`blockRows.ts`), which branch is the chain (`chain/`).
 */
import { assert } from '../../base/index.ts'
import { type HashKey, hashKey } from '../../state/index.ts'
import type { StoredHeader } from '../chainRecords.ts'

/** A block whose state is kept. */
export type BlockNode = StoredHeader & {
  /** `undefined` for the floor. */
  parent: BlockNode | undefined
  readonly children: BlockNode[]
  /** Hashes of the uncles it names, or `undefined` where they are to be read from its body. */
  readonly uncleHashes: readonly Uint8Array[] | undefined
  isCanonical: boolean
  /** False once the node has left the tree. */
  isKept: boolean
}

/** The way from one node to another: back to where their branches meet, and forward from there. */
export type TreePath = {
  /** Nodes to undo, from the start on, newest first. */
  readonly back: readonly BlockNode[]
  readonly ancestor: BlockNode
  /** Nodes to apply, oldest first; the last one is the goal. */
  readonly forward: readonly BlockNode[]
}

export class BlockTree {
  private readonly byHash = new Map<HashKey, BlockNode>()
  private floorNode: BlockNode
  private headNode: BlockNode
  private sideNodeCount = 0

  /** @param floor the oldest block whose state is kept; canonical */
  constructor(floor: StoredHeader) {
    this.floorNode = this.insert(floor, undefined, undefined, true)
    this.headNode = this.floorNode
  }

  /** The newest canonical block. */
  get head(): BlockNode {
    return this.headNode
  }

  /** The oldest block whose state is kept. */
  get floor(): BlockNode {
    return this.floorNode
  }

  /** Nodes that are not canonical. */
  get sideCount(): number {
    return this.sideNodeCount
  }

  get(hash: Uint8Array): BlockNode | undefined {
    return this.byHash.get(hashKey(hash))
  }

  /** All nodes, the floor first, in the order they came. */
  nodes(): Iterable<BlockNode> {
    return this.byHash.values()
  }

  /** Adds a block as one of a side branch. */
  add(
    block: StoredHeader,
    parent: BlockNode,
    uncleHashes: readonly Uint8Array[] | undefined,
  ): BlockNode {
    const node = this.insert(block, parent, uncleHashes, false)
    parent.children.push(node)
    this.sideNodeCount++
    return node
  }

  /** Cost: proportional to the length of the path. */
  path(from: BlockNode, to: BlockNode): TreePath {
    const back: BlockNode[] = []
    const forward: BlockNode[] = []
    let a = from
    let b = to
    while (a !== b) {
      if (a.header.number >= b.header.number) {
        back.push(a)
        a = parentOf(a)
      } else {
        forward.push(b)
        b = parentOf(b)
      }
    }
    return { back, ancestor: a, forward: forward.reverse() }
  }

  /** Makes the goal of a path from the head the head. */
  moveHead({ back, ancestor, forward }: TreePath): void {
    for (const node of back) node.isCanonical = false
    for (const node of forward) node.isCanonical = true
    this.sideNodeCount += back.length - forward.length
    this.headNode = forward.at(-1) ?? ancestor
  }

  /**
   * Raises the floor to the canonical block of a number; a lower number than the floor's changes nothing.
   * @returns what left the tree: canonical blocks, and side blocks that no path leads to any more
   */
  raiseFloor(number: number): BlockNode[] {
    const dropped: BlockNode[] = []
    while (this.floorNode.header.number < number) {
      const next = this.floorNode.children.find((child) => child.isCanonical)
      assert(next !== undefined, 'tree: the floor does not rise above the head')
      for (const child of this.floorNode.children)
        if (child !== next) this.dropBranch(child, dropped)
      this.remove(this.floorNode, dropped)
      next.parent = undefined
      this.floorNode = next
    }
    return dropped
  }

  /**
   * The side block that came first among those that nothing is built on, or `undefined`.
   * Cost: a look at every node, so for the rare case that there are too many.
   */
  oldestSideTip(except: BlockNode): BlockNode | undefined {
    for (const node of this.byHash.values())
      if (!node.isCanonical && node.children.length === 0 && node !== except) return node
    return undefined
  }

  /** Takes out a side block that nothing is built on. */
  removeTip(node: BlockNode): void {
    assert(!node.isCanonical && node.children.length === 0, 'tree: only a side tip is removed')
    const { children } = parentOf(node)
    children.splice(children.indexOf(node), 1)
    this.remove(node, [])
  }

  private insert(
    { header, totalDifficulty }: StoredHeader,
    parent: BlockNode | undefined,
    uncleHashes: readonly Uint8Array[] | undefined,
    isCanonical: boolean,
  ): BlockNode {
    const node: BlockNode = {
      header,
      totalDifficulty,
      parent,
      children: [],
      uncleHashes,
      isCanonical,
      isKept: true,
    }
    this.byHash.set(hashKey(header.hash), node)
    return node
  }

  /** Without recursion: a side branch may be as long as the tree is deep. */
  private dropBranch(root: BlockNode, dropped: BlockNode[]): void {
    const open = [root]
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      open.push(...node.children)
      this.remove(node, dropped)
    }
  }

  private remove(node: BlockNode, dropped: BlockNode[]): void {
    node.isKept = false
    node.parent = undefined
    if (!node.isCanonical) this.sideNodeCount--
    this.byHash.delete(hashKey(node.header.hash))
    dropped.push(node)
  }
}

function parentOf(node: BlockNode): BlockNode {
  assert(node.parent !== undefined, 'tree: two kept blocks have a kept block in common')
  return node.parent
}
