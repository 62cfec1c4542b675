/**
 * Aim: a block access list has one encoding. Method: lists round-trip; each breach of order, and each mutation of the
 * bytes, is refused with a code or is another list that round-trips.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromHex, isVarveError, toHex } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import {
  type AccountAccesses,
  accessItemCount,
  type BlockAccessList,
  blockAccessListHash,
  decodeBlockAccessList,
  encodeBlockAccessList,
  type StepChange,
} from './blockAccessList.ts'
import { mutate } from './rlp.fuzz.ts'

const EMPTY: AccountAccesses = {
  address: new Uint8Array(20),
  slotChanges: [],
  slotReads: [],
  balanceChanges: [],
  nonceChanges: [],
  codeChanges: [],
}

const LIST: BlockAccessList = [
  EMPTY,
  {
    address: new Uint8Array(20).fill(1),
    slotChanges: [
      { slot: 0n, changes: [{ step: 0, value: 0n }] },
      {
        slot: (1n << 256n) - 1n,
        changes: [
          { step: 1, value: 1n << 255n },
          { step: 2 ** 32 - 1, value: 7n },
        ],
      },
    ],
    slotReads: [1n, 2n],
    balanceChanges: [{ step: 1, value: 0n }],
    nonceChanges: [{ step: 1, value: (1n << 64n) - 1n }],
    codeChanges: [{ step: 3, value: Uint8Array.of(0xef, 1) }],
  },
]

test('lists round-trip; the empty one has the hash that the EIP names', () => {
  assert.deepEqual(decodeBlockAccessList(encodeBlockAccessList(LIST)), LIST)
  assert.equal(accessItemCount(LIST), 6)
  assert.deepEqual(encodeBlockAccessList([]), Uint8Array.of(0xc0))
  assert.equal(
    toHex(blockAccessListHash([])),
    '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  )
})

test('the encoding by hand', () => {
  const account = `94${'01'.repeat(20)}`
  const list: BlockAccessList = [
    {
      ...EMPTY,
      address: new Uint8Array(20).fill(1),
      slotChanges: [{ slot: 5n, changes: [{ step: 1, value: 9n }] }],
      slotReads: [0n, 6n],
      nonceChanges: [{ step: 1, value: 2n }],
    },
  ]
  // Account of 35 bytes: address 21, slots c6 c5 05 c3 c2 01 09, reads c2 80 06, balance c0, nonce c3 c2 01 02, code c0.
  const payload = `${account}c6c505c3c20109c28006c0c3c20102c0`
  assert.equal(toHex(encodeBlockAccessList(list)), `0xe6e5${payload}`)
})

test('what is out of order, or there twice, is refused', () => {
  const account = LIST[1]!
  const step = <Value>(...steps: [number, Value][]): StepChange<Value>[] =>
    steps.map(([at, value]) => ({ step: at, value }))
  const slot = account.slotChanges[0]!
  const bad: [string, BlockAccessList][] = [
    ['accounts', [LIST[1]!, LIST[0]!]],
    ['an account twice', [EMPTY, EMPTY]],
    ['slots', [{ ...account, slotChanges: account.slotChanges.toReversed() }]],
    ['a slot twice', [{ ...account, slotChanges: [slot, slot] }]],
    ['reads', [{ ...account, slotReads: [2n, 1n] }]],
    ['a read twice', [{ ...account, slotReads: [2n, 2n] }]],
    ['a change that is a read, too', [{ ...account, slotReads: [0n] }]],
    ['steps', [{ ...account, balanceChanges: step([2, 1n], [1, 1n]) }]],
    ['a step twice', [{ ...account, nonceChanges: step([2, 1n], [2, 1n]) }]],
    ['a step beyond 32 bits', [{ ...account, balanceChanges: step([2 ** 32, 1n]) }]],
  ]
  for (const [what, list] of bad)
    assert.throws(
      () => decodeBlockAccessList(encodeBlockAccessList(list)),
      (error) => isVarveError(error, 'ACCESS_LIST_ORDER'),
      what,
    )
  const empty = [{ ...EMPTY, slotChanges: [{ slot: 1n, changes: [] }] }]
  assert.throws(
    () => decodeBlockAccessList(encodeBlockAccessList(empty)),
    (error) => isVarveError(error, 'ACCESS_LIST_EMPTY_SLOT'),
  )
})

test('numbers wider than their fields, and bytes behind the list, are refused', () => {
  const wide = [{ ...EMPTY, nonceChanges: [{ step: 0, value: 1n << 64n }] }]
  const long = [{ ...EMPTY, slotReads: [1n << 256n] }]
  for (const list of [wide, long])
    assert.throws(
      () => decodeBlockAccessList(encodeBlockAccessList(list)),
      (error) => isVarveError(error, 'RLP_RANGE'),
    )
  assert.throws(
    () => decodeBlockAccessList(fromHex('0xc000')),
    (error) => isVarveError(error, 'RLP_TRAILING'),
  )
})

test('damaged bytes are refused with a code, or are a list of their own', () => {
  const random = new Prng(7928)
  const bytes = encodeBlockAccessList(LIST)
  let refusedCount = 0
  for (let step = 0; step < 3000; step++) {
    const damaged = mutate(random, bytes)
    try {
      assert.deepEqual(encodeBlockAccessList(decodeBlockAccessList(damaged)), damaged)
    } catch (error) {
      if (!isVarveError(error)) throw error
      assert.match(error.code, /^(RLP_|ACCESS_LIST_)/)
      refusedCount++
    }
  }
  assert.ok(refusedCount > 1000, `${refusedCount} of 3000 were refused`)
})
