/**
 * Headers, bodies and receipts of blocks, written or not. What is not in the store yet lies encoded in the batch of the
 * next write and is read back from there, so a block that waits is bytes, not objects.
 *
 *     canonical block   receipts        side block   sideReceipts        moved when a block changes sides
 */
import { readUint64BE } from '../../base/index.ts'
import {
  type Body,
  decodeSlimReceipts,
  encodeSlimReceipts,
  type Header,
  type Receipt,
} from '../../codec/index.ts'
import { type HashKey, hashKey } from '../../state/index.ts'
import {
  BLOCK_NUMBER_BYTES,
  blockKey,
  type Store,
  type Table,
  type WriteBatch,
} from '../../store/index.ts'
import {
  type BlockOperations,
  type BlockRecord,
  decodeStoredBody,
  decodeStoredHeader,
  emptyBody,
  hasEmptyBody,
  putBlock,
  readStoredBody,
  readStoredHeader,
  type StoredHeader,
} from '../chainRecords.ts'

/** Where the batch holds a block's rows; what has no place there lies in the store, if anywhere. */
type ChangedRows = Partial<BlockOperations> & {
  readonly number: number
  readonly receipts?: number
}

/** Rows in a batch. */
type Rows = {
  readonly batch: WriteBatch
  /** Blocks that it changes; `undefined` for one that is to go. */
  readonly changed: Map<HashKey, ChangedRows | undefined>
}

export class BlockRows {
  private readonly store: Store
  /** What the next write takes, and what the one under way has taken. */
  private unwritten: Rows
  private writing: Rows | undefined

  constructor(store: Store, batch: WriteBatch) {
    this.store = store
    this.unwritten = { batch, changed: new Map() }
  }

  /** Number of a block, or `undefined` where there is no such block. */
  numberOf(hash: Uint8Array): number | undefined {
    const key = hashKey(hash)
    for (const rows of this.waiting())
      if (rows.changed.has(key)) return rows.changed.get(key)?.number
    const row = this.store.get('numbers', hash)
    return row?.length === BLOCK_NUMBER_BYTES ? readUint64BE(row, 0) : undefined
  }

  /** Adds a block. @param isCanonical as against one of a side branch */
  put(block: BlockRecord, isCanonical: boolean): void {
    const { header, receipts } = block
    const { batch, changed } = this.unwritten
    const operations = putBlock(batch, block)
    const receiptsOperation =
      receipts.length === 0
        ? {}
        : { receipts: this.putReceipts(header, encodeSlimReceipts(receipts), isCanonical) }
    changed.set(hashKey(header.hash), {
      number: header.number,
      ...operations,
      ...receiptsOperation,
    })
  }

  /** @throws VarveError ENGINE_BLOCK_MISSING, ENGINE_BLOCK_INVALID */
  header(number: number, hash: Uint8Array): StoredHeader {
    const row = this.waitingRow(hash, 'header')
    if (row === undefined) return readStoredHeader(this.store, number, hash)
    return decodeStoredHeader(row, number, hash)
  }

  /** @throws VarveError ENGINE_BLOCK_MISSING, ENGINE_BLOCK_INVALID */
  body(header: Header): Body {
    if (hasEmptyBody(header)) return emptyBody(header)
    const row = this.waitingRow(header.hash, 'body')
    if (row === undefined) return readStoredBody(this.store, header)
    return decodeStoredBody(row, header.number)
  }

  /** Receipts of a block on the given side. @throws VarveError RECEIPT_*, RLP_* where the row is damaged */
  receipts(header: Header, isCanonical: boolean): Receipt[] {
    const row = this.receiptsRow(header, isCanonical)
    return row === undefined ? [] : decodeSlimReceipts(row)
  }

  /** Moves a block's receipts to the other side. @param isCanonical the side it comes to */
  move(header: Header, isCanonical: boolean): void {
    const row = this.receiptsRow(header, !isCanonical)
    if (row === undefined) return
    const { batch, changed } = this.unwritten
    batch.delete(receiptsTable(!isCanonical), blockKey(header.number, header.hash))
    const key = hashKey(header.hash)
    const operations = changed.get(key) ?? { number: header.number }
    const receipts = this.putReceipts(header, row, isCanonical)
    changed.set(key, { ...operations, receipts })
  }

  /** Deletes all rows of a side block. */
  delete({ number, hash }: Header): void {
    const key = blockKey(number, hash)
    const { batch, changed } = this.unwritten
    batch.delete('headers', key)
    batch.delete('bodies', key)
    batch.delete('sideReceipts', key)
    batch.delete('numbers', hash)
    changed.set(hashKey(hash), undefined)
  }

  /** Hands the rows to a write; what comes from here on goes to `next`. They are read back until `finishWrite`. */
  beginWrite(next: WriteBatch): void {
    this.writing = this.unwritten
    this.unwritten = { batch: next, changed: new Map() }
  }

  /** Tells that the store has the rows. */
  finishWrite(): void {
    this.writing = undefined
  }

  private waiting(): readonly Rows[] {
    return this.writing === undefined ? [this.unwritten] : [this.unwritten, this.writing]
  }

  /** A row of a block that the store may lack. A copy: what is decoded from it outlives the batch. */
  private waitingRow(
    hash: Uint8Array,
    kind: 'header' | 'body' | 'receipts',
  ): Uint8Array | undefined {
    const key = hashKey(hash)
    for (const { batch, changed } of this.waiting()) {
      const operation = changed.get(key)?.[kind]
      if (operation !== undefined) return batch.valueAt(operation)!.slice()
    }
    return undefined
  }

  private receiptsRow({ number, hash }: Header, isCanonical: boolean): Uint8Array | undefined {
    const waiting = this.waitingRow(hash, 'receipts')
    if (waiting !== undefined) return waiting
    return this.store.get(receiptsTable(isCanonical), blockKey(number, hash))
  }

  private putReceipts({ number, hash }: Header, row: Uint8Array, isCanonical: boolean): number {
    return this.unwritten.batch.put(receiptsTable(isCanonical), blockKey(number, hash), row)
  }
}

function receiptsTable(isCanonical: boolean): Table {
  return isCanonical ? 'receipts' : 'sideReceipts'
}
