import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Prng } from '../testing/index.ts'
import { commonNibbles, nibbleAt, packNibblesInto, unpackNibbles } from './nibbles.ts'

test('common nibbles: every start, limit and place of the first difference', () => {
  const prng = new Prng(1)
  const a = prng.bytes(8)
  for (let differs = 0; differs <= 12; differs++)
    for (let start = 0; start <= differs; start++)
      for (let limit = start; limit <= 12; limit++) {
        const b = new Uint8Array(9)
        b.set(a.subarray(2), 1)
        if (differs < 12) b[1 + (differs >> 1)]! ^= differs % 2 === 0 ? 0x30 : 3
        // What comes before the start is not looked at.
        if (start >= 2) b[1]! ^= 0xff
        assert.equal(commonNibbles(a, 2, b, 1, start, limit), Math.min(differs, limit))
      }
})

test('packing and unpacking are inverse', () => {
  const packed = Uint8Array.of(0xff, 0x12, 0x34, 0x56)
  assert.deepEqual(unpackNibbles(packed, 1, 5), Uint8Array.of(1, 2, 3, 4, 5))
  assert.equal(nibbleAt(packed, 1, 4), 5)
  const target = new Uint8Array(4)
  packNibblesInto(Uint8Array.of(1, 2, 3, 4, 5), 5, target, 1)
  assert.deepEqual(target, Uint8Array.of(0, 0x12, 0x34, 0x50))
})
