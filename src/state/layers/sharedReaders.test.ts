/**
 * Aim: what threads share never changes under a reader (N5): no torn value, nothing lost, nothing twice. Layers are
 * the only values that two threads see at once; they have one writer, and a layer is never written again once it is
 * there. Method: threads read one version over and over while this one writes, forks and releases others beside it.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Prng } from '../../testing/index.ts'
import { completeDelta } from '../delta.ts'
import { DeltaSource, ModelBase, modelApply } from './model.suite.ts'
import { digestOfSource, type ReaderReport } from './sharedReader.suite.ts'
import { StateLayers } from './stateLayers.ts'

const READER_COUNT = 2

test('N5: threads read a version while others are written, forked and released beside it', async () => {
  const random = new Prng(5)
  const base = new ModelBase()
  const source = new DeltaSource(random, 'lastByte', 40)
  const layers = new StateLayers({ persisted: base })
  let model = base.state
  let head = layers.open()
  for (let block = 0; block < 8; block++) {
    const delta = completeDelta(source.next(model), head)
    model = modelApply(model, delta)
    head = head.apply(delta)
  }
  const diffSource = head['map'].diffSource()
  const expected = digestOfSource(diffSource)
  assert(expected.length > 1000)
  const stop = new Int32Array(new SharedArrayBuffer(4))
  const url = new URL('./sharedReader.suite.js', import.meta.url)
  const workers = Array.from(
    { length: READER_COUNT },
    () => new Worker(url, { workerData: { source: diffSource, stop } }),
  )
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  for (let round = 0; round < 400; round++) {
    const first = completeDelta(source.next(model), head)
    const next = head.apply(first)
    const beside = head.fork()
    const top = next.apply(completeDelta(source.next(modelApply(model, first)), next))
    for (const state of [next, beside, top]) state.release()
  }
  Atomics.store(stop, 0, 1)
  const reports = await Promise.all(workers.map((worker) => once(worker, 'message')))
  for (const [report] of reports as [ReaderReport][]) {
    assert.deepEqual(report.digests, [expected], `after ${report.roundCount} rounds`)
    assert(report.roundCount > 1)
  }
  await Promise.all(workers.map((worker) => worker.terminate()))
})
