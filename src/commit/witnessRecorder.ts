/**
 * Makes the state part of a block's witness: what a block asked of its parent's state, and the nodes by which
 * somebody who knows the parent's root alone can answer the same questions and find the root afterwards.
 *
 *     execute ─▶ RecordingView (notes accounts, slots, codes) ─▶ the state itself
 *                     │
 *     recordWitness: another StateSummary over the parent's nodes reads all that was noted, then applies the delta;
 *                    the nodes it had to ask for are the witness, siblings of what is deleted among them
 */
import { bytesCompare } from '../base/index.ts'
import {
  type Account,
  type HashKey,
  hashKey,
  hashOfKey,
  type StateDelta,
  type StateView,
} from '../state/index.ts'
import type { NodeReader } from '../trie/index.ts'
import type { StateNodes } from './nodeReaders.ts'
import { StateSummary } from './stateSummary.ts'
import type { WitnessPreimages } from './witnessState.ts'

/** A view that notes what it is asked. Whatever it is asked twice is noted once. */
export class RecordingView implements StateView {
  private readonly view: StateView
  /** Slots asked of each account asked. */
  readonly slots = new Map<HashKey, Map<HashKey, Uint8Array>>()
  /** Codes asked, by their hash. */
  readonly codes = new Map<HashKey, Uint8Array>()

  constructor(view: StateView) {
    this.view = view
  }

  account(addressHash: Uint8Array): Account | undefined {
    this.note(addressHash)
    return this.view.account(addressHash)
  }

  storage(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    this.note(addressHash).set(hashKey(slotHash), slotHash)
    return this.view.storage(addressHash, slotHash)
  }

  code(codeHash: Uint8Array): Uint8Array {
    const code = this.view.code(codeHash)
    if (code.length > 0) this.codes.set(hashKey(codeHash), code)
    return code
  }

  hasStorage(addressHash: Uint8Array): boolean {
    this.note(addressHash)
    return this.view.hasStorage(addressHash)
  }

  private note(addressHash: Uint8Array): Map<HashKey, Uint8Array> {
    const key = hashKey(addressHash)
    let slots = this.slots.get(key)
    if (slots === undefined) {
      slots = new Map()
      this.slots.set(key, slots)
    }
    return slots
  }
}

/**
 * The nodes and codes that a block needs, each list in the order of its bytes.
 * @param parent nodes of the state before the block, whose root is `root`; not changed
 * @param delta what the block changed
 * @throws VarveError TRIE_NODE_MISSING, TRIE_NODE_INVALID where `parent` is damaged
 */
export function recordWitness(
  parent: StateNodes,
  root: Uint8Array,
  asked: RecordingView,
  delta: StateDelta,
): WitnessPreimages {
  const nodes = new Map<HashKey, Uint8Array>()
  const summary = new StateSummary(recordingNodes(parent, nodes), root)
  for (const [accountKey, slots] of asked.slots) {
    const addressHash = hashOfKey(accountKey)
    summary.accountLeaf(addressHash)
    for (const slotHash of slots.values()) summary.slot(addressHash, slotHash)
  }
  summary.update(delta)
  return { state: sorted(nodes), codes: sorted(asked.codes) }
}

/** Passes nodes on and keeps each under its hash. */
function recordingNodes(parent: StateNodes, nodes: Map<HashKey, Uint8Array>): StateNodes {
  const recording = (reader: NodeReader): NodeReader => ({
    readNode: (path, hash) => {
      const node = reader.readNode(path, hash)
      if (node !== undefined) nodes.set(hashKey(hash), node)
      return node
    },
  })
  return {
    accounts: recording(parent.accounts),
    storage: (addressHash) => recording(parent.storage(addressHash)),
  }
}

function sorted(preimages: ReadonlyMap<HashKey, Uint8Array>): Uint8Array[] {
  return [...preimages.values()].sort(bytesCompare)
}
