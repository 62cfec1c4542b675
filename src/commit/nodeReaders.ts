/**
 * How tries get the nodes that are not in memory: by path from the store's tables, by path from tries that are open, by
 * hash from a witness (`witnessNodes.ts`).
 *
 *     node of the account trie   a branch or an extension: its row in `accountNodes`
 *                                a leaf: made from the account's flat row, the only one whose key begins with the path,
 *                                and its storage root, the hash of the row at depth 0 in `storageNodes`
 *     node of a storage trie     its row in `storageNodes`
 *
 * A leaf of the account trie says nothing that other rows do not say, and two of three nodes are leaves.
 */
import { EMPTY_TRIE_ROOT } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { decodeFlatAccount } from '../state/index.ts'
import { accountNodeKey, keysBelow, type Store, storageNodeKey } from '../store/index.ts'
import { encodeLeafNode, type NodeReader } from '../trie/index.ts'
import { encodeAccountLeaf } from './accountLeaf.ts'

/** Where the nodes of one state's tries come from. */
export type StateNodes = {
  /** Nodes of the account trie. */
  readonly accounts: NodeReader
  /** Nodes of one account's storage trie. */
  storage(addressHash: Uint8Array): NodeReader
}

/** Where rows are read from: a store, or something laid over one. */
export type RowReader = Pick<Store, 'get' | 'range'>

/** The nodes in a store's tables: those of the state that was last written. */
export function storedNodes(store: RowReader): StateNodes {
  return {
    accounts: accountNodeReader(store),
    storage: (addressHash) => storageNodeReader(store, addressHash),
  }
}

/** Reads nodes of the account trie. @throws VarveError STATE_ROW_INVALID, of a leaf's row that does not decode */
export function accountNodeReader(store: RowReader): NodeReader {
  return {
    readNode: (path) =>
      store.get('accountNodes', accountNodeKey(path, path.length)) ?? accountLeafAt(store, path),
  }
}

/** Reads nodes of one account's storage trie. */
export function storageNodeReader(store: RowReader, addressHash: Uint8Array): NodeReader {
  return {
    readNode: (path) => store.get('storageNodes', storageNodeKey(addressHash, path, path.length)),
  }
}

/**
 * The leaf at a path that leads to an account: the first one with that beginning, and where the path is a leaf's the only
 * one. Whoever asks holds it against a hash. Cost: a seek, and two look-ups.
 */
function accountLeafAt(store: RowReader, path: Uint8Array): Uint8Array | undefined {
  const packed = accountNodeKey(path, path.length).subarray(1)
  for (const { key, value } of store.range('accounts', keysBelow(packed, path.length))) {
    const leaf = encodeAccountLeaf(decodeFlatAccount(value, key), storageRootOf(store, key))
    return encodeLeafNode(key, path.length, leaf)
  }
  return undefined
}

/** The root of an account's storage, from the row of its node. */
export function storageRootOf(rows: Pick<RowReader, 'get'>, addressHash: Uint8Array): Uint8Array {
  const root = rows.get('storageNodes', storageNodeKey(addressHash, NO_PATH, 0))
  return root === undefined ? EMPTY_TRIE_ROOT : keccak256(root)
}

const NO_PATH = new Uint8Array(0)
