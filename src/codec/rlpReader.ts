/**
 * Strict RLP reading without building trees. A cursor walks over bytes that it does not copy: every byte string it
 * returns is a view of the input, which must stay unchanged for as long as the view lives.
 * Writing, and trees for callers that want them, are in `rlp.ts`.
 *
 * The header of an item, by its first byte (Yellow Paper, appendix B):
 *
 *   00..7f  the byte itself             b8..bf  string, 1 to 8 length bytes, length above 55
 *   80..b7  string of 0 to 55 bytes     f8..ff  list, likewise
 *   c0..f7  list of 0 to 55 bytes
 *
 * Each value has exactly one encoding. Any other one is refused with the offset of its first byte.
 */
import { EMPTY_BYTES, VarveError } from '../base/index.ts'

/** First byte past which an item is a list. */
const LIST_BASE = 0xc0
const STRING_BASE = 0x80
/** Longest payload whose length fits into the first byte. */
const SHORT_LENGTH_MAX = 55

/**
 * Walks over RLP items between two offsets. Every method that reads moves past what it read.
 * Each takes `what`, the name of the field, for the message of an error.
 * Cost: no allocation except the views that are returned.
 */
export class RlpReader {
  readonly bytes: Uint8Array
  /** Offset of the next item's first byte. */
  position: number
  /** Offset just past the list, or the input, that is being read. */
  end: number
  /** Payload of the item whose header was read last. */
  private payloadStart = 0
  private payloadEnd = 0

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes
    this.position = start
    this.end = end
  }

  /** Whether the current list (or the input) has no further item. */
  get atEnd(): boolean {
    return this.position >= this.end
  }

  /** Whether the next item is a list; false at the end. */
  get nextIsList(): boolean {
    return this.position < this.end && this.bytes[this.position]! >= LIST_BASE
  }

  /** Enters a list. Returns the end of what encloses it, to be handed to `closeList`. */
  openList(what: string): number {
    const offset = this.position
    if (!this.readItem(what)) throw this.kindFault(offset, what, 'a list', 'a byte string')
    const outerEnd = this.end
    this.position = this.payloadStart
    this.end = this.payloadEnd
    return outerEnd
  }

  /** Leaves a list that was read to its end. @throws VarveError RLP_LIST_LONG where items are left over */
  closeList(outerEnd: number, what: string): void {
    if (this.position !== this.end)
      throw rlpFault('RLP_LIST_LONG', this.position, what, 'the end of the list', 'a further item')
    this.end = outerEnd
  }

  /** Ends the reading of the input. @throws VarveError RLP_TRAILING where bytes are left over */
  finish(what: string): void {
    if (this.position !== this.end)
      throw rlpFault(
        'RLP_TRAILING',
        this.position,
        what,
        'the end of the input',
        `${this.end - this.position} further bytes`,
      )
  }

  /** Reads a byte string of any length; a view. */
  readBytes(what: string): Uint8Array {
    const offset = this.position
    if (this.readItem(what)) throw this.kindFault(offset, what, 'a byte string', 'a list')
    return this.payloadStart === this.payloadEnd
      ? EMPTY_BYTES
      : this.bytes.subarray(this.payloadStart, this.payloadEnd)
  }

  /** Reads a byte string of exactly `length` bytes; a view. */
  readFixed(length: number, what: string): Uint8Array {
    const offset = this.position
    const value = this.readBytes(what)
    if (value.length !== length)
      throw rlpFault('RLP_LENGTH', offset, what, `${length} bytes`, `${value.length} bytes`)
    return value
  }

  /** Reads an address, or `undefined` for the empty string (creation of a contract). */
  readFixedOrEmpty(length: number, what: string): Uint8Array | undefined {
    const offset = this.position
    const value = this.readBytes(what)
    if (value.length === 0) return undefined
    if (value.length !== length)
      throw rlpFault('RLP_LENGTH', offset, what, `0 or ${length} bytes`, `${value.length} bytes`)
    return value
  }

  /** Reads an unsigned integer of at most 2^53-1. */
  readUint(what: string): number {
    const offset = this.position
    const length = this.readIntegerItem(what)
    // Seven bytes reach 2^56, which is exact enough to compare: doubles above 2^53 stay above it.
    let value = 0
    if (length <= 7)
      for (let index = this.payloadStart; index < this.payloadEnd; index++)
        value = value * 256 + this.bytes[index]!
    if (length > 7 || value > Number.MAX_SAFE_INTEGER)
      throw rlpFault('RLP_RANGE', offset, what, 'at most 2^53-1', `an integer of ${length} bytes`)
    return value
  }

  /** Reads an unsigned integer of at most `bytesMax` bytes. */
  readBigint(bytesMax: number, what: string): bigint {
    const offset = this.position
    const length = this.readIntegerItem(what)
    if (length > bytesMax)
      throw rlpFault('RLP_RANGE', offset, what, `at most ${bytesMax} bytes`, `${length} bytes`)
    const { bytes, payloadEnd } = this
    let at = this.payloadStart
    let value = 0n
    // Six bytes at a time are exact in a double and cost one bigint step.
    while (at < payloadEnd) {
      const stepCount = (payloadEnd - at) % 6 || 6
      let small = 0
      for (const stepEnd = at + stepCount; at < stepEnd; at++) small = small * 256 + bytes[at]!
      value = value === 0n ? BigInt(small) : (value << 48n) | BigInt(small)
    }
    return value
  }

  /** Reads one item whole, header included, without looking inside it; a view. */
  readRaw(what: string): Uint8Array {
    const start = this.position
    this.readItem(what)
    return this.bytes.subarray(start, this.position)
  }

  /** Reads an integer's header, refuses leading zeros, and returns its length in bytes. */
  private readIntegerItem(what: string): number {
    const offset = this.position
    if (this.readItem(what)) throw this.kindFault(offset, what, 'an integer', 'a list')
    const length = this.payloadEnd - this.payloadStart
    if (length > 0 && this.bytes[this.payloadStart] === 0)
      throw rlpFault('RLP_LEADING_ZERO', offset, what, 'no leading zero', 'a zero byte')
    return length
  }

  /** Checks one item's header, moves past the item, and returns whether it is a list. */
  private readItem(what: string): boolean {
    const { bytes, position, end } = this
    if (position >= end)
      throw rlpFault('RLP_ITEM_MISSING', position, what, 'an item', 'the end of the list')
    const first = bytes[position]!
    if (first < STRING_BASE) {
      this.payloadStart = position
      this.payloadEnd = this.position = position + 1
      return false
    }
    const isList = first >= LIST_BASE
    const lengthShort = first - (isList ? LIST_BASE : STRING_BASE)
    const payloadStart = position + 1
    if (lengthShort > SHORT_LENGTH_MAX)
      return this.readLongItem(what, lengthShort - SHORT_LENGTH_MAX, isList)
    const payloadEnd = payloadStart + lengthShort
    if (payloadEnd > end) throw overrunFault(position, what, lengthShort, end - payloadStart)
    if (!isList && lengthShort === 1 && bytes[payloadStart]! < STRING_BASE)
      throw rlpFault(
        'RLP_NON_CANONICAL',
        position,
        what,
        'a byte below 0x80 to stand for itself',
        'the prefix 0x81',
      )
    this.payloadStart = payloadStart
    this.payloadEnd = this.position = payloadEnd
    return isList
  }

  private readLongItem(what: string, widthBytes: number, isList: boolean): boolean {
    const { bytes, position, end } = this
    const payloadStart = position + 1 + widthBytes
    if (payloadStart > end) throw overrunFault(position, what, widthBytes, end - position - 1)
    if (bytes[position + 1] === 0)
      throw rlpFault(
        'RLP_NON_CANONICAL',
        position,
        what,
        'a length without leading zero',
        'a zero byte',
      )
    // Eight bytes may round, but any value above 2^53 is past the end all the same.
    let length = 0
    for (let at = position + 1; at < payloadStart; at++) length = length * 256 + bytes[at]!
    if (length <= SHORT_LENGTH_MAX)
      throw rlpFault(
        'RLP_NON_CANONICAL',
        position,
        what,
        'the short form for a length up to 55',
        `the long form for ${length}`,
      )
    if (length > end - payloadStart) throw overrunFault(position, what, length, end - payloadStart)
    this.payloadStart = payloadStart
    this.payloadEnd = this.position = payloadStart + length
    return isList
  }

  private kindFault(offset: number, what: string, expected: string, found: string): VarveError {
    return rlpFault('RLP_KIND', offset, what, expected, found)
  }
}

/** Builds the error of a field; for decoders of this folder that find a fault in an item's meaning. */
export function rlpFault(
  code: RlpErrorCode,
  offset: number,
  what: string,
  expected: string,
  found: string,
): VarveError<RlpErrorCode> {
  return new VarveError(
    code,
    `RLP at byte ${offset} (${what}): expected ${expected}, got ${found}`,
    {
      offset,
      field: what,
      expected,
      found,
    },
  )
}

function overrunFault(offset: number, what: string, wanted: number, left: number): VarveError {
  return rlpFault('RLP_OVERRUN', offset, what, `${wanted} bytes`, `${Math.max(left, 0)} left`)
}

/** Error codes of this module. All carry `offset`, the byte at which the item starts. */
export type RlpErrorCode =
  /** A length or single byte is not in its only valid form. */
  | 'RLP_NON_CANONICAL'
  /** An item reaches past the end of its list or of the input. */
  | 'RLP_OVERRUN'
  /** Bytes follow the last item. */
  | 'RLP_TRAILING'
  /** A list stands where a byte string belongs, or the reverse. */
  | 'RLP_KIND'
  /** A list ends before a field that must be there. */
  | 'RLP_ITEM_MISSING'
  /** A list holds more fields than it may. */
  | 'RLP_LIST_LONG'
  /** A byte string of fixed length has another one. */
  | 'RLP_LENGTH'
  /** An integer starts with a zero byte. */
  | 'RLP_LEADING_ZERO'
  /** An integer is larger than its field allows. */
  | 'RLP_RANGE'
  /** Lists are nested deeper than the limit. */
  | 'RLP_DEPTH'
  /** An item is longer than the limit. */
  | 'RLP_TOO_LARGE'
