/** Aim: see `pipeline.fuzz.ts`; the order of steps; blocks before Byzantium; refusals; failures. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, isVarveError, VarveError } from '../../base/index.ts'
import { memoryStore } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { openEngine } from '../engine.ts'
import { testBlocks, testGenesis } from '../testChain.suite.ts'
import { makeTree } from '../tree/treeChain.suite.ts'
import { fuzzPipeline } from './pipeline.fuzz.ts'
import { type Step, StepOrder } from './stepOrder.ts'

const CHAIN = { fork: Fork.London, blockCount: 25, spread: 1, isThreaded: false, delayMs: 0 }

test('a pipeline on this thread answers as the engine does, and leaves the same rows', async () => {
  for (let seed = 1; seed <= 6; seed++) await fuzzPipeline(seed, CHAIN)
  for (let seed = 7; seed <= 12; seed++) await fuzzPipeline(seed, { ...CHAIN, spread: 4 })
  await fuzzPipeline(13, { ...CHAIN, fork: Fork.Frontier })
  await fuzzPipeline(14, { ...CHAIN, fork: Fork.Cancun })
})

test('the same with stages that are late at random', async () => {
  for (let seed = 21; seed <= 24; seed++) await fuzzPipeline(seed, { ...CHAIN, delayMs: 8 })
  for (let seed = 25; seed <= 27; seed++)
    await fuzzPipeline(seed, { ...CHAIN, spread: 4, delayMs: 8 })
})

test('the same where no stage sees a write before it is told of it', async () => {
  for (let seed = 41; seed <= 44; seed++)
    await fuzzPipeline(seed, { ...CHAIN, isLate: true, delayMs: seed % 2 === 0 ? 0 : 8 })
  await fuzzPipeline(45, { ...CHAIN, isLate: true, spread: 4, delayMs: 8 })
})

test('the same with stages on threads of their own, over a database', async () => {
  for (let seed = 31; seed <= 32; seed++) await fuzzPipeline(seed, { ...CHAIN, isThreaded: true })
  await fuzzPipeline(33, { ...CHAIN, isThreaded: true, spread: 4, delayMs: 5 })
})

test('A15: the next block executes before the root of the one before is there', async () => {
  const { genesis, blocks } = await makeTree(new Prng(3), { ...CHAIN, withCopies: true })
  const steps: string[] = []
  const engine = await openEngine({ store: memoryStore(), genesis })
  const pipeline = engine.pipeline({
    onStep: (step, number) => steps.push(`${step} ${number}`),
    through: ({ summary, commit }) => ({
      commit,
      summary: {
        advance: async (source) => {
          await new Promise((resume) => setTimeout(resume, 20))
          return await summary.advance(source)
        },
        retreat: (source) => summary.retreat(source),
        prefetch: (block, senders) => summary.prefetch(block, senders),
        collect: () => summary.collect(),
        markPersisted: () => summary.markPersisted(),
        close: () => summary.close(),
      },
    }),
  })
  const valid = blocks.filter(({ copy }) => copy !== undefined).slice(0, 5)
  for (const { block } of valid) await pipeline.push(block)
  await pipeline.close()
  assert.ok(steps.indexOf('executed 2') < steps.indexOf('rooted 1'), steps.join(', '))
  assert.ok(steps.includes('statePublished 5'), steps.join(', '))
})

test('blocks before Byzantium and after it go the same way in', async () => {
  const genesis = testGenesis()
  const blocks = await testBlocks(genesis, 20)
  const engine = await openEngine({ store: memoryStore(), genesis })
  const pipeline = engine.pipeline({ inlineBlocksAfterSwitch: 0 })
  for (const block of blocks) await pipeline.push(block)
  assert.equal((await (await pipeline.push(blocks[3]!)).accepted).status, 'known')
  await pipeline.close()
  assert.equal(engine.head.header.number, 20)
})

test('while a pipeline is open the engine itself takes no blocks; afterwards it goes on', async () => {
  const genesis = testGenesis()
  const blocks = await testBlocks(genesis, 14)
  const engine = await openEngine({ store: memoryStore(), genesis })
  const pipeline = engine.pipeline()
  for (const block of blocks.slice(0, 12)) await pipeline.push(block)
  assert.throws(
    () => engine.import(blocks[12]!),
    (error) => isVarveError(error, 'ENGINE_PIPELINED'),
  )
  await pipeline.close()
  await assert.rejects(pipeline.push(blocks[12]!), (error) =>
    isVarveError(error, 'PIPELINE_CLOSED'),
  )
  for (const block of blocks.slice(12)) engine.import(block)
  assert.equal(engine.head.header.number, 14)
})

test('a write that fails ends the pipeline and the engine, with the fault of the store', async () => {
  const genesis = testGenesis()
  const blocks = await testBlocks(genesis, 14)
  const engine = await openEngine({ store: memoryStore(), genesis })
  const fault = new VarveError('STORE_FULL', 'no room')
  const pipeline = engine.pipeline({
    through: ({ summary, commit }) => ({
      summary,
      commit: { write: () => Promise.reject(fault), close: () => commit.close() },
    }),
  })
  for (const block of blocks) await pipeline.push(block)
  await assert.rejects(pipeline.flush(), (error) => isVarveError(error, 'STORE_FULL'))
  await assert.rejects(pipeline.push(blocks[13]!), (error) => isVarveError(error, 'STORE_FULL'))
  await pipeline.close()
  assert.equal(engine.isUsable, false)
})

test('A18: steps out of their declared order are a fault', () => {
  const told: [Step, number][] = []
  const order = new StepOrder(4, (step, number) => told.push([step, number]))
  order.reach('executed', 6)
  order.reach('rooted', 5)
  assert.throws(() => order.reach('accepted', 6), /accepted of block 6 needs rooted, which is at 5/)
  assert.throws(() => order.reach('statePublished', 5), /needs summaryPublished/)
  order.withdrawAbove(4)
  assert.equal(order.at('executed'), 4)
  assert.deepEqual(told, [
    ['executed', 6],
    ['rooted', 5],
  ])
})
