/**
 * What the engine keeps in its journal: every accepted block, in the order of acceptance, and every move of the head by
 * word of mouth. From the same beginning the same records lead to the same chain, so replaying them is importing them.
 *
 *     accepted ─▶ record ─▶ durable, long before the store has it
 *     open: store at record n ─▶ records after n are imported again ─▶ where it stood
 *
 * ```
 *  block   length of the block (4) ‖ RLP of the block ‖ its senders, 20 bytes a transaction
 *  head    hash of the block (32)
 * ```
 */
import {
  ADDRESS_BYTES,
  HASH_BYTES,
  isVarveError,
  readUint32BE,
  VarveError,
  writeUint32BE,
} from '../base/index.ts'
import { type Block, decodeBlock, encodeBlock } from '../codec/index.ts'
import type { BlockJournal, JournalRecord } from '../store/index.ts'

const KIND_BLOCK = 1
const KIND_HEAD = 2
const BLOCK_PREFIX_BYTES = 4

/** Whoever takes records in again. */
export type Replayer = {
  import(block: Block, senders: readonly Uint8Array[] | undefined): unknown
  setHead(hash: Uint8Array): unknown
}

/** Adds a block. @returns the record's number @throws VarveError JOURNAL_IO */
export function journalBlock(
  journal: BlockJournal,
  block: Block,
  senders: readonly Uint8Array[],
): number {
  const bytes = encodeBlock(block)
  const prefix = new Uint8Array(BLOCK_PREFIX_BYTES)
  writeUint32BE(prefix, 0, bytes.length)
  const list = new Uint8Array(ADDRESS_BYTES * senders.length)
  senders.forEach((sender, index) => {
    list.set(sender, ADDRESS_BYTES * index)
  })
  return journal.append(KIND_BLOCK, [prefix, bytes, list])
}

/** Adds a move of the head. @returns the record's number @throws VarveError JOURNAL_IO */
export function journalHead(journal: BlockJournal, hash: Uint8Array): number {
  return journal.append(KIND_HEAD, [hash])
}

/**
 * Sees that no record is missing between store and journal: a database and a journal of different times do not go
 * together. A journal that ends before the store is fine: what it lost, the store has.
 * @param after number of the newest record that the store has
 * @throws VarveError ENGINE_JOURNAL_GAP
 */
export function checkContinues(
  { first, folder }: { readonly first: number; readonly folder: string },
  after: number,
): void {
  if (first <= after + 1) return
  throw new VarveError<JournalingErrorCode>(
    'ENGINE_JOURNAL_GAP',
    `journal ${folder}: expected record ${after + 1}, the one after the database, got ${first} as the first: the blocks between are lost`,
    { folder, expected: after + 1, found: first },
  )
}

/**
 * Takes in what the store lacks.
 * @param after number of the newest record that the store has
 * @param onRecord told of each record before it is taken in
 * @throws VarveError ENGINE_JOURNAL_REFUSED, JOURNAL_CORRUPT, JOURNAL_IO
 */
export function replay(
  journal: BlockJournal,
  after: number,
  replayer: Replayer,
  onRecord: (sequence: number) => void,
): void {
  for (const record of journal.records(after + 1)) {
    onRecord(record.sequence)
    try {
      takeIn(record, replayer)
    } catch (cause) {
      if (!isVarveError(cause)) throw cause
      throw new VarveError<JournalingErrorCode>(
        'ENGINE_JOURNAL_REFUSED',
        `journal ${journal.folder}: record ${record.sequence} does not continue the database: ${cause.message}`,
        { folder: journal.folder, sequence: record.sequence },
        { cause },
      )
    }
  }
}

function takeIn(record: JournalRecord, replayer: Replayer): void {
  const found = journaledBlock(record)
  if (found === undefined) replayer.setHead(record.payload)
  else replayer.import(found.block, found.senders)
}

/** The block of a record, with its senders; `undefined` of a head. @throws VarveError JOURNAL_CORRUPT, BLOCK_*, RLP_* */
export function journaledBlock({
  kind,
  payload,
}: JournalRecord): { readonly block: Block; readonly senders: Uint8Array[] } | undefined {
  if (kind === KIND_HEAD && payload.length === HASH_BYTES) return undefined
  const end =
    kind === KIND_BLOCK && payload.length >= BLOCK_PREFIX_BYTES
      ? BLOCK_PREFIX_BYTES + readUint32BE(payload, 0)
      : Infinity
  if (end > payload.length)
    throw new VarveError('JOURNAL_CORRUPT', 'expected a block or a head, got something else')
  const block = decodeBlock(payload.subarray(BLOCK_PREFIX_BYTES, end))
  const senders = block.transactions.map((_, index) =>
    payload.subarray(end + ADDRESS_BYTES * index, end + ADDRESS_BYTES * (index + 1)),
  )
  return { block, senders }
}

/** Error codes of this module. */
export type JournalingErrorCode =
  /** A record of the journal does not fit to the database beside it. */
  | 'ENGINE_JOURNAL_REFUSED'
  /** Records between the newest one that the database has and the journal's first are missing. */
  | 'ENGINE_JOURNAL_GAP'
