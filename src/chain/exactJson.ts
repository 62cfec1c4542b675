/**
 * A JSON reader for files whose numbers go above 2^53: `JSON.parse` would round them in silence.
 * Objects become `Map`s, so a key such as `__proto__` is only a key. A key given twice is refused, since readers
 * disagree on which one counts. Depth and size are bounded. RFC 8259.
 * Not here: writing, streaming, comments.
 */
import { VarveError } from '../base/index.ts'

/** A number literal that denotes an integer becomes a bigint whatever its form (`1e18` too); others a `number`. */
export type JsonValue =
  | string
  | bigint
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | JsonObject
export type JsonObject = ReadonlyMap<string, JsonValue>

/** Nesting that is followed: genesis files need 5. */
const DEPTH_MAX = 64
/** Decimal digits of one integer: 2^256 has 78. */
const DIGIT_COUNT_MAX = 100

const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids these very characters inside strings
const plainPattern = /[^"\\\u0000-\u001f]*/y
const spacePattern = /[ \t\r\n]*/y
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/**
 * Reads one JSON value that fills the text. Cost: one pass; memory a small multiple of the text.
 * @param charCountMax longest text that is read at all
 * @throws VarveError JSON_INVALID | JSON_TOO_LARGE, naming the character
 */
export function parseExactJson(text: string, charCountMax: number): JsonValue {
  if (text.length > charCountMax)
    throw new VarveError<JsonErrorCode>(
      'JSON_TOO_LARGE',
      `JSON text has ${text.length} characters, at most ${charCountMax} are read`,
      { length: text.length, limit: charCountMax },
    )
  const cursor: Cursor = { text, at: text.charCodeAt(0) === 0xfeff ? 1 : 0 }
  const value = readValue(cursor, 0)
  skipSpace(cursor)
  if (cursor.at !== text.length) throw fault(cursor, 'expected the end of the text')
  return value
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof Map
}

type Cursor = { readonly text: string; at: number }

function readValue(cursor: Cursor, depth: number): JsonValue {
  if (depth > DEPTH_MAX) throw fault(cursor, `expected at most ${DEPTH_MAX} levels`)
  skipSpace(cursor)
  switch (cursor.text[cursor.at]) {
    case '{':
      return readObject(cursor, depth)
    case '[':
      return readArray(cursor, depth)
    case '"':
      return readString(cursor)
    case 't':
      return readWord(cursor, 'true', true)
    case 'f':
      return readWord(cursor, 'false', false)
    case 'n':
      return readWord(cursor, 'null', null)
    default:
      return readNumber(cursor)
  }
}

function readObject(cursor: Cursor, depth: number): JsonObject {
  const object = new Map<string, JsonValue>()
  cursor.at++
  if (takeMark(cursor, '}')) return object
  do {
    skipSpace(cursor)
    if (cursor.text[cursor.at] !== '"') throw fault(cursor, 'expected a key in quotes')
    const keyAt = cursor.at
    const key = readString(cursor)
    if (object.has(key)) {
      cursor.at = keyAt
      throw fault(cursor, `key "${key.slice(0, 80)}" is given twice`)
    }
    if (!takeMark(cursor, ':')) throw fault(cursor, 'expected ":"')
    object.set(key, readValue(cursor, depth + 1))
  } while (takeMark(cursor, ','))
  if (!takeMark(cursor, '}')) throw fault(cursor, 'expected "," or "}"')
  return object
}

function readArray(cursor: Cursor, depth: number): JsonValue[] {
  const values: JsonValue[] = []
  cursor.at++
  if (takeMark(cursor, ']')) return values
  do values.push(readValue(cursor, depth + 1))
  while (takeMark(cursor, ','))
  if (!takeMark(cursor, ']')) throw fault(cursor, 'expected "," or "]"')
  return values
}

function readString(cursor: Cursor): string {
  cursor.at++
  let value = takePattern(cursor, plainPattern)
  while (cursor.text[cursor.at] === '\\') {
    const kind = cursor.text[cursor.at + 1] ?? ''
    if (kind === 'u') {
      const digits = cursor.text.slice(cursor.at + 2, cursor.at + 6)
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw fault(cursor, 'expected four hex digits')
      value += String.fromCharCode(Number.parseInt(digits, 16))
      cursor.at += 6
    } else {
      const escaped = Object.hasOwn(ESCAPES, kind) ? ESCAPES[kind] : undefined
      if (escaped === undefined) throw fault(cursor, 'expected an escape of JSON')
      value += escaped
      cursor.at += 2
    }
    value += takePattern(cursor, plainPattern)
  }
  if (cursor.text[cursor.at] !== '"') throw fault(cursor, 'expected the end of a string')
  cursor.at++
  return value
}

function readNumber(cursor: Cursor): bigint | number {
  const literal = takePattern(cursor, numberPattern)
  if (literal === '') throw fault(cursor, 'expected a JSON value')
  const [mantissa, exponentText = '0'] = literal.toLowerCase().split('e') as [string, string?]
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?]
  const decimals = fraction.replace(/0+$/, '')
  const exponent = Number(exponentText) - decimals.length
  if (exponent < 0) return Number(literal)
  if (whole.length + decimals.length + exponent > DIGIT_COUNT_MAX)
    throw fault(cursor, `expected a number of at most ${DIGIT_COUNT_MAX} digits`)
  return BigInt(whole + decimals + '0'.repeat(exponent))
}

function readWord<Value>(cursor: Cursor, word: string, value: Value): Value {
  if (!cursor.text.startsWith(word, cursor.at)) throw fault(cursor, 'expected a JSON value')
  cursor.at += word.length
  return value
}

function takeMark(cursor: Cursor, mark: string): boolean {
  skipSpace(cursor)
  if (cursor.text[cursor.at] !== mark) return false
  cursor.at++
  return true
}

function skipSpace(cursor: Cursor): void {
  takePattern(cursor, spacePattern)
}

/** Takes what a sticky pattern matches here; nothing where it does not match. */
function takePattern(cursor: Cursor, pattern: RegExp): string {
  pattern.lastIndex = cursor.at
  const taken = pattern.exec(cursor.text)?.[0] ?? ''
  cursor.at += taken.length
  return taken
}

function fault(cursor: Cursor, problem: string): VarveError<JsonErrorCode> {
  const line = cursor.text.slice(0, cursor.at).split('\n').length
  return new VarveError('JSON_INVALID', `JSON, character ${cursor.at} (line ${line}): ${problem}`, {
    position: cursor.at,
    line,
  })
}

/** Error codes of this module. */
export type JsonErrorCode =
  /** The text is not JSON, nests too deep, has a number too long, or gives a key twice. */
  | 'JSON_INVALID'
  /** The text is longer than its reader allows. */
  | 'JSON_TOO_LARGE'
