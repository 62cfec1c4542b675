/**
 * How a trie gets the nodes that are not in memory: by path from the store's node tables.
 */
import type { Store } from '../store/index.ts'
import { accountNodeKey, storageNodeKey } from '../store/index.ts'
import type { NodeReader } from '../trie/index.ts'

/** Reads nodes of the account trie. */
export function accountNodeReader(store: Store): NodeReader {
  return { readNode: (path) => store.get('accountNodes', accountNodeKey(path, path.length)) }
}

/** Reads nodes of one account's storage trie. */
export function storageNodeReader(store: Store, addressHash: Uint8Array): NodeReader {
  return {
    readNode: (path) => store.get('storageNodes', storageNodeKey(addressHash, path, path.length)),
  }
}
