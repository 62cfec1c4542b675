/**
 * Chain files as `geth export` writes them: blocks in RLP, one after the other, with nothing between. Packed ones
 * (`.gz`) are refused with a word about it; unpack them first.
 */
import { RLP_ITEM_BYTES_MAX, VarveError } from '../base/index.ts'
import { type Block, decodeBlock } from './block.ts'
import { type ByteWindow, FileWindow, memoryWindow } from './fileWindow.ts'

/** Most bytes of an RLP header: the first byte and eight of length. */
const RLP_HEADER_BYTES_MAX = 9

/** A block and where it came from. */
export type ChainFileBlock = {
  /** Place in the file, 0 up. */
  readonly index: number
  /** Offset of its first byte in the file. */
  readonly offset: number
  readonly bytes: Uint8Array
  readonly block: Block
}

/** Reads one chain file. Memory: one window of 1 MiB and the block at hand. Close it when done. */
export class ChainFileReader {
  readonly path: string
  readonly byteCount: number
  private readonly file: ByteWindow

  /**
   * @param bytes the file's content, where the path is only a name for it
   * @throws VarveError FILE_UNREADABLE, CHAIN_FILE_GZIP
   */
  constructor(path: string, bytes?: Uint8Array) {
    this.path = path
    this.file = bytes === undefined ? new FileWindow(path) : memoryWindow(bytes)
    this.byteCount = this.file.byteCount
    const magic = this.file.read(0, 2)
    if (magic[0] === 0x1f && magic[1] === 0x8b) {
      this.file.close()
      throw this.fault('CHAIN_FILE_GZIP', 0, 0, 'blocks in RLP', 'a gzip archive; unpack it first')
    }
  }

  close(): void {
    this.file.close()
  }

  /**
   * Decodes the blocks in order, from the start of the file. May be called again for a second pass.
   * @throws VarveError CHAIN_FILE_BLOCK with the block's place and offset, FILE_UNREADABLE
   */
  *blocks(): Generator<ChainFileBlock, void, undefined> {
    let offset = 0
    for (let index = 0; offset < this.byteCount; index++) {
      const entry = this.readBlock(offset, index)
      yield entry
      offset += entry.bytes.length
    }
  }

  /**
   * Offsets of all blocks, by the lengths of their items alone; nothing is decoded.
   * @throws VarveError CHAIN_FILE_BLOCK
   */
  offsets(): number[] {
    const offsets: number[] = []
    for (let offset = 0; offset < this.byteCount; ) {
      const index = offsets.push(offset) - 1
      offset += this.itemBytes(offset, index)
    }
    return offsets
  }

  /** Decodes the block at an offset. @param index its place in the file, for messages. Throws as `blocks`. */
  readBlock(offset: number, index: number): ChainFileBlock {
    const length = this.itemBytes(offset, index)
    // A copy, since the window moves on and the block's fields are views.
    const bytes = this.file.read(offset, length).slice()
    try {
      return { index, offset, bytes, block: decodeBlock(bytes) }
    } catch (error) {
      if (!(error instanceof VarveError)) throw error
      throw this.fault('CHAIN_FILE_BLOCK', offset, index, 'a valid block', error.message, error)
    }
  }

  /** Length of the item at `offset` by its header, which the decoder will check for its form. */
  private itemBytes(offset: number, index: number): number {
    const head = this.file.read(offset, RLP_HEADER_BYTES_MAX)
    const first = head[0]!
    if (first < 0xc0)
      throw this.fault(
        'CHAIN_FILE_BLOCK',
        offset,
        index,
        'the list of a block',
        `byte 0x${first.toString(16)}`,
      )
    // Exact in messages too: eight bytes of length exceed 2^53.
    let declared = BigInt(1 + first - 0xc0)
    if (first > 0xf7) {
      const widthBytes = first - 0xf7
      let payload = 0n
      for (let at = 1; at <= widthBytes; at++) payload = payload * 256n + BigInt(head[at] ?? 0)
      declared = BigInt(1 + widthBytes) + payload
    }
    if (declared > RLP_ITEM_BYTES_MAX)
      throw this.fault(
        'CHAIN_FILE_BLOCK',
        offset,
        index,
        `a block of at most ${RLP_ITEM_BYTES_MAX} bytes`,
        `${declared} bytes`,
      )
    const length = Number(declared)
    if (length > this.byteCount - offset)
      throw this.fault(
        'CHAIN_FILE_BLOCK',
        offset,
        index,
        `a block of ${length} bytes`,
        `the end of the file after ${this.byteCount - offset}`,
      )
    return length
  }

  /** Builds an error that names the file, the byte and the block. */
  fault(
    code: ChainFileErrorCode,
    offset: number,
    index: number,
    expected: string,
    found: string,
    cause?: unknown,
  ): VarveError<ChainFileErrorCode> {
    return new VarveError(
      code,
      `${this.path}, byte ${offset}, block ${index} of the file: expected ${expected}, got ${found}`,
      { path: this.path, offset, index, expected, found },
      cause === undefined ? undefined : { cause },
    )
  }
}

/** Error codes of this module. */
export type ChainFileErrorCode =
  /** The file is packed. */
  | 'CHAIN_FILE_GZIP'
  /** An item is no block, too long, or cut off. */
  | 'CHAIN_FILE_BLOCK'
  /** A block does not follow the one before it in the file. */
  | 'CHAIN_FILE_ORDER'
