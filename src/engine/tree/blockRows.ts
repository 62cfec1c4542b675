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

export class BlockRows {
  private readonly store: Store
  private readonly batch: WriteBatch
  /** Blocks that changed since the last write; `undefined` for one that is to go. */
  private readonly changed = new Map<HashKey, ChangedRows | undefined>()

  constructor(store: Store, batch: WriteBatch) {
    this.store = store
    this.batch = batch
  }

  /** Number of a block, or `undefined` where there is no such block. */
  numberOf(hash: Uint8Array): number | undefined {
    const key = hashKey(hash)
    if (this.changed.has(key)) return this.changed.get(key)?.number
    const row = this.store.get('numbers', hash)
    return row?.length === BLOCK_NUMBER_BYTES ? readUint64BE(row, 0) : undefined
  }

  /** Adds a block. @param isCanonical as against one of a side branch */
  put(block: BlockRecord, isCanonical: boolean): void {
    const { header, receipts } = block
    const operations = putBlock(this.batch, block)
    const receiptsOperation =
      receipts.length === 0
        ? {}
        : { receipts: this.putReceipts(header, encodeSlimReceipts(receipts), isCanonical) }
    this.changed.set(hashKey(header.hash), {
      number: header.number,
      ...operations,
      ...receiptsOperation,
    })
  }

  /** @throws VarveError ENGINE_BLOCK_MISSING, ENGINE_BLOCK_INVALID */
  header(number: number, hash: Uint8Array): StoredHeader {
    const operation = this.changed.get(hashKey(hash))?.header
    if (operation === undefined) return readStoredHeader(this.store, number, hash)
    return decodeStoredHeader(this.valueOf(operation), number, hash)
  }

  /** @throws VarveError ENGINE_BLOCK_MISSING, ENGINE_BLOCK_INVALID */
  body(header: Header): Body {
    if (hasEmptyBody(header)) return emptyBody(header)
    const operation = this.changed.get(hashKey(header.hash))?.body
    if (operation === undefined) return readStoredBody(this.store, header)
    return decodeStoredBody(this.valueOf(operation), header.number)
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
    this.batch.delete(receiptsTable(!isCanonical), blockKey(header.number, header.hash))
    const key = hashKey(header.hash)
    const operations = this.changed.get(key) ?? { number: header.number }
    const receipts = this.putReceipts(header, row, isCanonical)
    this.changed.set(key, { ...operations, receipts })
  }

  /** Deletes all rows of a side block. */
  delete({ number, hash }: Header): void {
    const key = blockKey(number, hash)
    this.batch.delete('headers', key)
    this.batch.delete('bodies', key)
    this.batch.delete('sideReceipts', key)
    this.batch.delete('numbers', hash)
    this.changed.set(hashKey(hash), undefined)
  }

  /** Tells that the batch was written. Called before it is cleared. */
  markWritten(): void {
    this.changed.clear()
  }

  private receiptsRow({ number, hash }: Header, isCanonical: boolean): Uint8Array | undefined {
    const operation = this.changed.get(hashKey(hash))?.receipts
    if (operation !== undefined) return this.valueOf(operation)
    return this.store.get(receiptsTable(isCanonical), blockKey(number, hash))
  }

  private putReceipts({ number, hash }: Header, row: Uint8Array, isCanonical: boolean): number {
    return this.batch.put(receiptsTable(isCanonical), blockKey(number, hash), row)
  }

  /** A copy: what is decoded from it outlives the batch. */
  private valueOf(operation: number): Uint8Array {
    return this.batch.valueAt(operation)!.slice()
  }
}

function receiptsTable(isCanonical: boolean): Table {
  return isCanonical ? 'receipts' : 'sideReceipts'
}
