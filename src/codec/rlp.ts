/**
 * RLP as values: any nesting of lists to bytes and back. The encoder measures first and then writes into one buffer,
 * so it makes no intermediate copies. Decoders of known shapes use `RlpReader` instead, which builds no tree.
 */
import {
  bigintByteCount,
  RLP_DEPTH_MAX,
  RLP_ITEM_BYTES_MAX,
  writeMinimalBigint,
} from '../base/index.ts'
import { RlpReader, rlpFault } from './rlpReader.ts'

/** What decoding yields: a byte string or a list. */
export type RlpItem = Uint8Array | readonly RlpItem[]

/** Bytes that are RLP already and are copied as they are. */
export type RlpRaw = { readonly raw: Uint8Array }

/**
 * What can be encoded: byte strings, unsigned integers (numbers up to 2^53-1, bigints of any size), lists, and
 * finished RLP.
 */
export type RlpInput = Uint8Array | number | bigint | RlpRaw | readonly RlpInput[]

/** Encodes one item. Cost: one pass to measure, one to write, one buffer. */
export function encodeRlp(item: RlpInput): Uint8Array {
  return encodeRlpWithPrefix(item)
}

/**
 * Encodes one item with one byte in front of it: the type of an EIP-2718 envelope.
 * @param prefix 0 to 127, or `undefined` for none
 */
export function encodeRlpWithPrefix(item: RlpInput, prefix?: number): Uint8Array {
  const plan: Plan = { lengths: [], lengthIndex: 0 }
  const prefixBytes = prefix === undefined ? 0 : 1
  const target = new Uint8Array(prefixBytes + measure(item, plan))
  if (prefix !== undefined) target[0] = prefix
  write(item, plan, target, prefixBytes)
  return target
}

/**
 * Decodes exactly one item, strictly. Byte strings are views of `bytes`.
 * @throws VarveError RLP_* with the offset of the first wrong byte; RLP_DEPTH past 32 nested lists;
 *   RLP_TOO_LARGE above 16 MiB
 */
export function decodeRlp(bytes: Uint8Array): RlpItem {
  if (bytes.length > RLP_ITEM_BYTES_MAX)
    throw rlpFault(
      'RLP_TOO_LARGE',
      0,
      'input',
      `at most ${RLP_ITEM_BYTES_MAX} bytes`,
      `${bytes.length} bytes`,
    )
  const reader = new RlpReader(bytes)
  const item = readTree(reader, 0)
  reader.finish('input')
  return item
}

/** Length in bytes of the header that precedes a string or list payload of `length` bytes. */
export function rlpHeaderBytes(length: number): number {
  return length <= 55 ? 1 : 1 + uintBytes(length)
}

/** Writes the header of a list of `length` payload bytes; returns the offset after it. */
export function writeRlpListHeader(target: Uint8Array, offset: number, length: number): number {
  return writeHeader(target, offset, length, 0xc0)
}

/** Bytes that a byte string takes as RLP. */
export function rlpBytesLength(bytes: Uint8Array): number {
  return measureBytes(bytes)
}

/** Writes a byte string; returns the offset after it. */
export function writeRlpBytes(target: Uint8Array, offset: number, bytes: Uint8Array): number {
  return writeBytes(target, offset, bytes)
}

/** Bytes that an unsigned integer takes as RLP. */
export function rlpIntegerLength(value: bigint): number {
  if (value < 0x80n && value >= 0n) return 1
  const length = bigintByteCount(value)
  return rlpHeaderBytes(length) + length
}

/** Writes an unsigned integer; returns the offset after it. */
export function writeRlpInteger(target: Uint8Array, offset: number, value: bigint): number {
  if (value > 0n && value < 0x80n) {
    target[offset] = Number(value)
    return offset + 1
  }
  return writeMinimalBigint(
    target,
    writeHeader(target, offset, bigintByteCount(value), 0x80),
    value,
  )
}

/** Bytes that `value` (0 to 2^53-1) takes without leading zeros; 0 for 0. */
function uintBytes(value: number): number {
  let count = 0
  for (let rest = value; rest >= 1; rest = Math.floor(rest / 256)) count++
  return count
}

function readTree(reader: RlpReader, depth: number): RlpItem {
  if (!reader.nextIsList) return reader.readBytes('item')
  if (depth === RLP_DEPTH_MAX)
    throw rlpFault(
      'RLP_DEPTH',
      reader.position,
      'item',
      `at most ${RLP_DEPTH_MAX} nested lists`,
      'one more',
    )
  const outerEnd = reader.openList('item')
  const list: RlpItem[] = []
  while (!reader.atEnd) list.push(readTree(reader, depth + 1))
  reader.closeList(outerEnd, 'item')
  return list
}

/** What measuring learned of lists, in the order of the walk, so that writing does not learn it again. */
type Plan = {
  /** Payload length of each list. */
  readonly lengths: number[]
  lengthIndex: number
}

function measure(item: RlpInput, plan: Plan): number {
  if (item instanceof Uint8Array) return measureBytes(item)
  if (typeof item === 'number') {
    if (!Number.isSafeInteger(item) || item < 0)
      throw new RangeError('RLP integers are 0 to 2^53-1')
    return item < 0x80 ? 1 : 1 + uintBytes(item)
  }
  if (typeof item === 'bigint') return rlpIntegerLength(item)
  if ('raw' in item) return item.raw.length
  const slot = plan.lengths.push(0) - 1
  let length = 0
  for (const inner of item) length += measure(inner, plan)
  plan.lengths[slot] = length
  return rlpHeaderBytes(length) + length
}

function measureBytes(bytes: Uint8Array): number {
  const { length } = bytes
  return length === 1 && bytes[0]! < 0x80 ? 1 : rlpHeaderBytes(length) + length
}

function write(item: RlpInput, plan: Plan, target: Uint8Array, offset: number): number {
  if (item instanceof Uint8Array) return writeBytes(target, offset, item)
  if (typeof item === 'number') return writeNumber(target, offset, item)
  if (typeof item === 'bigint') return writeRlpInteger(target, offset, item)
  if ('raw' in item) {
    target.set(item.raw, offset)
    return offset + item.raw.length
  }
  let at = writeHeader(target, offset, plan.lengths[plan.lengthIndex++]!, 0xc0)
  for (const inner of item) at = write(inner, plan, target, at)
  return at
}

function writeBytes(target: Uint8Array, offset: number, bytes: Uint8Array): number {
  const { length } = bytes
  if (length === 1 && bytes[0]! < 0x80) {
    target[offset] = bytes[0]!
    return offset + 1
  }
  const at = writeHeader(target, offset, length, 0x80)
  target.set(bytes, at)
  return at + length
}

function writeNumber(target: Uint8Array, offset: number, value: number): number {
  if (value === 0) target[offset] = 0x80
  else if (value < 0x80) target[offset] = value
  else {
    const width = uintBytes(value)
    target[offset] = 0x80 + width
    writeBigEndian(target, offset + 1, value, width)
    return offset + 1 + width
  }
  return offset + 1
}

function writeHeader(target: Uint8Array, offset: number, length: number, base: number): number {
  if (length <= 55) {
    target[offset] = base + length
    return offset + 1
  }
  const width = uintBytes(length)
  target[offset] = base + 55 + width
  writeBigEndian(target, offset + 1, length, width)
  return offset + 1 + width
}

function writeBigEndian(target: Uint8Array, offset: number, value: number, width: number): void {
  let rest = value
  for (let at = offset + width - 1; at >= offset; at--) {
    target[at] = rest % 256
    rest = Math.floor(rest / 256)
  }
}
