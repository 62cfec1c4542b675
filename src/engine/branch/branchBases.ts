/**
 * Where branches begin: for each block that has any, layers over its kept state. They stand beside the chain's own, so
 * no write and no move of the head overtakes them; all take their memory from one arena with a limit of its own.
 *
 *     chain's layers ◀── KeptState of block n ◀── layers of block n's branches ◀── Branch, Branch, …
 */
import { ChunkArena } from '../../arena/index.ts'
import type { ChainSpec } from '../../chain/index.ts'
import { type LayeredState, StateLayers } from '../../state/index.ts'
import type { Intake } from '../intake.ts'
import type { BlockNode } from '../tree/blockTree.ts'
import type { KeptChain } from '../tree/keptChain.ts'
import type { KeptState } from '../tree/keptState.ts'
import { Branch } from './branch.ts'
import { BranchTip } from './branchTip.ts'

/** Idle memory that is kept for the next branch. */
const IDLE_BYTES_MAX = 4 * 2 ** 20

export type BranchParts = {
  readonly chain: KeptChain
  readonly spec: ChainSpec
  /** Whose tools blocks of a branch are checked with. */
  readonly intake: Intake
}

/** What the branches of an engine take at the moment. */
export type BranchStatus = { readonly count: number; readonly bytes: number }

/** A block that branches begin at. */
export type BranchBase = {
  readonly node: BlockNode
  readonly state: KeptState
  readonly layers: StateLayers
  /** Its state, which every branch begins with. Borrowed. */
  readonly origin: LayeredState
  branchCount: number
}

export class BranchBases {
  readonly parts: BranchParts
  private readonly arena: ChunkArena
  private readonly bases = new Map<BlockNode, BranchBase>()

  /** @param bytesMax of the layers of all branches */
  constructor({ bytesMax, ...parts }: BranchParts & { readonly bytesMax: number }) {
    this.parts = parts
    this.arena = new ChunkArena({ bytesMax })
  }

  /** A new branch at a kept block. @throws VarveError ENGINE_STATE_NOT_KEPT */
  open(node: BlockNode): Branch {
    const base = this.baseOf(node)
    return new Branch(this, base, { state: base.origin, tip: new BranchTip(node) })
  }

  get status(): BranchStatus {
    let count = 0
    for (const { branchCount } of this.bases.values()) count += branchCount
    return { count, bytes: this.arena.usedBytes }
  }

  /** Lets the base go with its last branch. For `Branch` alone. */
  leave(base: BranchBase): void {
    base.branchCount--
    if (base.branchCount > 0) return
    this.bases.delete(base.node)
    base.origin.release()
    base.layers.close()
    if (this.bases.size === 0 && this.arena.reservedBytes > IDLE_BYTES_MAX) this.arena.trim()
  }

  private baseOf(node: BlockNode): BranchBase {
    const known = this.bases.get(node)
    if (known !== undefined) {
      known.state.checkKept()
      return known
    }
    const { chain } = this.parts
    const state = chain.stateOf(node)
    state.checkKept()
    const layers = new StateLayers({
      persisted: state,
      version: node.header.number,
      usage: chain.usageOf(node),
      arena: this.arena,
    })
    const base = { node, state, layers, origin: layers.open(), branchCount: 0 }
    this.bases.set(node, base)
    return base
  }
}
