import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Prng } from '../testing/index.ts'
import { isVarveError } from './errors.ts'
import { fromBareHex, fromHex, toBareHex, toHex, toQuantity } from './hex.ts'

test('bytes survive the way through text, in either case', () => {
  const prng = new Prng(2)
  for (let length = 0; length < 70; length++) {
    const bytes = prng.bytes(length)
    assert.equal(toBareHex(bytes), Buffer.from(bytes).toString('hex'))
    assert.deepEqual(fromHex(toHex(bytes)), bytes)
    assert.deepEqual(fromBareHex(toBareHex(bytes).toUpperCase()), bytes)
  }
})

test('what is no DATA is refused with the position of the first wrong character', () => {
  for (const [text, position] of [
    ['12', 0],
    ['', 0],
    ['0x1', 3],
    ['0x12g4', 4],
    ['0x1é', 3],
    ['0x 1', 2],
  ] as const)
    assert.throws(
      () => fromHex(text),
      (error) => isVarveError(error, 'HEX_INVALID') && error.data['position'] === position,
      text,
    )
})

test('a quantity has no leading zeros', () => {
  assert.equal(toQuantity(0), '0x0')
  assert.equal(toQuantity(1024n), '0x400')
})
