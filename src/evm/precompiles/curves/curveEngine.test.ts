/**
 * Aim: both engines of both curves keep the EIPs, and agree with each other. Method: one suite for all four, then
 * seeded random comparison; the published vectors are in `../precompiles.test.ts`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bn254 } from '@noble/curves/bn254.js'
import { bigintFromBytes, bytesConcat, toBareHex } from '../../../base/index.ts'
import { fuzzCurve } from './curveEngine.fuzz.ts'
import { curveSuite } from './curveEngine.suite.ts'
import { BLS_FORMAT, BN254_FORMAT } from './curveEngine.ts'
import { BLS_GROUP_ORDER, G1_BASE, G2_BASE_NEGATED, TAU_G2, Y_LARGER_MIN } from './kzgClaim.ts'
import { MclBls } from './mclBls.ts'
import { MclCurve } from './mclCurve.ts'
import { loadMclModule, MclCurveId } from './mclModule.ts'
import { nobleBls, nobleBn254 } from './nobleCurve.ts'
import {
  BLS_CASE,
  BN254_CASE,
  blsStranger1,
  blsStranger2,
  encodePoint,
} from './testCurves.suite.ts'

const mclBls = new MclBls(await loadMclModule(MclCurveId.bls12_381))
const mclBn254 = new MclCurve(BN254_FORMAT, await loadMclModule(MclCurveId.bn254))
const seed = Number(process.env['VARVE_SEED'] ?? 20_260_102)

curveSuite('bls12-381 by mcl', BLS_CASE, () => mclBls)
curveSuite('bls12-381 by noble', BLS_CASE, nobleBls)
curveSuite('bn254 by mcl', BN254_CASE, () => mclBn254)
curveSuite('bn254 by noble', BN254_CASE, nobleBn254)

test('bls12-381: mcl and noble agree on random input', (context) => {
  context.diagnostic(`seed ${seed}`)
  fuzzCurve(BLS_CASE, [mclBls, nobleBls()], seed, 120)
})

test('bn254: mcl and noble agree on random input', (context) => {
  context.diagnostic(`seed ${seed}`)
  fuzzCurve(BN254_CASE, [mclBn254, nobleBn254()], seed, 120)
})

test('bls12-381: points of order 3 and other torsion are outside', () => {
  // (0, 2) and (0, -2) have order 3. Of the others each is refused as it is, and in G1 also times the group order,
  // where only its torsion is left.
  const noble = nobleBls()
  const orderThree = [2n, bls12_381.fields.Fp.ORDER - 2n].map((y) =>
    bytesConcat(encodePoint(BLS_FORMAT, [[0n], [y]]), new Uint8Array(32)),
  )
  for (const input of orderThree)
    for (const engine of [mclBls, noble])
      assert.deepEqual(engine.multiply(1, input), BLS_FORMAT.subgroupFaults[1])
  for (let start = 0n; start < 6n; start++)
    for (const [group, point] of [
      [1, blsStranger1(1000n * start)],
      [2, blsStranger2(1000n * start)],
    ] as const) {
      const torsion = group === 1 ? torsionOf1(point) : point
      for (const stranger of [point, torsion]) {
        const input = bytesConcat(stranger, new Uint8Array(32))
        const expected = BLS_FORMAT.subgroupFaults[group]
        assert.deepEqual(mclBls.multiply(group, input), expected)
        assert.deepEqual(noble.multiply(group, input), expected)
      }
    }
})

test('constants are those of the libraries and of the ceremony', () => {
  const { fields, G1, G2 } = bls12_381
  assert.equal(bigintFromBytes(BLS_FORMAT.fieldModulus), fields.Fp.ORDER)
  assert.equal(bigintFromBytes(BN254_FORMAT.fieldModulus), bn254.fields.Fp.ORDER)
  assert.equal(bigintFromBytes(BLS_GROUP_ORDER), fields.Fr.ORDER)
  assert.equal(bigintFromBytes(Y_LARGER_MIN), (fields.Fp.ORDER + 1n) / 2n)
  assert.deepEqual(G1_BASE, BLS_CASE.generators[1])
  const field = (index: number, bytes: Uint8Array) =>
    bigintFromBytes(bytes.subarray(64 * index, 64 * index + 64))
  const point = (bytes: Uint8Array) =>
    G2.Point.fromAffine({
      x: { c0: field(0, bytes), c1: field(1, bytes) } as never,
      y: { c0: field(2, bytes), c1: field(3, bytes) } as never,
    })
  assert.ok(point(G2_BASE_NEGATED).equals(G2.Point.BASE.negate()))
  assert.equal(
    toBareHex(point(TAU_G2).toBytes(true)),
    'b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72' +
      '185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2',
  )
  assert.ok(G1.Point.BASE.isTorsionFree())
})

/** `point` times the group order: what is left of it lies in the cofactor's part. */
function torsionOf1(point: Uint8Array): Uint8Array {
  const { Point } = bls12_381.G1
  const at = (index: number) => bigintFromBytes(point.subarray(64 * index, 64 * index + 64))
  let power = Point.fromAffine({ x: at(0), y: at(1) })
  let sum = Point.ZERO
  for (let rest = bls12_381.fields.Fr.ORDER; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) sum = sum.add(power)
    power = power.double()
  }
  const { x, y } = sum.toAffine()
  return encodePoint(BLS_FORMAT, [[x], [y]])
}
