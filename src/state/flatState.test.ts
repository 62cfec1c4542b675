import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_CODE_HASH, isVarveError } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import {
  decodeFlatAccount,
  decodeFlatSlot,
  encodeFlatAccount,
  encodeFlatSlot,
} from './flatState.ts'

const NAME = new Uint8Array(32)

test('accounts survive the way through their row', () => {
  const prng = new Prng(11)
  for (let step = 0; step < 500; step++) {
    const account = {
      nonce: prng.bigint(64),
      balance: prng.bigint(256),
      codeHash: prng.oneIn(2) ? EMPTY_CODE_HASH : prng.bytes(32),
    }
    assert.deepEqual(decodeFlatAccount(encodeFlatAccount(account), NAME), account)
  }
})

test('N1: slots survive the way through their row, whatever the place of the first byte that is not zero', () => {
  const prng = new Prng(12)
  for (let first = 0; first < 32; first++) {
    const value = prng.bytes(32).fill(0, 0, first)
    value[first] = 1 + prng.below(255)
    const row = encodeFlatSlot(value)
    assert.equal(row.length, 32 - first)
    assert.deepEqual(decodeFlatSlot(row, NAME), value)
  }
})

test('N1: rows that no encoder makes are refused', () => {
  const isRowFault = (error: unknown) => isVarveError(error, 'STATE_ROW_INVALID')
  for (const row of [new Uint8Array(0), Uint8Array.of(0, 1), new Uint8Array(33).fill(1)])
    assert.throws(() => decodeFlatSlot(row, NAME), isRowFault)
  for (const row of [
    new Uint8Array(0),
    Uint8Array.of(0xc0),
    Uint8Array.of(0xc3, 0, 1, 0x80),
    Uint8Array.of(0xc3, 1, 1, 0x80, 0),
  ])
    assert.throws(() => decodeFlatAccount(row, NAME), isRowFault)
})
