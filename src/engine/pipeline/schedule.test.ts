/**
 * Aim: rows A11, A16 and A18: the newest executed state is apart from the newest confirmed one; a root does not depend on
 * how often and in which order it is asked for; what a write made true is published in its order, and at every point in
 * between reads are right. Method: a summary that answers when it is told to, and whole reads at every step.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, toHex } from '../../base/index.ts'
import { memoryStore } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { readHead } from '../chainRecords.ts'
import { openEngine } from '../engine.ts'
import { makeTree } from '../tree/treeChain.suite.ts'
import type { SummaryStage } from './stages.ts'

const CHAIN = { fork: Fork.London, blockCount: 12, spread: 1, withCopies: true }

async function validChain(seed: number) {
  const { genesis, blocks } = await makeTree(new Prng(seed), CHAIN)
  return {
    genesis,
    blocks: blocks.filter(({ copy }) => copy !== undefined).map(({ block }) => block),
  }
}

/** A summary with something in the way of its roots and of the end of a write. */
function around(
  summary: SummaryStage,
  { advance, markPersisted }: Partial<Pick<SummaryStage, 'advance' | 'markPersisted'>>,
): SummaryStage {
  return {
    advance: advance ?? ((source) => summary.advance(source)),
    retreat: (source) => summary.retreat(source),
    prefetch: (block, senders) => summary.prefetch(block, senders),
    collect: () => summary.collect(),
    markPersisted: markPersisted ?? (() => summary.markPersisted()),
    close: () => summary.close(),
  }
}

const turn = () => new Promise((resume) => setTimeout(resume, 5))

test('A11: the confirmed head is apart from the executed tip: none, some, or all of the blocks', async () => {
  const { genesis, blocks } = await validChain(4)
  const engine = await openEngine({ store: memoryStore(), genesis, batchMilliseconds: 1e9 })
  const waiting: (() => void)[] = []
  let executed = 0
  const pipeline = engine.pipeline({
    onStep: (step, number) => {
      if (step === 'executed') executed = number
    },
    through: ({ summary, commit }) => ({
      commit,
      summary: around(summary, {
        advance: async (source) => {
          const root = await summary.advance(source)
          await new Promise<void>((resume) => waiting.push(resume))
          return root
        },
      }),
    }),
  })
  const heads: [executed: number, head: number][] = []
  const look = async () => {
    await turn()
    const { number, stateRoot } = engine.head.header
    assert.deepEqual(engine.at('latest').root(), stateRoot)
    heads.push([executed, number])
  }
  for (const block of blocks.slice(0, 3)) await pipeline.push(block)
  await look()
  for (const resume of waiting.splice(0, 2)) resume()
  await look()
  waiting.shift()!()
  await look()
  await pipeline.close()
  assert.deepEqual(heads, [
    [3, 0],
    [3, 2],
    [3, 3],
  ])
})

test('A16: a root asked twice, and of children of forks in either order, is the same', async () => {
  const options = { fork: Fork.London, blockCount: 30, spread: 4, withCopies: true }
  const { genesis, blocks } = await makeTree(new Prng(8), options)
  const valid = blocks.filter(({ copy }) => copy !== undefined).map(({ block }) => block)
  const engine = await openEngine({ store: memoryStore(), genesis })
  for (const block of valid) engine.import(block)
  for (const isWritten of [false, true]) {
    if (isWritten) engine.flush()
    for (const order of [valid, [...valid].reverse(), [...valid].sort(byHash)])
      for (const { header } of order)
        for (let count = 0; count < 2; count++)
          assert.deepEqual(engine.at(header.hash).root(), header.stateRoot)
  }
  const heights = new Set(valid.map(({ header }) => header.number))
  assert(heights.size < valid.length, 'there are forks')
})

const byHash = (a: { header: { hash: Uint8Array } }, b: { header: { hash: Uint8Array } }) =>
  toHex(a.header.hash) < toHex(b.header.hash) ? -1 : 1

test('A18: the summary is published before the state, and at every step reads are right', async () => {
  const { genesis, blocks } = await validChain(6)
  const store = memoryStore()
  const engine = await openEngine({ store, genesis, batchMilliseconds: 0 })
  const steps: string[] = []
  const pipeline = engine.pipeline({
    onStep: (step) => {
      steps.push(step)
      // As whoever came in just here.
      const { header } = engine.head
      assert.deepEqual(engine.at('latest').root(), header.stateRoot)
    },
    through: ({ summary, commit }) => ({
      commit,
      summary: around(summary, {
        markPersisted: () => {
          steps.push('summary told')
          assert(readHead(store).number <= engine.head.header.number)
          summary.markPersisted()
        },
      }),
    }),
  })
  for (const block of blocks) {
    await pipeline.push(block)
    await turn()
  }
  await pipeline.close()
  const ofWrites = steps.filter((step) =>
    ['written', 'summary told', 'summaryPublished', 'statePublished', 'journalCut'].includes(step),
  )
  const once = ['written', 'summary told', 'summaryPublished', 'statePublished', 'journalCut']
  assert(ofWrites.length >= 3 * once.length, 'several writes')
  for (const [index, step] of ofWrites.entries()) assert.equal(step, once[index % once.length])
})
