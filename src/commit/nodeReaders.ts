/**
 * How tries get the nodes that are not in memory: by path from the store's node tables, by path from tries that are
 * open, by hash from a witness (`witnessNodes.ts`).
 */
import { accountNodeKey, type Store, storageNodeKey } from '../store/index.ts'
import type { NodeReader } from '../trie/index.ts'

/** Where the nodes of one state's tries come from. */
export type StateNodes = {
  /** Nodes of the account trie. */
  readonly accounts: NodeReader
  /** Nodes of one account's storage trie. */
  storage(addressHash: Uint8Array): NodeReader
}

/** Where rows are read from: a store, or something laid over one. */
export type RowReader = Pick<Store, 'get'>

/** The nodes in a store's tables: those of the state that was last written. */
export function storedNodes(store: RowReader): StateNodes {
  return {
    accounts: accountNodeReader(store),
    storage: (addressHash) => storageNodeReader(store, addressHash),
  }
}

/** Reads nodes of the account trie. */
export function accountNodeReader(store: RowReader): NodeReader {
  return { readNode: (path) => store.get('accountNodes', accountNodeKey(path, path.length)) }
}

/** Reads nodes of one account's storage trie. */
export function storageNodeReader(store: RowReader, addressHash: Uint8Array): NodeReader {
  return {
    readNode: (path) => store.get('storageNodes', storageNodeKey(addressHash, path, path.length)),
  }
}
