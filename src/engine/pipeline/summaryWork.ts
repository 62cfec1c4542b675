/**
 * The summary of a pipeline, on whatever thread: leads the tries along the layers of blocks, and hands over what is to
 * be written. Between that and the end of the write the store lacks those nodes; where memory makes the tries give them
 * up all the same, they are read back from here.
 */
import { ADDRESS_BYTES } from '../../base/index.ts'
import {
  type RowReader,
  StateSummary,
  type SummaryNodeSet,
  storedNodes,
  type TrieReport,
  TrieWatch,
} from '../../commit/index.ts'
import {
  addressHashOf,
  type DiffSource,
  diffAccounts,
  eachAccountChange,
  type HashKey,
  hashKey,
  invertDelta,
} from '../../state/index.ts'
import {
  accountNodeKey,
  type PackedBatch,
  type RangeBounds,
  type Store,
  type StoreEntry,
  storageNodeKey,
  type Table,
  WriteBatch,
} from '../../store/index.ts'
import { putNodes } from '../write/stateBatch.ts'

export class SummaryWork {
  private readonly store: Store
  private readonly summary: StateSummary
  private readonly unwritten: UnwrittenNodes
  private readonly nodeBytesMax: number
  private readonly watch: TrieWatch | undefined

  /**
   * @param root of the state that the store holds
   * @param watched whether anybody asks for reports, and whether these have rows
   */
  constructor(
    store: Store,
    root: Uint8Array,
    nodeBytesMax: number,
    watched?: { readonly hasRows: boolean },
  ) {
    this.store = store
    this.nodeBytesMax = nodeBytesMax
    this.unwritten = new UnwrittenNodes(store)
    this.watch = watched === undefined ? undefined : new TrieWatch(watched.hasRows)
    this.summary = new StateSummary(storedNodes(this.unwritten), root, {
      guessesLeaves: true,
      watch: this.watch,
    })
  }

  advance(source: DiffSource): Uint8Array {
    return this.summary.updateEach((visit) => eachAccountChange(source, visit))
  }

  retreat(source: DiffSource): void {
    this.summary.update(invertDelta({ accounts: diffAccounts(source), codes: [] }))
  }

  /** Loads nodes ahead. @param addresses 20 bytes each, one behind the other */
  prefetch(addresses: Uint8Array): void {
    const hashes: Uint8Array[] = []
    for (let at = 0; at + ADDRESS_BYTES <= addresses.length; at += ADDRESS_BYTES)
      hashes.push(addressHashOf(addresses.subarray(at, at + ADDRESS_BYTES)))
    try {
      this.summary.prefetch(hashes)
    } catch {
      // A damaged node is told of where it is needed, if it is.
    }
  }

  collect(): PackedBatch {
    const set = this.summary.collect()
    const batch = new WriteBatch()
    putNodes(batch, set)
    if (this.summary.nodeBytes > this.nodeBytesMax) {
      this.unwritten.add(set)
      this.summary.shrink(this.nodeBytesMax)
    }
    return batch.take()
  }

  /** What was done since the last call, where anybody asks. */
  takeReport(): TrieReport | undefined {
    return this.watch?.take()
  }

  markPersisted(): void {
    // Requests that wait are answered within one turn, so reads would go on from the state before the write.
    this.store.refresh()
    this.unwritten.clear()
  }
}

/**
 * Nodes that were collected and are not in the store, over what is. Tries ask for nodes of their newest state alone, and
 * each of these was put here after whatever was at its path; so what is deleted need not be known. A leaf of an account
 * that is not here is as it was in the store, and so are the rows that it is made from.
 */
class UnwrittenNodes implements RowReader {
  private readonly store: Store
  private readonly accountNodes = new Map<HashKey, Uint8Array>()
  private readonly storageNodes = new Map<HashKey, Uint8Array>()

  constructor(store: Store) {
    this.store = store
  }

  get(table: Table, key: Uint8Array): Uint8Array | undefined {
    const nodes = table === 'accountNodes' ? this.accountNodes : this.storageNodes
    if (nodes.size === 0 || (table !== 'accountNodes' && table !== 'storageNodes'))
      return this.store.get(table, key)
    return nodes.get(hashKey(key)) ?? this.store.get(table, key)
  }

  range(table: Table, bounds?: RangeBounds): Iterable<StoreEntry> {
    return this.store.range(table, bounds)
  }

  add({ accountNodes, storageNodes }: SummaryNodeSet): void {
    for (const { path, bytes } of accountNodes.nodes)
      this.accountNodes.set(hashKey(accountNodeKey(path, path.length)), bytes)
    for (const { addressHash, nodes } of storageNodes)
      for (const { path, bytes } of nodes.nodes)
        this.storageNodes.set(hashKey(storageNodeKey(addressHash, path, path.length)), bytes)
  }

  clear(): void {
    this.accountNodes.clear()
    this.storageNodes.clear()
  }
}
