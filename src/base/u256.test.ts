import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Prng } from '../testing/index.ts'
import {
  bigintByteCount,
  bigintFromBytes,
  bigintToBytes,
  bigintToMinimalBytes,
  U64_MAX,
  U256_MAX,
  writeMinimalBigint,
} from './u256.ts'

test('N1: integers survive the way through bytes, of fixed and of minimal width', () => {
  const prng = new Prng(3)
  const values = [0n, 1n, 127n, 128n, 255n, 256n, U64_MAX, U64_MAX + 1n, U256_MAX]
  for (let step = 0; step < 2000; step++) values.push(prng.bigint(256))
  for (const value of values) {
    assert.equal(bigintFromBytes(bigintToBytes(value, 32)), value)
    const minimal = bigintToMinimalBytes(value)
    assert.equal(bigintFromBytes(minimal), value)
    assert.equal(minimal.length, value === 0n ? 0 : (value.toString(2).length + 7) >> 3)
    assert.equal(BigInt(`0x0${Buffer.from(minimal).toString('hex')}`), value)
  }
})

test('integers beyond 256 bits, as the fields of pairing curves have', () => {
  const prng = new Prng(4)
  for (let step = 0; step < 200; step++) {
    const value = U256_MAX + 1n + prng.bigint(700)
    assert.equal(bigintFromBytes(bigintToMinimalBytes(value)), value)
    assert.equal(bigintFromBytes(bigintToBytes(value, 120)), value)
    assert.equal(bigintToBytes(value, 120).length, 120)
    assert.throws(() => bigintToBytes(value, 32), /fits its width/)
  }
})

test('an integer that does not fit its width is a bug of the caller', () => {
  assert.throws(() => bigintToBytes(256n, 1), /fits its width/)
  assert.throws(() => bigintToBytes(-1n, 1), /not negative/)
})

test('an integer is written without leading zeros, in as many bytes as are counted', () => {
  const widths = [0n, 1n, 127n, 128n, 255n, 256n, 2n ** 53n, U64_MAX, U64_MAX + 1n, U256_MAX]
  for (const value of [...widths, U256_MAX + 1n, 2n ** 300n]) {
    const expected = bigintToMinimalBytes(value)
    assert.equal(bigintByteCount(value), expected.length, `${value}`)
    const target = new Uint8Array(50).fill(0xaa)
    const end = writeMinimalBigint(target, 3, value)
    assert.equal(end, 3 + expected.length)
    assert.deepEqual(target.subarray(3, end), expected)
    assert.ok(target.subarray(0, 3).every((byte) => byte === 0xaa))
    assert.ok(target.subarray(end).every((byte) => byte === 0xaa))
  }
  assert.throws(() => bigintByteCount(-1n))
  assert.throws(() => writeMinimalBigint(new Uint8Array(40), 0, -1n))
})
