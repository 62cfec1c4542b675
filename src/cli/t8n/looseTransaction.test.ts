/** Aim: geth's words for what is no transaction, and no other fault of any bytes. Method: made faults, then mutation. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesConcat, isVarveError } from '../../base/index.ts'
import { decodeTransaction, encodeRlp, type RlpInput } from '../../codec/index.ts'
import { Prng } from '../../testing/index.ts'
import { listItems, RlpTextFault, readLooseTransaction } from './looseTransaction.ts'

const ADDRESS = new Uint8Array(20).fill(0xaa)
const LEGACY: readonly RlpInput[] = [1, 2, 21000, ADDRESS, 0, new Uint8Array(0), 27, 1n << 200n, 5]
const BLOB: readonly RlpInput[] = [
  1,
  0,
  1,
  2,
  21000,
  ADDRESS,
  0,
  new Uint8Array(0),
  [],
  1,
  [],
  0,
  1,
  1,
]

const typed = (type: number, fields: readonly RlpInput[]) =>
  encodeRlp(bytesConcat(Uint8Array.of(type), encodeRlp(fields)))

function wordsOf(bytes: Uint8Array): string {
  try {
    readLooseTransaction(bytes)
    return ''
  } catch (error) {
    assert.ok(error instanceof RlpTextFault)
    return error.message
  }
}

const change = (fields: readonly RlpInput[], index: number, value: RlpInput) =>
  fields.map((field, at) => (at === index ? value : field))

test('reads fields of any size', () => {
  const loose = readLooseTransaction(encodeRlp(change(LEGACY, 4, 1n << 300n)))
  assert.equal(loose.integer('Value'), 1n << 300n)
  assert.deepEqual(loose.bytes('To'), ADDRESS)
  assert.equal(wordsOf(typed(3, BLOB)), '')
})

test('names the fault and the place as geth does', () => {
  const blob = (index: number, value: RlpInput) => wordsOf(typed(3, change(BLOB, index, value)))
  const place = ', decoding into (types.Transaction)(types.BlobTx).'
  assert.equal(
    blob(5, new Uint8Array(0)),
    `rlp: input string too short for common.Address${place}To`,
  )
  assert.equal(
    blob(5, new Uint8Array(21)),
    `rlp: input string too long for common.Address${place}To`,
  )
  assert.equal(blob(6, 1n << 256n), `rlp: input string too long for *uint256.Int${place}Value`)
  assert.equal(blob(4, 1n << 64n), `rlp: input string too long for uint64${place}Gas`)
  assert.equal(
    blob(4, Uint8Array.of(0, 1)),
    `rlp: non-canonical integer (leading zero bytes) for uint64${place}Gas`,
  )
  assert.equal(wordsOf(typed(1, [])), 'rlp: too few elements for types.AccessListTx')
  assert.equal(
    wordsOf(encodeRlp([...LEGACY, 1])),
    'rlp: input list has too many elements for types.LegacyTx',
  )
  assert.equal(wordsOf(encodeRlp(Uint8Array.of(9, 9))), 'transaction type not supported')
  assert.equal(wordsOf(Uint8Array.of(0x80)), 'typed transaction too short')
  assert.equal(wordsOf(Uint8Array.of(0x02)), 'typed transaction too short')
})

test('what it accepts or refuses, the strict decoder does not crash on', () => {
  const random = new Prng(11)
  const seeds = [encodeRlp(LEGACY), typed(3, BLOB), typed(1, BLOB)]
  for (let step = 0; step < 3000; step++) {
    const bytes = Uint8Array.from(random.pick(seeds))
    for (let flip = random.below(3); flip >= 0; flip--)
      bytes[random.below(bytes.length)]! ^= 1 << random.below(8)
    try {
      const { raw } = readLooseTransaction(bytes)
      decodeTransaction(raw)
    } catch (error) {
      assert.ok(error instanceof RlpTextFault || isVarveError(error), String(error))
    }
  }
})

test('a list that claims more than is there is a fault', () => {
  assert.throws(() => listItems(Uint8Array.of(0xc2, 0x01)), RlpTextFault)
  assert.throws(() => listItems(Uint8Array.of(0xc2, 0x82, 0x01)), RlpTextFault)
  assert.throws(() => listItems(Uint8Array.of(0x01)), RlpTextFault)
  assert.throws(
    () => listItems(Uint8Array.of(0xff, ...new Array<number>(8).fill(0xff))),
    RlpTextFault,
  )
})
