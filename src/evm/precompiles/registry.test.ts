/**
 * Aim: each fork has its addresses, prices and limits; inputs of any bytes never throw; outputs are the caller's.
 * Method: the activation table written again as a list, prices of the EIPs as literals, and a seeded fuzz run.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blake2b } from '@noble/hashes/blake2.js'
import { ripemd160 } from '@noble/hashes/legacy.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesConcat, Fork, fromBareHex, toBareHex } from '../../base/index.ts'
import { Prng } from '../../testing/index.ts'
import { createBlake2Kernel } from './blake2Kernel.ts'
import { blake2Rounds } from './blake2Rounds.ts'
import { blsSlot, bn254Slot, precompileLibraries, preparePrecompiles } from './engines.ts'
import { fuzzPrecompiles } from './precompiles.fuzz.ts'
import { PRECOMPILE_ADDRESS_MAX, precompileAddresses, precompileAt } from './registry.ts'

const FRONTIER = [1, 2, 3, 4]
const BYZANTIUM = [...FRONTIER, 5, 6, 7, 8]
const ISTANBUL = [...BYZANTIUM, 9]
const CANCUN = [...ISTANBUL, 0x0a]
const PRAGUE = [...CANCUN, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11]
const OSAKA = [...PRAGUE, 0x100]

test('each fork has its addresses', () => {
  for (const fork of Object.values(Fork)) {
    const expected =
      fork >= Fork.Osaka
        ? OSAKA
        : fork >= Fork.Prague
          ? PRAGUE
          : fork >= Fork.Cancun
            ? CANCUN
            : fork >= Fork.Istanbul
              ? ISTANBUL
              : fork >= Fork.Byzantium
                ? BYZANTIUM
                : FRONTIER
    assert.deepEqual(precompileAddresses(fork), expected)
    assert.deepEqual(precompileAddresses(fork, 'final'), expected)
    for (let address = -1; address <= PRECOMPILE_ADDRESS_MAX + 1; address++)
      assert.equal(precompileAt(address, fork) !== undefined, expected.includes(address))
    assert.equal(precompileAt(2 ** 40, fork), undefined)
    assert.equal(precompileAt(1.5, fork), undefined)
  }
})

test('prices of the EIPs', () => {
  const price = (address: number, fork: Fork, length: number) =>
    Number(precompileAt(address, fork)!.gas(new Uint8Array(length)))
  assert.equal(price(1, Fork.Frontier, 500), 3000)
  assert.deepEqual(
    [0, 1, 32, 33].map((length) => price(2, Fork.Osaka, length)),
    [60, 72, 72, 84],
  )
  assert.deepEqual(
    [0, 1, 64, 65].map((length) => price(3, Fork.Osaka, length)),
    [600, 720, 840, 960],
  )
  assert.deepEqual(
    [0, 1, 32, 100].map((length) => price(4, Fork.Osaka, length)),
    [15, 18, 18, 27],
  )
  for (const [fork, add, mul, base, pair] of [
    [Fork.Byzantium, 500, 40_000, 100_000, 80_000],
    [Fork.Petersburg, 500, 40_000, 100_000, 80_000],
    [Fork.Istanbul, 150, 6000, 45_000, 34_000],
    [Fork.Amsterdam, 150, 6000, 45_000, 34_000],
  ] as const) {
    assert.equal(price(6, fork, 128), add)
    assert.equal(price(7, fork, 96), mul)
    assert.equal(price(8, fork, 0), base)
    assert.equal(price(8, fork, 3 * 192), base + 3 * pair)
  }
  assert.equal(price(0x0a, Fork.Cancun, 0), 50_000)
  assert.deepEqual(
    [0x0b, 0x0d, 0x10, 0x11].map((address) => price(address, Fork.Prague, 0)),
    [375, 600, 5500, 23_800],
  )
  assert.equal(price(0x0f, Fork.Prague, 2 * 384), 37_700 + 2 * 32_600)
  assert.deepEqual(
    [1, 2, 128, 129, 1000].map((count) => price(0x0c, Fork.Prague, 160 * count)),
    [
      12_000,
      (2 * 12_000 * 949) / 1000,
      (128 * 12_000 * 519) / 1000,
      (129 * 12_000 * 519) / 1000,
      (1000 * 12_000 * 519) / 1000,
    ],
  )
  assert.deepEqual(
    [1, 2, 128, 129].map((count) => price(0x0e, Fork.Prague, 288 * count)),
    [22_500, 45_000, (128 * 22_500 * 524) / 1000, (129 * 22_500 * 524) / 1000],
  )
  assert.equal(price(0x0c, Fork.Prague, 159), 0)
  assert.equal(price(0x100, Fork.Osaka, 0), 6900)
  // The price of a term never rises but by rounding: a slip in the tables would show.
  for (const [address, termBytes] of [
    [0x0c, 160],
    [0x0e, 288],
  ] as const) {
    let last = Infinity
    for (let count = 1; count <= 130; count++) {
      const each = price(address, Fork.Prague, termBytes * count) / count
      assert.ok(each <= last + 1 / count, `${count} terms`)
      last = each
    }
  }
})

test('hashes agree with noble, identity copies', () => {
  const run = (address: number, input: Uint8Array) => {
    const result = precompileAt(address, Fork.Osaka)!.run(input, 1n << 40n)
    assert.ok(result.kind === 'success')
    return result.output
  }
  const random = new Prng(3)
  for (const length of [0, 1, 31, 32, 55, 56, 64, 119, 120, 1000]) {
    const input = random.bytes(length)
    assert.equal(toBareHex(run(2, input)), toBareHex(sha256(input)))
    assert.equal(toBareHex(run(3, input)), '00'.repeat(12) + toBareHex(ripemd160(input)))
    const copy = run(4, input)
    assert.deepEqual(copy, input)
    assert.notEqual(copy.buffer, input.buffer)
  }
})

test('blake2f with 12 rounds is the compression of BLAKE2b', () => {
  const blake2f = precompileAt(9, Fork.Istanbul)!
  const random = new Prng(9)
  // The state before the first block: initial vector, with digest length 64 and fan-out and depth 1.
  const state = fromBareHex(
    '48c9bdf267e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5' +
      'd182e6ad7f520e511f6c3e2b8c68059b6bbd41fbabd9831f79217e1319cde05b',
  )
  for (const length of [0, 1, 64, 127, 128]) {
    const message = random.bytes(length)
    const input = new Uint8Array(213)
    input[3] = 12
    input.set(state, 4)
    input.set(message, 68)
    input[196] = length
    input[212] = 1
    const result = blake2f.run(input, 12n)
    assert.ok(result.kind === 'success' && result.gasUsed === 12n)
    assert.equal(toBareHex(result.output), toBareHex(blake2b(message, { dkLen: 64 })))
    assert.equal(blake2f.run(input, 11n).kind, 'outOfGas')
  }
  for (const length of [0, 212, 214])
    assert.equal(blake2f.run(new Uint8Array(length), 0n).kind, 'failure')
})

test('blake2f: kernel and twin agree for any count of rounds', () => {
  const kernel = createBlake2Kernel()
  assert.ok(kernel !== undefined)
  const random = new Prng(152)
  for (const rounds of [0, 1, 9, 10, 11, 12, 999, 1000, 1001, 1010, 2003, 20_000])
    for (let step = 0; step < 8; step++) {
      const input = random.bytes(213)
      input[212] = step & 1
      assert.deepEqual(kernel(input, rounds), blake2Rounds(input, rounds), `${rounds} rounds`)
    }
})

test('what is not prepared is answered by noble, the same', async () => {
  const add = precompileAt(6, Fork.Istanbul)!
  const one = new Uint8Array(96)
  one[31] = 1
  one[63] = 2
  one[95] = 7
  const mul = precompileAt(7, Fork.Istanbul)!
  const libraries = await preparePrecompiles(Fork.Osaka)
  assert.deepEqual([libraries.bn254, libraries.bls12_381, libraries.p256], ['mcl', 'mcl', 'mcl'])
  const byMcl = [mul.run(one, 6000n), add.run(one.subarray(0, 64), 150n)]
  // A fault of the fast engine is not the caller's: the other answers, and serves until a new one is prepared.
  const answer = bn254Slot.call((engine) => {
    if (bn254Slot.isFast) throw new RangeError('a trap')
    return engine.pairing(new Uint8Array(0))
  })
  assert.equal(answer, true)
  assert.equal(precompileLibraries().bn254, 'noble')
  assert.deepEqual([mul.run(one, 6000n), add.run(one.subarray(0, 64), 150n)], byMcl)
  await preparePrecompiles(Fork.Byzantium)
  assert.equal(precompileLibraries().bn254, 'mcl')
  assert.deepEqual([mul.run(one, 6000n), add.run(one.subarray(0, 64), 150n)], byMcl)
  await Promise.all([preparePrecompiles(), preparePrecompiles(), blsSlot.prepare()])
})

test('hostile input never throws, and leaves the input alone', async (context) => {
  await preparePrecompiles()
  const seed = Number(process.env['VARVE_SEED'] ?? 20_260_103)
  context.diagnostic(`seed ${seed}`)
  fuzzPrecompiles(seed, 1500)
})

test('input may be a view into memory of any offset', () => {
  const memory = new Uint8Array(1000).fill(0xee)
  const input = fromBareHex('11'.repeat(100))
  for (const offset of [1, 3, 8]) {
    memory.set(input, offset)
    const view = memory.subarray(offset, offset + input.length)
    for (const address of [1, 2, 3, 4, 6, 7]) {
      const precompile = precompileAt(address, Fork.Osaka)!
      assert.deepEqual(precompile.run(view, 1n << 40n), precompile.run(input, 1n << 40n))
    }
  }
  const shared = new Uint8Array(new SharedArrayBuffer(300))
  shared.set(bytesConcat(input, input))
  for (const address of OSAKA) {
    const precompile = precompileAt(address, Fork.Osaka)!
    const copy = new Uint8Array(shared)
    assert.deepEqual(precompile.run(shared, 1n << 40n), precompile.run(copy, 1n << 40n))
  }
})
