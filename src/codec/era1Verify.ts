/**
 * Checks every byte of an era1 file that can be checked without state: entries and their order, snappy framing and
 * checksums, strict RLP, the chain of headers, uncle hashes, total difficulties, the index and the accumulator.
 * The roots of transactions and receipts need a trie; `onBlock` gets each decoded block so that its caller checks them.
 *
 * What remains is a change to packed bytes that unpack to the same plain ones. It is found where the file's writer is
 * the common one, as all of its streams can then be made again (`snappyWriter.ts`). A file of which most streams are
 * not that writer's own has another writer; such changes then stay unseen, and the content is right all the same.
 */
import { bytesEqual, EMPTY_LIST_HASH, toHex, VarveError } from '../base/index.ts'
import { type Body, decodeBody, uncleHashOf } from './block.ts'
import { ENTRY_HEADER_BYTES, type Era1Block, type Era1Reader } from './era1.ts'
import { Era1Accumulator } from './era1Accumulator.ts'
import { decodeHeader, type Header } from './header.ts'
import { decodeReceipts, type Receipt } from './receipt.ts'

/** A block of an era1 file, decoded and checked as far as this file does. */
export type Era1DecodedBlock = {
  readonly header: Header
  readonly body: Body
  readonly receipts: readonly Receipt[]
  readonly totalDifficulty: bigint
  /** Offset of the block's first entry in the file, for messages. */
  readonly offset: number
  /** Bytes of header and body as RLP. */
  readonly byteCount: number
}

export type Era1Summary = {
  readonly startNumber: number
  readonly count: number
  readonly firstHeader: Header
  readonly lastHeader: Header
  readonly totalDifficulty: bigint
  /** Whether the packed bytes are wholly the common writer's, so that no bit can have changed unseen. */
  readonly isFromWriter: boolean
}

/** `name-00000-5ec1ffb8.era1`: the last part is the start of the accumulator root. */
const NAME_PATTERN = /-\d+-([0-9a-f]{8})\.era1$/

/**
 * Verifies a whole file; it returns only if everything holds. `verifiedEra1Blocks` for whoever cannot do it at a stretch.
 * @param onBlock called with each block in order; what it throws ends the check
 * Cost: about 25 us a block on mainnet's first file. Memory: one block, and 32 bytes for each.
 * @throws VarveError ERA1_*, FILE_UNREADABLE
 */
export function verifyEra1(
  reader: Era1Reader,
  onBlock?: (block: Era1DecodedBlock) => void,
): Era1Summary {
  const blocks = verifiedEra1Blocks(reader)
  for (;;) {
    const step = blocks.next()
    if (step.done === true) return step.value
    onBlock?.(step.value)
  }
}

/**
 * Verifies a file block by block. What was yielded holds only as far as it went: the accumulator, which binds all
 * blocks, is checked after the last one. Cost and errors as `verifyEra1`.
 */
export function* verifiedEra1Blocks(
  reader: Era1Reader,
): Generator<Era1DecodedBlock, Era1Summary, undefined> {
  const writer = new WriterCheck()
  const accumulator = new Era1Accumulator()
  let offset = ENTRY_HEADER_BYTES
  let first: Header | undefined
  let before: Era1DecodedBlock | undefined
  for (let index = 0; index < reader.count; index++) {
    const number = reader.startNumber + index
    if (reader.offsetOf(index) !== offset)
      throw reader.fault(
        'ERA1_INDEX',
        reader.indexOffset,
        `offset ${offset} of the block in the index`,
        `${reader.offsetOf(index)}`,
        number,
      )
    const packed = reader.readBlockAt(offset, number, (entry, stream) =>
      writer.see(entry.offset, number, stream.isFromWriter),
    )
    const block = decodeEra1Block(reader, packed)
    checkChain(reader, block, number, before)
    accumulator.add(block.header.hash, block.totalDifficulty)
    yield block
    first ??= block.header
    before = block
    offset = packed.endOffset
  }
  if (offset !== reader.accumulatorOffset)
    throw reader.fault(
      'ERA1_ENTRY',
      offset,
      `the accumulator after ${reader.count} blocks`,
      `${reader.accumulatorOffset - offset} bytes before it`,
    )
  checkAccumulator(reader, accumulator.root())
  writer.conclude(reader)
  return {
    startNumber: reader.startNumber,
    count: reader.count,
    firstHeader: first!,
    lastHeader: before!.header,
    totalDifficulty: before!.totalDifficulty,
    isFromWriter: writer.foreignCount === 0,
  }
}

/** Decodes a block that was read without `verifyEra1`. @throws VarveError ERA1_CONTENT */
export function decodeEra1Block(reader: Era1Reader, packed: Era1Block): Era1DecodedBlock {
  const { number, offset, totalDifficulty } = packed
  const inContext = <Decoded>(what: string, decode: () => Decoded): Decoded => {
    try {
      return decode()
    } catch (error) {
      if (!(error instanceof VarveError)) throw error
      throw reader.fault('ERA1_CONTENT', offset, `a valid ${what}`, error.message, number, error)
    }
  }
  const header = inContext('header', () => decodeHeader(packed.header))
  const body = inContext('body', () => decodeBody(packed.body))
  const receipts = inContext('list of receipts', () => decodeReceipts(packed.receipts))
  const byteCount = packed.header.length + packed.body.length
  return { header, body, receipts, totalDifficulty, offset, byteCount }
}

function checkChain(
  reader: Era1Reader,
  block: Era1DecodedBlock,
  number: number,
  before: Era1DecodedBlock | undefined,
): void {
  const { header, body, receipts, totalDifficulty, offset } = block
  const expect = (
    code: 'ERA1_CHAIN' | 'ERA1_CONTENT',
    what: string,
    expected: string,
    found: string,
  ) => {
    if (expected !== found) throw reader.fault(code, offset, `${what} ${expected}`, found, number)
  }
  expect('ERA1_CHAIN', 'header number', `${number}`, `${header.number}`)
  if (before !== undefined && !bytesEqual(header.parentHash, before.header.hash))
    expect('ERA1_CHAIN', 'parent hash', toHex(before.header.hash), toHex(header.parentHash))
  if (body.uncles.length > 0 || !bytesEqual(header.uncleHash, EMPTY_LIST_HASH))
    expect('ERA1_CONTENT', 'uncle hash', toHex(header.uncleHash), toHex(uncleHashOf(body.uncles)))
  expect('ERA1_CONTENT', 'receipt count', `${body.transactions.length}`, `${receipts.length}`)
  if (body.withdrawals !== undefined)
    expect('ERA1_CONTENT', 'a body', 'without withdrawals', 'one with withdrawals')
  // The first block's parent is in the file before; its sum is bound by the accumulator all the same.
  const parentTotal =
    before?.totalDifficulty ?? (number === 0 ? 0n : totalDifficulty - header.difficulty)
  const expectedTotal = parentTotal + header.difficulty
  if (totalDifficulty !== expectedTotal || parentTotal < 0n)
    throw reader.fault(
      'ERA1_TOTAL_DIFFICULTY',
      offset,
      `total difficulty ${expectedTotal}`,
      `${totalDifficulty}`,
      number,
    )
}

function checkAccumulator(reader: Era1Reader, root: Uint8Array): void {
  const computed = toHex(root)
  const stated = toHex(reader.accumulator)
  if (stated !== computed)
    throw reader.fault(
      'ERA1_ACCUMULATOR',
      reader.accumulatorOffset,
      `accumulator ${computed} of these blocks`,
      stated,
    )
  const named = NAME_PATTERN.exec(reader.path)?.[1]
  if (named !== undefined && !computed.startsWith(`0x${named}`))
    throw reader.fault(
      'ERA1_ACCUMULATOR',
      reader.accumulatorOffset,
      `an accumulator that starts with 0x${named}, as the file's name says`,
      computed,
    )
}

/** Counts streams that are the common writer's own, and remembers the first that is not. */
class WriterCheck {
  ownCount = 0
  foreignCount = 0
  private firstForeign: { offset: number; number: number } | undefined

  see(offset: number, number: number, isOwn: boolean): void {
    if (isOwn) this.ownCount++
    else {
      this.foreignCount++
      this.firstForeign ??= { offset, number }
    }
  }

  /** One writer writes a whole file: where most streams are its own, a single other one was changed. */
  conclude(reader: Era1Reader): void {
    if (this.firstForeign === undefined || this.foreignCount > this.ownCount) return
    throw reader.fault(
      'ERA1_CHANGED',
      this.firstForeign.offset,
      'the packed bytes that the writer of this file makes',
      'others with the same meaning',
      this.firstForeign.number,
    )
  }
}
