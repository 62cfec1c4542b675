/** A sample of go-ethereum's tests of its tracers and tools; `npm run conformance` runs them all. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fixtures } from './fixtures.ts'
import { SuiteReport } from './suiteReport.ts'
import { runT8nSuite } from './t8nSuite.ts'
import { runTracerSuite } from './tracerSuite.ts'

const fixtures = Fixtures.open()
const skip =
  fixtures === undefined &&
  'go-ethereum tests: fixtures absent (set VARVE_FIXTURES; the data are public: go-ethereum)'

test('tracers', { skip }, async () => {
  const report = new SuiteReport('geth-tracers', [])
  await runTracerSuite(fixtures!, report)
  assert.deepEqual(report.details, [])
  assert.ok(report.passCount >= 50)
})

test('t8n and t9n', { skip }, async () => {
  const report = new SuiteReport('geth-t8n', [])
  await runT8nSuite(fixtures!, report, ['13', '18', '24', '32'])
  assert.deepEqual(report.details, [])
  assert.equal(report.passCount, 4)
})
