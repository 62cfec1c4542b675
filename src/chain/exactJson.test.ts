/** The JSON reader against `JSON.parse` where the two must agree, and on what `JSON.parse` gets wrong or lets pass. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isVarveError } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { isJsonObject, type JsonValue, parseExactJson } from './exactJson.ts'

const LIMIT = 1 << 20

/** The value as `JSON.parse` would give it. */
function plain(value: JsonValue): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (isJsonObject(value))
    return Object.fromEntries([...value].map(([key, inner]) => [key, plain(inner)]))
  return Array.isArray(value) ? value.map(plain) : value
}

function randomValue(random: Prng, depth: number): unknown {
  const kind = random.below(depth > 4 ? 5 : 7)
  if (kind === 0) return null
  if (kind === 1) return random.oneIn(2)
  if (kind === 2) return random.between(-1000, 1_000_000)
  if (kind === 3) return random.below(1000) / 8
  if (kind === 4) return random.pick(['', 'a"b\\c\n', '\u2028é😀', '/\t\u0001', 'plain'])
  const length = random.below(4)
  if (kind === 5) return Array.from({ length }, () => randomValue(random, depth + 1))
  return Object.fromEntries(
    Array.from({ length }, (_, index) => [`k${index}"`, randomValue(random, depth + 1)]),
  )
}

test('agrees with JSON.parse on random documents', () => {
  const random = new Prng(11)
  for (let round = 0; round < 2000; round++) {
    const value = randomValue(random, 0)
    const text = JSON.stringify(value, undefined, random.below(3))
    assert.deepEqual(plain(parseExactJson(text, LIMIT)), value, `seed 11, round ${round}`)
  }
})

test('agrees with JSON.parse on which texts are JSON at all', () => {
  const random = new Prng(12)
  const base = '{"a": [1, -2.5e1, "x\\u0041\\n", true, null], "b": {"c": false}}'
  let refusedCount = 0
  for (let round = 0; round < 5000; round++) {
    const at = random.below(base.length)
    const insert = random.pick(['', '"', ',', '0', '{', '}', '\\', '-', ' ', ']', 'e', '\n', '.'])
    const text = base.slice(0, at) + insert + base.slice(at + random.below(2))
    let isJson = true
    try {
      JSON.parse(text)
    } catch {
      isJson = false
    }
    let isRead = true
    try {
      parseExactJson(text, LIMIT)
    } catch (error) {
      assert.ok(isVarveError(error, 'JSON_INVALID'), String(error))
      isRead = false
      refusedCount++
    }
    assert.equal(isRead, isJson, text)
  }
  assert.ok(refusedCount > 1000)
})

test('integers are exact in every form', () => {
  const read = (text: string) => parseExactJson(text, LIMIT)
  assert.equal(read('58750000000000000000001'), 58_750_000_000_000_000_000_001n)
  assert.equal(read('5.875e22'), 58_750_000_000_000_000_000_000n)
  assert.equal(read('1E+3'), 1000n)
  assert.equal(read('12.00'), 12n)
  assert.equal(read('-7'), -7n)
  assert.equal(read('1.5'), 1.5)
  assert.equal(read(' \ufeff1'.trim()), 1n)
})

test('refuses what is hostile or ambiguous, with the place', () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['{"a": 1, "a": 2}', /character 9 .*"a" is given twice/],
    ['1e1000000000', /at most 100 digits/],
    [`${'['.repeat(70)}`, /at most 64 levels/],
    ['{"a" 1}', /expected ":"/],
    ['{"a": 1,}', /key in quotes/],
    ['"\\x"', /an escape/],
    ['"abc', /end of a string/],
    ['01', /end of the text/],
    ['', /a JSON value/],
    ['{}\n\nx', /line 3/],
  ]
  for (const [text, message] of refused) assert.throws(() => parseExactJson(text, LIMIT), message)
  assert.throws(() => parseExactJson('[1, 2]', 5), { code: 'JSON_TOO_LARGE' })
})

test('a key of the prototype is only a key', () => {
  const value = parseExactJson('{"__proto__": {"x": 1}}', LIMIT)
  assert.ok(isJsonObject(value) && value.has('__proto__'))
  assert.equal(({} as { x?: number }).x, undefined)
})
