/**
 * Makes the state part of a block's witness: what a block asked of its parent's state, and the nodes by which
 * somebody who knows the parent's root alone can answer the same questions and find the root afterwards.
 *
 *     execute ─▶ RecordingView (notes accounts, slots, codes) ─▶ the state itself
 *     StateSummary.update(delta) ─▶ recording nodes ─▶ the parent's nodes      siblings of what is deleted among them
 *     finish: everything noted is read over the recording nodes
 */
import { bytesCompare } from '../base/index.ts'
import { type Account, type HashKey, hashKey, hashOfKey, type StateView } from '../state/index.ts'
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
 * Records what a block needs of its parent's state. The block is executed over `view` and its root worked out over
 * `nodes`; `finish` then adds the way to everything that was asked.
 */
export class WitnessRecorder {
  readonly view: RecordingView
  /** The parent's nodes; each one asked for becomes part of the witness. */
  readonly nodes: StateNodes
  private readonly root: Uint8Array
  private readonly found = new Map<HashKey, Uint8Array>()

  /** @param nodes of the state before the block, whose root is `root`; not changed */
  constructor(view: StateView, nodes: StateNodes, root: Uint8Array) {
    this.view = new RecordingView(view)
    this.root = root
    this.nodes = recordingNodes(nodes, this.found)
  }

  /**
   * The nodes and codes that the block needs, each list in the order of its bytes.
   * @throws VarveError TRIE_NODE_MISSING, TRIE_NODE_INVALID where the parent's nodes are damaged
   */
  finish(): WitnessPreimages {
    const summary = new StateSummary(this.nodes, this.root)
    for (const [accountKey, slots] of this.view.slots) {
      const addressHash = hashOfKey(accountKey)
      summary.accountLeaf(addressHash)
      for (const slotHash of slots.values()) summary.slot(addressHash, slotHash)
    }
    return { state: sorted(this.found), codes: sorted(this.view.codes) }
  }
}

/** Passes nodes on and keeps each under its hash. */
function recordingNodes(parent: StateNodes, found: Map<HashKey, Uint8Array>): StateNodes {
  const recording = (reader: NodeReader): NodeReader => ({
    readNode: (path, hash) => {
      const node = reader.readNode(path, hash)
      if (node !== undefined) found.set(hashKey(hash), node)
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
