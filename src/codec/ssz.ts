/**
 * SimpleSerialize, as far as payloads and witnesses need it: unsigned integers, booleans, byte vectors, byte lists,
 * lists of composite items, containers; decoded strictly, encoded, and hashed (consensus-specs,
 * ssz/simple-serialize).
 *
 *     container   fixed fields in place, of the others an offset (4 bytes, little-endian) ─▶ their bytes, in order
 *     list        items one after the other, or an offset each and then their bytes
 *
 * Written out here because the library for it brings a native hasher, and the forms needed are few.
 * Not here: lists of basic items, bit fields, unions, progressive lists.
 */
import { assert, VarveError } from '../base/index.ts'
import { sha256 } from './sha256.ts'

const OFFSET_BYTES = 4
const CHUNK_BYTES = 32

/** How values of one type are written, read and hashed. */
export type SszType<Value> = {
  /** Bytes of every value, or `undefined` where they vary. */
  readonly fixedBytes: number | undefined
  encode(value: Value): Uint8Array
  /** @param bytes exactly the value's. @param place for messages. @throws VarveError SSZ_INVALID */
  decode(bytes: Uint8Array, place: string): Value
  /** hash_tree_root, 32 bytes. */
  root(value: Value): Uint8Array
}

/** Type of the values of an `SszType`. */
export type SszValue<Type> = Type extends SszType<infer Value> ? Value : never

/** An unsigned integer of 1 to 32 bytes. */
export function sszUint(byteCount: number): SszType<bigint> {
  const encode = (value: bigint) => {
    const bytes = new Uint8Array(byteCount)
    let rest = value
    for (let index = 0; index < byteCount; index++, rest >>= 8n) bytes[index] = Number(rest & 0xffn)
    assert(rest === 0n, 'ssz: the integer fits its type')
    return bytes
  }
  return {
    fixedBytes: byteCount,
    encode,
    decode: (bytes, place) => {
      checkLength(bytes, byteCount, place)
      let value = 0n
      for (let index = byteCount - 1; index >= 0; index--)
        value = (value << 8n) | BigInt(bytes[index]!)
      return value
    },
    root: (value) => chunked(encode(value))[0]!,
  }
}

/** A byte that is 0 or 1. */
export const sszBoolean: SszType<boolean> = {
  fixedBytes: 1,
  encode: (value) => Uint8Array.of(value ? 1 : 0),
  decode: (bytes, place) => {
    checkLength(bytes, 1, place)
    if (bytes[0]! > 1) throw fault(place, 'the byte 0 or 1', `${bytes[0]}`)
    return bytes[0] === 1
  },
  root: (value) => chunked(Uint8Array.of(value ? 1 : 0))[0]!,
}

/** Exactly so many bytes. Decoded values are views. */
export function sszBytes(byteCount: number): SszType<Uint8Array> {
  return {
    fixedBytes: byteCount,
    encode: (value) => {
      assert(value.length === byteCount, 'ssz: the vector has its length')
      return value
    },
    decode: (bytes, place) => {
      checkLength(bytes, byteCount, place)
      return bytes
    },
    root: (value) => merkleRoot(chunked(value), Math.ceil(byteCount / CHUNK_BYTES)),
  }
}

/** Up to so many bytes. Decoded values are views. */
export function sszByteList(byteCountMax: number): SszType<Uint8Array> {
  return {
    fixedBytes: undefined,
    encode: (value) => value,
    decode: (bytes, place) => {
      if (bytes.length > byteCountMax)
        throw fault(place, `at most ${byteCountMax} bytes`, `${bytes.length}`)
      return bytes
    },
    root: (value) =>
      mixInLength(
        merkleRoot(value.length === 0 ? [] : chunked(value), Math.ceil(byteCountMax / CHUNK_BYTES)),
        value.length,
      ),
  }
}

/** Up to so many items, each with a root of its own. */
export function sszList<Value>(
  item: SszType<Value>,
  itemCountMax: number,
): SszType<readonly Value[]> {
  return {
    fixedBytes: undefined,
    encode: (values) => encodeParts(values.map((value) => ({ type: item, value }))),
    decode: (bytes, place) => {
      const parts = splitItems(bytes, item.fixedBytes, itemCountMax, place)
      return parts.map((part, index) => item.decode(part, `${place}[${index}]`))
    },
    root: (values) =>
      mixInLength(
        merkleRoot(
          values.map((value) => item.root(value)),
          itemCountMax,
        ),
        values.length,
      ),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: fields of different types in one record
type Fields = Readonly<Record<string, SszType<any>>>

/** Named fields, in the order given. */
export function sszContainer<Types extends Fields>(
  types: Types,
): SszType<{ readonly [Name in keyof Types]: SszValue<Types[Name]> }> {
  type Value = { readonly [Name in keyof Types]: SszValue<Types[Name]> }
  const names: readonly (keyof Types & string)[] = Object.keys(types)
  const isFixed = names.every((name) => types[name]!.fixedBytes !== undefined)
  const headBytes = names.reduce((sum, name) => sum + (types[name]!.fixedBytes ?? OFFSET_BYTES), 0)
  return {
    fixedBytes: isFixed ? headBytes : undefined,
    encode: (value) =>
      encodeParts(names.map((name) => ({ type: types[name]!, value: value[name] }))),
    decode: (bytes, place) => {
      const spans = splitFields(
        bytes,
        names.map((name) => types[name]!.fixedBytes),
        headBytes,
        place,
      )
      const entries = names.map((name, index) => [
        name,
        types[name]!.decode(spans[index]!, `${place}.${name}`),
      ])
      return Object.fromEntries(entries) as Value
    },
    root: (value) =>
      merkleRoot(
        names.map((name) => types[name]!.root(value[name])),
        names.length,
      ),
  }
}

/** Head of fixed values and offsets, then what the offsets name. */
function encodeParts(
  // biome-ignore lint/suspicious/noExplicitAny: parts of different types in one list
  parts: readonly { readonly type: SszType<any>; readonly value: unknown }[],
): Uint8Array {
  const encoded = parts.map(({ type, value }) => ({
    isFixed: type.fixedBytes !== undefined,
    bytes: type.encode(value),
  }))
  const headBytes = encoded.reduce(
    (sum, { isFixed, bytes }) => sum + (isFixed ? bytes.length : OFFSET_BYTES),
    0,
  )
  const tailBytes = encoded.reduce(
    (sum, { isFixed, bytes }) => sum + (isFixed ? 0 : bytes.length),
    0,
  )
  const target = new Uint8Array(headBytes + tailBytes)
  const words = new DataView(target.buffer)
  let head = 0
  let tail = headBytes
  for (const { isFixed, bytes } of encoded) {
    if (isFixed) {
      target.set(bytes, head)
      head += bytes.length
    } else {
      words.setUint32(head, tail, true)
      target.set(bytes, tail)
      head += OFFSET_BYTES
      tail += bytes.length
    }
  }
  return target
}

/** The bytes of each field. Offsets start right behind the head, never fall, and end with the bytes. */
function splitFields(
  bytes: Uint8Array,
  sizes: readonly (number | undefined)[],
  headBytes: number,
  place: string,
): Uint8Array[] {
  if (bytes.length < headBytes) throw fault(place, `at least ${headBytes} bytes`, `${bytes.length}`)
  const starts: number[] = []
  let head = 0
  for (const size of sizes) {
    if (size === undefined) starts.push(readOffset(bytes, head))
    head += size ?? OFFSET_BYTES
  }
  if (starts.length === 0) checkLength(bytes, headBytes, place)
  else checkOffsets(starts, headBytes, bytes.length, place)
  let next = 0
  head = 0
  return sizes.map((size) => {
    const start = size === undefined ? starts[next++]! : head
    const end = size === undefined ? (starts[next] ?? bytes.length) : head + size
    head += size ?? OFFSET_BYTES
    return bytes.subarray(start, end)
  })
}

/** The bytes of each item of a list. */
function splitItems(
  bytes: Uint8Array,
  itemBytes: number | undefined,
  itemCountMax: number,
  place: string,
): Uint8Array[] {
  if (bytes.length === 0) return []
  if (itemBytes === undefined && bytes.length < OFFSET_BYTES)
    throw fault(place, 'an offset', `${bytes.length} bytes`)
  const size = itemBytes ?? OFFSET_BYTES
  const headBytes = itemBytes === undefined ? readOffset(bytes, 0) : bytes.length
  if (headBytes === 0 || headBytes % size !== 0 || headBytes > bytes.length)
    throw fault(place, `a multiple of ${size} bytes of items or offsets`, `${headBytes}`)
  const count = headBytes / size
  if (count > itemCountMax) throw fault(place, `at most ${itemCountMax} items`, `${count}`)
  return splitFields(bytes, new Array(count).fill(itemBytes), headBytes, place)
}

function checkOffsets(
  starts: readonly number[],
  headBytes: number,
  byteCount: number,
  place: string,
): void {
  if (starts[0] !== headBytes) throw fault(place, `the first offset ${headBytes}`, `${starts[0]}`)
  let before = headBytes
  for (const start of starts) {
    if (start < before || start > byteCount)
      throw fault(place, `an offset from ${before} to ${byteCount}`, `${start}`)
    before = start
  }
}

function readOffset(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at, true)
}

/** Bytes in chunks of 32, the last filled up with zeros; at least one. */
function chunked(bytes: Uint8Array): Uint8Array[] {
  const chunks: Uint8Array[] = []
  for (let at = 0; at === 0 || at < bytes.length; at += CHUNK_BYTES) {
    const chunk = new Uint8Array(CHUNK_BYTES)
    chunk.set(bytes.subarray(at, at + CHUNK_BYTES))
    chunks.push(chunk)
  }
  return chunks
}

/**
 * Root of a binary tree over chunks of 32 bytes, filled up with zeros to the next power of two of `limit`.
 * Cost: one SHA-256 a chunk.
 */
export function merkleRoot(chunks: readonly Uint8Array[], limit: number): Uint8Array {
  let level = chunks
  let zero: Uint8Array = new Uint8Array(CHUNK_BYTES)
  for (let width = 1; width < limit; width *= 2) {
    const above: Uint8Array[] = []
    for (let index = 0; index < level.length; index += 2)
      above.push(sha256Pair(level[index]!, level[index + 1] ?? zero))
    zero = sha256Pair(zero, zero)
    level = above
  }
  return level[0] ?? zero
}

/** Root of a list from the root of its items. */
export function mixInLength(root: Uint8Array, length: number): Uint8Array {
  const chunk = new Uint8Array(CHUNK_BYTES)
  new DataView(chunk.buffer).setUint32(0, length, true)
  return sha256Pair(root, chunk)
}

const pair = new Uint8Array(2 * CHUNK_BYTES)

/** SHA-256 of two chunks, fresh. */
export function sha256Pair(left: Uint8Array, right: Uint8Array): Uint8Array {
  pair.set(left, 0)
  pair.set(right, CHUNK_BYTES)
  return sha256(pair)
}

function checkLength(bytes: Uint8Array, expected: number, place: string): void {
  if (bytes.length !== expected) throw fault(place, `${expected} bytes`, `${bytes.length}`)
}

function fault(place: string, expected: string, found: string): VarveError<SszErrorCode> {
  return new VarveError('SSZ_INVALID', `ssz: ${place}: expected ${expected}, got ${found}`, {
    place,
    expected,
    found,
  })
}

/** Error codes of this module. */
export type SszErrorCode =
  /** Bytes are no SSZ of the type expected. */
  'SSZ_INVALID'
