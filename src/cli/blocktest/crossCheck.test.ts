/**
 * Aim: the second way is really taken, and what it finds fails the test. Method: an observer over a small chain by itself,
 * with an engine that answers wrongly; samples of published tests, valid and invalid blocks, forks before and after
 * receipts with roots.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, VarveError } from '../../base/index.ts'
import { parseGenesisJson, singleForkSpec } from '../../chain/index.ts'
import { type Block, sealHeader } from '../../codec/index.ts'
import { type Engine, openEngine } from '../../engine/index.ts'
import { memoryStore } from '../../store/index.ts'
import { fixtureRecords, fixturesMissing } from '../../testing/index.ts'
import { type BlockTest, isBlockTest, readBlockTest, type TestBlock } from './blockTest.ts'
import { CrossCheck } from './crossCheck.ts'
import { BlockTestRunner } from './runBlockTest.ts'

const file = { config: { chainId: 1 }, difficulty: '0x20000', gasLimit: '0x1c9c380', alloc: {} }
const genesis = {
  ...parseGenesisJson(JSON.stringify(file)),
  spec: singleForkSpec(Fork.Byzantium),
}
const crossCheck = new CrossCheck()
const observer = await crossCheck.observerOf({ name: 'made here', genesis } as BlockTest, 'final')
const entry = {} as TestBlock

async function chain(): Promise<{ engine: Engine; block: Block }> {
  const maker = await openEngine({ store: memoryStore(), genesis })
  const block = maker.produce({ coinbase: new Uint8Array(20).fill(1), timestamp: 10n })
  return { engine: await openEngine({ store: memoryStore(), genesis }), block }
}

test('a valid block passes both ways, and one that the engine refuses is refused for the same reason', async () => {
  const { engine, block } = await chain()
  assert.equal(observer.watch(block, engine, entry)(undefined), undefined)
  const wrong = { ...block, header: sealHeader({ ...block.header, stateRoot: block.header.hash }) }
  const fault = new VarveError('BLOCK_STATE_ROOT_MISMATCH', 'as the engine says')
  assert.equal(observer.watch(wrong, engine, entry)(fault), undefined)
})

test('an answer of the engine that its witness does not bear out is a problem', async () => {
  const { engine, block } = await chain()
  const refused = observer.watch(
    block,
    engine,
    entry,
  )(new VarveError('BLOCK_GAS', 'a wrong answer'))
  assert.match(refused ?? '', /making its witness: expected \[BLOCK_GAS\]/)
  const wrong = { ...block, header: sealHeader({ ...block.header, gasUsed: 5n }) }
  assert.match(
    observer.watch(wrong, engine, entry)(undefined) ?? '',
    /expected a valid block, found/,
  )
  const { witness } = engine.recordWitness(block)
  const lacking = { ...engine, header: () => engine.head, spec: engine.spec }
  const blind = Object.assign(lacking, {
    recordWitness: () => ({ witness: { ...witness, state: [], headers: [] }, fault: undefined }),
  }) as unknown as Engine
  assert.match(
    observer.watch(block, blind, entry)(undefined) ?? '',
    /executing its witness.*MISSING/,
  )
})

for (const suite of ['et-blockchain', 'legacy-constantinople-blockchain', 'eest-zkevm-witness'])
  test(`${suite}: a sample passes both ways`, {
    skip: fixturesMissing(suite, 'ethereum/tests, ethereum/execution-spec-tests'),
  }, async () => {
    const runner = await BlockTestRunner.open()
    let count = 0
    let index = 0
    for await (const { tests } of fixtureRecords<{ tests: object }>(suite)) {
      // A few from all over the suite.
      if (index++ % 13 !== 0) continue
      for (const [name, value] of Object.entries(tests).slice(0, 2)) {
        if (!isBlockTest(value)) continue
        const published = readBlockTest(name, value, () => undefined)
        const { precompileSet } = published
        const watched = { observer: await crossCheck.observerOf(published, precompileSet) }
        const result = await runner.run(published, watched)
        assert.ok(result.pass, `${name}: ${result.error}`)
        count++
      }
    }
    assert.ok(count > 0)
  })
