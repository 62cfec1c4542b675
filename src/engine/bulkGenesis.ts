/**
 * Starts a chain whose first state is larger than memory, from accounts in the order of their hashes. The database is
 * then what `openEngine` with the same accounts in its genesis and a first `flush` would have made, row for row.
 *
 *     accounts, sorted ─▶ flat rows ─────────────┐
 *              └────────▶ tries, path by path ───┼─▶ batches ─▶ store … ─▶ last batch: header, records
 *
 * Only the last batch makes it a chain. A process that dies before leaves rows without one, which `openEngine` refuses.
 *
 * Not here: sorting.
 */
import { assert, EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, HASH_BYTES, VarveError } from '../base/index.ts'
import { type Genesis, genesisHeader } from '../chain/index.ts'
import type { Header } from '../codec/index.ts'
import { encodeAccountLeaf, encodeSlotLeaf } from '../commit/index.ts'
import { keccak256 } from '../kernels/index.ts'
import {
  accountRowBytes,
  encodeFlatAccount,
  encodeFlatSlot,
  type StoredSlot,
  slotRowBytes,
} from '../state/index.ts'
import {
  accountNodeKey,
  numberKey,
  type Store,
  storageKey,
  storageNodeKey,
  WriteBatch,
} from '../store/index.ts'
import { StackTrie } from '../trie/index.ts'
import { putBlock, putFloor, putHead, putIdentity, putUsage } from './chainRecords.ts'

/** Bytes of one batch: large enough that the sorted rows of a table fall on pages that lie together. */
const BATCH_BYTES = 64 * 1024 * 1024

/** An account of the first state. */
export type BulkAccount = {
  /** keccak-256 of the address. */
  readonly addressHash: Uint8Array
  readonly nonce: bigint
  /** Wei. */
  readonly balance: bigint
  readonly code: Uint8Array
  /** In ascending order of their hashes, values of 32 bytes, none zero. */
  readonly slots: Iterable<StoredSlot>
}

/**
 * Writes block 0 and its state, and returns its header. Memory: one batch.
 * @param genesis the chain's beginning; its own accounts are not looked at
 * @param accounts in ascending order of their hashes
 * @param onAccount called after each account with how many there were
 * @throws VarveError ENGINE_STORE_NOT_EMPTY, TRIE_KEY_ORDER, STORE_*
 */
export function writeGenesis(
  store: Store,
  genesis: Omit<Genesis, 'accounts'>,
  accounts: Iterable<BulkAccount>,
  onAccount?: (count: number) => void,
): Header {
  const filled = store.tableStats().find(({ entryCount }) => entryCount > 0)
  if (filled !== undefined)
    throw new VarveError<BulkGenesisErrorCode>(
      'ENGINE_STORE_NOT_EMPTY',
      `${store.description}: expected an empty store, got one with rows in ${filled.table}`,
      { table: filled.table },
    )
  const writer = new StateWriter(store)
  let count = 0
  for (const account of accounts) {
    writer.add(account)
    onAccount?.(++count)
  }
  const header = genesisHeader({ ...genesis, accounts: [] }, writer.finish())
  const { batch } = writer
  const totalDifficulty = header.difficulty
  putBlock(batch, { header, totalDifficulty, body: { transactions: [], uncles: [] }, receipts: [] })
  batch.put('canonical', numberKey(0), header.hash)
  putIdentity(batch, { genesisHash: header.hash, spec: genesis.spec })
  putFloor(batch, 0)
  putUsage(batch, writer.usage)
  putHead(batch, header)
  store.write(batch)
  return header
}

/** Turns accounts into rows and nodes, and writes them in batches. */
class StateWriter {
  readonly batch = new WriteBatch()
  /** Of what was added. */
  readonly usage = { accountCount: 0, slotCount: 0, byteCount: 0 }
  private readonly store: Store
  private readonly trie = new StackTrie((key, depth, encoding, isLeaf) => {
    // A leaf follows from the account's row.
    if (isLeaf) return
    this.batch.put('accountNodes', accountNodeKey(this.pathOf(key, depth), depth), encoding)
  })
  /** Path of the node at hand, one nibble a byte. */
  private readonly path = new Uint8Array(2 * HASH_BYTES)

  constructor(store: Store) {
    this.store = store
  }

  add({ addressHash, nonce, balance, code, slots }: BulkAccount): void {
    assert(addressHash.length === HASH_BYTES, 'an account is named by its hash')
    const codeHash = code.length === 0 ? EMPTY_CODE_HASH : keccak256(code)
    if (code.length > 0) this.batch.put('codes', codeHash, code)
    const account = { nonce, balance, codeHash }
    this.batch.put('accounts', addressHash, encodeFlatAccount(account))
    this.usage.accountCount++
    this.usage.byteCount += accountRowBytes(account)
    this.trie.add(addressHash, encodeAccountLeaf(account, this.addSlots(addressHash, slots)))
    this.writeWhenFull()
  }

  /** The state root. What is left in the batch is the caller's to write. */
  finish(): Uint8Array {
    return this.trie.finish()
  }

  /** The storage root. */
  private addSlots(addressHash: Uint8Array, slots: Iterable<StoredSlot>): Uint8Array {
    let trie: StackTrie | undefined
    for (const { slotHash, value } of slots) {
      trie ??= new StackTrie((key, depth, encoding) => {
        const nodeKey = storageNodeKey(addressHash, this.pathOf(key, depth), depth)
        this.batch.put('storageNodes', nodeKey, encoding)
      })
      this.batch.put('storages', storageKey(addressHash, slotHash), encodeFlatSlot(value))
      trie.add(slotHash, encodeSlotLeaf(value))
      this.usage.slotCount++
      this.usage.byteCount += slotRowBytes(value)
      this.writeWhenFull()
    }
    return trie?.finish() ?? EMPTY_TRIE_ROOT
  }

  private pathOf(key: Uint8Array, depth: number): Uint8Array {
    const { path } = this
    for (let index = 0; index < depth; index += 2) {
      const byte = key[index >> 1]!
      path[index] = byte >> 4
      path[index + 1] = byte & 15
    }
    return path
  }

  private writeWhenFull(): void {
    if (this.batch.byteCount < BATCH_BYTES) return
    this.store.write(this.batch)
    this.batch.clear()
  }
}

/** Error codes of this module. */
export type BulkGenesisErrorCode =
  /** A chain is to be started where there is something already. */
  'ENGINE_STORE_NOT_EMPTY'
