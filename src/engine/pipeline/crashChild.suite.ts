/**
 * A process that hands a chain of blocks, valid and invalid ones, to a pipeline with a journal, and prints the number of
 * each block as it is durable; run by `pipelineCrash.test.ts`, which kills it, or tells it the step at which it kills
 * itself: `node crashChild.suite.js FOLDER CHAIN PLAN`. Does nothing when imported.
 */
import { readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Fork, fromHex, isVarveError } from '../../base/index.ts'
import { decodeBlock } from '../../codec/index.ts'
import { type JournalSync, openBlockJournal, openLmdbStore } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { openEngine } from '../engine.ts'
import { makeTree, type TestTree, treeGenesis } from '../tree/treeChain.suite.ts'
import type { Step } from './stepOrder.ts'

/** What a child is told. */
export type CrashPlan = {
  /** It kills itself when it has reached this so many times. */
  readonly step: Step | 'none'
  readonly count: number
  readonly sync: JournalSync
  readonly batchMilliseconds: number
  readonly isThreaded: boolean
}

const FORK = Fork.Shanghai
const POOL_COUNT = 360

/** What children hand in, with the state after each valid block. */
export function crashChain(): Promise<TestTree> {
  const options = {
    fork: FORK,
    blockCount: 160,
    spread: 1,
    poolCount: POOL_COUNT,
    withCopies: true,
  }
  return makeTree(new Prng(17), options)
}

/** The journal of a child, however its end came. */
export function openCrashJournal(folder: string, sync: JournalSync) {
  return openBlockJournal(join(folder, 'journal'), { sync })
}

async function run(folder: string, chainFile: string, plan: CrashPlan): Promise<void> {
  const genesis = treeGenesis(FORK, POOL_COUNT)
  const blocks = readFileSync(chainFile, 'utf8').split('\n').map(fromHex).map(decodeBlock)
  const store = openLmdbStore(folder)
  const journal = openCrashJournal(folder, plan.sync)
  const { batchMilliseconds, isThreaded } = plan
  const engine = await openEngine({ store, genesis, journal, batchMilliseconds })
  writeSync(1, `head ${engine.head.header.number}\n`)
  let seen = 0
  const pipeline = engine.pipeline({
    isThreaded,
    onStep: (reached) => {
      if (reached === plan.step && ++seen === plan.count) process.kill(process.pid, 'SIGKILL')
    },
  })
  for (const block of blocks) {
    try {
      const { durable } = await pipeline.push(block)
      durable().then(
        () => writeSync(1, `durable ${block.header.number}\n`),
        () => undefined,
      )
    } catch (error) {
      // Invalid ones are refused, and old ones may stand on a state that is not kept.
      if (!isVarveError(error)) throw error
    }
  }
  await pipeline.close()
  journal.close()
  store.close()
}

const [, script, folder, chainFile, plan] = process.argv
if (script === import.meta.filename && folder !== undefined)
  await run(folder, chainFile!, JSON.parse(plan!) as CrashPlan)
