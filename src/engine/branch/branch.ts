/**
 * A state of one's own over a block of the chain: blocks are executed on it, it is read, compared, hashed and forked,
 * and the chain never sees any of it.
 *
 *     engine.at(n) ─▶ fork() ─▶ execute ─▶ execute ─▶ …        diff(), root(), block() on demand
 *                                  └─▶ fork() ─▶ execute       what came before the fork is shared
 *
 * Each `execute` is a whole block on top of the one before, with all rules of its height: it could be imported.
 * A branch lives until it is released, and is good as long as its block's state is kept.
 *
 * Not here: memory (`branchBases.ts`), headers (`branchTip.ts`).
 */
import type { HeaderChoices } from '../../chain/index.ts'
import type { Block, Header, Receipt, Transaction } from '../../codec/index.ts'
import { BlockRoots, StateSummary } from '../../commit/index.ts'
import type { BlockHashReader, BlockOutcome } from '../../execute/index.ts'
import type { Account, LayeredState, StateDelta, StateView } from '../../state/index.ts'
import { accountAt, codeAt, storageAt } from '../addressed.ts'
import { type CheckContext, outcomeFields, runBlock } from '../blockCheck.ts'
import { type Draft, draftAfter, resealed } from '../draft.ts'
import { PhaseClock } from '../phases.ts'
import type { BranchBase, BranchBases } from './branchBases.ts'
import { BranchTip } from './branchTip.ts'

/** What the maker of a branch's block may choose. */
export type BranchChoices = Partial<Omit<HeaderChoices, 'transactions' | 'uncles' | 'isMerged'>> & {
  /** Of the transactions, where they are known; signatures are then not looked at. */
  readonly senders?: readonly Uint8Array[]
}

/** What a block of a branch did. */
export type BranchOutcome = {
  readonly receipts: readonly Receipt[]
  /** Gas of the whole block. */
  readonly gasUsed: bigint
}

/** Seconds from a block to the next one, where nothing else is chosen. */
const BLOCK_SECONDS = 12n

export class Branch {
  private readonly bases: BranchBases
  private readonly base: BranchBase
  private readonly origin: LayeredState
  private current: LayeredState
  private tip: BranchTip

  /** Use `EngineView.fork`. Forks the state it is given. */
  constructor(
    bases: BranchBases,
    base: BranchBase,
    { state, tip }: { readonly state: LayeredState; readonly tip: BranchTip },
  ) {
    this.bases = bases
    this.base = base
    this.origin = state.fork()
    this.current = state.fork()
    this.tip = tip
    base.branchCount++
  }

  /** Number of the newest block. */
  get number(): number {
    return this.tip.number
  }

  /** The values by hash, for whoever executes on them in another way. Good until the next `execute` or `release`. */
  get state(): StateView {
    return this.current
  }

  /** Values of an account, or `undefined`. @param address 20 bytes @throws VarveError ENGINE_STATE_NOT_KEPT */
  account(address: Uint8Array): Account | undefined {
    return accountAt(this.current, address)
  }

  /** Value of a slot, 32 bytes; zero where nothing was stored. @param slot 32 bytes */
  storage(address: Uint8Array, slot: Uint8Array): Uint8Array {
    return storageAt(this.current, address, slot)
  }

  /** Code of an account, empty where there is none. */
  code(address: Uint8Array): Uint8Array {
    return codeAt(this.current, address)
  }

  /**
   * Executes a block on top of the newest one. Without choices it goes to the same coinbase, 12 seconds later.
   * Cost: the execution; from the second block on also the root of the one before, whose hash is part of this one.
   * @param transactions one, or all of the block in their order
   * @throws VarveError with the code of the broken rule; ENGINE_STATE_NOT_KEPT; ARENA_CHUNKS_FULL where all branches
   *   together take their share of the memory; STATE_LAYER_RELEASED. The branch then stands where it stood.
   */
  execute(
    transactions: Transaction | readonly Transaction[],
    { senders, ...choices }: BranchChoices = {},
  ): BranchOutcome {
    this.checkGood()
    const parent = this.tip.header(() => this.root())
    const { spec, intake } = this.bases.parts
    const draft = draftAfter(parent, spec, {
      coinbase: parent.header.coinbase,
      timestamp: parent.header.timestamp + BLOCK_SECONDS,
      ...choices,
      transactions: isList(transactions) ? transactions : [transactions],
    })
    const outcome = runBlock(draft.block, {
      ...intake.checkContext(this.base.node),
      parent,
      // A block without uncles has no lineage to look at, and one that is only tried has no seal.
      ancestors: undefined,
      seals: undefined,
      view: this.current,
      blockHash: this.blockHash,
      roots: this.lazyRoots(),
      senders,
      clock: new PhaseClock(),
    })
    this.advance(draft, outcome)
    return { receipts: outcome.receipts, gasUsed: outcome.gasUsed }
  }

  /**
   * What differs from the moment of the fork, as a complete delta in trie order. Cost: what was written since.
   * @throws VarveError STATE_LAYER_RELEASED
   */
  diff(): StateDelta {
    return this.current.diffSince(this.origin)
  }

  /**
   * State root, 32 bytes, fresh. Cost: hashing what was written since the chain's block; nothing of it is kept.
   * @throws VarveError ENGINE_STATE_NOT_KEPT, STATE_LAYER_RELEASED
   */
  root(): Uint8Array {
    this.checkGood()
    const { stateRoot } = this.base.node.header
    const delta = this.current.diffSincePersisted()
    return delta.accounts.length === 0 ? stateRoot.slice() : this.summary().update(delta)
  }

  /** Header of the newest block; makes its root where that is not known yet. Throws as `root`. */
  header(): Header {
    this.checkGood()
    return this.tip.header(() => this.root()).header
  }

  /** The newest block, as it could be imported; `undefined` where nothing was executed. Throws as `root`. */
  block(): Block | undefined {
    this.checkGood()
    return this.tip.block(() => this.root())
  }

  /** Another branch that begins where this one stands, to be released on its own. Cost: O(1). */
  fork(): Branch {
    this.checkGood()
    return new Branch(this.bases, this.base, { state: this.current, tip: this.tip })
  }

  /** Lets the branch go. Cost: O(1) for each block that ends by it. @throws VarveError STATE_LAYER_RELEASED */
  release(): void {
    this.current.release()
    this.origin.release()
    this.bases.leave(this.base)
  }

  /** False once released. */
  get isOpen(): boolean {
    return this.current.isOpen
  }

  private advance(draft: Draft, outcome: BlockOutcome): void {
    const before = this.current
    this.current = before.apply(outcome.delta)
    before.release()
    const { block } = draft
    const fields = { ...draft.fields, ...outcomeFields(outcome) }
    this.tip = new BranchTip(this.tip, (stateRoot) => resealed(block, { ...fields, stateRoot }))
  }

  /** Tries of one's own at the chain's block. */
  private summary(): StateSummary {
    const { node, state } = this.base
    return new StateSummary(this.bases.parts.chain.nodesOf(node, state), node.header.stateRoot)
  }

  /** Roots inside a block, which receipts before Byzantium have. Nothing is hashed before one is asked for. */
  private lazyRoots(): CheckContext['roots'] {
    let roots: BlockRoots | undefined
    const begin = (): BlockRoots => {
      const summary = this.summary()
      summary.update(this.current.diffSincePersisted())
      return new BlockRoots(summary)
    }
    return {
      rootAfter: (delta) => {
        roots ??= begin()
        return roots.rootAfter(delta)
      },
    }
  }

  private readonly blockHash: BlockHashReader = (wanted) => {
    const own = this.tip.ancestor(Number(wanted))
    return own?.hash ?? this.bases.parts.chain.blockHashBefore(this.base.node)(wanted)
  }

  /** @throws VarveError ENGINE_FAILED, ENGINE_STATE_NOT_KEPT, STATE_LAYER_RELEASED */
  private checkGood(): void {
    this.bases.parts.intake.checkUsable()
    this.current.checkOpen()
    this.base.state.checkKept()
  }
}

function isList(value: Transaction | readonly Transaction[]): value is readonly Transaction[] {
  return Array.isArray(value)
}
