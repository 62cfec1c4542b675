/**
 * Reading JSON values as geth's tools do: numbers are hexadecimal or decimal text or JSON numbers, `null` is absent,
 * bytes are hexadecimal with or without `0x`. Faults end the command with the JSON exit code and name the place.
 */
import { ADDRESS_BYTES, fromBareHex, HASH_BYTES } from '../../base/index.ts'
import { T8nExit, T8nFault } from './t8nFault.ts'

export type JsonRecord = { readonly [key: string]: unknown }

/** Digits of the longest number of 256 bits, with some room. */
const NUMBER_CHAR_COUNT_MAX = 80

export function readRecord(value: unknown, path: string): JsonRecord {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as JsonRecord
  throw badValue(path, 'an object', value)
}

export function readItems(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw badValue(path, 'a list', value)
}

/** An unsigned number of at most `bits`. */
export function readNumber(value: unknown, path: string, bits = 256): bigint {
  const number = numberOf(value)
  if (number === undefined || number >= 1n << BigInt(bits))
    throw badValue(path, `a number of at most ${bits} bits`, value)
  return number
}

function numberOf(value: unknown): bigint | undefined {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
  if (typeof value !== 'string' || value.length > NUMBER_CHAR_COUNT_MAX) return undefined
  if (value === '' || value === '0x') return 0n
  return /^(?:0x[0-9a-f]+|[0-9]+)$/i.test(value) ? BigInt(value) : undefined
}

export function readHexBytes(value: unknown, path: string, length?: number): Uint8Array {
  if (typeof value !== 'string') throw badValue(path, 'hexadecimal bytes', value)
  const digits = value.replace(/^0x/i, '')
  const isHex = digits.length % 2 === 0 && /^[0-9a-f]*$/i.test(digits)
  const bytes = isHex ? fromBareHex(digits) : undefined
  if (bytes === undefined || (length !== undefined && bytes.length !== length))
    throw badValue(path, length === undefined ? 'hexadecimal bytes' : `${length} bytes`, value)
  return bytes
}

export function readAddress(value: unknown, path: string): Uint8Array {
  return readHexBytes(value, path, ADDRESS_BYTES)
}

export function readHash(value: unknown, path: string): Uint8Array {
  return readHexBytes(value, path, HASH_BYTES)
}

/** Members of an object; `null` counts as absent. */
export class Fields {
  private readonly record: JsonRecord
  private readonly path: string
  /** Name of the whole in messages about missing members. */
  private readonly kind: string

  constructor(value: unknown, path: string, kind: string) {
    this.record = readRecord(value, path)
    this.path = path
    this.kind = kind
  }

  /** A member that may be missing. */
  optional<Value>(key: string, read: (value: unknown, path: string) => Value): Value | undefined {
    const value = Object.hasOwn(this.record, key) ? this.record[key] : undefined
    return value === undefined || value === null ? undefined : read(value, `${this.path}.${key}`)
  }

  /** A member that must be there, with geth's words where it is not. */
  required<Value>(key: string, read: (value: unknown, path: string) => Value): Value {
    const value = this.optional(key, read)
    if (value === undefined)
      throw new T8nFault(T8nExit.Json, `missing required field '${key}' ${this.kind}`)
    return value
  }

  number(key: string, bits = 256): bigint | undefined {
    return this.optional(key, (value, path) => readNumber(value, path, bits))
  }
}

function badValue(path: string, expected: string, found: unknown): T8nFault {
  const text = JSON.stringify(found) ?? 'nothing'
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text
  return new T8nFault(T8nExit.Json, `${path}: expected ${expected}, found ${shown}`)
}
