/**
 * What every curve engine must do, engine by engine: laws of the group, encodings of infinity, and each refusal of
 * the EIPs. Agreement of two engines on random input is `curveEngine.fuzz.ts`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bigintFromBytes, bigintToBytes, bytesConcat, bytesEqual } from '../../../base/index.ts'
import {
  type CurveEngine,
  type CurveFormat,
  fieldWidth,
  type Group,
  pointWidth,
} from './curveEngine.ts'

/** A curve for the suite: known points in the encoding of its EIP. */
export type CurveCase = {
  readonly format: CurveFormat
  readonly order: bigint
  readonly generators: Readonly<Record<Group, Uint8Array>>
  /** Groups that have an addition precompile; bn254 has it for G1 only. */
  readonly groups: readonly Group[]
  /** Points on the curve, outside the subgroup, where there are such. */
  readonly strangers: Readonly<Partial<Record<Group, Uint8Array>>>
}

const scalar = (value: bigint): Uint8Array => bigintToBytes(value, 32)

export function curveSuite(name: string, curve: CurveCase, engine: () => CurveEngine): void {
  const { format, generators, order, groups } = curve
  const times = (group: Group, value: bigint, point = generators[group]): Uint8Array =>
    bytesOf(engine().multiply(group, bytesConcat(point, scalar(value))))

  for (const group of groups) {
    const infinity = new Uint8Array(pointWidth(format, group))
    const generator = generators[group]

    test(`${name}, G${group}: sums, multiples and infinity`, () => {
      const { add } = bound(engine(), group)
      assert.deepEqual(add(infinity, infinity), infinity)
      assert.deepEqual(add(generator, infinity), generator)
      assert.deepEqual(add(infinity, generator), generator)
      assert.deepEqual(add(generator, generator), times(group, 2n))
      assert.deepEqual(add(times(group, 2n), generator), times(group, 3n))
      assert.deepEqual(add(times(group, order - 1n), generator), infinity)
      assert.deepEqual(times(group, 0n), infinity)
      assert.deepEqual(times(group, order), infinity)
      assert.deepEqual(times(group, order + 5n), times(group, 5n))
      const top = (1n << 256n) - 1n
      assert.deepEqual(times(group, top), times(group, top % order))
      assert.deepEqual(times(group, 3n, infinity), infinity)
    })

    test(`${name}, G${group}: sums of many terms, some of them nothing or opposite`, () => {
      for (const count of [1, 2, 3, 16, 17, 1023, 1024, 1025]) {
        const small = count > 100
        if (small && !name.includes('mcl')) continue
        let expected = 0n
        const terms: Uint8Array[] = []
        const points = [1n, 2n, order - 1n, 0n].map((value) => times(group, value))
        for (let index = 0; index < count; index++) {
          const value = index % 7 === 3 ? 0n : BigInt(index) ** 9n
          terms.push(points[index % 4]!, scalar(value))
          expected += [1n, 2n, order - 1n, 0n][index % 4]! * value
        }
        const sum = bytesOf(engine().multiply(group, bytesConcat(...terms)))
        assert.deepEqual(sum, times(group, expected % order), `${count} terms`)
      }
      const opposite = [generator, scalar(5n), generator, scalar(order - 5n)]
      assert.deepEqual(engine().multiply(group, bytesConcat(...opposite)), infinity)
    })

    test(`${name}, G${group}: refusals`, () => {
      const offCurve = new Uint8Array(generator)
      offCurve[offCurve.length - 1]! ^= 1
      const width = fieldWidth(format)
      for (let field = 0; field < 2 * group; field++) {
        const outside = new Uint8Array(generator)
        const at = field * width + format.paddingBytes
        const value = bigintFromBytes(outside.subarray(at, at + format.fieldBytes))
        const lifted = value + bigintFromBytes(format.fieldModulus)
        if (lifted >> BigInt(8 * format.fieldBytes) === 0n) {
          outside.set(bigintToBytes(lifted, format.fieldBytes), at)
          refused(engine(), group, outside, format.fieldFault.reason)
        }
        outside.set(format.fieldModulus, at)
        refused(engine(), group, outside, format.fieldFault.reason)
        if (format.paddingBytes === 0) continue
        for (const place of [0, format.paddingBytes - 1]) {
          const padded = new Uint8Array(generator)
          padded[field * width + place] = 1
          refused(engine(), group, padded, format.paddingFault.reason)
        }
      }
      refused(engine(), group, offCurve, format.curveFault.reason)
      const halfZero = new Uint8Array(generator)
      halfZero.fill(0, group * width)
      refused(engine(), group, halfZero, format.curveFault.reason)
    })

    const stranger = curve.strangers[group]
    if (stranger !== undefined)
      test(`${name}, G${group}: a point outside the subgroup adds, but does not multiply`, () => {
        const { reason } = format.subgroupFaults[group]
        const { add } = bound(engine(), group)
        assert.ok(add(stranger, stranger) instanceof Uint8Array)
        assert.deepEqual(add(stranger, infinity), stranger)
        for (const value of [0n, 1n, order])
          assert.deepEqual(engine().multiply(group, bytesConcat(stranger, scalar(value))), {
            kind: 'failure',
            reason,
          })
        const pair = group === 1 ? [stranger, generators[2]] : [generators[1], stranger]
        assert.deepEqual(engine().pairing(bytesConcat(...pair)), { kind: 'failure', reason })
        // Infinity on the other side does not excuse it.
        pair[2 - group] = new Uint8Array(pointWidth(format, group === 1 ? 2 : 1))
        assert.deepEqual(engine().pairing(bytesConcat(...pair)), { kind: 'failure', reason })
      })
  }

  test(`${name}: pairings are bilinear and skip infinity`, () => {
    const [p, q] = [generators[1], generators[2]]
    const [zero1, zero2] = [1, 2].map((group) => new Uint8Array(pointWidth(format, group as Group)))
    const minus = (value: bigint) => times(1, order - value)
    const isOne = (...points: Uint8Array[]) => engine().pairing(bytesConcat(...points))
    assert.equal(isOne(), true)
    assert.equal(isOne(zero1!, zero2!), true)
    assert.equal(isOne(p, zero2!), true)
    assert.equal(isOne(zero1!, q), true)
    assert.equal(isOne(p, q), false)
    assert.equal(isOne(p, q, minus(1n), q), true)
    assert.equal(isOne(zero1!, q, p, q, minus(1n), q, p, zero2!), true)
    assert.equal(isOne(times(1, 6n), q, minus(2n), q, minus(4n), q), true)
    assert.equal(isOne(times(1, 6n), q, minus(2n), q, minus(5n), q), false)
    if (!name.includes('mcl')) return
    // More pairs than one Miller loop takes.
    const many: Uint8Array[] = []
    for (let index = 0; index < 65; index++) many.push(p, q)
    assert.equal(isOne(...many, minus(65n), q), true)
    assert.equal(isOne(...many, minus(64n), q), false)
  })
}

/** Adding, and multiplying by one, must refuse `point`, wherever it stands. */
function refused(engine: CurveEngine, group: Group, point: Uint8Array, reason: string): void {
  const infinity = new Uint8Array(point.length)
  for (const operands of [bytesConcat(point, infinity), bytesConcat(infinity, point)])
    assert.deepEqual(engine.add(group, operands), { kind: 'failure', reason })
  assert.deepEqual(engine.multiply(group, bytesConcat(point, scalar(1n))), {
    kind: 'failure',
    reason,
  })
}

function bound(engine: CurveEngine, group: Group) {
  return { add: (a: Uint8Array, b: Uint8Array) => engine.add(group, bytesConcat(a, b)) }
}

function bytesOf(result: ReturnType<CurveEngine['add']>): Uint8Array {
  assert.ok(result instanceof Uint8Array, `refused: ${(result as { reason?: string }).reason}`)
  return result
}

/** Two outcomes of one operation are the same: equal bytes, truth, or reason. */
export function sameOutcome(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return bytesEqual(a, b)
  if (typeof a === 'boolean') return a === b
  return (a as { reason?: string }).reason === (b as { reason?: string }).reason
}
