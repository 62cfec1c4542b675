/**
 * Aim: every library that may recover or verify a signature gives the same answer, on good, odd and hostile input.
 * Method: random signatures and edge scalars through all of them; the published vectors are in `precompiles.test.ts`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { p256 } from '@noble/curves/nist.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import {
  bigintFromBytes,
  bigintToBytes,
  bytesConcat,
  Fork,
  fromBareHex,
  toBareHex,
} from '../../base/index.ts'
import { Prng } from '../../testing/index.ts'
import { loadMclModule, MclCurveId } from './curves/mclModule.ts'
import {
  isCongruent,
  MclP256,
  NobleP256,
  P256_FIELD_MODULUS,
  P256_GROUP_ORDER,
} from './curves/p256Engine.ts'
import { precompileAt } from './registry.ts'
import {
  loadNativeRecovery,
  loadPortableRecovery,
  type PublicKeyRecovery,
  prepareRecovery,
  recoverByNoble,
  recoveryLibrary,
} from './secp256k1.ts'

const word = (value: bigint | number): Uint8Array => bigintToBytes(BigInt(value), 32)
const { n: ORDER, p: FIELD } = secp256k1.Point.CURVE()

test('ecrecover: native, WebAssembly and noble recover the same keys', async (context) => {
  await prepareRecovery()
  const native = loadNativeRecovery()
  context.diagnostic(`in use: ${recoveryLibrary()}; native addon ${native ? 'loads' : 'is absent'}`)
  const recoveries: PublicKeyRecovery[] = [await loadPortableRecovery(), recoverByNoble]
  if (native !== undefined) recoveries.push(native)
  const random = new Prng(2)
  const scalars = [1n, 2n, ORDER - 1n, ORDER / 2n, FIELD - ORDER, FIELD - ORDER - 1n]
  for (let step = 0; step < 60; step++) {
    const hash = random.pick([random.bytes(32), word(0), word(ORDER), new Uint8Array(32).fill(255)])
    let signature = bytesConcat(word(random.pick(scalars)), word(random.pick(scalars)))
    if (random.oneIn(2)) signature = secp256k1.sign(hash, random.bytes(32), { prehash: false })
    if (random.oneIn(4)) signature = bytesConcat(random.bytes(32), random.bytes(32))
    const [r, s] = [0, 32].map((at) => bigintFromBytes(signature.subarray(at, at + 32)))
    if (r! >= ORDER || s! >= ORDER || r === 0n || s === 0n) continue
    for (const parity of [0, 1] as const) {
      const keys = recoveries.map((recover) => {
        const key = recover(hash, signature, parity)
        return key === undefined ? 'none' : toBareHex(key)
      })
      assert.equal(new Set(keys).size, 1, `step ${step}: ${keys.join(' ')}`)
    }
  }
})

test('ecrecover: what no key could sign gives nothing and costs the same', () => {
  const good = fromBareHex(
    '18c547e4f7b0f325ad1e56f57e26c745b09a3e503d86e00e5255ff7f715d3d1c' +
      '000000000000000000000000000000000000000000000000000000000000001c' +
      '73b1693892219d736caba55bdb67216e485557ea6b6af75f37096c9aa6a5a75f' +
      'eeb940b1d03b21e36b0e47e79769f095fe2ab855bd91e3a38756b7d75a9c4549',
  )
  const precompile = precompileAt(1, Fork.Frontier)!
  const output = (input: Uint8Array) => {
    const result = precompile.run(input, 3000n)
    assert.ok(result.kind === 'success')
    assert.equal(result.gasUsed, 3000n)
    return toBareHex(result.output)
  }
  const address = output(good)
  assert.equal(address, '000000000000000000000000a94f5374fce5edbc8e2a8697c15331677e6ebf0b')
  assert.equal(output(bytesConcat(good, new Uint8Array(9).fill(1))), address)
  const changed = (at: number, bytes: Uint8Array) => {
    const copy = new Uint8Array(good)
    copy.set(bytes, at)
    return output(copy)
  }
  for (const v of [0n, 1n, 26n, 29n, 28n + 256n, (1n << 255n) + 28n])
    assert.equal(changed(32, word(v)), '', `v ${v}`)
  for (const at of [64, 96])
    for (const scalar of [0n, ORDER, ORDER + 1n, (1n << 256n) - 1n])
      assert.equal(changed(at, word(scalar)), '', `scalar ${scalar}`)
  for (const length of [0, 32, 64, 95]) assert.equal(output(good.subarray(0, length)), '')
  // A high s is another signature of the same key with the other parity (EIP-2 binds transactions only).
  const low = ORDER - bigintFromBytes(good.subarray(96, 128))
  assert.equal(
    output(bytesConcat(good.subarray(0, 32), word(27), good.subarray(64, 96), word(low))),
    address,
  )
})

const nobleP256 = new NobleP256()
const mclP256 = new MclP256(await loadMclModule(MclCurveId.p256))

test('P-256: mcl and noble agree on true, odd and damaged signatures', () => {
  const random = new Prng(256)
  const order = bigintFromBytes(P256_GROUP_ORDER)
  let trueCount = 0
  for (let step = 0; step < 120; step++) {
    const secret = random.oneIn(8) ? word(random.pick([1n, 2n, order - 1n])) : random.bytes(32)
    if (bigintFromBytes(secret) >= order) continue
    const hash = random.pick([random.bytes(32), word(0), word(order), new Uint8Array(32).fill(255)])
    const signature = p256.sign(hash, secret, { prehash: false, lowS: random.oneIn(2) })
    const input = bytesConcat(hash, signature, p256.getPublicKey(secret, false).subarray(1))
    if (random.oneIn(2)) input[random.below(160)]! ^= 1 << random.below(8)
    if (!isInRange(input)) continue
    const expected = nobleP256.verify(input)
    if (expected) trueCount++
    assert.equal(libraryVerifies(input), expected, `step ${step}: the library's own verification`)
    assert.equal(mclP256.verify(input), expected, `step ${step}: ${toBareHex(input)}`)
  }
  assert.ok(trueCount > 30)
})

/** The library's module of NIST curves, which the engines do not load. */
function libraryVerifies(input: Uint8Array): boolean {
  const key = bytesConcat(Uint8Array.of(4), input.subarray(96))
  const options = { prehash: false, lowS: false }
  try {
    return p256.verify(input.subarray(32, 96), input.subarray(0, 32), key, options)
  } catch {
    return false
  }
}

/** hash = -r * key's secret makes the sum of both points infinity. */
test('P-256: a nonce point at infinity is no signature', () => {
  const order = bigintFromBytes(P256_GROUP_ORDER)
  const [secret, r, s] = [5n, 1234n, 99n]
  const key = p256.getPublicKey(word(secret), false).subarray(1)
  const input = bytesConcat(word((order - ((r * secret) % order)) % order), word(r), word(s), key)
  assert.equal(nobleP256.verify(input), false)
  assert.equal(mclP256.verify(input), false)
})

test('P-256: malformed input gives nothing, and never fails', () => {
  const precompile = precompileAt(0x100, Fork.Osaka)!
  const secret = word(7)
  const hash = word(1)
  const signature = p256.sign(hash, secret, { prehash: false })
  const good = bytesConcat(hash, signature, p256.getPublicKey(secret, false).subarray(1))
  const output = (input: Uint8Array) => {
    const result = precompile.run(input, 6900n)
    assert.ok(result.kind === 'success' && result.gasUsed === 6900n)
    return toBareHex(result.output)
  }
  assert.equal(output(good), toBareHex(word(1)))
  for (const length of [0, 1, 159]) assert.equal(output(good.subarray(0, length)), '')
  assert.equal(output(bytesConcat(good, Uint8Array.of(0))), '')
  const changed = (at: number, bytes: Uint8Array) => {
    const copy = new Uint8Array(good)
    copy.set(bytes, at)
    return output(copy)
  }
  for (const at of [32, 64])
    for (const bytes of [word(0), P256_GROUP_ORDER, new Uint8Array(32).fill(255)])
      assert.equal(changed(at, bytes), '')
  for (const at of [96, 128])
    for (const bytes of [P256_FIELD_MODULUS, new Uint8Array(32).fill(255), word(1)])
      assert.equal(changed(at, bytes), '')
  assert.equal(changed(96, new Uint8Array(64)), '')
})

test('P-256: an abscissa above the group order counts modulo it', () => {
  const order = bigintFromBytes(P256_GROUP_ORDER)
  const field = bigintFromBytes(P256_FIELD_MODULUS)
  assert.deepEqual([order, field], [p256.Point.CURVE().n, p256.Point.CURVE().p])
  for (const r of [1n, 255n, 1n << 64n, field - order - 1n]) {
    assert.equal(isCongruent(word(r + order), word(r)), true)
    assert.equal(isCongruent(word(r), word(r)), true)
    assert.equal(isCongruent(word(r + order - 1n), word(r)), false)
  }
  assert.equal(isCongruent(word(0), word(field - order)), false)
  assert.equal(
    isCongruent(word((field - order + order) & ((1n << 256n) - 1n)), word(field - order)),
    false,
  )
})

function isInRange(input: Uint8Array): boolean {
  const at = (offset: number) => bigintFromBytes(input.subarray(offset, offset + 32))
  const order = bigintFromBytes(P256_GROUP_ORDER)
  const field = bigintFromBytes(P256_FIELD_MODULUS)
  const isScalar = (value: bigint) => value > 0n && value < order
  return isScalar(at(32)) && isScalar(at(64)) && at(96) < field && at(128) < field
}
