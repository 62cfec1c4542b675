/**
 * Aim: the published tests of what is asked of storage values: transient storage (N7), gas of SSTORE (N8), contracts
 * that destroy themselves and come again (N10). Method: the tests of their EIPs in execution-spec-tests, all that a few
 * seconds hold; `conformance/` runs the suites whole.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixtureRecords, fixturesMissing } from '../../testing/index.ts'
import { StateTestRunner } from './runStateTest.ts'
import { readStateTest } from './stateTest.ts'

/** Paths of the files, every how many of their tests is run, and the least number of sub-cases that must pass. */
type Row = {
  readonly title: string
  readonly suite: string
  readonly path: RegExp
  readonly step: number
  readonly caseCountMin: number
}

const ROWS: readonly Row[] = [
  { title: 'N7: EIP-1153', suite: 'eest-state', path: /eip1153/, step: 1, caseCountMin: 80 },
  {
    title: 'N7: EIP-1153, older tests',
    suite: 'eest-state-static',
    path: /1153/,
    step: 1,
    caseCountMin: 60,
  },
  {
    title: 'N8: stSStoreTest',
    suite: 'eest-state-static',
    path: /stSStoreTest/,
    step: 3,
    caseCountMin: 150,
  },
  { title: 'N10: EIP-6780', suite: 'eest-state', path: /eip6780/, step: 2, caseCountMin: 100 },
  {
    title: 'N10: CREATE2 over what is gone',
    suite: 'et-state',
    path: /stCreate2/,
    step: 4,
    caseCountMin: 15,
  },
]

for (const { title, suite, path, step, caseCountMin } of ROWS)
  test(`${title}, published tests`, {
    skip: fixturesMissing(suite, 'github.com/ethereum/execution-spec-tests'),
  }, async () => {
    const runner = await StateTestRunner.open()
    type Record = { readonly path: string; readonly tests: { readonly [name: string]: unknown } }
    let caseCount = 0
    let index = 0
    for await (const { path: file, tests } of fixtureRecords<Record>(suite)) {
      if (!path.test(file)) continue
      for (const [name, value] of Object.entries(tests)) {
        if (index++ % step !== 0) continue
        for (const { pass, error } of runner.run(readStateTest(name, value))) {
          assert(pass, `${name}: ${error}`)
          caseCount++
        }
      }
    }
    assert(caseCount >= caseCountMin, `only ${caseCount} cases`)
  })
