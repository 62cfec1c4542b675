/**
 * Aim: the point evaluation of EIP-4844 accepts true claims and nothing else, by both engines. Method: published
 * proofs, claims about constant polynomials that anyone can make, and each of them damaged in every field.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bigintToBytes, bytesConcat, Fork, fromBareHex, toBareHex } from '../../base/index.ts'
import { Prng } from '../../testing/index.ts'
import type { BlsEngine } from './curves/curveEngine.ts'
import { BLS_FIELD_MODULUS, BLS_GROUP_ORDER } from './curves/kzgClaim.ts'
import { MclBls } from './curves/mclBls.ts'
import { loadMclModule, MclCurveId } from './curves/mclModule.ts'
import { nobleBls } from './curves/nobleCurve.ts'
import { preparePrecompiles } from './engines.ts'
import { precompileAt } from './registry.ts'

/** Inputs with a real commitment and proof, as go-ethereum and the execution specs publish them. */
const PUBLISHED = [
  '01e798154708fe7789429634053cbf9f99b619f9f084048927333fce637f549b564c0a11a0f704f4fc3e8acfe0f8245f0ad1347b378fbf96e206da11a5d3630624d25032e67a7e6a4910df5834b8fe70e6bcfeeac0352434196bdf4b2485d5a18f59a8d2a1a625a17f3fea0fe5eb8c896db3764f3185481bc22f91b4aaffcca25f26936857bc3a7c2539ea8ec3a952b7873033e038326e87ed3e1276fd140253fa08e9fc25fb2d9a98527fc22a2c9612fbeafdad446cbc7bcdbdcd780af2c16a',
  '01e798154708fe7789429634053cbf9f99b619f9f084048927333fce637f549b73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff000000001522a4a7f34e1ea350ae07c29c96c7e79655aa926122e95fe69fcbd932ca49e98f59a8d2a1a625a17f3fea0fe5eb8c896db3764f3185481bc22f91b4aaffcca25f26936857bc3a7c2539ea8ec3a952b7a62ad71d14c5719385c0686f1871430475bf3a00f0aa3f7b8dd99a9abc2160744faf0070725e00b60ad9a026a15b1a8c',
].map((text) => fromBareHex(text))

const OUTPUT =
  '000000000000000000000000000000000000000000000000000000000000100073eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001'

const engines: Record<string, BlsEngine> = {
  mcl: new MclBls(await loadMclModule(MclCurveId.bls12_381)),
  noble: nobleBls(),
}
const { Point } = bls12_381.G1
const INFINITY = new Uint8Array(48)
INFINITY[0] = 0xc0

const claimOf = (input: Uint8Array) => ({
  z: input.subarray(32, 64),
  y: input.subarray(64, 96),
  commitment: input.subarray(96, 144),
  proof: input.subarray(144, 192),
})

test('published proofs hold, and the precompile says so', async () => {
  await preparePrecompiles(Fork.Cancun)
  const precompile = precompileAt(0x0a, Fork.Cancun)!
  for (const input of PUBLISHED) {
    for (const engine of Object.values(engines))
      assert.equal(engine.verifyKzg(claimOf(input)), true)
    const result = precompile.run(input, 50_000n)
    assert.ok(result.kind === 'success')
    assert.equal(toBareHex(result.output), OUTPUT)
    assert.equal(result.gasUsed, 50_000n)
    assert.equal(precompile.run(input, 49_999n).kind, 'outOfGas')
  }
})

test('refusals carry their reason', () => {
  const precompile = precompileAt(0x0a, Fork.Cancun)!
  const reason = (input: Uint8Array) => {
    const result = precompile.run(input, 50_000n)
    return result.kind === 'failure' ? result.reason : result.kind
  }
  const input = PUBLISHED[0]!
  for (const length of [0, 191, 193, 384])
    assert.equal(reason(bytesConcat(input, input).subarray(0, length)), 'invalid input length')
  const damaged = (at: number, bytes: Uint8Array) => {
    const copy = new Uint8Array(input)
    copy.set(bytes, at)
    return copy
  }
  assert.equal(reason(damaged(0, Uint8Array.of(2))), 'mismatched versioned hash')
  assert.equal(reason(damaged(31, Uint8Array.of(0))), 'mismatched versioned hash')
  assert.equal(reason(damaged(96, Uint8Array.of(0x8e))), 'mismatched versioned hash')
  assert.equal(reason(damaged(63, Uint8Array.of(7))), 'error verifying kzg proof')
  assert.equal(reason(damaged(32, BLS_GROUP_ORDER)), 'error verifying kzg proof')
  assert.equal(reason(damaged(144, new Uint8Array(48))), 'error verifying kzg proof')
})

for (const [name, engine] of Object.entries(engines)) {
  test(`${name}: a constant polynomial is its constant everywhere`, () => {
    for (const value of [0n, 1n, 5n, bls12_381.fields.Fr.ORDER - 1n]) {
      const commitment = value === 0n ? INFINITY : Point.BASE.multiplyUnsafe(value).toBytes(true)
      for (const z of [0n, 1n, 77n]) {
        const claim = (y: bigint) => ({
          commitment,
          proof: INFINITY,
          z: bigintToBytes(z, 32),
          y: bigintToBytes(y, 32),
        })
        assert.equal(engine.verifyKzg(claim(value)), true)
        assert.equal(engine.verifyKzg(claim(value === 0n ? 1n : 0n)), false)
      }
    }
  })

  test(`${name}: points and scalars in any other encoding are refused`, () => {
    const good = claimOf(PUBLISHED[0]!)
    const zero = {
      z: new Uint8Array(32),
      y: new Uint8Array(32),
      commitment: INFINITY,
      proof: INFINITY,
    }
    assert.equal(engine.verifyKzg(zero), true)
    const badPoints: Uint8Array[] = [
      new Uint8Array(48),
      new Uint8Array(48).fill(255),
      changed(INFINITY, 0, 0xe0),
      changed(INFINITY, 0, 0x40),
      changed(INFINITY, 0, 0x80),
      changed(INFINITY, 47, 1),
      changed(INFINITY, 0, 0xc1),
      // x at and above the modulus, and (0, 2), which has order 3.
      changed(BLS_FIELD_MODULUS, 0, BLS_FIELD_MODULUS[0]! | 0x80),
      changed(BLS_FIELD_MODULUS, 0, BLS_FIELD_MODULUS[0]! | 0xa0),
      changed(new Uint8Array(48), 0, 0x80),
      changed(new Uint8Array(48), 0, 0xa0),
    ]
    // Abscissas without a point, and points outside the subgroup.
    for (let x = 1; x < 12; x++) {
      const bytes = changed(new Uint8Array(48), 47, x)
      bytes[0] = 0x80
      badPoints.push(bytes)
    }
    for (const bad of badPoints) {
      assert.equal(engine.verifyKzg({ ...zero, proof: bad }), false, toBareHex(bad))
      assert.equal(engine.verifyKzg({ ...zero, commitment: bad }), false, toBareHex(bad))
    }
    // Flags of a true proof taken away or added.
    for (const flags of [
      good.proof[0]! & 0x7f,
      good.proof[0]! | 0x40,
      (good.proof[0]! & 0x7f) | 0x40,
    ])
      assert.equal(engine.verifyKzg({ ...good, proof: changed(good.proof, 0, flags) }), false)
    // The other root is the other point.
    const turned = changed(good.proof, 0, good.proof[0]! ^ 0x20)
    assert.equal(engine.verifyKzg({ ...good, proof: turned }), false)
    assert.equal(engine.verifyKzg({ ...zero, z: BLS_GROUP_ORDER }), false)
    assert.equal(engine.verifyKzg({ ...zero, y: BLS_GROUP_ORDER }), false)
  })
}

test('mcl and noble agree on random constant claims, true and damaged', () => {
  const random = new Prng(4844)
  for (let step = 0; step < 12; step++) {
    const value = random.bigint(250) + 1n
    const claim = {
      commitment: Point.BASE.multiplyUnsafe(value).toBytes(true),
      proof: random.oneIn(2)
        ? INFINITY
        : Point.BASE.multiplyUnsafe(random.bigint(200) + 1n).toBytes(true),
      z: bigintToBytes(random.bigint(250), 32),
      y: bigintToBytes(random.oneIn(2) ? value : random.bigint(250), 32),
    }
    assert.equal(
      engines['mcl']!.verifyKzg(claim),
      engines['noble']!.verifyKzg(claim),
      `step ${step}`,
    )
  }
})

function changed(bytes: Uint8Array, at: number, byte: number): Uint8Array {
  const copy = new Uint8Array(bytes)
  copy[at] = byte
  return copy
}
