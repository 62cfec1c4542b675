import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Prng } from '../testing/index.ts'
import {
  bytesAreZero,
  bytesCompare,
  bytesConcat,
  bytesEqual,
  readUint32BE,
  readUint64BE,
  writeUint32BE,
  writeUint64BE,
} from './bytes.ts'

test('byte order is that of Buffer.compare, a prefix before its extensions', () => {
  const prng = new Prng(1)
  for (let step = 0; step < 2000; step++) {
    const a = prng.bytes(prng.below(4)).map((byte) => byte % 3)
    const b = prng.bytes(prng.below(4)).map((byte) => byte % 3)
    assert.equal(Math.sign(bytesCompare(a, b)), Buffer.compare(a, b))
    assert.equal(bytesEqual(a, b), Buffer.compare(a, b) === 0)
  }
})

test('numbers of 4 and 8 bytes survive, up to the largest exact one', () => {
  const target = new Uint8Array(9)
  for (const value of [0, 1, 255, 256, 2 ** 31, 2 ** 32 - 1]) {
    writeUint32BE(target, 1, value)
    assert.equal(readUint32BE(target, 1), value)
  }
  for (const value of [0, 1, 2 ** 32 - 1, 2 ** 32, 2 ** 40 + 5, Number.MAX_SAFE_INTEGER]) {
    writeUint64BE(target, 1, value)
    assert.equal(readUint64BE(target, 1), value)
    assert.equal(new DataView(target.buffer).getBigUint64(1), BigInt(value))
  }
})

test('joining and zero test', () => {
  assert.deepEqual(bytesConcat(), new Uint8Array(0))
  assert.deepEqual(
    bytesConcat(Uint8Array.of(1), new Uint8Array(0), Uint8Array.of(2, 3)),
    Uint8Array.of(1, 2, 3),
  )
  assert.equal(bytesAreZero(new Uint8Array(3)), true)
  assert.equal(bytesAreZero(Uint8Array.of(0, 0, 1)), false)
})
