/**
 * Typed reads of values of a test file, which is JSON that anybody may have written. Every fault names the place.
 * Numbers are strings: decimal or `0x` hexadecimal of any length, since some tests are about numbers that do not fit.
 */
import { fromBareHex, HASH_BYTES, VarveError } from '../../base/index.ts'

/** A parsed JSON object. */
export type JsonRecord = { readonly [key: string]: unknown }

/** Longest text of one number: more than any test needs, and no work to read. */
const NUMBER_CHAR_COUNT_MAX = 400

export function readObject(value: unknown, path: string): JsonRecord {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as JsonRecord
  throw invalid(path, 'an object', value)
}

export function readList(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw invalid(path, 'a list', value)
}

export function readText(value: unknown, path: string): string {
  if (typeof value === 'string') return value
  throw invalid(path, 'a string', value)
}

/** An unsigned integer, as text or as a JSON number that is exact. `0x:bigint ` is how retesteth marks long ones. */
export function readInteger(value: unknown, path: string): bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  if (typeof value === 'string' && value.length <= NUMBER_CHAR_COUNT_MAX) {
    const text = value.startsWith('0x:bigint ') ? value.slice(10) : value
    if (text === '' || text === '0x') return 0n
    if (/^(?:0x[0-9a-f]+|[0-9]+)$/i.test(text)) return BigInt(text)
  }
  throw invalid(path, 'an unsigned integer', value)
}

/** An unsigned integer of at most `bits` bits. */
export function readUint(value: unknown, bits: number, path: string): bigint {
  const integer = readInteger(value, path)
  if (integer >> BigInt(bits) === 0n) return integer
  throw invalid(path, `an unsigned integer of at most ${bits} bits`, value)
}

/** Bytes of any length; `0x` may be missing. */
export function readBytes(value: unknown, path: string): Uint8Array {
  const text = readText(value, path)
  const start = /^0x/i.test(text) ? 2 : 0
  if ((text.length - start) % 2 !== 0) throw invalid(path, 'hexadecimal bytes', value)
  try {
    return fromBareHex(text, start)
  } catch {
    throw invalid(path, 'hexadecimal bytes', value)
  }
}

/** Bytes of one length. */
export function readFixed(value: unknown, length: number, path: string): Uint8Array {
  const bytes = readBytes(value, path)
  if (bytes.length === length) return bytes
  throw invalid(path, `${length} hexadecimal bytes`, value)
}

/** A 32-byte word, which may be written without its leading zeros. */
export function readWord(value: unknown, path: string): Uint8Array {
  const digits = readText(value, path).replace(/^0x/i, '')
  if (digits.length > 2 * HASH_BYTES) throw invalid(path, 'at most 32 hexadecimal bytes', value)
  return readFixed(digits.padStart(2 * HASH_BYTES, '0'), HASH_BYTES, path)
}

/** An index into a list: a small number. */
export function readIndex(value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw invalid(path, 'an index', value)
}

export function invalid(
  path: string,
  expected: string,
  found: unknown,
): VarveError<JsonValueErrorCode> {
  const text = found === undefined ? 'nothing' : JSON.stringify(found)
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text
  return new VarveError('TESTFILE_INVALID', `test ${path}: expected ${expected}, found ${shown}`, {
    path,
    expected,
  })
}

/** Error codes of this module. */
export type JsonValueErrorCode =
  /** A test lacks a field or holds something else there; the message names the place. */
  'TESTFILE_INVALID'
