/**
 * The values of one kept state, wherever the head is: the deltas on the way between the two over the newest state.
 * Good until its block leaves the tree; from then on it says so.
 */
import { toHex, VarveError } from '../../base/index.ts'
import {
  type Account,
  type ListingView,
  OlderState,
  type StateStep,
  type StoredSlot,
} from '../../state/index.ts'
import type { BlockNode, BlockTree } from './blockTree.ts'
import type { ChainState } from './chainState.ts'
import type { DeltaKeeper } from './deltaKeeper.ts'

/** Everything that the values and hashes of kept states are made from. */
export type StateSources = {
  readonly tree: BlockTree
  readonly deltas: DeltaKeeper
  /** The states that the store has not passed. */
  readonly states: ChainState
}

export class KeptState implements ListingView {
  private readonly node: BlockNode
  private readonly sources: StateSources
  private view: ListingView | undefined
  /** The state that the view was laid over: one object for each stay of the head at a block. */
  private viewBase: ListingView | undefined

  constructor(node: BlockNode, sources: StateSources) {
    this.node = node
    this.sources = sources
  }

  account(addressHash: Uint8Array): Account | undefined {
    return this.current().account(addressHash)
  }

  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    return this.current().storage(addressHash, slotHash)
  }

  code(codeHash: Uint8Array): Uint8Array {
    return this.sources.states.code(codeHash) ?? this.current().code(codeHash)
  }

  hasStorage(addressHash: Uint8Array): boolean {
    return this.current().hasStorage(addressHash)
  }

  slots(addressHash: Uint8Array): Iterable<StoredSlot> {
    return this.current().slots(addressHash)
  }

  /** @throws VarveError ENGINE_STATE_NOT_KEPT */
  checkKept(): void {
    if (this.node.isKept) return
    const { number, hash } = this.node.header
    throw stateNotKept(`block ${number} ${toHex(hash)}`, this.sources.tree)
  }

  private current(): ListingView {
    this.checkKept()
    const { tree, states } = this.sources
    const own = states.stateOf(this.node)
    if (own !== undefined) return own
    if (this.node === tree.head) return states.head
    if (this.view === undefined || this.viewBase !== states.head) {
      this.view = new OlderState(states.head, this.steps())
      this.viewBase = states.head
    }
    return this.view
  }

  /** From this state to the head's, the nearest first. */
  private steps(): StateStep[] {
    const { tree, deltas } = this.sources
    const { back, forward } = tree.path(this.node, tree.head)
    // Going there undoes `back`, so to come here it is applied; and the other way round.
    const here = back.map((node) => ({ delta: deltas.get(node), direction: 'forward' as const }))
    const there = forward.map((node) => ({ delta: deltas.get(node), direction: 'back' as const }))
    return [...here, ...there]
  }
}

/** Fault of a question about a state that is no longer, or never was, kept; says which ones are. */
export function stateNotKept(block: string, tree: BlockTree): VarveError<KeptStateErrorCode> {
  const [oldest, newest] = [tree.floor.header.number, tree.head.header.number]
  const side = tree.sideCount === 0 ? '' : ` and of ${tree.sideCount} side blocks`
  return new VarveError(
    'ENGINE_STATE_NOT_KEPT',
    `the state of ${block} is not kept: kept are those of blocks ${oldest} to ${newest}${side}`,
    { block, oldest, newest, sideCount: tree.sideCount },
  )
}

/** Error codes of this module. */
export type KeptStateErrorCode =
  /** The state of that block is no longer kept, or the chain has no such block. */
  'ENGINE_STATE_NOT_KEPT'
