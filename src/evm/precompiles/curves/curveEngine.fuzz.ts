/** Random points, scalars and damaged encodings through mcl and noble: equal bytes, truths and reasons. */
import assert from 'node:assert/strict'
import { bigintToBytes, bytesConcat } from '../../../base/index.ts'
import { Prng } from '../../../testing/index.ts'
import { type CurveCase, sameOutcome } from './curveEngine.suite.ts'
import {
  type BlsEngine,
  type CurveEngine,
  fieldWidth,
  type Group,
  pointWidth,
} from './curveEngine.ts'

/** @param engines the one under test and its oracle */
export function fuzzCurve(
  curve: CurveCase,
  engines: readonly [CurveEngine, CurveEngine],
  seed: number,
  stepCount: number,
): void {
  const random = new Prng(seed)
  const [engine, oracle] = engines
  const pools = { 1: pool(curve, engine, 1, random), 2: pool(curve, engine, 2, random) }
  const draw = (group: Group): Uint8Array => damaged(random, curve, random.pick(pools[group]))
  const check = (what: string, run: (engine: CurveEngine) => unknown): void => {
    const [found, expected] = [run(engine), run(oracle)]
    assert.ok(sameOutcome(found, expected), `seed ${seed}, ${what}`)
  }
  for (let step = 0; step < stepCount; step++) {
    const group: Group = random.oneIn(2) ? 1 : 2
    const pair = bytesConcat(draw(group), draw(group))
    check(`step ${step}, add in G${group}`, (one) => one.add(group, pair))
    if (random.oneIn(4)) {
      const terms: Uint8Array[] = []
      for (let count = random.between(1, 5); count > 0; count--)
        terms.push(draw(group), drawScalar(random, curve.order))
      const input = bytesConcat(...terms)
      check(`step ${step}, multiply in G${group}`, (one) => one.multiply(group, input))
    }
    if (random.oneIn(24)) {
      const input = bytesConcat(draw(1), draw(2), draw(1), draw(2))
      check(`step ${step}, pairing`, (one) => one.pairing(input))
    }
    if (random.oneIn(12) && isBls(engine) && isBls(oracle)) {
      const element = drawElement(random, curve, group)
      check(`step ${step}, map to G${group}`, (one) => (one as BlsEngine).map(group, element))
    }
  }
}

function isBls(engine: CurveEngine): engine is BlsEngine {
  return 'map' in engine
}

/** Good points, infinity and strangers. */
function pool(curve: CurveCase, engine: CurveEngine, group: Group, random: Prng): Uint8Array[] {
  const points = [new Uint8Array(pointWidth(curve.format, group)), curve.generators[group]]
  const stranger = curve.strangers[group]
  if (stranger !== undefined) points.push(stranger)
  for (let count = 0; count < 12; count++) {
    const input = bytesConcat(curve.generators[group], drawScalar(random, curve.order))
    points.push(engine.multiply(group, input) as Uint8Array)
  }
  return points
}

function drawScalar(random: Prng, order: bigint): Uint8Array {
  switch (random.below(6)) {
    case 0:
      return bigintToBytes(BigInt(random.below(4)), 32)
    case 1:
      return bigintToBytes(order + BigInt(random.between(-2, 2)), 32)
    case 2:
      return new Uint8Array(32).fill(255)
    case 3:
      return bigintToBytes(random.bigint(256), 32)
    default:
      return random.bytes(32)
  }
}

/** A field element, sometimes at or above the modulus. */
function drawElement(random: Prng, { format }: CurveCase, group: Group): Uint8Array {
  const element = new Uint8Array(group * fieldWidth(format))
  for (let part = 0; part < group; part++) {
    const at = part * fieldWidth(format) + format.paddingBytes
    if (random.oneIn(5)) continue
    element.set(random.oneIn(9) ? format.fieldModulus : random.bytes(format.fieldBytes), at)
    if (!random.oneIn(9)) element[at]! &= 0x0f
    if (random.oneIn(9)) element[at + format.fieldBytes - 1]! -= 1
  }
  return element
}

/** Mostly the point itself; else with a bit turned, a byte set, a field raised, or bytes moved. */
function damaged(random: Prng, { format }: CurveCase, point: Uint8Array): Uint8Array {
  if (!random.oneIn(6)) return point
  const bytes = new Uint8Array(point)
  const at = random.below(bytes.length)
  switch (random.below(4)) {
    case 0:
      bytes[at]! ^= 1 << random.below(8)
      break
    case 1:
      bytes[at] = random.pick([0, 1, 255])
      break
    case 2: {
      const field = random.below(bytes.length / fieldWidth(format)) * fieldWidth(format)
      bytes.set(format.fieldModulus, field + format.paddingBytes)
      break
    }
    default:
      bytes.copyWithin(at, random.below(bytes.length))
  }
  return bytes
}
