/**
 * Checks the state: every trie node against the hash that its parent names, every account and slot of the flat state
 * against its leaf, every code against its hash, and that there are no rows beyond those.
 *
 * Tries and flat rows are walked side by side in the order of the keys, so memory stays bounded whatever the size.
 */
import { NodeArena } from '../../arena/index.ts'
import {
  bytesCompare,
  bytesEqual,
  EMPTY_TRIE_ROOT,
  HASH_BYTES,
  isVarveError,
  toHex,
} from '../../base/index.ts'
import {
  type AccountLeaf,
  accountNodeReader,
  decodeAccountLeaf,
  encodeAccountLeaf,
  encodeSlotLeaf,
  storageNodeReader,
} from '../../commit/index.ts'
import { keccak256 } from '../../kernels/index.ts'
import { accountHasCode, decodeFlatAccount, decodeFlatSlot } from '../../state/index.ts'
import {
  accountNodeKey,
  prefixEnd,
  type Store,
  type StoreEntry,
  storageNodeKey,
  type Table,
} from '../../store/index.ts'
import { type NodeReader, Trie } from '../../trie/index.ts'
import { type Difference, difference } from './difference.ts'

/** How far the check is. */
export type StateProgress = { accountCount: number; slotCount: number; nodeCount: number }

/** Checks the state below `stateRoot`. `progress` is counted up while it runs, `onProgress` called now and then. */
export function* verifyState(
  store: Store,
  stateRoot: Uint8Array,
  progress: StateProgress,
  onProgress: () => void,
): Generator<Difference> {
  const walk = new StateWalk(store, progress, onProgress)
  yield* walk.accounts(stateRoot)
  yield* walk.leftovers(stateRoot)
  yield* verifyCodes(store)
}

class StateWalk {
  private readonly store: Store
  private readonly progress: StateProgress
  private readonly onProgress: () => void
  private readonly arena = new NodeArena()
  private accountNodeCount = 0
  private storageNodeCount = 0
  private slotCount = 0
  /** Set where a trie could not be walked to its end, so that counts say nothing. */
  private isCut = false

  constructor(store: Store, progress: StateProgress, onProgress: () => void) {
    this.store = store
    this.progress = progress
    this.onProgress = onProgress
  }

  /** Walks the account trie beside the table `accounts`. */
  *accounts(stateRoot: Uint8Array): Generator<Difference> {
    const reader = checkingReader(this.accountNodes(), () => this.progress.nodeCount++)
    const rows = this.store.range('accounts')[Symbol.iterator]()
    const leaves = new Trie({ arena: this.arena, root: stateRoot, reader })
    try {
      for (const step of sideBySide(leaves.entries(), rows)) {
        yield* this.account(step)
        this.progress.accountCount++
        this.onProgress()
      }
    } catch (error) {
      const keyOf = (path: Uint8Array) => accountNodeKey(path, path.length)
      // A leaf has no row of its own: what is wrong with it is wrong with the account's.
      const isLeaf =
        error instanceof NodeMismatch
          ? !this.store.has('accountNodes', keyOf(error.path))
          : isVarveError(error) && error.code === 'STATE_ROW_INVALID'
      yield this.brokenTrie(error, isLeaf ? 'accounts' : 'accountNodes', 'the account trie', keyOf)
    } finally {
      rows.return?.()
      leaves.dispose()
    }
  }

  /** Nodes of the account trie; counts those that have rows. */
  private accountNodes(): NodeReader {
    return accountNodeReader({
      get: (table, key) => {
        const row = this.store.get(table, key)
        if (table === 'accountNodes' && row !== undefined) this.accountNodeCount++
        return row
      },
      range: (table, bounds) => this.store.range(table, bounds),
    })
  }

  private *account({ key, leaf, row }: SideBySide): Generator<Difference> {
    const subject = `account ${toHex(key)}`
    if (leaf === undefined) {
      yield difference('accounts', key, subject, 'no row, as the trie has no such leaf', row)
      return
    }
    if (row === undefined) {
      yield difference('accounts', key, subject, 'a row for the leaf in the trie', undefined)
      return
    }
    let decoded: AccountLeaf
    try {
      decoded = decodeAccountLeaf(leaf)
    } catch (error) {
      if (!isVarveError(error)) throw error
      yield difference('accountNodes', key, subject, 'a leaf that is an account', error.message)
      return
    }
    try {
      const fromRow = encodeAccountLeaf(decodeFlatAccount(row, key), decoded.storageRoot)
      if (!bytesEqual(fromRow, leaf)) yield difference('accounts', key, subject, leaf, fromRow)
    } catch (error) {
      if (!isVarveError(error)) throw error
      yield difference('accounts', key, subject, 'a row that decodes', error.message)
    }
    if (accountHasCode(decoded) && !this.store.has('codes', decoded.codeHash))
      yield difference('codes', decoded.codeHash, subject, 'its code', undefined)
    if (!bytesEqual(decoded.storageRoot, EMPTY_TRIE_ROOT))
      yield* this.storage(key, decoded.storageRoot)
  }

  /** Walks one storage trie beside the account's rows in `storages`. */
  private *storage(addressHash: Uint8Array, root: Uint8Array): Generator<Difference> {
    const reader = checkingReader(storageNodeReader(this.store, addressHash), () => {
      this.storageNodeCount++
      this.progress.nodeCount++
    })
    const bounds = { gte: addressHash, lt: prefixEnd(addressHash) }
    const rows = withoutPrefix(this.store.range('storages', bounds))
    const leaves = new Trie({ arena: this.arena, root, reader })
    try {
      for (const { key, leaf, row } of sideBySide(leaves.entries(), rows)) {
        this.slotCount++
        this.progress.slotCount++
        const subject = `account ${toHex(addressHash)}, slot ${toHex(key)}`
        const fromRow = row === undefined ? undefined : slotLeafOfRow(row, key)
        if (leaf === undefined || fromRow === undefined || !bytesEqual(leaf, fromRow))
          yield difference(
            'storages',
            key,
            subject,
            leaf ?? 'no row, as the trie has no such leaf',
            fromRow,
          )
      }
    } catch (error) {
      yield this.brokenTrie(
        error,
        'storageNodes',
        `the storage trie of ${toHex(addressHash)}`,
        (path) => storageNodeKey(addressHash, path, path.length),
      )
    } finally {
      rows.return?.(undefined)
      leaves.dispose()
    }
  }

  /** Rows that no walk met. Only where all walks went through, since a cut one misses rows that are right. */
  *leftovers(stateRoot: Uint8Array): Generator<Difference> {
    if (this.isCut) return
    const counts = new Map(
      this.store.tableStats().map(({ table, entryCount }) => [table, entryCount]),
    )
    if (counts.get('accountNodes') !== this.accountNodeCount)
      yield* this.strayAccountNodes(stateRoot)
    const expected: [Table, number][] = [
      ['storageNodes', this.storageNodeCount],
      ['storages', this.slotCount],
    ]
    for (const [table, count] of expected)
      if (counts.get(table) !== count)
        yield difference(
          table,
          new Uint8Array(0),
          'number of rows',
          `${count}`,
          `${counts.get(table)}`,
        )
  }

  /** Names the first account node that the trie does not lead to, level by level. */
  private *strayAccountNodes(stateRoot: Uint8Array): Generator<Difference> {
    // One past the longest path: rows of a depth that no trie has are the last to be found.
    for (let depth = 0; depth <= 2 * HASH_BYTES + 1; depth++) {
      const reached = new Set<string>()
      const inner = accountNodeReader(this.store)
      const reader: NodeReader = {
        readNode: (path, hash) => {
          if (path.length === depth) reached.add(toHex(accountNodeKey(path, path.length)))
          return inner.readNode(path, hash)
        },
      }
      const trie = new Trie({ arena: this.arena, root: stateRoot, reader })
      for (const _ of trie.entries());
      trie.dispose()
      const isLast = depth > 2 * HASH_BYTES
      const gte = Uint8Array.of(depth)
      const bounds = isLast ? { gte } : { gte, lt: Uint8Array.of(depth + 1) }
      for (const { key, value } of this.store.range('accountNodes', bounds))
        if (!reached.has(toHex(key))) {
          yield difference(
            'accountNodes',
            key,
            `node ${toHex(key)}`,
            'no row, as the trie does not lead to it',
            value,
          )
          return
        }
    }
  }

  private brokenTrie(
    error: unknown,
    table: Table,
    subject: string,
    keyOf: (path: Uint8Array) => Uint8Array,
  ): Difference {
    this.isCut = true
    if (error instanceof NodeMismatch)
      return difference(
        table,
        keyOf(error.path),
        `${subject}, node at path ${pathText(error.path)}`,
        error.expected,
        error.found,
      )
    if (!isVarveError(error)) throw error
    return difference(table, new Uint8Array(0), subject, 'a trie that can be walked', error.message)
  }
}

/** A stored node whose hash is not the one its parent names. */
class NodeMismatch extends Error {
  readonly path: Uint8Array
  readonly expected: string
  readonly found: string

  constructor(path: Uint8Array, expected: string, found: string) {
    super('node mismatch')
    this.path = path
    this.expected = expected
    this.found = found
  }
}

/** A reader that hashes every node it is asked for and counts it. */
function checkingReader(inner: NodeReader, onNode: () => void): NodeReader {
  return {
    readNode(path, hash) {
      const bytes = inner.readNode(path, hash)
      if (bytes === undefined)
        throw new NodeMismatch(path.slice(), `a node with hash ${toHex(hash)}`, 'nothing')
      const found = keccak256(bytes)
      if (!bytesEqual(found, hash))
        throw new NodeMismatch(
          path.slice(),
          `a node with hash ${toHex(hash)}`,
          `one with hash ${toHex(found)}`,
        )
      onNode()
      return bytes
    },
  }
}

type SideBySide = {
  readonly key: Uint8Array
  readonly leaf: Uint8Array | undefined
  readonly row: Uint8Array | undefined
}

/** Joins leaves and rows by key; both come in the order of keys. */
function* sideBySide(
  leaves: Iterable<StoreEntry>,
  rows: Iterator<StoreEntry>,
): Generator<SideBySide> {
  let row = rows.next()
  for (const { key, value: leaf } of leaves) {
    while (row.done !== true && bytesCompare(row.value.key, key) < 0) {
      yield { key: row.value.key, leaf: undefined, row: row.value.value }
      row = rows.next()
    }
    if (row.done !== true && bytesEqual(row.value.key, key)) {
      yield { key, leaf, row: row.value.value }
      row = rows.next()
    } else yield { key, leaf, row: undefined }
  }
  for (; row.done !== true; row = rows.next())
    yield { key: row.value.key, leaf: undefined, row: row.value.value }
}

function* withoutPrefix(rows: Iterable<StoreEntry>): Generator<StoreEntry> {
  for (const { key, value } of rows) yield { key: key.subarray(HASH_BYTES), value }
}

/** The leaf that a row of `storages` stands for, or `undefined` where it does not decode. */
function slotLeafOfRow(row: Uint8Array, slotHash: Uint8Array): Uint8Array | undefined {
  try {
    return encodeSlotLeaf(decodeFlatSlot(row, slotHash))
  } catch (error) {
    if (!isVarveError(error)) throw error
    return undefined
  }
}

function* verifyCodes(store: Store): Generator<Difference> {
  for (const { key, value } of store.range('codes'))
    if (!bytesEqual(keccak256(value), key))
      yield difference('codes', key, `code ${toHex(key)}`, key, keccak256(value))
}

/** A path as hex digits, `root` for the empty one. */
function pathText(path: Uint8Array): string {
  if (path.length === 0) return '(root)'
  return Array.from(path, (nibble) => nibble.toString(16)).join('')
}
