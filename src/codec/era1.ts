/**
 * Era1 files: up to 8,192 blocks from before the merge with receipts and total difficulty, in e2store entries.
 * Entry: type (2 bytes), length (4), reserved (2, zero), then the data; all numbers are little-endian.
 *
 *   Version 3265, no data
 *   for each block:  header 03, body 04, receipts 05 (snappy streams of RLP), total difficulty 06 (32 bytes)
 *   accumulator 07   32 bytes: hash_tree_root of List[(block hash, total difficulty), 8192]
 *   block index 3266 first number (8), offset of each block (8, signed, from the start of this entry), count (8)
 *
 * This file reads what a caller asks for; `era1Verify.ts` checks everything.
 */
import { SNAPPY_BYTES_MAX, toHex, VarveError } from '../base/index.ts'
import { FileWindow } from './fileWindow.ts'
import { type SnappyStream, unpackSnappyStream } from './snappyFrame.ts'

export const Era1EntryType = {
  Header: 0x03,
  Body: 0x04,
  Receipts: 0x05,
  TotalDifficulty: 0x06,
  Accumulator: 0x07,
  Version: 0x3265,
  BlockIndex: 0x3266,
} as const

/** Most blocks of one file: an epoch of the history accumulator. */
export const ERA1_BLOCK_COUNT_MAX = 8_192
/** Bytes of an entry's own header. */
export const ENTRY_HEADER_BYTES = 8
const ENTRY_NAMES: Readonly<Record<number, string>> = {
  [Era1EntryType.Header]: 'compressed header',
  [Era1EntryType.Body]: 'compressed body',
  [Era1EntryType.Receipts]: 'compressed receipts',
  [Era1EntryType.TotalDifficulty]: 'total difficulty',
  [Era1EntryType.Accumulator]: 'accumulator',
  [Era1EntryType.Version]: 'version',
  [Era1EntryType.BlockIndex]: 'block index',
}
/** Longest data of each kind of entry; snappy makes a stream longer by less than a fifth. */
const ENTRY_BYTES_MAX: Readonly<Record<number, number>> = {
  [Era1EntryType.Header]: 256 * 1024,
  [Era1EntryType.Body]: Math.ceil(SNAPPY_BYTES_MAX * 1.2),
  [Era1EntryType.Receipts]: Math.ceil(SNAPPY_BYTES_MAX * 1.2),
  [Era1EntryType.TotalDifficulty]: 32,
  [Era1EntryType.Accumulator]: 32,
  [Era1EntryType.Version]: 0,
  [Era1EntryType.BlockIndex]: 16 + 8 * ERA1_BLOCK_COUNT_MAX,
}

/** Where an entry lies and what it is. */
export type Era1Entry = {
  readonly type: number
  /** Offset of the entry's header in the file. */
  readonly offset: number
  /** Bytes of data after the header. */
  readonly dataBytes: number
}

/** One block as it lies in the file, unpacked and not decoded. The bytes are the caller's to keep. */
export type Era1Block = {
  readonly number: number
  /** Offset of the block's first entry in the file. */
  readonly offset: number
  readonly header: Uint8Array
  readonly body: Uint8Array
  readonly receipts: Uint8Array
  /** Total difficulty up to and with this block. */
  readonly totalDifficulty: bigint
  /** Offset of the entry after this block. */
  readonly endOffset: number
}

/** Reads one era1 file. Memory: one window of 1 MiB and the block at hand. Close it when done. */
export class Era1Reader {
  readonly path: string
  /** Number of the first block. */
  readonly startNumber: number
  /** Blocks in the file, 1 to 8192. */
  readonly count: number
  /** The accumulator root that the file states; 32 bytes. */
  readonly accumulator: Uint8Array
  readonly byteCount: number
  /** Offset of the block index entry. */
  readonly indexOffset: number
  /** Offset of the accumulator entry. */
  readonly accumulatorOffset: number
  private readonly file: FileWindow
  private readonly offsets: Float64Array

  /**
   * Opens a file and reads its index and accumulator.
   * @throws VarveError FILE_UNREADABLE, ERA1_ENTRY, ERA1_INDEX
   */
  constructor(path: string) {
    this.path = path
    this.file = new FileWindow(path)
    try {
      this.byteCount = this.file.byteCount
      const version = this.entryAt(0, Era1EntryType.Version)
      if (version.dataBytes !== 0) throw this.entryFault(version, 'no data', `${version.dataBytes}`)
      this.count = this.readCount()
      const indexBytes = ENTRY_HEADER_BYTES + 16 + 8 * this.count
      this.indexOffset = this.byteCount - indexBytes
      this.accumulatorOffset = this.indexOffset - ENTRY_HEADER_BYTES - 32
      const index = this.readIndex()
      this.startNumber = index.startNumber
      this.offsets = index.offsets
      this.accumulator = this.readAccumulator()
    } catch (error) {
      this.file.close()
      throw error
    }
  }

  close(): void {
    this.file.close()
  }

  /** Offset in the file of a block's first entry, by the index. @param index 0 to `count`-1 */
  offsetOf(index: number): number {
    return this.offsets[index]!
  }

  /** Reads one block by its place in the file. @throws VarveError ERA1_ENTRY, SNAPPY_* */
  readBlock(index: number): Era1Block {
    return this.readBlockAt(this.offsetOf(index), this.startNumber + index)
  }

  /**
   * Reads blocks one after the other, from place `from` on.
   * Cost: about 3 us a block on mainnet's first file, one pass over the file.
   */
  *blocks(from = 0): Generator<Era1Block, void, undefined> {
    for (let index = from; index < this.count; index++) yield this.readBlock(index)
  }

  /** Reads the four entries of one block. @throws VarveError ERA1_ENTRY, SNAPPY_* */
  readBlockAt(offset: number, number: number, onStream?: StreamVisitor): Era1Block {
    const header = this.readStream(offset, Era1EntryType.Header, number, onStream)
    const body = this.readStream(header.end, Era1EntryType.Body, number, onStream)
    const receipts = this.readStream(body.end, Era1EntryType.Receipts, number, onStream)
    const entry = this.entryAt(receipts.end, Era1EntryType.TotalDifficulty, number)
    const data = this.dataOf(entry, 32)
    let totalDifficulty = 0n
    for (let at = 31; at >= 0; at--) totalDifficulty = (totalDifficulty << 8n) | BigInt(data[at]!)
    return {
      number,
      offset,
      header: header.bytes,
      body: body.bytes,
      receipts: receipts.bytes,
      totalDifficulty,
      endOffset: receipts.end + ENTRY_HEADER_BYTES + 32,
    }
  }

  /**
   * Reads and checks the header of the entry at `offset`.
   * @param number the block it belongs to, for the message
   * @throws VarveError ERA1_ENTRY where type, length or reserved bytes are not what belongs there
   */
  entryAt(offset: number, expected: number, number?: number): Era1Entry {
    const head = this.file.read(offset, ENTRY_HEADER_BYTES)
    if (head.length < ENTRY_HEADER_BYTES)
      throw this.fault(
        'ERA1_ENTRY',
        offset,
        `${ENTRY_NAMES[expected]} entry`,
        `the end of the file at byte ${this.byteCount}`,
        number,
      )
    const type = head[0]! | (head[1]! << 8)
    const dataBytes = readUint32LE(head, 2)
    if (type !== expected)
      throw this.fault(
        'ERA1_ENTRY',
        offset,
        `type 0x${expected.toString(16)} (${ENTRY_NAMES[expected]})`,
        `0x${type.toString(16)}`,
        number,
      )
    if (head[6] !== 0 || head[7] !== 0)
      throw this.fault('ERA1_ENTRY', offset, 'reserved bytes 0000', toHex(head.subarray(6)), number)
    if (dataBytes > ENTRY_BYTES_MAX[expected]!)
      throw this.fault(
        'ERA1_ENTRY',
        offset,
        `at most ${ENTRY_BYTES_MAX[expected]} bytes of ${ENTRY_NAMES[expected]}`,
        `${dataBytes}`,
        number,
      )
    if (offset + ENTRY_HEADER_BYTES + dataBytes > this.byteCount)
      throw this.fault(
        'ERA1_ENTRY',
        offset,
        `${dataBytes} bytes of ${ENTRY_NAMES[expected]}`,
        `the end of the file at byte ${this.byteCount}`,
        number,
      )
    return { type, offset, dataBytes }
  }

  /** Builds an error that names the file, the byte and the block. */
  fault(
    code: Era1ErrorCode,
    offset: number,
    expected: string,
    found: string,
    number?: number,
    cause?: unknown,
  ): VarveError<Era1ErrorCode> {
    const block = number === undefined ? '' : `, block ${number}`
    return new VarveError(
      code,
      `${this.path}, byte ${offset}${block}: expected ${expected}, got ${found}`,
      { path: this.path, offset, expected, found, ...(number === undefined ? {} : { number }) },
      cause === undefined ? undefined : { cause },
    )
  }

  /** Data of an entry whose length must be `length`; a view of the window. */
  private dataOf(entry: Era1Entry, length: number): Uint8Array {
    if (entry.dataBytes !== length)
      throw this.entryFault(entry, `${length} bytes`, `${entry.dataBytes}`)
    return this.file.read(entry.offset + ENTRY_HEADER_BYTES, length)
  }

  private readStream(offset: number, type: number, number: number, onStream?: StreamVisitor) {
    const entry = this.entryAt(offset, type, number)
    const data = this.file.read(offset + ENTRY_HEADER_BYTES, entry.dataBytes)
    let stream: SnappyStream
    try {
      stream = unpackSnappyStream(data, onStream !== undefined)
    } catch (error) {
      if (!(error instanceof VarveError)) throw error
      throw this.fault(
        'ERA1_SNAPPY',
        offset,
        `a sound ${ENTRY_NAMES[type]}`,
        error.message,
        number,
        error,
      )
    }
    onStream?.(entry, stream)
    return { bytes: stream.bytes, end: offset + ENTRY_HEADER_BYTES + entry.dataBytes }
  }

  /** The count is the last number of the file; it says where the index starts. */
  private readCount(): number {
    const offset = this.byteCount - 8
    const bytes = this.file.read(Math.max(offset, 0), 8)
    const declared = bytes.length < 8 ? 0n : readUint64LE(bytes, 0)
    const count = Number(declared)
    const bytesMin = ENTRY_HEADER_BYTES * 3 + 32 + 16 + 8 * count
    if (count < 1 || count > ERA1_BLOCK_COUNT_MAX || bytesMin > this.byteCount)
      throw this.fault(
        'ERA1_INDEX',
        Math.max(offset, 0),
        `a count of 1 to ${ERA1_BLOCK_COUNT_MAX} blocks at the end of the block index`,
        `${declared}`,
      )
    return count
  }

  private readIndex(): { startNumber: number; offsets: Float64Array } {
    const entry = this.entryAt(this.indexOffset, Era1EntryType.BlockIndex)
    const data = this.dataOf(entry, 16 + 8 * this.count)
    const declaredStart = readUint64LE(data, 0)
    if (declaredStart > Number.MAX_SAFE_INTEGER - ERA1_BLOCK_COUNT_MAX)
      throw this.fault('ERA1_INDEX', entry.offset, 'a first block below 2^53', `${declaredStart}`)
    const startNumber = Number(declaredStart)
    const offsets = new Float64Array(this.count)
    for (let index = 0; index < this.count; index++) {
      const at = 8 + index * 8
      // Signed: blocks lie before the index.
      const relative = BigInt.asIntN(64, readUint64LE(data, at))
      const offset = BigInt(this.indexOffset) + relative
      if (offset < ENTRY_HEADER_BYTES || offset >= this.accumulatorOffset)
        throw this.fault(
          'ERA1_INDEX',
          entry.offset + ENTRY_HEADER_BYTES + at,
          `an offset between ${ENTRY_HEADER_BYTES} and ${this.accumulatorOffset}`,
          `${offset}`,
          startNumber + index,
        )
      offsets[index] = Number(offset)
    }
    return { startNumber, offsets }
  }

  private readAccumulator(): Uint8Array {
    const entry = this.entryAt(this.accumulatorOffset, Era1EntryType.Accumulator)
    return this.dataOf(entry, 32).slice()
  }

  private entryFault(entry: Era1Entry, expected: string, found: string): VarveError {
    return this.fault(
      'ERA1_ENTRY',
      entry.offset,
      `${ENTRY_NAMES[entry.type]} of ${expected}`,
      found,
    )
  }
}

/** Sees each snappy stream as it is unpacked. */
export type StreamVisitor = (entry: Era1Entry, stream: SnappyStream) => void

function readUint32LE(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
  )
}

/** A bigint, so that what is refused is also named exactly. */
function readUint64LE(bytes: Uint8Array, at: number): bigint {
  return BigInt(readUint32LE(bytes, at)) | (BigInt(readUint32LE(bytes, at + 4)) << 32n)
}

/** Error codes of this module and of `era1Verify.ts`. All carry `path`, `offset`, and `number` where there is one. */
export type Era1ErrorCode =
  /** An entry is not the one that belongs there, or is cut off. */
  | 'ERA1_ENTRY'
  /** The block index does not fit the file. */
  | 'ERA1_INDEX'
  /** A snappy stream is damaged. */
  | 'ERA1_SNAPPY'
  /** A packed stream means the right thing in bytes that its writer cannot have written. */
  | 'ERA1_CHANGED'
  /** Header, body or receipts do not decode. */
  | 'ERA1_CONTENT'
  /** A header does not follow the one before it. */
  | 'ERA1_CHAIN'
  /** The total difficulty is not the sum of the difficulties. */
  | 'ERA1_TOTAL_DIFFICULTY'
  /** The accumulator is not that of the blocks, or not the one in the file's name. */
  | 'ERA1_ACCUMULATOR'
