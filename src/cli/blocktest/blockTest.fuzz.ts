/**
 * Broken blockchain tests: one that is right, with values replaced at random places of its JSON. Each must be refused with
 * a code, or run to a row; nothing else may be thrown, and the right one must pass in between.
 */
import assert from 'node:assert/strict'
import { isVarveError } from '../../base/index.ts'
import { Prng } from '../../testing/index.ts'
import { breakOne, type Json } from '../testfiles/brokenJson.suite.ts'
import { isBlockTest, readBlockTest } from './blockTest.ts'
import { makeDraft } from './draftTest.suite.ts'
import { BlockTestRunner } from './runBlockTest.ts'

/** Runs `stepCount` broken tests. @param seed names the run */
export async function fuzzBlockTests(seed: number, stepCount: number): Promise<void> {
  const prng = new Prng(seed)
  const runner = await BlockTestRunner.open()
  const right = JSON.parse(JSON.stringify((await makeDraft()).draft)) as Json
  for (let step = 0; step < stepCount; step++) {
    const broken = structuredClone(right)
    for (let count = prng.between(1, 3); count > 0; count--) breakOne(prng, broken)
    // As a file would hold it: a list has no holes there.
    const parsed = JSON.parse(JSON.stringify(broken)) as Json
    if (isBlockTest(parsed)) await runBroken(runner, parsed)
    if (step % 20 !== 0) continue
    const { error } = await runner.run(readBlockTest('right', right, () => undefined))
    assert.equal(error, undefined, `seed ${seed} step ${step}`)
  }
}

async function runBroken(runner: BlockTestRunner, value: Json): Promise<void> {
  try {
    await runner.run(readBlockTest('broken', value, () => undefined))
  } catch (error) {
    if (isVarveError(error) && error.code.startsWith('TESTFILE_')) return
    throw new Error(`broken test ${JSON.stringify(value)}`, { cause: error })
  }
}
