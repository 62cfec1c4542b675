/**
 * Aim: one value, one encoding, and nothing else decodes. Method: the published vectors, hand-made faults with their
 * offsets, and seeded trees and mutations (`rlp.fuzz.ts`).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromBareHex, fromHex, isVarveError, RLP_DEPTH_MAX, toHex } from '../base/index.ts'
import { fixtureRecords, fixturesMissing } from '../testing/index.ts'
import { fuzzRlp } from './rlp.fuzz.ts'
import { decodeRlp, encodeRlp, encodeRlpWithPrefix, type RlpInput } from './rlp.ts'
import { RlpReader } from './rlpReader.ts'

type RlpCase = { readonly in: unknown; readonly out: string }

test('published RLP vectors (ethereum/tests RLPTests)', {
  skip: fixturesMissing('RLPTests', 'github.com/ethereum/tests'),
}, async () => {
  let count = 0
  for await (const record of fixtureRecords<{ tests: Record<string, RlpCase> }>('et-rlp'))
    for (const [name, vector] of Object.entries(record.tests)) {
      count++
      const bytes = vector.out.startsWith('0x') ? fromHex(vector.out) : fromBareHex(vector.out)
      if (vector.in === 'INVALID')
        assert.throws(() => decodeRlp(bytes), isRlpError, `${name} is refused`)
      else {
        assert.equal(toHex(encodeRlp(decodeRlp(bytes))), toHex(bytes), `${name} survives`)
        if (vector.in !== 'VALID')
          assert.equal(toHex(encodeRlp(inputOf(vector.in))), toHex(bytes), `${name} encodes`)
      }
    }
  assert.equal(count, 55)
})

test('every non-canonical form is refused where it starts', () => {
  const faults: [hex: string, code: string, offset: number][] = [
    ['', 'RLP_ITEM_MISSING', 0],
    ['c28100', 'RLP_NON_CANONICAL', 1],
    ['817f', 'RLP_NON_CANONICAL', 0],
    ['b800', 'RLP_NON_CANONICAL', 0],
    [`b837${'aa'.repeat(55)}`, 'RLP_NON_CANONICAL', 0],
    [`f837${'aa'.repeat(55)}`, 'RLP_NON_CANONICAL', 0],
    [`b90038${'aa'.repeat(56)}`, 'RLP_NON_CANONICAL', 0],
    ['8080', 'RLP_TRAILING', 1],
    ['83aaaa', 'RLP_OVERRUN', 0],
    ['c3c183aa', 'RLP_OVERRUN', 2],
    ['c183', 'RLP_OVERRUN', 1],
    ['bf0f000000000000021111', 'RLP_OVERRUN', 0],
    ['bfffffffffffffffff', 'RLP_OVERRUN', 0],
    ['ffffffffffffffffff', 'RLP_OVERRUN', 0],
    ['b9', 'RLP_OVERRUN', 0],
  ]
  for (const [hex, code, offset] of faults)
    assert.throws(
      () => decodeRlp(fromBareHex(hex)),
      (error) => {
        assert.ok(isVarveError(error, code), `${hex}: expected ${code}, got ${error}`)
        assert.equal(error.data['offset'], offset, `${hex}: offset in ${error.message}`)
        return true
      },
    )
})

test('nesting is bounded, also inside a list of the right length', () => {
  const nested = (depth: number) => {
    let item: RlpInput = []
    for (let level = 1; level < depth; level++) item = [item]
    return encodeRlp(item)
  }
  decodeRlp(nested(RLP_DEPTH_MAX))
  assert.throws(() => decodeRlp(nested(RLP_DEPTH_MAX + 1)), hasCode('RLP_DEPTH'))
  assert.throws(() => decodeRlp(nested(500)), hasCode('RLP_DEPTH'))
})

test('integers: widths, leading zeros, and the edge of a double', () => {
  const read = (hex: string) => new RlpReader(fromBareHex(hex))
  assert.equal(read('80').readUint('x'), 0)
  assert.equal(read('7f').readUint('x'), 127)
  assert.equal(read('871fffffffffffff').readUint('x'), 2 ** 53 - 1)
  assert.throws(() => read('8720000000000000').readUint('x'), hasCode('RLP_RANGE'))
  assert.throws(() => read('880100000000000000').readUint('x'), hasCode('RLP_RANGE'))
  // 0x820001 is a fine byte string and a wrong integer; 0x00 likewise.
  assert.equal(toHex(read('820001').readBytes('x')), '0x0001')
  for (const hex of ['820001', '00', '8800ffffffffffffff']) {
    assert.throws(() => read(hex).readUint('x'), hasCode('RLP_LEADING_ZERO'))
    assert.throws(() => read(hex).readBigint(32, 'x'), hasCode('RLP_LEADING_ZERO'))
  }
  assert.equal(read('88ffffffffffffffff').readBigint(8, 'x'), 2n ** 64n - 1n)
  assert.throws(() => read('89010000000000000000').readBigint(8, 'x'), hasCode('RLP_RANGE'))
  assert.equal(read(`a0${'ff'.repeat(32)}`).readBigint(32, 'x'), 2n ** 256n - 1n)
  for (let bits = 0n; bits < 256n; bits++)
    for (const value of [1n << bits, (1n << bits) - 1n, (1n << bits) + 1n])
      assert.equal(new RlpReader(encodeRlp(value)).readBigint(33, 'x'), value)
  for (const value of [0, 1, 127, 128, 255, 256, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1])
    assert.equal(toHex(encodeRlp(value)), toHex(encodeRlp(BigInt(value))), `${value}`)
  assert.throws(() => encodeRlp(-1), RangeError)
  assert.throws(() => encodeRlp(2 ** 53), RangeError)
})

test('fields: kinds, lengths, and lists that are too short or too long', () => {
  const read = (hex: string) => new RlpReader(fromBareHex(hex))
  assert.throws(() => read('c0').readBytes('x'), hasCode('RLP_KIND'))
  assert.throws(() => read('c0').readUint('x'), hasCode('RLP_KIND'))
  assert.throws(() => read('80').openList('x'), hasCode('RLP_KIND'))
  assert.throws(() => read('820102').readFixed(3, 'x'), hasCode('RLP_LENGTH'))
  assert.throws(() => read('820102').readFixedOrEmpty(3, 'x'), hasCode('RLP_LENGTH'))
  assert.equal(read('80').readFixedOrEmpty(3, 'x'), undefined)
  const long = read('c20102')
  const longEnd = long.openList('x')
  long.readUint('x')
  assert.throws(() => long.closeList(longEnd, 'x'), hasCode('RLP_LIST_LONG'))
  const short = read('c0')
  short.openList('x')
  assert.throws(() => short.readUint('x'), hasCode('RLP_ITEM_MISSING'))
  // A reader never looks past its own end, even where the bytes go on.
  assert.throws(() => new RlpReader(fromBareHex('83010203'), 0, 2).readBytes('x'), isRlpError)
})

test('a prefix byte and finished RLP are copied as they are', () => {
  assert.equal(toHex(encodeRlpWithPrefix([1, new Uint8Array(0)], 2)), '0x02c20180')
  assert.equal(toHex(encodeRlp([{ raw: fromBareHex('c20102') }, 3])), '0xc4c2010203')
})

test('random trees and mutations (short run)', () => fuzzRlp(1, 3000))

function inputOf(value: unknown): RlpInput {
  if (Array.isArray(value)) return value.map(inputOf)
  if (typeof value === 'number') return value
  if (typeof value === 'string')
    return value.startsWith('#') ? BigInt(value.slice(1)) : new TextEncoder().encode(value)
  throw new Error(`no RLP input: ${value}`)
}

function isRlpError(error: unknown): boolean {
  return isVarveError(error) && error.code.startsWith('RLP_')
}

function hasCode(code: string) {
  return (error: unknown) => isVarveError(error, code)
}
