/** Blocks of a file as geth exports them. The form of every item is looked at when the file is opened. */
import { bytesEqual, Fork, isVarveError, toHex } from '../base/index.ts'
import { validateBody } from '../chain/index.ts'
import { type Block, type ChainFileBlock, ChainFileReader, type Header } from '../codec/index.ts'
import type { BlockSource } from './blockSource.ts'
import { KeptBlocks } from './keptBlocks.ts'

export class ChainFileSource implements BlockSource {
  readonly path: string
  readonly kind = 'chain file'
  readonly firstNumber: number
  readonly lastNumber: number
  private readonly reader: ChainFileReader
  /** Offset of each block. */
  private readonly offsets: readonly number[]
  private kept: KeptBlocks | undefined

  /**
   * @param bytes the file's content, where the path is only a name for it
   * @throws VarveError FILE_UNREADABLE, CHAIN_FILE_*
   */
  constructor(path: string, bytes?: Uint8Array) {
    this.path = path
    this.reader = new ChainFileReader(path, bytes)
    try {
      this.offsets = this.reader.offsets()
      if (this.offsets.length === 0)
        throw this.reader.fault('CHAIN_FILE_BLOCK', 0, 0, 'at least one block', 'an empty file')
      this.firstNumber = this.read(0).block.header.number
      this.lastNumber = this.firstNumber + this.offsets.length - 1
    } catch (error) {
      this.reader.close()
      throw error
    }
  }

  *check(): Iterable<number> {
    const kept = new KeptBlocks()
    let parent: Header | undefined
    for (let index = 0; index < this.offsets.length; index++) {
      const entry = this.read(index)
      this.checkLinks(entry, parent)
      this.checkBody(entry)
      kept.add(entry.block, entry.bytes.length)
      parent = entry.block.header
      yield parent.number
    }
    this.kept = kept
  }

  headerAt(number: number): Header {
    return this.read(number - this.firstNumber).block.header
  }

  *blocks(from: number): Iterable<Block> {
    const kept = this.kept?.from(from - this.firstNumber)
    if (kept !== undefined) {
      yield* kept
      return
    }
    for (let index = from - this.firstNumber; index < this.offsets.length; index++)
      yield this.read(index).block
  }

  close(): void {
    this.reader.close()
  }

  private read(index: number): ChainFileBlock {
    return this.reader.readBlock(this.offsets[index]!, index)
  }

  private checkLinks({ block, offset, index }: ChainFileBlock, parent: Header | undefined): void {
    const { number, parentHash } = block.header
    const expected = this.firstNumber + index
    if (number !== expected)
      throw this.reader.fault(
        'CHAIN_FILE_ORDER',
        offset,
        index,
        `block number ${expected}`,
        `${number}`,
      )
    if (parent !== undefined && !bytesEqual(parentHash, parent.hash))
      throw this.reader.fault(
        'CHAIN_FILE_ORDER',
        offset,
        index,
        `parent hash ${toHex(parent.hash)}`,
        toHex(parentHash),
      )
  }

  private checkBody({ block, offset, index, bytes }: ChainFileBlock): void {
    try {
      validateBody(block.header, block, Fork.Frontier, bytes.length)
    } catch (error) {
      if (!isVarveError(error)) throw error
      throw this.reader.fault(
        'CHAIN_FILE_BLOCK',
        offset,
        index,
        'the body of its header',
        error.message,
        error,
      )
    }
  }
}
