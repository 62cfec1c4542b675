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
import {
  type Account,
  type AccountUpdate,
  accountHasCode,
  type HashKey,
  hashKey,
  type SlotUpdate,
  type StateUpdate,
} from '../state/index.ts'
import {
  type CommitOptions,
  type NodeReader,
  Trie,
  type TrieChange,
  type TrieHelpers,
  type TrieOptions,
  type WalkableNodeSet,
  type Wanted,
} from '../trie/index.ts'
import {
  type AccountLeaf,
  AccountLeafSlab,
  decodeAccountLeaf,
  decodeSlotLeaf,
  encodeSlotLeaf,
  leafHasNoStorage,
  storageRootOfLeaf,
} from './accountLeaf.ts'
import type { StateNodes } from './nodeReaders.ts'
import type { TrieWatch } from './trieWatch.ts'

/** Nodes of one account's storage trie to be written. */
export type StorageNodeSet = {
  readonly addressHash: Uint8Array
  /** All older nodes of this account go first. */
  readonly isCleared: boolean
  readonly nodes: WalkableNodeSet
}

/** Everything that the summary changed since the last `collect`. */
export type SummaryNodeSet = {
  readonly accountNodes: WalkableNodeSet
  readonly storageNodes: readonly StorageNodeSet[]
}

type StorageTrie = {
  readonly addressHash: Uint8Array
  trie: Trie
  /** The store still holds nodes of a trie that was cleared since the last `collect`. */
  isCleared: boolean
  isDirty: boolean
}

/** Bytes of nodes that stay in memory over a collect. */
const NODE_BYTES_KEPT = 256 * 1024 * 1024
/** Storage tries kept open between collects. */
const STORAGE_TRIE_COUNT_KEPT = 1024

/** Bytes of nodes from before are nobody's here. */
const NET: CommitOptions = { previous: false }
/** Accounts that `updateEach` takes at a time: enough for the kernels' batches, and gone before they grow old. */
const CHUNK_COUNT = 512

export type StateSummaryOptions = {
  /**
   * Leaves that are as an update says they were, which their hashes tell, are not read from the source; without it, all
   * are. For whoever watches what is read, or wants to see a damaged leaf, it must be off.
   */
  readonly guessesLeaves?: boolean
  /** Told of all that is done; without it nothing is counted. */
  readonly watch?: TrieWatch | undefined
  /** Makes the threads that help with the tries of an arena (`modes/`); what they do is the caller's to end. */
  readonly helpers?: (arena: NodeArena) => TrieHelpers
}

export class StateSummary {
  private readonly source: StateNodes
  private readonly arena: NodeArena
  /** What every trie of the arena is opened with. */
  private readonly shared: Pick<TrieOptions, 'arena' | 'helpers'>
  private readonly accounts: Trie
  /** By use, the longest unused first. */
  private readonly storages = new Map<HashKey, StorageTrie>()
  private readonly guessesLeaves: boolean
  private readonly watch: TrieWatch | undefined
  /** Leaves of the update under way: the tries copy them. */
  private readonly leaves = new AccountLeafSlab()

  /** Opens the summary whose nodes `source` has. @param root state root of what the source holds */
  constructor(source: StateNodes, root: Uint8Array, options: StateSummaryOptions = {}) {
    this.watch = options.watch
    this.source = this.watch?.watched(source) ?? source
    this.guessesLeaves = options.guessesLeaves ?? false
    this.arena = new NodeArena()
    const helpers = options.helpers?.(this.arena)
    this.shared = { arena: this.arena, ...(helpers === undefined ? {} : { helpers }) }
    this.accounts = new Trie({ ...this.shared, root, reader: this.source.accounts })
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
    this.watch?.begin()
    this.apply(delta.accounts)
    return this.finish()
  }

  /**
   * As `update`, with changes that come one after the other in the order of their hashes, and of which no more than a
   * few hundred are in memory at a time. Where accounts go, a node may be read that a single update would not need.
   */
  updateEach(changes: (visit: (change: AccountUpdate) => void) => void): Uint8Array {
    let chunk: AccountUpdate[] = []
    this.watch?.begin()
    changes((change) => {
      chunk.push(change)
      if (chunk.length < CHUNK_COUNT) return
      this.apply(chunk)
      chunk = []
    })
    this.apply(chunk)
    return this.finish()
  }

  /**
   * Takes the net node changes since the last call. The caller writes them; the tries count as written, and `shrink`
   * gives memory back once they are, or once `source` has them.
   */
  collect(): SummaryNodeSet {
    const { watch } = this
    watch?.skip()
    const accountNodes = this.accounts.commit(NET)
    watch?.lap('accountCommits')
    const storageNodes: StorageNodeSet[] = []
    for (const entry of this.storages.values()) {
      if (!entry.isDirty && !entry.isCleared) continue
      storageNodes.push({
        addressHash: entry.addressHash,
        isCleared: entry.isCleared,
        nodes: entry.trie.commit(NET),
      })
      entry.isDirty = false
      entry.isCleared = false
    }
    watch?.lap('storageCommits')
    watch?.collected({ accountNodes, storageNodes })
    return { accountNodes, storageNodes }
  }

  /**
   * Keeps memory bounded, after a `collect`, when the source can give every node back. What has changed since stays.
   * Storage tries go by use, the longest unused first; a quarter of the budget is theirs where accounts want all of it.
   * @param bytesMax of all nodes together
   */
  shrink(bytesMax = NODE_BYTES_KEPT): void {
    const storageBytesMax = Math.max(bytesMax / 4, bytesMax - this.accounts.usedBytes)
    for (const [key, { trie, isDirty, isCleared }] of this.storages) {
      const fits = this.storageBytes <= storageBytesMax
      if (fits && this.storages.size <= STORAGE_TRIE_COUNT_KEPT) break
      if (isDirty || isCleared) continue
      trie.dispose()
      this.storages.delete(key)
    }
    this.accounts.shrink(Math.max(0, bytesMax - this.storageBytes))
  }

  /**
   * Loads the nodes on the way to accounts that are likely to change, but for leaves that an update will guess. Changes
   * no result. @throws as `update`
   */
  prefetch(addressHashes: readonly Uint8Array[]): void {
    this.accounts.prefetch(addressHashes)
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

  private get storageBytes(): number {
    return this.arena.usedBytes - this.accounts.usedBytes
  }

  private apply(changes: readonly AccountUpdate[]): void {
    const { watch } = this
    this.leaves.clear()
    watch?.skip()
    const storageRoots = this.storageRoots(changes)
    watch?.lap('accountReads')
    const updates = changes.map((change, index) => this.accountChange(change, storageRoots[index]!))
    watch?.lap('storageUpdates')
    this.accounts.update(updates)
    watch?.lap('accountUpdates')
    watch?.applied(changes)
  }

  private finish(): Uint8Array {
    const { watch, accounts } = this
    if (watch === undefined) return accounts.root()
    watch.skip()
    const root = watch.rootOf(accounts, undefined)
    watch.lap('accountHashes')
    watch.end(this.nodeBytes)
    return root
  }

  private storageNodes(addressHash: Uint8Array): NodeReader {
    return { readNode: (path) => this.openStorage(addressHash).trie.nodeAt(path) }
  }

  /**
   * The storage root of each account before its change. Reads all their leaves in one walk, but not those that are as
   * the change says they were.
   */
  private storageRoots(changes: readonly AccountUpdate[]): Uint8Array[] {
    const roots = changes.map(() => EMPTY_TRIE_ROOT)
    const wanted = changes.map(({ addressHash, before }) => ({
      key: addressHash,
      expected: this.guessesLeaves && before !== undefined ? this.plainLeaf(before) : undefined,
    }))
    this.accounts.lookUp(wanted, (index, bytes, start, end) => {
      if (leafHasNoStorage(bytes, start, end)) return
      const { addressHash } = changes[index]!
      roots[index] = storageRootOrFault(addressHash, bytes.slice(start, end))
    })
    return roots
  }

  /** Turns an account's change into one of the account trie, updating its storage trie on the way. */
  private accountChange(change: AccountUpdate, storedRoot: Uint8Array): TrieChange {
    const { addressHash, after } = change
    const storageRoot = this.updateStorage(change, storedRoot)
    if (after === undefined) return { key: addressHash, value: undefined }
    return { key: addressHash, value: this.leaves.encode(after, storageRoot) }
  }

  /** The leaf of an account that has no code and no storage; of one with code the storage root is not known. */
  private plainLeaf(account: Account): Uint8Array | undefined {
    return accountHasCode(account) ? undefined : this.leaves.encode(account, EMPTY_TRIE_ROOT)
  }

  /** The account's storage root after the change. @param storedRoot the one that its leaf names */
  private updateStorage(change: AccountUpdate, storedRoot: Uint8Array): Uint8Array {
    const { addressHash, slots, storageCleared, after } = change
    if (storageCleared || after === undefined) this.clearStorage(addressHash, storedRoot)
    if (slots.length === 0) {
      if (this.storages.size === 0) return storedRoot
      return this.storages.get(hashKey(addressHash))?.trie.root() ?? storedRoot
    }
    const entry = this.openStorage(addressHash, storedRoot)
    if (this.guessesLeaves) entry.trie.lookUp(slots.map(wantedSlot))
    entry.trie.update(
      slots.map(({ slotHash, after: value }) => ({
        key: slotHash,
        value: value === undefined ? undefined : encodeSlotLeaf(value),
      })),
    )
    entry.isDirty = true
    return this.watch?.rootOf(entry.trie, addressHash) ?? entry.trie.root()
  }

  /** Puts an empty trie in the place of the account's storage. */
  private clearStorage(addressHash: Uint8Array, storedRoot: Uint8Array): void {
    const key = hashKey(addressHash)
    const open = this.storages.get(key)
    if (open === undefined && bytesEqual(storedRoot, EMPTY_TRIE_ROOT)) return
    open?.trie.dispose()
    const trie = this.newStorageTrie(addressHash, EMPTY_TRIE_ROOT)
    this.storages.set(key, { addressHash, trie, isCleared: true, isDirty: false })
  }

  private openStorage(addressHash: Uint8Array, storedRoot?: Uint8Array): StorageTrie {
    const key = hashKey(addressHash)
    let entry = this.storages.get(key)
    if (entry === undefined) {
      const root = storedRoot ?? this.storedStorageRoot(addressHash)
      const trie = this.newStorageTrie(addressHash, root)
      entry = { addressHash, trie, isCleared: false, isDirty: false }
    } else this.storages.delete(key)
    // The last one used stands last.
    this.storages.set(key, entry)
    return entry
  }

  private newStorageTrie(addressHash: Uint8Array, root: Uint8Array): Trie {
    return new Trie({ ...this.shared, root, reader: this.source.storage(addressHash) })
  }

  /** Storage root that the account's leaf names; the empty root where there is no account. */
  private storedStorageRoot(addressHash: Uint8Array): Uint8Array {
    const leaf = this.accounts.get(addressHash)
    return leaf === undefined ? EMPTY_TRIE_ROOT : storageRootOrFault(addressHash, leaf)
  }
}

/** @throws VarveError SUMMARY_LEAF_INVALID */
function storageRootOrFault(addressHash: Uint8Array, leaf: Uint8Array): Uint8Array {
  try {
    return storageRootOfLeaf(leaf)
  } catch (cause) {
    throw leafInvalid('account', addressHash, cause)
  }
}

function wantedSlot({ slotHash, before }: SlotUpdate): Wanted {
  return { key: slotHash, expected: before === undefined ? undefined : encodeSlotLeaf(before) }
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
