/**
 * A state of the chain as a user sees it: named by address and slot, with its root and its proofs.
 * Reading changes nothing. A view belongs to one block, wherever the head moves; once that block's state is no longer
 * kept, the view says so and answers no more.
 */
import type { Header } from '../codec/index.ts'
import {
  type AccountProof,
  proveAccount,
  type StateNodes,
  StateSummary,
  verifyAccountProof,
} from '../commit/index.ts'
import type { Account, StateView } from '../state/index.ts'
import { accountAt, checkAddress, codeAt, storageAt } from './addressed.ts'
import type { Branch } from './branch/branch.ts'
import type { BranchBases } from './branch/branchBases.ts'
import type { BlockNode } from './tree/blockTree.ts'
import type { KeptChain } from './tree/keptChain.ts'
import type { KeptState } from './tree/keptState.ts'

export class EngineView {
  readonly header: Header
  private readonly chain: KeptChain
  private readonly node: BlockNode
  private readonly kept: KeptState
  private readonly forks: BranchBases

  /** Use `Engine.at`. */
  constructor(chain: KeptChain, node: BlockNode, forks: BranchBases) {
    this.header = node.header
    this.chain = chain
    this.forks = forks
    this.node = node
    this.kept = chain.stateOf(node)
  }

  /** The values by hash, for whoever executes on them. Throws as this view does. */
  get state(): StateView {
    return this.kept
  }

  /** Nodes of the tries by path. Throws as this view does. */
  nodes(): StateNodes {
    this.kept.checkKept()
    return this.chain.nodesOf(this.node, this.kept)
  }

  /** A summary of one's own at this state, to be changed at will. Good as long as the view is. */
  summary(): StateSummary {
    return new StateSummary(this.nodes(), this.header.stateRoot)
  }

  /** State root, 32 bytes, fresh. */
  root(): Uint8Array {
    this.kept.checkKept()
    return this.header.stateRoot.slice()
  }

  /** Values of an account, or `undefined`. @param address 20 bytes */
  account(address: Uint8Array): Account | undefined {
    return accountAt(this.kept, address)
  }

  /** Value of a slot, 32 bytes; zero where nothing was stored. @param slot 32 bytes */
  storage(address: Uint8Array, slot: Uint8Array): Uint8Array {
    return storageAt(this.kept, address, slot)
  }

  /** Code of an account, empty where there is none. */
  code(address: Uint8Array): Uint8Array {
    return codeAt(this.kept, address)
  }

  /**
   * A state of one's own that begins here, to execute on; the chain never sees it. The caller releases it. Cost: O(1),
   * where the store has not passed this state; else the first branch of it reads the deltas in between.
   * @throws VarveError ENGINE_STATE_NOT_KEPT
   */
  fork(): Branch {
    return this.forks.open(this.node)
  }

  /**
   * Proof of an account and some of its slots (EIP-1186). It is verified against the root before it is returned.
   * @throws VarveError PROOF_KEYS_TOO_MANY, TRIE_NODE_MISSING
   */
  proof(address: Uint8Array, slots: readonly Uint8Array[] = []): AccountProof {
    this.kept.checkKept()
    checkAddress(address)
    const proof = proveAccount(this.chain.summaryOf(this.node), address, slots)
    verifyAccountProof(this.header.stateRoot, proof)
    return proof
  }
}
