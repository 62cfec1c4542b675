/**
 * An ordered list of changes to many tables, applied by `Store.write` as one.
 *
 * Keys and values are copied into one growing slab, so that callers may reuse their buffers at once, a batch of
 * thousands of entries costs no object an entry, and LMDB gets addresses within one buffer.
 *
 * ```
 *  slab     key0 value0 key1 key2 value2 …
 *  fields   table, keyOffset, keyEnd, valueEnd an operation (a delete has NO_VALUE)
 *  ranges   table, gte, lt, and the operation count at the time of the call
 * ```
 * Not here: applying the batch (`memoryStore.ts`, `lmdbStore.ts`).
 */
import { assert, bytesCompare, EMPTY_BYTES, HASH_BYTES, VarveError } from '../base/index.ts'
import { KEY_BYTES_MAX, type StoreErrorCode, VALUE_BYTES_MAX } from './store.ts'
import { packPath, pathBytes, TABLE_INDEX, TABLES, type Table } from './tables.ts'

/** Most bytes of keys and values in one batch: 1 GiB. Also keeps offsets within 32 bits. */
export const BATCH_BYTES_MAX = 1024 * 1024 * 1024

const SLAB_BYTES_FIRST = 64 * 1024
/** A batch that was cleared keeps a slab up to this size. */
const SLAB_BYTES_KEPT = 16 * 1024 * 1024

/** Up to so many bytes a loop copies faster than a view and `set`. */
const LOOP_BYTES_MAX = 64

const FIELD_TABLE = 0
const FIELD_KEY_OFFSET = 1
const FIELD_KEY_END = 2
const FIELD_VALUE_END = 3
const FIELD_COUNT = 4
/** In FIELD_VALUE_END: the operation deletes. */
const NO_VALUE = 0xffff_ffff

/** A `deleteRange`: keys from `gte` to before `lt`, `undefined` = to the last. */
export type BatchRange = {
  readonly table: number
  readonly gte: Uint8Array
  readonly lt: Uint8Array | undefined
  /** How many operations stood in the batch before this one. */
  readonly operationCount: number
}

/** A batch on its way to another thread. Its arrays may be transferred. */
export type PackedBatch = {
  readonly slab: Uint8Array<ArrayBuffer>
  readonly fields: Uint32Array<ArrayBuffer>
  readonly ranges: readonly BatchRange[]
}

/** A trie node where it lies: its path, one nibble a byte, and its encoding. */
export type NodeRow = {
  readonly paths: Uint8Array
  readonly pathStart: number
  readonly pathEnd: number
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
}

type NodeTable = 'accountNodes' | 'storageNodes'

/** Keys from `gte` to before `lt`; `undefined`: to the last. */
export type KeySpan = { readonly gte: Uint8Array; readonly lt: Uint8Array | undefined }

const ALL_KEYS: KeySpan = { gte: EMPTY_BYTES, lt: undefined }

export class WriteBatch {
  private slab = new Uint8Array(SLAB_BYTES_FIRST)
  private slabEnd = 0
  private fields = new Uint32Array(256 * FIELD_COUNT)
  private operationCount = 0
  private readonly rangeList: BatchRange[] = []
  /** What `operationsSorted` gave, until the next change. */
  private sorted: Uint32Array | undefined
  /** By table, until the next range. */
  private readonly rangeIndexes = new Map<number, RangeIndex>()

  /** Operations in the batch: puts, deletes, and ranges. */
  get entryCount(): number {
    return this.operationCount + this.rangeList.length
  }

  /** Bytes of all keys and values in the batch. */
  get byteCount(): number {
    return this.slabEnd
  }

  /**
   * Sets `key` to `value`. Copies both. Returns the operation's index: `valueAt` reads the value back until `clear`.
   * @throws VarveError STORE_KEY_INVALID, STORE_VALUE_TOO_LARGE, STORE_BATCH_TOO_LARGE
   */
  put(table: Table, key: Uint8Array, value: Uint8Array): number {
    checkKey(table, key)
    if (value.length > VALUE_BYTES_MAX)
      throw new VarveError<StoreErrorCode>(
        'STORE_VALUE_TOO_LARGE',
        `table ${table}: expected a value of at most ${VALUE_BYTES_MAX} bytes, got ${value.length}`,
        { table, byteCount: value.length },
      )
    return this.add(table, key, value)
  }

  /** Removes `key`, if it is there. Copies it. @throws VarveError STORE_KEY_INVALID, STORE_BATCH_TOO_LARGE */
  delete(table: Table, key: Uint8Array): void {
    checkKey(table, key)
    this.add(table, key, undefined)
  }

  /**
   * `put` with the key of a node's path, without arrays in between: a write has hundreds of thousands.
   * @param prefix what stands before the path in keys of that table
   */
  putNode(table: NodeTable, prefix: Uint8Array, row: NodeRow): void {
    const valueBytes = row.end - row.start
    const keyOffset = this.addNode(table, prefix, row, valueBytes)
    const at = this.slabEnd - valueBytes
    if (valueBytes <= LOOP_BYTES_MAX)
      for (let index = 0; index < valueBytes; index++)
        this.slab[at + index] = row.bytes[row.start + index]!
    else this.slab.set(row.bytes.subarray(row.start, row.end), at)
    this.addFields(table, keyOffset, at, this.slabEnd)
  }

  /** `delete` with the key of a node's path. */
  deleteNode(table: NodeTable, prefix: Uint8Array, row: NodeRow): void {
    const keyOffset = this.addNode(table, prefix, row, 0)
    this.addFields(table, keyOffset, this.slabEnd, NO_VALUE)
  }

  /**
   * Removes every key from `gte` to before `lt` (`undefined`: to the last), also those that this batch put before.
   * What the batch puts afterwards stays. An empty `gte` starts at the first key. Copies the bounds.
   */
  deleteRange(table: Table, gte: Uint8Array, lt: Uint8Array | undefined): void {
    assert(gte.length <= KEY_BYTES_MAX, 'a bound is no longer than a key')
    assert(lt === undefined || lt.length <= KEY_BYTES_MAX, 'a bound is no longer than a key')
    this.sorted = undefined
    this.rangeIndexes.clear()
    this.rangeList.push({
      table: tableIndex(table),
      gte: gte.slice(),
      lt: lt?.slice(),
      operationCount: this.operationCount,
    })
  }

  /** The batch as it stands, in memory of its own, so that a message can carry it to another thread. */
  pack(): PackedBatch {
    return {
      slab: this.slab.slice(0, this.slabEnd),
      fields: this.fields.slice(0, this.operationCount * FIELD_COUNT),
      ranges: [...this.rangeList],
    }
  }

  /** As `pack`, handing over the batch's own memory: it is empty after it. */
  take(): PackedBatch {
    const { slab, slabEnd, fields, operationCount } = this
    const packed = {
      slab: slab.subarray(0, slabEnd),
      fields: fields.subarray(0, operationCount * FIELD_COUNT),
      ranges: [...this.rangeList],
    }
    this.slab = new Uint8Array(SLAB_BYTES_FIRST)
    this.fields = new Uint32Array(256 * FIELD_COUNT)
    this.clear()
    return packed
  }

  /** Makes room for so many bytes of keys and values more. */
  reserve(byteCount: number): void {
    if (this.slabEnd + byteCount > this.slab.length) this.growSlab(this.slabEnd + byteCount)
  }

  /** Adds all of a packed batch, as if its calls were made here now. @throws VarveError STORE_BATCH_TOO_LARGE */
  addPacked({ slab, fields, ranges }: PackedBatch): void {
    this.sorted = undefined
    this.rangeIndexes.clear()
    const start = this.slabEnd
    const end = start + slab.length
    if (end > this.slab.length) this.growSlab(end)
    this.slab.set(slab, start)
    this.slabEnd = end
    for (const range of ranges)
      this.rangeList.push({
        ...range,
        operationCount: range.operationCount + this.operationCount,
      })
    const at = this.operationCount * FIELD_COUNT
    this.growFields(at + fields.length)
    this.fields.set(fields, at)
    for (let index = 0; index < fields.length; index++) {
      const field = index % FIELD_COUNT
      if (field === FIELD_TABLE || (field === FIELD_VALUE_END && fields[index] === NO_VALUE))
        continue
      this.fields[at + index] = fields[index]! + start
    }
    this.operationCount += fields.length / FIELD_COUNT
  }

  /** Empties the batch for the next use. Keeps its memory up to 16 MiB. */
  clear(): void {
    this.sorted = undefined
    this.rangeIndexes.clear()
    this.operationCount = 0
    this.slabEnd = 0
    this.rangeList.length = 0
    if (this.slab.length > SLAB_BYTES_KEPT) {
      this.slab = new Uint8Array(SLAB_BYTES_FIRST)
      this.fields = new Uint32Array(256 * FIELD_COUNT)
    }
  }

  /** For a store: the ranges to delete. Apply them first, then `operationsSorted`. */
  get ranges(): readonly BatchRange[] {
    return this.rangeList
  }

  /**
   * For a store: operations that still count, by table, then key. Of several on one key the last is left, and one that
   * a later range covers is gone, so that ranges first and these afterwards give what calling order gives.
   * Cost: a sort after each change; comparisons mostly settle on a number made of the table and the first five bytes of
   * the key.
   */
  operationsSorted(): Uint32Array {
    this.sorted ??= this.sort()
    return this.sorted
  }

  /**
   * What the batch makes of a key: its value, a view that dies with the next change; `null` where it removes it;
   * `undefined` where it leaves it as it is. Cost: a binary search after `operationsSorted`.
   */
  outcomeOf(table: Table, key: Uint8Array): Uint8Array | null | undefined {
    const tableNumber = tableIndex(table)
    const operation = this.operationsSorted()[this.placeOf(tableNumber, key)]
    if (
      operation !== undefined &&
      this.tableAt(operation) === tableNumber &&
      bytesCompare(this.keyAt(operation), key) === 0
    )
      return this.valueAt(operation) ?? null
    const isCovered = this.rangeIndex(tableNumber).covers(key)
    return isCovered ? null : undefined
  }

  private rangeIndex(table: number): RangeIndex {
    let index = this.rangeIndexes.get(table)
    if (index === undefined) {
      index = new RangeIndex(this.rangeList.filter((range) => range.table === table))
      this.rangeIndexes.set(table, index)
    }
    return index
  }

  /**
   * The places in `operationsSorted` of the operations on one table, or on a part of it: start, and end, which is not one
   * of them. Cost: two binary searches.
   */
  spanOf(table: Table, { gte, lt }: KeySpan = ALL_KEYS): readonly [start: number, end: number] {
    const tableNumber = tableIndex(table)
    const end = lt === undefined ? this.placeOf(tableNumber + 1) : this.placeOf(tableNumber, lt)
    return [this.placeOf(tableNumber, gte), end]
  }

  /** The ranges on one table. */
  rangesOf(table: Table): readonly BatchRange[] {
    const tableNumber = tableIndex(table)
    return this.rangeList.filter((range) => range.table === tableNumber)
  }

  /** Where keys and values lie: for loops that look at very many and make a view of none. Good until the next change. */
  get bytes(): Uint8Array {
    return this.slab
  }

  /** Where the key of an operation lies in `bytes`; its value, if it has one, begins where it ends. */
  keyOffsetAt(operation: number): number {
    return this.fields[operation * FIELD_COUNT + FIELD_KEY_OFFSET]!
  }

  keyEndAt(operation: number): number {
    return this.fields[operation * FIELD_COUNT + FIELD_KEY_END]!
  }

  /** Where the value of an operation ends in `bytes`, -1 for a delete. */
  valueEndAt(operation: number): number {
    const valueEnd = this.fields[operation * FIELD_COUNT + FIELD_VALUE_END]!
    return valueEnd === NO_VALUE ? -1 : valueEnd
  }

  /** The first place in `operationsSorted` of a key, or of what comes after it. */
  private placeOf(tableNumber: number, key?: Uint8Array): number {
    const order = this.operationsSorted()
    let low = 0
    let high = order.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const operation = order[middle]!
      let side = this.tableAt(operation) - tableNumber
      if (side === 0) side = key === undefined ? 0 : bytesCompare(this.keyAt(operation), key)
      if (side < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  private sort(): Uint32Array {
    const { fields, slab, operationCount } = this
    const heads = new Float64Array(operationCount)
    const order = new Uint32Array(operationCount)
    for (let operation = 0; operation < operationCount; operation++) {
      heads[operation] = this.head(operation)
      order[operation] = operation
    }
    order.sort(
      (a, b) =>
        heads[a]! - heads[b]! ||
        compareKeys(slab, fields, a * FIELD_COUNT, b * FIELD_COUNT) ||
        a - b,
    )
    const sweep = this.rangeList.length > 0 ? new RangeSweep(this.rangeList) : undefined
    let kept = 0
    for (let at = 0; at < operationCount; at++) {
      const operation = order[at]!
      const next = at + 1 < operationCount ? order[at + 1]! : -1
      if (next >= 0 && heads[next] === heads[operation] && this.keysEqual(operation, next)) continue
      if (sweep?.covers(operation, this.tableAt(operation), this.keyAt(operation))) continue
      order[kept++] = operation
    }
    return order.subarray(0, kept)
  }

  /** Index in `TABLES` of an operation from `operationsSorted`. */
  tableAt(operation: number): number {
    return this.fields[operation * FIELD_COUNT + FIELD_TABLE]!
  }

  /** Key of an operation: a view that dies with the next change of the batch. */
  keyAt(operation: number): Uint8Array {
    const at = operation * FIELD_COUNT
    return this.slab.subarray(this.fields[at + FIELD_KEY_OFFSET]!, this.fields[at + FIELD_KEY_END]!)
  }

  /** Value of an operation, `undefined` for a delete: a view that dies with the next change of the batch. */
  valueAt(operation: number): Uint8Array | undefined {
    const at = operation * FIELD_COUNT
    const valueEnd = this.fields[at + FIELD_VALUE_END]!
    if (valueEnd === NO_VALUE) return undefined
    return this.slab.subarray(this.fields[at + FIELD_KEY_END]!, valueEnd)
  }

  private add(table: Table, key: Uint8Array, value: Uint8Array | undefined): number {
    const keyOffset = this.slabEnd
    const keyEnd = keyOffset + key.length
    const end = value === undefined ? keyEnd : keyEnd + value.length
    if (end > this.slab.length) this.growSlab(end)
    this.slab.set(key, keyOffset)
    if (value !== undefined) this.slab.set(value, keyEnd)
    this.slabEnd = end
    return this.addFields(table, keyOffset, keyEnd, value === undefined ? NO_VALUE : end)
  }

  /** Writes a node's key and leaves room for its value; returns the key's offset. */
  private addNode(
    table: NodeTable,
    prefix: Uint8Array,
    { paths, pathStart, pathEnd }: NodeRow,
    valueBytes: number,
  ): number {
    assert(
      prefix.length === (table === 'storageNodes' ? HASH_BYTES : 0),
      'a node of a storage trie stands behind its account',
    )
    const keyOffset = this.slabEnd
    const pathOffset = keyOffset + prefix.length
    const nibbleCount = pathEnd - pathStart
    const end = pathOffset + pathBytes(nibbleCount) + valueBytes
    if (end > this.slab.length) this.growSlab(end)
    for (let index = 0; index < prefix.length; index++)
      this.slab[keyOffset + index] = prefix[index]!
    packPath(this.slab, pathOffset, paths, pathStart, nibbleCount)
    this.slabEnd = end
    return keyOffset
  }

  /** Adds an operation on what lies in the slab; returns its index. */
  private addFields(table: Table, keyOffset: number, keyEnd: number, valueEnd: number): number {
    this.sorted = undefined
    const at = this.operationCount * FIELD_COUNT
    this.growFields(at + FIELD_COUNT)
    const { fields } = this
    fields[at + FIELD_TABLE] = tableIndex(table)
    fields[at + FIELD_KEY_OFFSET] = keyOffset
    fields[at + FIELD_KEY_END] = keyEnd
    fields[at + FIELD_VALUE_END] = valueEnd
    return this.operationCount++
  }

  private growFields(end: number): void {
    if (end <= this.fields.length) return
    const grown = new Uint32Array(Math.max(end, 2 * this.fields.length))
    grown.set(this.fields)
    this.fields = grown
  }

  private growSlab(end: number): void {
    if (end > BATCH_BYTES_MAX)
      throw new VarveError<StoreErrorCode>(
        'STORE_BATCH_TOO_LARGE',
        `batch: expected at most ${BATCH_BYTES_MAX} bytes, got ${end}`,
        { byteCount: end },
      )
    const grown = new Uint8Array(Math.min(BATCH_BYTES_MAX, Math.max(end, 2 * this.slab.length)))
    grown.set(this.slab.subarray(0, this.slabEnd))
    this.slab = grown
  }

  /** Number that orders as table and first five bytes of the key do; a missing byte counts as zero. */
  private head(operation: number): number {
    const { fields, slab } = this
    const at = operation * FIELD_COUNT
    const keyEnd = fields[at + FIELD_KEY_END]!
    let head = fields[at + FIELD_TABLE]!
    for (let index = 0, byteAt = fields[at + FIELD_KEY_OFFSET]!; index < 5; index++, byteAt++)
      head = head * 256 + (byteAt < keyEnd ? slab[byteAt]! : 0)
    return head
  }

  private keysEqual(a: number, b: number): boolean {
    return compareKeys(this.slab, this.fields, a * FIELD_COUNT, b * FIELD_COUNT) === 0
  }
}

/**
 * Tells for operations in sorted order whether a later range removed them. Walks the ranges beside the operations, so
 * that many ranges, one for every account cleared in a thousand blocks, cost no product of the two counts.
 */
class RangeSweep {
  private readonly waiting: readonly BatchRange[]
  private waitingIndex = 0
  /** Ranges that may hold the current key. */
  private active: BatchRange[] = []

  constructor(ranges: readonly BatchRange[]) {
    this.waiting = [...ranges].sort((a, b) => a.table - b.table || bytesCompare(a.gte, b.gte))
  }

  covers(operation: number, table: number, key: Uint8Array): boolean {
    const { waiting } = this
    for (; this.waitingIndex < waiting.length; this.waitingIndex++) {
      const range = waiting[this.waitingIndex]!
      if (range.table > table || (range.table === table && bytesCompare(range.gte, key) > 0)) break
      this.active.push(range)
    }
    if (this.active.length === 0) return false
    this.active = this.active.filter(
      (range) =>
        range.table === table && (range.lt === undefined || bytesCompare(key, range.lt) < 0),
    )
    return this.active.some((range) => range.operationCount > operation)
  }
}

/** Whether a key lies in one of the ranges of one table: by where they begin, with the farthest end up to each. */
class RangeIndex {
  private readonly starts: readonly Uint8Array[]
  /** `undefined`: to the last key. */
  private readonly endsMax: readonly (Uint8Array | undefined)[]

  constructor(ranges: readonly BatchRange[]) {
    const sorted = [...ranges].sort((a, b) => bytesCompare(a.gte, b.gte))
    let farthest: Uint8Array | undefined = new Uint8Array(0)
    this.starts = sorted.map(({ gte }) => gte)
    this.endsMax = sorted.map(({ lt }) => {
      if (farthest !== undefined && (lt === undefined || bytesCompare(lt, farthest) > 0))
        farthest = lt
      return farthest
    })
  }

  covers(key: Uint8Array): boolean {
    let low = 0
    let high = this.starts.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (bytesCompare(this.starts[middle]!, key) <= 0) low = middle + 1
      else high = middle
    }
    if (low === 0) return false
    const end = this.endsMax[low - 1]
    return end === undefined || bytesCompare(key, end) < 0
  }
}

/** Order of the keys of two operations of one table, given where their fields start. */
function compareKeys(slab: Uint8Array, fields: Uint32Array, a: number, b: number): number {
  let atA = fields[a + FIELD_KEY_OFFSET]!
  let atB = fields[b + FIELD_KEY_OFFSET]!
  const lengthA = fields[a + FIELD_KEY_END]! - atA
  const lengthB = fields[b + FIELD_KEY_END]! - atB
  const end = atA + Math.min(lengthA, lengthB)
  while (atA < end) {
    const difference = slab[atA++]! - slab[atB++]!
    if (difference !== 0) return difference
  }
  return lengthA - lengthB
}

function tableIndex(table: Table): number {
  const index = TABLE_INDEX[table]
  assert(index !== undefined && index < TABLES.length, 'a table is one of TABLES')
  return index
}

function checkKey(table: Table, key: Uint8Array): void {
  if (key.length > 0 && key.length <= KEY_BYTES_MAX) return
  throw new VarveError<StoreErrorCode>(
    'STORE_KEY_INVALID',
    `table ${table}: expected a key of 1 to ${KEY_BYTES_MAX} bytes, got ${key.length}`,
    { table, byteCount: key.length },
  )
}
