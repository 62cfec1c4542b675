/** Aim: a leak is seen and noise is not; short soaks end well. Method: made samples; small runs of both parts. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { MEMORY_BYTES_MIN } from '../../engine/index.ts'
import { Prng } from '../../measure/index.ts'
import { soakBlocks } from './blocksSoak.ts'
import { soakLayers } from './layersSoak.ts'
import { MemoryMeter } from './memoryMeter.ts'
import { memoryTrend } from './memoryTrend.ts'

const MIB = 2 ** 20

/** Bytes over 200 samples, nine seconds apart, with teeth as collections make them. */
function trendOf(bytesAt: (index: number) => number, toothBytes = 40 * MIB) {
  const prng = new Prng(3)
  return memoryTrend(
    Array.from({ length: 200 }, (_, index) => ({
      seconds: 9 * index,
      bytes: bytesAt(index) + prng.below(toothBytes),
    })),
  )
}

test('caches that fill in the first half and teeth are flat', () => {
  assert.ok(trendOf(() => 300 * MIB).isFlat)
  assert.ok(trendOf((index) => 100 * MIB + Math.min(index, 90) * 3 * MIB).isFlat)
  assert.ok(trendOf((index) => 300 * MIB - index * MIB).isFlat)
})

test('a line upwards is not, and its growth is told', () => {
  const { isFlat, growthBytes } = trendOf((index) => (300 + index * 0.2) * MIB, 10 * MIB)
  assert.equal(isFlat, false)
  assert.ok(Math.abs(growthBytes - 0.9 * 20 * MIB) < 4 * MIB, `${growthBytes / MIB}`)
  // A step in the second half counts as well: it may be the first of many.
  assert.equal(trendOf((index) => (index < 150 ? 300 : 330) * MIB, MIB).isFlat, false)
})

test('too few samples are no trend', () => {
  assert.throws(() => memoryTrend([{ seconds: 0, bytes: 1 }]), { code: 'SOAK_TOO_SHORT' })
})

test('layers are all given back, and a list that grows is seen by the meter', () => {
  const meter = new MemoryMeter(() => undefined)
  const { layers } = soakLayers({
    ...{ count: 4000, seed: 9 },
    onLayer: (done) => meter.sample(done / 4000),
  })
  assert.ok(layers >= 4000)
  assert.ok(meter.report().alive.isFlat)
  const leaking = new MemoryMeter(() => undefined)
  const kept: Uint8Array[] = []
  for (let done = 0; done <= 100; done++) {
    kept.push(new Uint8Array(MIB))
    leaking.sample(done / 100)
  }
  assert.equal(leaking.report().alive.isFlat, false)
  assert.equal(kept.length, 101)
})

test('blocks go through, with refusals, branches and pipelines opened anew', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-soak-'))
  const report = await soakBlocks({
    ...{ folder: join(folder, 'db'), minutes: 0.05, memoryBytes: MEMORY_BYTES_MIN, seed: 2 },
    ...{ sync: { mode: 'os' }, onBlock: () => undefined },
  })
  rmSync(folder, { recursive: true })
  assert.ok(report.blocks > 0 && report.databaseBytes > 0)
})
