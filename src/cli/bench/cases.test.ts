/**
 * Aim: every case of `varve bench` still runs, in every arm, does as many operations as it claims, and has the result on
 * record (rows G14, N12). Method: all of them at their smoke size, untimed.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BENCH_GROUPS, caseId } from '../../measure/index.ts'
import { findCases } from './registry.ts'
import { smoke } from './smoke.ts'

for (const group of BENCH_GROUPS)
  for (const bench of await findCases([group]).catch(() => []))
    test(`bench ${caseId(bench)}: operations and result as claimed, in each arm (rows G14, N12)`, async () => {
      for (const { arm, fault } of await smoke(bench)) assert.equal(fault, undefined, arm)
    })

test('cases have names of their own, and arms too', async () => {
  const all = await findCases(['all'])
  assert.equal(new Set(all.map(caseId)).size, all.length)
  for (const bench of all) {
    assert.match(bench.name, /^[a-z0-9-]+$/)
    assert.equal(new Set(bench.arms).size, bench.arms.length)
    for (const { digest } of [...bench.sizes, bench.smoke]) assert.match(digest, /^[0-9a-f]{16}$/)
  }
})
