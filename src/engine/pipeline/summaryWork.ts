/**
 * The summary of a pipeline, on whatever thread: leads the tries along the layers of blocks, and hands over what is to
 * be written. Between that and the end of the write the store lacks those nodes; where memory makes the tries give them
 * up all the same, they are read back from here.
 */
import {
  type StateNodes,
  StateSummary,
  type SummaryNodeSet,
  storedNodes,
} from '../../commit/index.ts'
import { type DiffSource, diffAccounts, hashKey, invertDelta } from '../../state/index.ts'
import {
  accountNodeKey,
  type PackedBatch,
  type Store,
  storageNodeKey,
  WriteBatch,
} from '../../store/index.ts'
import { putNodes } from '../stateBatch.ts'

export class SummaryWork {
  private readonly store: Store
  private readonly summary: StateSummary
  private readonly unwritten = new UnwrittenNodes()
  private readonly nodeBytesMax: number

  /** @param root of the state that the store holds */
  constructor(store: Store, root: Uint8Array, nodeBytesMax: number) {
    this.store = store
    this.nodeBytesMax = nodeBytesMax
    this.summary = new StateSummary(this.unwritten.over(storedNodes(store)), root, {
      guessesLeaves: true,
    })
  }

  advance(source: DiffSource): Uint8Array {
    return this.summary.update({ accounts: diffAccounts(source) })
  }

  retreat(source: DiffSource): void {
    this.summary.update(invertDelta({ accounts: diffAccounts(source), codes: [] }))
  }

  collect(): PackedBatch {
    const set = this.summary.collect()
    const batch = new WriteBatch()
    putNodes(batch, set)
    if (this.summary.nodeBytes > this.nodeBytesMax) {
      this.unwritten.add(set)
      this.summary.shrink(this.nodeBytesMax)
    }
    return batch.pack()
  }

  markPersisted(): void {
    // Requests that wait are answered within one turn, so reads would go on from the state before the write.
    this.store.refresh()
    this.unwritten.clear()
  }
}

/** Nodes that were collected and are not in the store, by the keys of their rows. */
class UnwrittenNodes {
  private readonly accountNodes = new Map<string, Uint8Array | undefined>()
  private readonly storageNodes = new Map<string, Uint8Array | undefined>()
  private readonly clearedStorages = new Set<string>()

  add({ accountNodes, storageNodes }: SummaryNodeSet): void {
    for (const { path, bytes } of accountNodes.nodes)
      this.accountNodes.set(hashKey(accountNodeKey(path, path.length)), bytes)
    for (const { path } of accountNodes.deletions)
      this.accountNodes.set(hashKey(accountNodeKey(path, path.length)), undefined)
    for (const { addressHash, isCleared, nodes } of storageNodes) {
      if (isCleared) this.clearedStorages.add(hashKey(addressHash))
      for (const { path, bytes } of nodes.nodes)
        this.storageNodes.set(hashKey(storageNodeKey(addressHash, path, path.length)), bytes)
      for (const { path } of nodes.deletions)
        this.storageNodes.set(hashKey(storageNodeKey(addressHash, path, path.length)), undefined)
    }
  }

  clear(): void {
    this.accountNodes.clear()
    this.storageNodes.clear()
    this.clearedStorages.clear()
  }

  /** The nodes of a store with these laid over. */
  over(stored: StateNodes): StateNodes {
    return {
      accounts: {
        readNode: (path, hash) => {
          if (this.accountNodes.size === 0) return stored.accounts.readNode(path, hash)
          const key = hashKey(accountNodeKey(path, path.length))
          if (this.accountNodes.has(key)) return this.accountNodes.get(key)
          return stored.accounts.readNode(path, hash)
        },
      },
      storage: (addressHash) => {
        const below = stored.storage(addressHash)
        return {
          readNode: (path, hash) => {
            if (this.storageNodes.size === 0 && this.clearedStorages.size === 0)
              return below.readNode(path, hash)
            const key = hashKey(storageNodeKey(addressHash, path, path.length))
            if (this.storageNodes.has(key)) return this.storageNodes.get(key)
            if (this.clearedStorages.has(hashKey(addressHash))) return undefined
            return below.readNode(path, hash)
          },
        }
      },
    }
  }
}
