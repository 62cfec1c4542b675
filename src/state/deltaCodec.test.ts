// Aim: a delta has one encoding and the decoder takes no other. Method: by hand what is close to right; then single
// bytes of a right one changed at random: whatever still decodes encodes to the same bytes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_CODE_HASH, isVarveError, toHex } from '../base/index.ts'
import { encodeRlp, type RlpInput } from '../codec/index.ts'
import { Prng } from '../testing/index.ts'
import { sealDelta } from './delta.ts'
import { decodeDelta, encodeDelta } from './deltaCodec.ts'

const hash = (byte: number) => new Uint8Array(32).fill(byte)
const account: RlpInput = [1, 2, new Uint8Array(0)]
const other: RlpInput = [1, 3, new Uint8Array(0)]
const NONE = new Uint8Array(0)

function refuses(item: RlpInput, message: RegExp): void {
  assert.throws(
    () => decodeDelta(encodeRlp(item), 'block 7'),
    (error) =>
      isVarveError(error, 'STATE_DELTA_INVALID') &&
      /^delta of block 7: /.test(error.message) &&
      message.test(error.message),
  )
}

test('what is close to a delta is refused', () => {
  refuses(NONE, /expected a list/)
  refuses([[hash(1), account, account, []]], /an account that differs/)
  refuses([[hash(1), NONE, NONE, []]], /an account that differs/)
  refuses([[hash(1), hash(2), account, []]], /an account or nothing/)
  refuses([[hash(1), account, other]], /slots/)
  refuses([[hash(1), account, other, [], []]], /further item/)
  refuses([[hash(1).slice(1), account, other, []]], /32 bytes/)
  refuses([[hash(1), account, [1, 2, EMPTY_CODE_HASH], []]], /the empty string/)
  const change = (byte: number) => [hash(byte), account, other, []]
  refuses([change(2), change(1)], /rising order/)
  refuses([change(1), change(1)], /rising order/)
  const slot = (byte: number, before: number, after: number) => [hash(byte), before, after]
  refuses([[hash(1), account, account, [slot(1, 5, 5)]]], /a slot that differs/)
  refuses([[hash(1), account, account, [slot(2, 5, 6), slot(1, 5, 6)]]], /rising order/)
  refuses([[hash(1), account, account, [[hash(1), Uint8Array.of(0, 1), NONE]]]], /leading zero/)
  refuses([[hash(1), account, account, [[hash(1), new Uint8Array(33).fill(1), 1]]]], /33|1 to 32/)
})

test('changes that change nothing are not encoded', () => {
  const same = { nonce: 1n, balance: 2n, codeHash: EMPTY_CODE_HASH }
  const delta = sealDelta([
    {
      addressHash: hash(1),
      before: same,
      after: { ...same },
      storageCleared: true,
      slots: [{ slotHash: hash(3), before: hash(9), after: hash(9) }],
    },
  ])
  assert.equal(toHex(encodeDelta(delta)), '0xc0')
})

test('whatever decodes is the encoding of what it decodes to', () => {
  const bytes = encodeDelta(
    sealDelta([
      {
        addressHash: hash(1),
        before: { nonce: 1n, balance: 2n ** 70n, codeHash: hash(7) },
        after: undefined,
        storageCleared: false,
        slots: [{ slotHash: hash(3), before: hash(9), after: undefined }],
      },
      {
        addressHash: hash(2),
        before: undefined,
        after: { nonce: 0n, balance: 0n, codeHash: EMPTY_CODE_HASH },
        storageCleared: false,
        slots: [],
      },
    ]),
  )
  const prng = new Prng(3)
  let decodedCount = 0
  for (let round = 0; round < 4000; round++) {
    const changed = bytes.slice(0, prng.oneIn(8) ? prng.below(bytes.length) : undefined)
    if (changed.length > 0) changed[prng.below(changed.length)]! ^= 1 << prng.below(8)
    try {
      assert.deepEqual(encodeDelta(decodeDelta(changed, 'x')), changed)
      decodedCount++
    } catch (error) {
      if (!isVarveError(error, 'STATE_DELTA_INVALID')) throw error
    }
  }
  assert.ok(decodedCount > 100)
})
