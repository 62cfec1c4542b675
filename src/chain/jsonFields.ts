/** Typed reads of JSON values in the forms that genesis files use, with the JSON path in every fault. */
import { fromBareHex, VarveError } from '../base/index.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './exactJson.ts'

/** A JSON object whose keys are found whatever their case, as geth reads them (`mixHash`, `mixhash`, `chainID`). */
export class JsonFields {
  readonly path: string
  private readonly values = new Map<string, JsonValue>()

  /** @throws VarveError GENESIS_FIELD_INVALID where two keys differ by case only */
  constructor(object: JsonObject, path: string) {
    this.path = path
    for (const [key, value] of object) {
      const folded = key.toLowerCase()
      if (this.values.has(folded)) throw fieldFault(this.pathOf(key), 'one key', 'two by case')
      // `null` means absent, as in the files that geth itself writes.
      if (value !== null) this.values.set(folded, value)
    }
  }

  get(key: string): JsonValue | undefined {
    return this.values.get(key.toLowerCase())
  }

  pathOf(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`
  }

  /** An unsigned integer of at most `bits` bits, or `undefined` where the key is absent. */
  quantity(key: string, bits: number): bigint | undefined {
    const value = this.get(key)
    return value === undefined ? undefined : readQuantity(value, bits, this.pathOf(key))
  }

  /** Bytes, of exactly `length` where it is given. */
  bytes(key: string, length?: number): Uint8Array | undefined {
    const value = this.get(key)
    return value === undefined ? undefined : readBytes(value, this.pathOf(key), length)
  }

  boolean(key: string): boolean | undefined {
    const value = this.get(key)
    if (value === undefined || typeof value === 'boolean') return value
    throw fieldFault(this.pathOf(key), 'true or false', shown(value))
  }

  object(key: string): JsonFields | undefined {
    const value = this.get(key)
    if (value === undefined) return undefined
    if (isJsonObject(value)) return new JsonFields(value, this.pathOf(key))
    throw fieldFault(this.pathOf(key), 'an object', shown(value))
  }
}

/**
 * Reads an unsigned integer from a JSON number of any size, a decimal string, or a hexadecimal string with `0x`
 * (leading zeros allowed; `0x` and the empty string are 0).
 * @throws VarveError GENESIS_FIELD_INVALID
 */
export function readQuantity(value: JsonValue, bits: number, path: string): bigint {
  let quantity: bigint | undefined
  if (typeof value === 'bigint') quantity = value
  else if (typeof value === 'string' && value.length <= 400) {
    if (/^(?:0[xX][0-9a-fA-F]+|[0-9]+)$/.test(value)) quantity = BigInt(value)
    else if (value === '' || value === '0x') quantity = 0n
  }
  if (quantity === undefined || quantity < 0n || quantity >> BigInt(bits) !== 0n)
    throw fieldFault(path, `an unsigned integer of at most ${bits} bits`, shown(value))
  return quantity
}

/** Reads hexadecimal bytes, with or without `0x`. @throws VarveError GENESIS_FIELD_INVALID */
export function readBytes(value: JsonValue, path: string, length?: number): Uint8Array {
  const wanted = length === undefined ? 'hexadecimal bytes' : `${length} hexadecimal bytes`
  if (typeof value !== 'string') throw fieldFault(path, wanted, shown(value))
  const start = value.startsWith('0x') || value.startsWith('0X') ? 2 : 0
  const digitCount = value.length - start
  if (digitCount % 2 !== 0 || (length !== undefined && digitCount !== length * 2))
    throw fieldFault(path, wanted, shown(value))
  try {
    return fromBareHex(value, start)
  } catch {
    throw fieldFault(path, wanted, shown(value))
  }
}

/** Reads up to 32 hexadecimal bytes, with or without `0x`, and fills them with zeros on the left. */
export function readWord(value: JsonValue, path: string): Uint8Array {
  const digits = typeof value === 'string' ? value.replace(/^0[xX]/, '') : ''
  if (typeof value !== 'string' || digits.length > 64)
    throw fieldFault(path, 'at most 32 hexadecimal bytes', shown(value))
  return readBytes(digits.padStart(64, '0'), path, 32)
}

/** @param expected what the place should hold */
export function fieldFault(
  path: string,
  expected: string,
  found: string,
): VarveError<GenesisFieldErrorCode> {
  return new VarveError(
    'GENESIS_FIELD_INVALID',
    `genesis, ${path === '' ? 'top level' : path}: expected ${expected}, found ${found}`,
    { path, expected, found },
  )
}

/** A value for a message, cut to a line. */
export function shown(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return 'none'
  if (isJsonObject(value)) return 'an object'
  if (Array.isArray(value)) return 'a list'
  const text = String(value)
  const cut = text.length > 80 ? `${text.slice(0, 80)}… (${text.length} characters)` : text
  return typeof value === 'string' ? `"${cut}"` : cut
}

/** Error codes of this module. */
export type GenesisFieldErrorCode =
  /** A place in a genesis file holds something else than it must; the message names its JSON path. */
  'GENESIS_FIELD_INVALID'
