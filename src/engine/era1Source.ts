/** Blocks of an era1 file. Every byte of the file is checked before a block is handed out. */
import { Fork, isVarveError } from '../base/index.ts'
import { validateBody, validateReceipts } from '../chain/index.ts'
import {
  type Block,
  decodeEra1Block,
  type Era1DecodedBlock,
  Era1Reader,
  type Header,
  joinDecoded,
  verifiedEra1Blocks,
} from '../codec/index.ts'
import type { BlockSource } from './blockSource.ts'
import { KeptBlocks } from './keptBlocks.ts'

export class Era1Source implements BlockSource {
  readonly path: string
  readonly kind = 'era1'
  private readonly reader: Era1Reader
  private kept: KeptBlocks | undefined

  /** @throws VarveError FILE_UNREADABLE, ERA1_* */
  constructor(path: string) {
    this.path = path
    this.reader = new Era1Reader(path)
  }

  get firstNumber(): number {
    return this.reader.startNumber
  }

  get lastNumber(): number {
    return this.reader.startNumber + this.reader.count - 1
  }

  *check(): Iterable<number> {
    const kept = new KeptBlocks()
    for (const block of verifiedEra1Blocks(this.reader)) {
      this.checkRoots(block)
      kept.add(blockOf(block), block.byteCount)
      yield block.header.number
    }
    this.kept = kept
  }

  headerAt(number: number): Header {
    return this.decode(number).header
  }

  *blocks(from: number): Iterable<Block> {
    const kept = this.kept?.from(from - this.firstNumber)
    if (kept !== undefined) {
      yield* kept
      return
    }
    for (let number = from; number <= this.lastNumber; number++) yield blockOf(this.decode(number))
  }

  close(): void {
    this.reader.close()
  }

  private decode(number: number): Era1DecodedBlock {
    return decodeEra1Block(this.reader, this.reader.readBlock(number - this.firstNumber))
  }

  /** Lists against the roots of the header, which the reader leaves to whoever has tries. */
  private checkRoots({ header, body, receipts, offset }: Era1DecodedBlock): void {
    try {
      validateBody(header, body, Fork.Frontier)
      validateReceipts(header, receipts)
    } catch (error) {
      if (!isVarveError(error)) throw error
      throw this.reader.fault(
        'ERA1_CONTENT',
        offset,
        'the lists of its header',
        error.message,
        header.number,
        error,
      )
    }
  }
}

function blockOf({ header, body }: Era1DecodedBlock): Block {
  return joinDecoded(header, body)
}
