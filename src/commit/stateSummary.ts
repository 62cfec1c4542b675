/**
 * The authenticated side of the state: the account trie and the storage tries below it, updated from deltas.
 *
 *     StateDelta ─▶ storage tries of the accounts it names ─▶ account trie ─▶ root
 *                                                 │
 *                              collect(): node sets since the last collect ─▶ store
 *
 * Tries stay in memory between blocks, so a block pays for the nodes it changes. What was not loaded is read by path
 * from the store, for written keys only; or from a witness, where execution itself reads through the tries
 * (`summaryView.ts`).
 *
 * Not here: flat values for execution to read (`state/`), and when to write (`engine/`).
 */
import { NodeArena } from '../arena/index.ts'
import { bytesEqual, EMPTY_TRIE_ROOT, toHex, VarveError } from '../base/index.ts'
import type { AccountUpdate, StateUpdate } from '../state/index.ts'
import { type HashKey, hashKey } from '../state/index.ts'
import { type NodeReader, type NodeSet, Trie, type TrieChange } from '../trie/index.ts'
import {
  type AccountLeaf,
  decodeAccountLeaf,
  decodeSlotLeaf,
  encodeAccountLeaf,
  encodeSlotLeaf,
  storageRootOfLeaf,
} from './accountLeaf.ts'
import type { StateNodes } from './nodeReaders.ts'

/** Nodes of one account's storage trie to be written. */
export type StorageNodeSet = {
  readonly addressHash: Uint8Array
  /** All older nodes of this account go first. */
  readonly isCleared: boolean
  readonly nodes: NodeSet
}

/** Everything that the summary changed since the last `collect`. */
export type SummaryNodeSet = {
  readonly accountNodes: NodeSet
  readonly storageNodes: readonly StorageNodeSet[]
}

type StorageTrie = {
  readonly addressHash: Uint8Array
  trie: Trie
  /** The store still holds nodes of a trie that was cleared since the last `collect`. */
  isCleared: boolean
  isDirty: boolean
}

/** Bytes of nodes that the account trie keeps in memory over a collect. */
const NODE_BYTES_KEPT = 256 * 1024 * 1024
/** Storage tries kept open between collects. */
const STORAGE_TRIE_COUNT_KEPT = 1024

export class StateSummary {
  private readonly source: StateNodes
  private readonly arena: NodeArena
  private readonly accounts: Trie
  private readonly storages = new Map<HashKey, StorageTrie>()

  /** Opens the summary whose nodes `source` has. @param root state root of what the source holds */
  constructor(source: StateNodes, root: Uint8Array) {
    this.source = source
    this.arena = new NodeArena()
    this.accounts = new Trie({ arena: this.arena, root, reader: source.accounts })
  }

  /** The state root, hashing what is still dirty. */
  root(): Uint8Array {
    return this.accounts.root()
  }

  /**
   * Applies one block's delta and returns the new state root.
   * Storage tries come first, since their roots are part of the account leaves.
   * @throws VarveError TRIE_NODE_MISSING, TRIE_NODE_INVALID where the store is damaged; the summary is then to be
   *   dropped and opened anew
   */
  update(delta: StateUpdate): Uint8Array {
    const changes: TrieChange[] = []
    for (const change of delta.accounts) changes.push(this.accountChange(change))
    this.accounts.update(changes)
    return this.accounts.root()
  }

  /**
   * Takes the net node changes since the last call. The caller writes them; the tries count as written, and `shrink`
   * gives memory back once they are, or once `source` has them.
   */
  collect(): SummaryNodeSet {
    const accountNodes = this.accounts.commit()
    const storageNodes: StorageNodeSet[] = []
    for (const entry of this.storages.values()) {
      if (!entry.isDirty && !entry.isCleared) continue
      storageNodes.push({
        addressHash: entry.addressHash,
        isCleared: entry.isCleared,
        nodes: entry.trie.commit(),
      })
      entry.isDirty = false
      entry.isCleared = false
    }
    return { accountNodes, storageNodes }
  }

  /**
   * Keeps memory bounded. Called after a `collect`, before any other change, when the source can give every node back.
   * @param bytesMax of nodes that the account trie keeps
   */
  shrink(bytesMax = NODE_BYTES_KEPT): void {
    this.accounts.shrink(bytesMax)
    if (this.storages.size > STORAGE_TRIE_COUNT_KEPT) {
      for (const { trie } of this.storages.values()) trie.dispose()
      this.storages.clear()
    }
  }

  /** Nodes from the state root to an account, as `eth_getProof`'s accountProof. Reading changes no content. */
  proveAccount(addressHash: Uint8Array): Uint8Array[] {
    return this.accounts.prove([addressHash])
  }

  /** What the trie holds for an account. @throws VarveError SUMMARY_LEAF_INVALID */
  accountLeaf(addressHash: Uint8Array): AccountLeaf | undefined {
    const leaf = this.accounts.get(addressHash)
    if (leaf === undefined) return undefined
    try {
      return decodeAccountLeaf(leaf)
    } catch (cause) {
      throw leafInvalid('account', addressHash, cause)
    }
  }

  /**
   * The 32-byte value of a slot, or `undefined` where it is zero. The storage trie stays open.
   * @throws VarveError SUMMARY_LEAF_INVALID, and as `update`
   */
  slot(addressHash: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
    const { trie } = this.openStorage(addressHash)
    const leaf = trie.get(slotHash)
    if (leaf === undefined) return undefined
    try {
      return decodeSlotLeaf(leaf)
    } catch (cause) {
      throw leafInvalid('slot', slotHash, cause)
    }
  }

  /**
   * The tries as a source of nodes for another summary, which then reads this state without changing it. Good as long
   * as this one stays at its state.
   */
  nodes(): StateNodes {
    return {
      accounts: { readNode: (path) => this.accounts.nodeAt(path) },
      storage: (addressHash) => this.storageNodes(addressHash),
    }
  }

  /** The leaf of each slot, and the nodes from the storage root to it, as `eth_getProof`'s storageProof. */
  proveStorage(
    addressHash: Uint8Array,
    slotHashes: readonly Uint8Array[],
  ): { readonly value: Uint8Array | undefined; readonly proof: Uint8Array[] }[] {
    if (slotHashes.length === 0) return []
    const open = this.storages.get(hashKey(addressHash))?.trie
    const trie = open ?? this.newStorageTrie(addressHash, this.storedStorageRoot(addressHash))
    const proofs = slotHashes.map((slotHash) => ({
      value: trie.get(slotHash),
      proof: trie.prove([slotHash]),
    }))
    if (open === undefined) trie.dispose()
    return proofs
  }

  /** Bytes of node memory in use. */
  get nodeBytes(): number {
    return this.arena.usedBytes
  }

  private storageNodes(addressHash: Uint8Array): NodeReader {
    return { readNode: (path) => this.openStorage(addressHash).trie.nodeAt(path) }
  }

  /** Turns an account's change into one of the account trie, updating its storage trie on the way. */
  private accountChange(change: AccountUpdate): TrieChange {
    const { addressHash, after } = change
    const storageRoot = this.updateStorage(change)
    if (after === undefined) return { key: addressHash, value: undefined }
    return { key: addressHash, value: encodeAccountLeaf(after, storageRoot) }
  }

  /** The account's storage root after the change. */
  private updateStorage(change: AccountUpdate): Uint8Array {
    const { addressHash, slots, storageCleared, after } = change
    if (storageCleared || after === undefined) this.clearStorage(addressHash)
    if (slots.length === 0) {
      const open = this.storages.get(hashKey(addressHash))
      return open?.trie.root() ?? this.storedStorageRoot(addressHash)
    }
    const entry = this.openStorage(addressHash)
    entry.trie.update(
      slots.map(({ slotHash, after: value }) => ({
        key: slotHash,
        value: value === undefined ? undefined : encodeSlotLeaf(value),
      })),
    )
    entry.isDirty = true
    return entry.trie.root()
  }

  /** Puts an empty trie in the place of the account's storage. */
  private clearStorage(addressHash: Uint8Array): void {
    const key = hashKey(addressHash)
    const open = this.storages.get(key)
    if (open === undefined && bytesEqual(this.storedStorageRoot(addressHash), EMPTY_TRIE_ROOT))
      return
    open?.trie.dispose()
    const trie = this.newStorageTrie(addressHash, EMPTY_TRIE_ROOT)
    this.storages.set(key, { addressHash, trie, isCleared: true, isDirty: false })
  }

  private openStorage(addressHash: Uint8Array): StorageTrie {
    const key = hashKey(addressHash)
    let entry = this.storages.get(key)
    if (entry === undefined) {
      const trie = this.newStorageTrie(addressHash, this.storedStorageRoot(addressHash))
      entry = { addressHash, trie, isCleared: false, isDirty: false }
      this.storages.set(key, entry)
    }
    return entry
  }

  private newStorageTrie(addressHash: Uint8Array, root: Uint8Array): Trie {
    return new Trie({ arena: this.arena, root, reader: this.source.storage(addressHash) })
  }

  /** Storage root that the account's leaf names; the empty root where there is no account. */
  private storedStorageRoot(addressHash: Uint8Array): Uint8Array {
    const leaf = this.accounts.get(addressHash)
    if (leaf === undefined) return EMPTY_TRIE_ROOT
    try {
      return storageRootOfLeaf(leaf)
    } catch (cause) {
      throw leafInvalid('account', addressHash, cause)
    }
  }
}

function leafInvalid(
  what: 'account' | 'slot',
  hash: Uint8Array,
  cause: unknown,
): VarveError<StateSummaryErrorCode> {
  const key = toHex(hash)
  return new VarveError(
    'SUMMARY_LEAF_INVALID',
    `${what} ${key}: its leaf in the trie does not decode`,
    { [what === 'account' ? 'addressHash' : 'slotHash']: key },
    { cause },
  )
}

/** Error codes of this module. */
export type StateSummaryErrorCode =
  /** A leaf of the account trie is not an account, or one of a storage trie no value. */
  'SUMMARY_LEAF_INVALID'
