/**
 * Aim: blocks that go through a pipeline end as they do without one, whatever the timing: same answers, same head, same
 * rows. Method: random trees of valid and invalid blocks, handed to an engine and to a pipeline over another one, with
 * stages on this thread or on their own, each delayed at random; writes in between.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Fork, isVarveError, toHex } from '../../base/index.ts'
import type { Block } from '../../codec/index.ts'
import { memoryStore, openLmdbStore, type Store } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { readHead } from '../chainRecords.ts'
import { type Engine, openEngine } from '../engine.ts'
import { dumpStore } from '../testChain.suite.ts'
import { makeTree } from '../tree/treeChain.suite.ts'
import { verifyStore } from '../verify/verifyStore.ts'
import { delayedStages } from './delayedStages.ts'
import { InlineCommit } from './inlineCommit.ts'
import { InlineSummary } from './inlineSummary.ts'
import { LateStore } from './lateStore.suite.ts'
import type { Pipeline } from './pipeline.ts'
import type { Stages } from './stages.ts'

export type PipelineRun = {
  readonly fork: Fork
  readonly blockCount: number
  /** How many of the newest blocks a block may stand on: 1 for a chain. */
  readonly spread: number
  readonly isThreaded: boolean
  /** Longest delay of a stage. */
  readonly delayMs: number
  /** Whether each stage reads the store as it last saw it (`lateStore.suite.ts`) and keeps no nodes over a write. */
  readonly isLate?: boolean
}

export async function fuzzPipeline(seed: number, run: PipelineRun): Promise<void> {
  const prng = new Prng(seed)
  const { fork, blockCount, spread, isThreaded, delayMs, isLate = false } = run
  const { genesis, blocks } = await makeTree(prng, { fork, blockCount, spread, withCopies: false })
  const where = `seed ${seed} ${JSON.stringify(run)}`
  const inlineStore = memoryStore()
  const inline = await openEngine({ store: inlineStore, genesis })
  const expected = blocks.map(({ block }) => answerOf(() => inline.import(block).status))
  inline.flush()
  await withStore(isThreaded, async (base) => {
    const store = isLate ? new LateStore(base) : base
    const engine = await openEngine({ store, genesis, batchMilliseconds: prng.between(0, 30) })
    const pipeline = engine.pipeline({
      isThreaded,
      inlineBlocksAfterSwitch: prng.between(0, 3),
      through: (given) => {
        const stages = isLate ? lateStages(base) : given
        return delayMs === 0 ? stages : delayedStages(stages, randomDelay(new Prng(seed), delayMs))
      },
    })
    const answers = await pushAll(
      pipeline,
      engine,
      blocks.map(({ block }) => block),
      prng,
    )
    await pipeline.close()
    for (const [index, answer] of answers.entries()) assertAnswer(answer, expected[index]!, where)
    assert.equal(toHex(engine.head.header.hash), toHex(inline.head.header.hash), where)
    assert.equal(dumpStore(base), dumpStore(inlineStore), where)
    assert.deepEqual([...verifyStore(base)], [], where)
  })
}

/** Hands all blocks in, reading and writing now and then. */
async function pushAll(
  pipeline: Pipeline,
  engine: Engine,
  blocks: readonly Block[],
  prng: Prng,
): Promise<string[]> {
  const answers: Promise<string>[] = []
  for (const block of blocks) {
    try {
      const { accepted } = await pipeline.push(block)
      answers.push(accepted.then(({ status }) => status, codeOf))
    } catch (error) {
      answers.push(Promise.resolve(codeOf(error)))
    }
    if (prng.oneIn(6)) await pipeline.flush()
    // Whatever is under way, the state of the head has the root that its header says.
    if (prng.oneIn(3))
      assert.equal(toHex(engine.at('latest').root()), toHex(engine.head.header.stateRoot))
  }
  await pipeline.drain()
  return await Promise.all(answers)
}

/** A block on one that is refused later is known to stand on nothing only afterwards. */
function assertAnswer(answer: string, expected: string, where: string): void {
  if (answer === 'PIPELINE_ANCESTOR_REFUSED') assert.equal(expected, 'BLOCK_PARENT_UNKNOWN', where)
  else assert.equal(answer, expected, where)
}

function answerOf(work: () => string): string {
  try {
    return work()
  } catch (error) {
    return codeOf(error)
  }
}

function codeOf(error: unknown): string {
  if (!isVarveError(error)) throw error
  return error.code
}

/** Stages with handles of their own on the store, none of which sees another one's writes by itself. */
function lateStages(base: Store): Stages {
  const { stateRoot } = readHead(base)
  return {
    summary: new InlineSummary(new LateStore(base), stateRoot, 0),
    commit: new InlineCommit(base),
  }
}

function randomDelay(prng: Prng, delayMs: number): () => Promise<void> {
  return () => new Promise((resume) => setTimeout(resume, prng.between(0, delayMs)))
}

async function withStore(isOnDisk: boolean, work: (store: Store) => Promise<void>): Promise<void> {
  if (!isOnDisk) return await work(memoryStore())
  const folder = mkdtempSync(join(tmpdir(), 'varve-pipeline-'))
  const store = openLmdbStore(folder, { sync: 'os' })
  try {
    await work(store)
  } finally {
    store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
