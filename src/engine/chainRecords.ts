/**
 * Blocks and the head record as rows of the store: what is written for a block, and how it is read back.
 *
 *     headers    number ‖ hash   header RLP ‖ RLP(total difficulty)
 *     bodies     number ‖ hash   body RLP; none where the header says that every list is empty
 *     receipts   number ‖ hash   slim receipts (EIP-7642), only where the block has transactions and is canonical
 *     sideReceipts               as receipts, of a block that is not canonical
 *     deltas     number ‖ hash   change of the state, of kept blocks behind the floor
 *     canonical  number          hash
 *     numbers    hash            number
 *     meta       schemaVersion, genesisHash, chain, head, floor
 *
 * The floor is the oldest canonical block whose state is kept; side blocks start from it or from one after it.
 * The head record names the newest block whose state is stored. It is written in the same batch as that state.
 */
import {
  bytesConcat,
  bytesEqual,
  EMPTY_LIST_HASH,
  EMPTY_TRIE_ROOT,
  HASH_BYTES,
  isVarveError,
  readUint32BE,
  readUint64BE,
  toHex,
  VarveError,
  writeUint32BE,
  writeUint64BE,
} from '../base/index.ts'
import type { ChainSpec } from '../chain/index.ts'
import {
  type Body,
  decodeBody,
  encodeBody,
  encodeRlp,
  type Header,
  type Receipt,
  RlpReader,
  readHeader,
} from '../codec/index.ts'
import type { StateUsage } from '../state/index.ts'
import {
  BLOCK_NUMBER_BYTES,
  blockKey,
  META,
  numberKey,
  SCHEMA_VERSION,
  type Store,
  type WriteBatch,
} from '../store/index.ts'
import { decodeSpecRecord, encodeSpecRecord } from './specRecord.ts'

/** A header as stored: with the difficulty of the whole chain up to it (Yellow Paper, section 4.3; 0 more since Paris). */
export type StoredHeader = { readonly header: Header; readonly totalDifficulty: bigint }

/** The newest block whose state is in the store. */
export type HeadRecord = {
  readonly number: number
  readonly hash: Uint8Array
  readonly stateRoot: Uint8Array
}

/** What makes a store the store of one chain. */
export type ChainIdentity = { readonly genesisHash: Uint8Array; readonly spec: ChainSpec }

const USAGE_BYTES = 24
const HEAD_BYTES = BLOCK_NUMBER_BYTES + 2 * HASH_BYTES

/** A block as it is stored. */
export type BlockRecord = StoredHeader & {
  readonly body: Body
  readonly receipts: readonly Receipt[]
}

/** Operations of a batch that hold a block's rows. */
export type BlockOperations = { readonly header: number; readonly body?: number }

/** Adds a block's rows to a batch, but its receipts and its place in the chain. */
export function putBlock(batch: WriteBatch, block: BlockRecord): BlockOperations {
  const { header, totalDifficulty } = block
  const key = blockKey(header.number, header.hash)
  batch.put('numbers', header.hash, numberKey(header.number))
  const row = batch.put('headers', key, bytesConcat(header.raw, encodeRlp(totalDifficulty)))
  if (hasEmptyBody(header)) return { header: row }
  return { header: row, body: batch.put('bodies', key, encodeBody(block.body)) }
}

/** Adds the floor record. */
export function putFloor(batch: WriteBatch, number: number): void {
  batch.put('meta', META.floor, numberKey(number))
}

/** Reads the number of the oldest block whose state is kept. @throws VarveError ENGINE_RECORD_INVALID */
export function readFloor(store: Store): number {
  const record = store.get('meta', META.floor)
  if (record?.length !== BLOCK_NUMBER_BYTES)
    throw recordFault('floor', `does not have ${BLOCK_NUMBER_BYTES} bytes`)
  return readUint64BE(record, 0)
}

/** Adds the journal record. */
export function putJournalSequence(batch: WriteBatch, sequence: number): void {
  batch.put('meta', META.journal, numberKey(sequence))
}

/** Reads the number of the newest journal record that the store has, 0 for none. @throws VarveError ENGINE_RECORD_INVALID */
export function readJournalSequence(store: Store): number {
  const record = store.get('meta', META.journal)
  if (record === undefined) return 0
  if (record.length !== BLOCK_NUMBER_BYTES)
    throw recordFault('journal', `does not have ${BLOCK_NUMBER_BYTES} bytes`)
  return readUint64BE(record, 0)
}

/** Adds the usage record. */
export function putUsage(batch: WriteBatch, usage: StateUsage): void {
  const record = new Uint8Array(USAGE_BYTES)
  writeUint64BE(record, 0, usage.accountCount)
  writeUint64BE(record, 8, usage.slotCount)
  writeUint64BE(record, 16, usage.byteCount)
  batch.put('meta', META.usage, record)
}

/** Reads what the stored state holds. @throws VarveError ENGINE_RECORD_INVALID */
export function readUsage(store: Store): StateUsage {
  return decodeUsage(store.get('meta', META.usage))
}

/** Decodes the usage record. @throws VarveError ENGINE_RECORD_INVALID */
export function decodeUsage(record: Uint8Array | undefined): StateUsage {
  if (record?.length !== USAGE_BYTES)
    throw recordFault('usage', `does not have ${USAGE_BYTES} bytes`)
  return {
    accountCount: readUint64BE(record, 0),
    slotCount: readUint64BE(record, 8),
    byteCount: readUint64BE(record, 16),
  }
}

/** Adds the head record. */
export function putHead(batch: WriteBatch, head: HeadRecord): void {
  const record = new Uint8Array(HEAD_BYTES)
  writeUint64BE(record, 0, head.number)
  record.set(head.hash, BLOCK_NUMBER_BYTES)
  record.set(head.stateRoot, BLOCK_NUMBER_BYTES + HASH_BYTES)
  batch.put('meta', META.head, record)
}

/** Adds the records that only the first write of a store makes. */
export function putIdentity(batch: WriteBatch, identity: ChainIdentity): void {
  const version = new Uint8Array(4)
  writeUint32BE(version, 0, SCHEMA_VERSION)
  batch.put('meta', META.schemaVersion, version)
  batch.put('meta', META.genesisHash, identity.genesisHash)
  batch.put('meta', META.chain, encodeSpecRecord(identity.spec))
}

/**
 * Reads which chain the store belongs to, or `undefined` where nothing was ever written.
 * @throws VarveError ENGINE_RECORD_INVALID, ENGINE_SCHEMA_UNKNOWN
 */
export function readIdentity(store: Store): ChainIdentity | undefined {
  const version = store.get('meta', META.schemaVersion)
  if (version === undefined) {
    // Empty is only a store without any row: a chain is never started on the remains of another. Codes lie under their
    // own hashes and may go ahead of the first batch, so a process that dies there leaves nothing but codes.
    const remains = store
      .tableStats()
      .find(({ table, entryCount }) => entryCount > 0 && table !== 'codes')
    const { table } = remains ?? {}
    if (table !== undefined)
      throw recordFault('schemaVersion', `is missing, though the table ${table} has rows`)
    return undefined
  }
  if (version.length !== 4 || readUint32BE(version, 0) !== SCHEMA_VERSION)
    throw new VarveError(
      'ENGINE_SCHEMA_UNKNOWN',
      `database layout: expected version ${SCHEMA_VERSION}, got ${toHex(version)}`,
      { expected: SCHEMA_VERSION, found: toHex(version) },
    )
  const genesisHash = store.get('meta', META.genesisHash)
  if (genesisHash?.length !== HASH_BYTES) throw recordFault('genesisHash', 'is not a hash')
  const chain = store.get('meta', META.chain)
  if (chain === undefined) throw recordFault('chain', 'is missing')
  return { genesisHash, spec: decodeSpecRecord(chain) }
}

/** Reads the head record. @throws VarveError ENGINE_RECORD_INVALID */
export function readHead(store: Store): HeadRecord {
  return decodeHead(store.get('meta', META.head))
}

/** Decodes the head record. @throws VarveError ENGINE_RECORD_INVALID */
export function decodeHead(record: Uint8Array | undefined): HeadRecord {
  if (record?.length !== HEAD_BYTES) throw recordFault('head', `does not have ${HEAD_BYTES} bytes`)
  return {
    number: readUint64BE(record, 0),
    hash: record.slice(BLOCK_NUMBER_BYTES, BLOCK_NUMBER_BYTES + HASH_BYTES),
    stateRoot: record.slice(BLOCK_NUMBER_BYTES + HASH_BYTES),
  }
}

/** Reads a header. @throws VarveError ENGINE_BLOCK_MISSING, ENGINE_BLOCK_INVALID */
export function readStoredHeader(store: Store, number: number, hash: Uint8Array): StoredHeader {
  const row = store.get('headers', blockKey(number, hash))
  if (row === undefined) throw blockMissing('header', number, hash)
  return decodeStoredHeader(row, number, hash)
}

/** Decodes a row of `headers` and checks that it is the block its key names. @throws VarveError ENGINE_BLOCK_INVALID */
export function decodeStoredHeader(
  row: Uint8Array,
  number: number,
  hash: Uint8Array,
): StoredHeader {
  try {
    const reader = new RlpReader(row)
    const header = readHeader(reader)
    const totalDifficulty = reader.readBigint(HASH_BYTES, 'total difficulty')
    reader.finish('stored header')
    if (header.number !== number || !bytesEqual(header.hash, hash))
      throw blockInvalid(
        'header',
        number,
        `its bytes hash to ${toHex(header.hash)}, its key says ${toHex(hash)}`,
      )
    return { header, totalDifficulty }
  } catch (cause) {
    if (isVarveError(cause, 'ENGINE_BLOCK_INVALID') || !isVarveError(cause)) throw cause
    throw blockInvalid('header', number, cause.message)
  }
}

/** Whether every list of a block is empty by its header alone, so that its body needs no row. */
export function hasEmptyBody(header: Header): boolean {
  const { uncleHash, transactionsRoot, withdrawalsRoot } = header
  return (
    bytesEqual(transactionsRoot, EMPTY_TRIE_ROOT) &&
    bytesEqual(uncleHash, EMPTY_LIST_HASH) &&
    (withdrawalsRoot === undefined || bytesEqual(withdrawalsRoot, EMPTY_TRIE_ROOT))
  )
}

/** The body of a header with empty lists. */
export function emptyBody(header: Header): Body {
  const empty = { transactions: [], uncles: [] }
  return header.withdrawalsRoot === undefined ? empty : { ...empty, withdrawals: [] }
}

/** Reads the body of a header. @throws VarveError ENGINE_BLOCK_MISSING, ENGINE_BLOCK_INVALID */
export function readStoredBody(store: Store, header: Header): Body {
  if (hasEmptyBody(header)) return emptyBody(header)
  const { number, hash } = header
  const row = store.get('bodies', blockKey(number, hash))
  if (row === undefined) throw blockMissing('body', number, hash)
  return decodeStoredBody(row, number)
}

/** Decodes a row of `bodies`. @throws VarveError ENGINE_BLOCK_INVALID */
export function decodeStoredBody(row: Uint8Array, number: number): Body {
  try {
    return decodeBody(row)
  } catch (cause) {
    if (!isVarveError(cause)) throw cause
    throw blockInvalid('body', number, cause.message)
  }
}

/**
 * Hash of the canonical block at a height, or `undefined` above the head.
 * @throws VarveError ENGINE_BLOCK_INVALID where the row is no hash
 */
export function readCanonicalHash(store: Store, number: number): Uint8Array | undefined {
  const row = store.get('canonical', numberKey(number))
  if (row !== undefined && row.length !== HASH_BYTES)
    throw blockInvalid('canonical hash', number, `expected ${HASH_BYTES} bytes, got ${row.length}`)
  return row
}

/** Fault of a record of the table `meta`. */
export function recordFault(record: string, problem: string): VarveError<ChainRecordErrorCode> {
  return new VarveError('ENGINE_RECORD_INVALID', `the record "${record}" ${problem}`, { record })
}

/** Fault of a block whose row is not where it should be. */
export function blockMissing(
  part: string,
  number: number,
  hash?: Uint8Array,
): VarveError<ChainRecordErrorCode> {
  const subject = hash === undefined ? '' : ` for ${toHex(hash)}`
  return new VarveError(
    'ENGINE_BLOCK_MISSING',
    `block ${number}: no ${part}${subject} in the store`,
    { number, hash: hash === undefined ? undefined : toHex(hash) },
  )
}

function blockInvalid(
  part: string,
  number: number,
  problem: string,
): VarveError<ChainRecordErrorCode> {
  return new VarveError('ENGINE_BLOCK_INVALID', `block ${number}: the stored ${part}: ${problem}`, {
    number,
  })
}

/** Error codes of this module. */
export type ChainRecordErrorCode =
  /** A record of the table `meta` is missing or does not decode. */
  | 'ENGINE_RECORD_INVALID'
  /** The database was written by another version of the layout. */
  | 'ENGINE_SCHEMA_UNKNOWN'
  /** A block that an index names is not there. */
  | 'ENGINE_BLOCK_MISSING'
  /** A stored block does not decode or is not the one its key names. */
  | 'ENGINE_BLOCK_INVALID'
