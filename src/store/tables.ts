/**
 * The tables of the database: a closed list, and the only place that knows how a key is laid out.
 *
 * Every key starts with what is scanned together, so that one range reads or clears it: all storage of an account,
 * all headers of a height, one level of the trie. Numbers are big-endian, so bytes order as numbers do.
 *
 * ```
 *  table         key                                             value
 *  accountNodes  depth (1) ‖ path, two nibbles a byte            RLP of the trie node; none of a leaf, see `accounts`
 *  storageNodes  account hash (32) ‖ depth (1) ‖ path            RLP of the trie node
 *  accounts      keccak(address) (32)                            RLP of nonce, balance, code hash (empty: no code)
 *  storages      account hash (32) ‖ keccak(slot) (32)           the value without leading zeros, 1 to 32 bytes
 *  codes         keccak(code) (32)                               code
 *  headers       block number (8) ‖ block hash (32)              RLP of the header ‖ RLP of the total difficulty
 *  bodies        block number (8) ‖ block hash (32)              RLP of the body; none for an empty one
 *  receipts      block number (8) ‖ block hash (32)              receipts of a canonical block, slim: without blooms (EIP-7642)
 *  canonical     block number (8)                                hash of the canonical block at that height (32)
 *  numbers       block hash (32)                                 block number (8)
 *  meta          name in ASCII                                   see META
 *  deltas        block number (8) ‖ block hash (32)              the state's change in a block, of the newest blocks
 *  sideReceipts  block number (8) ‖ block hash (32)              as receipts, of a block that is not canonical
 * ```
 * A path of odd length leaves the low half of its last byte zero; `depth`, the count of nibbles, tells it from the path
 * one longer. Values are encoded by the layers above: this folder sees bytes.
 */
import { assert, HASH_BYTES, VERIFY, writeUint64BE } from '../base/index.ts'

/** Names of all tables. The order is the order of writing within a batch; append only, since it is part of the format. */
export const TABLES = [
  'accountNodes',
  'storageNodes',
  'accounts',
  'storages',
  'codes',
  'headers',
  'bodies',
  'receipts',
  'canonical',
  'numbers',
  'meta',
  'deltas',
  'sideReceipts',
] as const

export type Table = (typeof TABLES)[number]

/** Position of each table in `TABLES`. */
export const TABLE_INDEX: Readonly<Record<Table, number>> = Object.fromEntries(
  TABLES.map((table, index) => [table, index]),
) as Record<Table, number>

/** Bytes of a block number in a key. */
export const BLOCK_NUMBER_BYTES = 8
/** Bytes of a key in the tables of blocks. */
export const BLOCK_KEY_BYTES = BLOCK_NUMBER_BYTES + HASH_BYTES

/** Nibbles of the longest path: keys of Ethereum's tries are hashes. */
const PATH_NIBBLE_COUNT_MAX = 2 * HASH_BYTES

/** Keys of the table `meta`. Each is a fresh array's worth of ASCII; shared, so never write to them. */
export const META = {
  /** Version of the layout in this file: 4 bytes, big-endian. */
  schemaVersion: metaKey('schemaVersion'),
  /** Hash of the genesis block (32): a database belongs to one chain. */
  genesisHash: metaKey('genesisHash'),
  /** Rules of the chain, as JSON: later commands need no genesis file. */
  chain: metaKey('chain'),
  /** Head record: block number (8) ‖ block hash (32) ‖ state root (32) of the newest block whose state is stored. */
  head: metaKey('head'),
  /** Number of the oldest block whose state is kept (8). */
  floor: metaKey('floor'),
  /** What the stored state holds: accounts (8) ‖ slots (8) ‖ bytes of their rows (8). */
  usage: metaKey('usage'),
  /** Number of the newest journal record that the store has the effect of (8); only where there was a journal. */
  journal: metaKey('journal'),
} as const

/** Version of the layout that this code reads and writes. */
export const SCHEMA_VERSION = 4

/**
 * Key in `accountNodes`. Returns a fresh array.
 * @param nibbles path from the root, one nibble (0 to 15) a byte; may be longer than `nibbleCount`
 * @param nibbleCount 0 (the root) to 64
 */
export function accountNodeKey(nibbles: Uint8Array, nibbleCount: number): Uint8Array {
  const key = new Uint8Array(pathBytes(nibbleCount))
  packPath(key, 0, nibbles, 0, nibbleCount)
  return key
}

/** Key in `storageNodes`: as `accountNodeKey`, behind the hash of the account's address. Returns a fresh array. */
export function storageNodeKey(
  accountHash: Uint8Array,
  nibbles: Uint8Array,
  nibbleCount: number,
): Uint8Array {
  assert(accountHash.length === HASH_BYTES, 'an account hash has 32 bytes')
  const key = new Uint8Array(HASH_BYTES + pathBytes(nibbleCount))
  key.set(accountHash)
  packPath(key, HASH_BYTES, nibbles, 0, nibbleCount)
  return key
}

/** Key in `storages`. Returns a fresh array. */
export function storageKey(accountHash: Uint8Array, slotHash: Uint8Array): Uint8Array {
  assert(accountHash.length === HASH_BYTES, 'an account hash has 32 bytes')
  assert(slotHash.length === HASH_BYTES, 'a slot hash has 32 bytes')
  const key = new Uint8Array(2 * HASH_BYTES)
  key.set(accountHash)
  key.set(slotHash, HASH_BYTES)
  return key
}

/** Key in the tables of blocks, `headers`, `bodies`, `receipts`, `deltas` and `sideReceipts`. Returns a fresh array. */
export function blockKey(blockNumber: number, blockHash: Uint8Array): Uint8Array {
  assert(blockHash.length === HASH_BYTES, 'a block hash has 32 bytes')
  const key = new Uint8Array(BLOCK_KEY_BYTES)
  writeUint64BE(key, 0, blockNumber)
  key.set(blockHash, BLOCK_NUMBER_BYTES)
  return key
}

/** Key in `canonical`, value in `numbers`, and the prefix of all blocks of a height. Returns a fresh array. */
export function numberKey(blockNumber: number): Uint8Array {
  assert(Number.isSafeInteger(blockNumber) && blockNumber >= 0, 'a block number is 0 to 2^53-1')
  const key = new Uint8Array(BLOCK_NUMBER_BYTES)
  writeUint64BE(key, 0, blockNumber)
  return key
}

/** Key in `meta` for a name of 1 to 64 ASCII letters. Returns a fresh array. */
export function metaKey(name: string): Uint8Array {
  assert(/^[A-Za-z]{1,64}$/.test(name), 'a meta name is 1 to 64 ASCII letters')
  return Uint8Array.from(name, (letter) => letter.charCodeAt(0))
}

/**
 * First key after all keys that start with `prefix`: the `lt` of their range. `undefined` where no key can follow,
 * that is, where the prefix is empty or all 0xff. Returns a fresh array.
 */
export function prefixEnd(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length
  while (length > 0 && prefix[length - 1] === 0xff) length--
  if (length === 0) return undefined
  const end = prefix.slice(0, length)
  end[length - 1] = end[length - 1]! + 1
  return end
}

/** Bytes of a depth and a path of so many nibbles. */
export function pathBytes(nibbleCount: number): number {
  return 1 + ((nibbleCount + 1) >> 1)
}

/**
 * The range of the keys that begin with the first nibbles of a key, two nibbles a byte. Bounds are fresh.
 * @param key holds these nibbles, and may go on
 */
export function keysBelow(
  key: Uint8Array,
  nibbleCount: number,
): { readonly gte: Uint8Array; readonly lt: Uint8Array | undefined } {
  const gte = key.slice(0, (nibbleCount + 1) >> 1)
  const last = gte.slice()
  if ((nibbleCount & 1) === 1) {
    gte[gte.length - 1]! &= 0xf0
    last[last.length - 1]! |= 0x0f
  }
  return { gte, lt: prefixEnd(last) }
}

/** Writes depth and path at `offset`. The path is `nibbles` from `start` on. */
export function packPath(
  key: Uint8Array,
  offset: number,
  nibbles: Uint8Array,
  start: number,
  nibbleCount: number,
): void {
  assert(nibbleCount <= PATH_NIBBLE_COUNT_MAX, 'a path has at most 64 nibbles')
  assert(start + nibbleCount <= nibbles.length, 'a path lies within its array')
  key[offset] = nibbleCount
  const end = start + nibbleCount
  let at = offset + 1
  for (let index = start; index < end; index += 2) {
    const low = index + 1 < end ? nibbles[index + 1]! : 0
    if (VERIFY) assert((nibbles[index]! | low) < 16, 'a nibble is 0 to 15')
    key[at++] = (nibbles[index]! << 4) | low
  }
}
