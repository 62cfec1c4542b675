/**
 * The hashes of every kept state, from two summaries:
 *
 *     main      stands at the head; what it changed since the last write is what the next write takes
 *     scratch   made when another state is asked for: the stored nodes, led along the deltas to that state, and from
 *               there to the next one asked for; never written
 *
 * So no node of an older trie is kept. Cost of another state: its distance from the one asked before, in changed
 * accounts; the first after a write also what has changed since then.
 */
import { bytesEqual } from '../../base/index.ts'
import {
  BlockRoots,
  type StateNodes,
  StateSummary,
  storedNodes,
  type TrieWatch,
} from '../../commit/index.ts'
import {
  completeDelta,
  invertDelta,
  type ListingView,
  mergeDeltas,
  type StateDelta,
} from '../../state/index.ts'
import type { Store } from '../../store/index.ts'
import { readHead } from '../chainRecords.ts'
import type { BlockNode, TreePath } from './blockTree.ts'
import type { StateSources } from './keptState.ts'

export type SummariesStart = StateSources & {
  /** Root of the state in the store. */
  readonly storedRoot: Uint8Array
  /** A summary that stands at the head; opened where it is not given. */
  readonly summary?: StateSummary
  readonly watch: TrieWatch | undefined
}

export class Summaries {
  private readonly store: Store
  private readonly sources: StateSources
  /** Root of the state in the store. */
  private storedRoot: Uint8Array
  /** `undefined` where somebody else keeps the head's, or until it is asked for. */
  private main: StateSummary | undefined
  private isLent = false
  private scratch:
    | {
        readonly summary: StateSummary
        /** Of the state in the store, whose nodes it reads. */
        readonly root: Uint8Array
        node: BlockNode
      }
    | undefined

  /** Told of what all summaries do. */
  private readonly watch: TrieWatch | undefined

  constructor(store: Store, start: SummariesStart) {
    this.store = store
    this.sources = start
    this.storedRoot = start.storedRoot
    this.main = start.summary
    this.watch = start.watch
  }

  /** The summary of a kept state. It moves with the next call for another one: not to be held, nor to be changed. */
  at(node: BlockNode): StateSummary {
    return node === this.sources.tree.head && !this.isLent ? this.ownMain : this.scratchAt(node)
  }

  /** Nodes of a kept state by path, as long as `check` passes; each is found wherever the summaries stand by then. */
  nodesAt(node: BlockNode, check: () => void): StateNodes {
    const nodes = (): StateNodes => {
      check()
      return this.at(node).nodes()
    }
    return {
      accounts: { readNode: (path, hash) => nodes().accounts.readNode(path, hash) },
      storage: (addressHash) => ({
        readNode: (path, hash) => nodes().storage(addressHash).readNode(path, hash),
      }),
    }
  }

  /**
   * Runs the check of a block on the summary of its parent's state. Where that throws, the summaries are as before;
   * else the caller adds the block and tells it to `settle`.
   * @param view the state of the parent
   */
  check<Result>(parent: BlockNode, view: ListingView, work: (roots: BlockRoots) => Result): Result {
    const roots = new BlockRoots(this.at(parent))
    try {
      return work(roots)
    } catch (error) {
      if (roots.hasStarted) this.undo(parent, view, roots)
      throw error
    }
  }

  /**
   * Tells that somebody else hashes the head's state from here on, who begins at the stored one. All other states are
   * hashed here as before.
   */
  lend(): void {
    this.main = undefined
    this.isLent = true
  }

  /** Ends `lend`. */
  takeBack(): void {
    this.isLent = false
  }

  /** Tells which block the summary that checked it stands at, before the head moves. */
  settle(node: BlockNode): void {
    if (node.parent !== this.sources.tree.head) this.scratch!.node = node
  }

  /**
   * Leads the main summary along deltas that start at the head. Where that throws, it stands at the head again.
   * @throws VarveError TRIE_* where the store is damaged
   */
  moveHead(deltas: readonly StateDelta[]): void {
    try {
      this.ownMain.update(mergeDeltas(deltas))
    } catch (error) {
      this.main = this.open()
      throw error
    }
  }

  /** Takes what the main summary changed since the last write. */
  collect(): ReturnType<StateSummary['collect']> {
    return this.ownMain.collect()
  }

  /** Tells that the store has what `collect` gave. @param root of the state that it is of */
  markWritten(root: Uint8Array): void {
    this.storedRoot = root
    this.scratch = undefined
    this.main?.shrink()
  }

  private get ownMain(): StateSummary {
    this.main ??= this.open()
    return this.main
  }

  private scratchAt(node: BlockNode): StateSummary {
    const { tree } = this.sources
    const root = this.rootInStore()
    if (this.scratch?.node.isKept !== true || !bytesEqual(this.scratch.root, root))
      this.scratch = { summary: this.open(), root, node: tree.head }
    const { scratch } = this
    if (scratch.node === node) return scratch.summary
    try {
      this.walk(scratch.summary, tree.path(scratch.node, node))
      scratch.node = node
      return scratch.summary
    } catch (error) {
      this.scratch = undefined
      throw error
    }
  }

  /** A new summary at the head: the stored one, with what the store lacks on top. */
  private open(): StateSummary {
    const root = this.rootInStore()
    const { watch } = this
    const summary = new StateSummary(storedNodes(this.store), root, { guessesLeaves: true, watch })
    summary.update(this.sources.states.changesOn(root))
    return summary
  }

  /** While another thread writes, the store itself says how far it is; within one turn that does not change. */
  private rootInStore(): Uint8Array {
    return this.isLent ? readHead(this.store).stateRoot : this.storedRoot
  }

  private walk(summary: StateSummary, { back, forward }: TreePath): void {
    const { deltas } = this.sources
    summary.update(
      mergeDeltas([
        ...back.map((node) => invertDelta(deltas.get(node))),
        ...forward.map((node) => deltas.get(node)),
      ]),
    )
  }

  /** Takes a refused block out of the summary that checked it: by its own delta, backwards. */
  private undo(parent: BlockNode, view: ListingView, roots: BlockRoots): void {
    if (parent !== this.sources.tree.head) {
      this.scratch = undefined
      return
    }
    try {
      const delta = completeDelta(roots.delta, view)
      if (bytesEqual(this.ownMain.update(invertDelta(delta)), parent.header.stateRoot)) return
    } catch {
      // A damaged store, or an update that stopped half-way: opening anew says what it is.
    }
    this.main = this.open()
  }
}
