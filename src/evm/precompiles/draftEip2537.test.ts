/**
 * Aim: the draft's table has its nine addresses and prices, does the final rules' work, and leaves all else alone.
 * Method: addresses and prices as literals of the draft; the draft's outputs against the final set's.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, fromBareHex } from '../../base/index.ts'
import { precompileAddresses, precompileAt, precompileView } from './registry.ts'

const DRAFT = 'eip2537-april-2024'
const G1 = fromBareHex(
  '0000000000000000000000000000000017f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac58' +
    '6c55e83ff97a1aeffb3af00adb22c6bb0000000000000000000000000000000008b3f481e3aaa0f1a09e30ed741d8ae4' +
    'fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1',
)
/** On the curve, of order 3: x is 0, y is 2. */
const G1_OUTSIDE_SUBGROUP = Uint8Array.from({ length: 128 }, (_, index) => (index === 127 ? 2 : 0))

const at = (address: number, fork: Fork = Fork.Prague) => precompileAt(address, fork, DRAFT)!
const price = (address: number, length: number) => Number(at(address).gas(new Uint8Array(length)))

test('nine addresses from Cancun on, and the same ones as ever before', () => {
  const cancun = precompileAddresses(Fork.Cancun)
  const nine = [0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13]
  for (const fork of Object.values(Fork)) {
    const added = [...(fork >= Fork.Cancun ? nine : []), ...(fork >= Fork.Osaka ? [0x100] : [])]
    const before = fork >= Fork.Cancun ? cancun : precompileAddresses(fork)
    assert.deepEqual(precompileAddresses(fork, DRAFT), [...before, ...added])
    for (const address of before)
      assert.equal(precompileAt(address, fork, DRAFT), precompileAt(address, fork))
  }
  assert.equal(precompileView(Fork.Prague), precompileView(Fork.Prague, 'final'))
  assert.equal(precompileAt(0x12, Fork.Prague), undefined)
})

test('names and prices of the draft', () => {
  const names = precompileAddresses(Fork.Prague, DRAFT).map((address) => at(address).name)
  assert.deepEqual(names.slice(-9), [
    'BLS12_G1ADD',
    'BLS12_G1MUL',
    'BLS12_G1MSM',
    'BLS12_G2ADD',
    'BLS12_G2MUL',
    'BLS12_G2MSM',
    'BLS12_PAIRING',
    'BLS12_MAP_FP_TO_G1',
    'BLS12_MAP_FP2_TO_G2',
  ])
  assert.equal(price(0x0b, 256), 500)
  assert.equal(price(0x0c, 160), 12_000)
  assert.equal(price(0x0e, 512), 800)
  assert.equal(price(0x0f, 288), 45_000)
  assert.deepEqual(
    [0, 1, 2].map((count) => price(0x11, 384 * count)),
    [65_000, 108_000, 151_000],
  )
  assert.equal(price(0x12, 64), 5500)
  assert.equal(price(0x13, 128), 75_000)
})

test('prices of sums: one list of discounts for both groups', () => {
  /** [terms, discount] at both ends and spots between. */
  const spots = [
    [1, 1200],
    [2, 888],
    [16, 334],
    [17, 330],
    [33, 268],
    [64, 222],
    [67, 219],
    [68, 219],
    [106, 191],
    [127, 175],
    [128, 174],
    [129, 174],
    [1000, 174],
  ] as const
  for (const [count, discount] of spots) {
    assert.equal(price(0x0d, 160 * count), (count * 12_000 * discount) / 1000)
    assert.equal(price(0x10, 288 * count), (count * 45_000 * discount) / 1000)
  }
  assert.equal(price(0x0d, 159), 0)
  // A slip that keeps the order shows in the sum.
  let total = 0
  let last = Infinity
  for (let count = 1; count <= 130; count++) {
    const discount = price(0x10, 288 * count) / (45 * count)
    assert.ok(discount <= last, `${count} terms`)
    last = discount
    if (count <= 128) total += discount
  }
  assert.equal(total, 33_941)
})

test('a multiplication is a sum of one term, and of no more', () => {
  const scalar = (value: number) =>
    Uint8Array.from({ length: 32 }, (_, i) => (i === 31 ? value : 0))
  const term = Uint8Array.from([...G1, ...scalar(3)])
  const product = at(0x0c).run(term, 12_000n)
  const expected = precompileAt(0x0c, Fork.Prague)!.run(term, 12_000n)
  assert(product.kind === 'success' && expected.kind === 'success')
  assert.equal(product.gasUsed, 12_000n)
  assert.deepEqual(product.output, expected.output)
  assert.deepEqual(at(0x0d).run(term, 14_400n), { ...product, gasUsed: 14_400n })
  assert.equal(at(0x0c).run(term, 11_999n).kind, 'outOfGas')
  const two = Uint8Array.from([...term, ...term])
  assert.equal(at(0x0d).run(two, 1n << 40n).kind, 'success')
  for (const input of [two, new Uint8Array(0), term.subarray(1)])
    assert.deepEqual(at(0x0c).run(input, 1n << 40n), {
      kind: 'failure',
      reason: 'invalid input length',
    })
  assert.equal(at(0x0f).run(new Uint8Array(2 * 288), 1n << 40n).kind, 'failure')
  assert.equal(at(0x0f).run(new Uint8Array(288), 1n << 40n).kind, 'success')
})

test('the subgroup is asked for by products and sums of products, not by additions', () => {
  const term = Uint8Array.from([...G1_OUTSIDE_SUBGROUP, ...new Uint8Array(32)])
  for (const address of [0x0c, 0x0d])
    assert.equal(at(address).run(term, 1n << 40n).kind, 'failure', `0x${address.toString(16)}`)
  const pair = Uint8Array.from([...G1_OUTSIDE_SUBGROUP, ...G1_OUTSIDE_SUBGROUP])
  assert.equal(at(0x0b).run(pair, 1n << 40n).kind, 'success')
})
