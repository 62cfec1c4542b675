/**
 * A state of which only a witness is known: nodes and codes as a list, each found by its keccak-256. Whatever the list
 * holds beside what is asked for plays no part, whatever form it has: a hash that no node asked for names reaches it
 * not.
 *
 *     nodes, codes ─▶ by hash ─▶ StateSummary at the root ─▶ SummaryView ─▶ execution
 *                                       └──────────────────▶ update(delta) ─▶ root after the block
 *
 * Not here: where the root comes from (the parent's header, `engine/`).
 */
import { isVarveError, toHex, VarveError } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { type Account, type HashKey, hashKey } from '../state/index.ts'
import type { NodeReader } from '../trie/index.ts'
import type { StateNodes } from './nodeReaders.ts'
import { StateSummary } from './stateSummary.ts'
import { SummaryView } from './summaryView.ts'

/** Nodes and codes of a witness, in any order. The arrays are read, and must not change while the state is in use. */
export type WitnessPreimages = {
  /** Trie nodes as RLP; what stands embedded in its parent needs no entry. */
  readonly state: readonly Uint8Array[]
  readonly codes: readonly Uint8Array[]
}

/** A state over a witness. */
export type WitnessState = {
  readonly view: SummaryView
  /** What the view reads through. Once it is updated the view is of no more use. */
  readonly summary: StateSummary
  /** For further summaries of the same state. */
  readonly nodes: StateNodes
}

/**
 * What an account counts as whose place in the trie the nodes do not show. `refused`: reading it is an error, the only
 * answer that is a proof. `absent`: as if it did not exist. Some makers leave out accounts from which a block takes
 * nothing, such as an address that transactions send nothing to. What is written is proven either way.
 */
export type UnprovenAccounts = 'refused' | 'absent'

/**
 * Opens the state with a root. Reads nothing of the tries yet: what is missing or damaged shows where it is needed,
 * by WITNESS_NODE_MISSING and WITNESS_CODE_MISSING of whoever reads, and TRIE_NODE_INVALID, SUMMARY_LEAF_INVALID for
 * a node that has the hash asked for and is no node.
 * Cost: one keccak an entry.
 */
export function openWitnessState(
  root: Uint8Array,
  preimages: WitnessPreimages,
  unproven: UnprovenAccounts = 'refused',
): WitnessState {
  const nodes = witnessNodes(preimages.state)
  const summary = new StateSummary(nodes, root)
  const codes = byHash(preimages.codes)
  const readCode = (codeHash: Uint8Array) => {
    const code = codes.get(hashKey(codeHash))
    if (code === undefined) throw codeMissing(codeHash)
    return code
  }
  const View = unproven === 'refused' ? SummaryView : AbsentWhereUnproven
  return { nodes, summary, view: new View(summary, readCode) }
}

/** See `UnprovenAccounts`. */
class AbsentWhereUnproven extends SummaryView {
  override account(addressHash: Uint8Array): Account | undefined {
    try {
      return super.account(addressHash)
    } catch (error) {
      if (isVarveError(error, 'WITNESS_NODE_MISSING')) return undefined
      throw error
    }
  }
}

/** The nodes of a witness, for all tries of a state. */
function witnessNodes(state: readonly Uint8Array[]): StateNodes {
  const nodes = byHash(state)
  const readerOf = (trie: string): NodeReader => ({
    readNode: (path, hash) => {
      const node = nodes.get(hashKey(hash))
      if (node === undefined) throw nodeMissing(trie, path, hash)
      return node
    },
  })
  return {
    accounts: readerOf('account trie'),
    storage: (addressHash) => readerOf(`storage trie of account ${toHex(addressHash)}`),
  }
}

function byHash(preimages: readonly Uint8Array[]): Map<HashKey, Uint8Array> {
  const found = new Map<HashKey, Uint8Array>()
  for (const preimage of preimages) found.set(hashKey(keccak256(preimage)), preimage)
  return found
}

function nodeMissing(
  trie: string,
  path: Uint8Array,
  hash: Uint8Array,
): VarveError<WitnessStateErrorCode> {
  const digits = Array.from(path, (nibble) => nibble.toString(16)).join('')
  return new VarveError(
    'WITNESS_NODE_MISSING',
    `witness: ${trie}, path "${digits}": expected the node with hash ${toHex(hash)}, got none`,
    { trie, path: digits, hash: toHex(hash) },
  )
}

function codeMissing(codeHash: Uint8Array): VarveError<WitnessStateErrorCode> {
  return new VarveError(
    'WITNESS_CODE_MISSING',
    `witness: expected the code with hash ${toHex(codeHash)}, got none`,
    { codeHash: toHex(codeHash) },
  )
}

/** Error codes of this module. */
export type WitnessStateErrorCode =
  /** A node that the block reads or whose place its changes touch is not in the witness. */
  | 'WITNESS_NODE_MISSING'
  /** A code that the block runs or reads is not in the witness. */
  | 'WITNESS_CODE_MISSING'
