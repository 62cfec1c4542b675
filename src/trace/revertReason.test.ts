/** Aim: the reason where there is one, and no fault of any other bytes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bigintToBytes, bytesConcat, fromBareHex } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { revertReason } from './revertReason.ts'

const word = (value: bigint) => bigintToBytes(value, 32)
const ERROR = fromBareHex('08c379a0')
const PANIC = fromBareHex('4e487b71')
const error = (offset: bigint, length: bigint, text: Uint8Array) =>
  bytesConcat(ERROR, word(offset), word(length), text)

test('reads texts and panics', () => {
  const text = new TextEncoder().encode('nö')
  assert.equal(revertReason(error(32n, 3n, bytesConcat(text, new Uint8Array(29)))), 'nö')
  assert.equal(revertReason(error(32n, 0n, new Uint8Array(0))), '')
  assert.equal(revertReason(bytesConcat(PANIC, word(0x11n))), 'arithmetic underflow or overflow')
  assert.equal(revertReason(bytesConcat(PANIC, word(0x99n))), 'unknown panic code: 0x99')
})

test('refuses what is cut off or points outside', () => {
  const text = new Uint8Array(32)
  assert.equal(revertReason(new Uint8Array(0)), undefined)
  assert.equal(revertReason(ERROR), undefined)
  assert.equal(revertReason(error(32n, 33n, text)), undefined)
  assert.equal(revertReason(error((1n << 256n) - 1n, 1n, text)), undefined)
  assert.equal(revertReason(error(32n, (1n << 256n) - 1n, text)), undefined)
})

test('random bytes are no fault', () => {
  const random = new Prng(7)
  for (let step = 0; step < 2000; step++) {
    const bytes = random.bytes(random.below(200))
    if (random.below(2) === 0 && bytes.length >= 4) bytes.set(random.below(2) === 0 ? ERROR : PANIC)
    revertReason(bytes)
  }
})
