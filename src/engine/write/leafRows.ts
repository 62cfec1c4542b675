/**
 * Whether slots and storage tries say the same after a batch, of every leaf among its nodes. A write changes a slot in
 * both: the flat rows come from the layers, the nodes from the summary, and the root vouches for the nodes.
 *
 *     nodes of the batch ─▶ leaves ─▶ the flat row of the same key, in the batch or else in the store: equal?
 *     flat rows put ─▶ each has met its leaf
 *
 * A leaf whose row is in the store has only moved.
 *
 * Not here: rows that are removed, of which no leaf tells (`writeCheck.ts` counts them); accounts (`leafHashes.ts`).
 */
import { HASH_BYTES } from '../../base/index.ts'
import { slotLeafIsOfRow } from '../../commit/index.ts'
import type { WriteBatch } from '../../store/index.ts'
import { NodeLeaves } from '../../trie/index.ts'
import type { RowFault, RowsAfter } from './rowsAfter.ts'

/** Flat rows that are passed one by one before the rest is searched: leaves come in the order of rows, at each depth. */
const STEPS_MAX = 8

/**
 * Looks for a slot that the nodes of the same batch contradict; the first one.
 * Cost: one pass over both, about 0.2 us a slot; a read for each leaf that has only moved.
 */
export function findSlotFault(rows: RowsAfter): RowFault | undefined {
  return new LeafRows(rows).find()
}

class LeafRows {
  private readonly rows: RowsAfter
  private readonly batch: WriteBatch
  private readonly order: Uint32Array
  private readonly rowStart: number
  private readonly rowEnd: number
  private readonly leaves: NodeLeaves
  private readonly leaf: { bytes: Uint8Array; start: number; end: number }
  private readonly row: { bytes: Uint8Array; start: number; end: number }
  /** Whether the row at each place of the table has met its leaf. */
  private readonly isMet: Uint8Array
  /** Where the next row is looked for. */
  private place: number
  private fault: RowFault | undefined

  constructor(rows: RowsAfter) {
    const { batch } = rows
    this.rows = rows
    this.batch = batch
    this.order = batch.operationsSorted()
    const [start, end] = batch.spanOf('storages')
    this.rowStart = start
    this.rowEnd = end
    this.place = start
    this.isMet = new Uint8Array(end - start)
    const { bytes } = batch
    this.leaf = { bytes, start: 0, end: 0 }
    this.row = { bytes, start: 0, end: 0 }
    this.leaves = new NodeLeaves(HASH_BYTES, HASH_BYTES, (from, to) => this.meet(from, to))
  }

  find(): RowFault | undefined {
    this.visitNodes()
    for (let place = this.rowStart; place < this.rowEnd && this.fault === undefined; place++) {
      if (this.isMet[place - this.rowStart] === 1) continue
      const operation = this.order[place]!
      if (this.batch.valueEndAt(operation) >= 0)
        this.blame(this.batch.keyAt(operation), 'no leaf has it')
    }
    return this.fault
  }

  private visitNodes(): void {
    const { batch, order, leaves } = this
    const { bytes } = batch
    const { key } = leaves
    const [start, end] = batch.spanOf('storageNodes')
    for (let place = start; place < end && this.fault === undefined; place++) {
      const operation = order[place]!
      const valueEnd = batch.valueEndAt(operation)
      if (valueEnd < 0) continue
      const keyOffset = batch.keyOffsetAt(operation)
      const valueStart = batch.keyEndAt(operation)
      const depthAt = keyOffset + HASH_BYTES
      for (let index = 0; index < HASH_BYTES; index++) key[index] = bytes[keyOffset + index]!
      let keyAt = HASH_BYTES
      for (let at = depthAt + 1; at < valueStart; at++) key[keyAt++] = bytes[at]!
      leaves.visit(bytes, valueStart, valueEnd, bytes[depthAt]!)
    }
  }

  /** A leaf, whose value lies at `start` to `end`. */
  private meet(start: number, end: number): void {
    const { batch, leaf, row, leaves } = this
    leaf.start = start
    leaf.end = end
    const place = this.placeOfKey()
    if (place < 0) {
      this.meetStored()
      return
    }
    this.isMet[place - this.rowStart] = 1
    const operation = this.order[place]!
    row.start = batch.keyEndAt(operation)
    row.end = batch.valueEndAt(operation)
    if (row.end < 0) this.blame(leaves.key, 'it is removed, and there is a leaf')
    else if (!slotLeafIsOfRow(leaf, row)) this.blame(leaves.key, 'its leaf says otherwise')
  }

  /** A leaf whose row the batch leaves as it is. */
  private meetStored(): void {
    const { key } = this.leaves
    const bytes = this.rows.get('storages', key)
    if (bytes === undefined) this.blame(key, 'there is none, and there is a leaf')
    else if (!slotLeafIsOfRow(this.leaf, { bytes, start: 0, end: bytes.length }))
      this.blame(key, 'its leaf says otherwise, and it is left as it is')
  }

  /** Place of the row with the leaf's key, or -1. */
  private placeOfKey(): number {
    const first = this.place
    const stepEnd = Math.min(this.rowEnd, first + STEPS_MAX)
    for (; this.place < stepEnd; this.place++) {
      const side = this.compare(this.place)
      if (side === 0) return this.place++
      if (side < 0) continue
      // Between two rows that follow on each other there is none.
      if (this.place > first || first === this.rowStart || this.compare(first - 1) < 0) return -1
      return this.search(this.rowStart, first)
    }
    return this.search(this.place > first ? this.place : this.rowStart, this.rowEnd)
  }

  /** The same among the rows from `low` to before `high`. */
  private search(low: number, high: number): number {
    let [from, to] = [low, high]
    while (from < to) {
      const middle = (from + to) >>> 1
      const side = this.compare(middle)
      if (side === 0) {
        this.place = middle + 1
        return middle
      }
      if (side < 0) from = middle + 1
      else to = middle
    }
    this.place = from
    return -1
  }

  /** Order of the row at a place and the leaf's key. */
  private compare(place: number): number {
    const { bytes } = this.batch
    const { key } = this.leaves
    const offset = this.batch.keyOffsetAt(this.order[place]!)
    for (let index = 0; index < key.length; index++) {
      const difference = bytes[offset + index]! - key[index]!
      if (difference !== 0) return difference
    }
    return 0
  }

  private blame(key: Uint8Array, problem: string): void {
    this.fault ??= { table: 'storages', key: key.slice(), problem }
  }
}
