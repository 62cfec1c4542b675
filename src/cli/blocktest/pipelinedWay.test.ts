/**
 * Aim: what a pipeline does otherwise than an engine without one is seen. Method: a chain, invalid blocks and blocks on
 * them; then an engine beside it that differs in an answer, in the head, in a row.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VarveError } from '../../base/index.ts'
import { type Block, sealHeader } from '../../codec/index.ts'
import { openEngine } from '../../engine/index.ts'
import { memoryStore, type Store } from '../../store/index.ts'
import { type BlockTest, readBlockTest } from './blockTest.ts'
import { makeDraft } from './draftTest.suite.ts'
import { PipelinedWay, seedOf } from './pipelinedWay.ts'

const { draft } = await makeDraft()
const { genesis }: BlockTest = readBlockTest('draft', draft, () => undefined)
const blocks = await makeBlocks(6)

async function makeBlocks(count: number): Promise<Block[]> {
  const engine = await openEngine({ store: memoryStore(), genesis })
  return Array.from({ length: count }, (_, index) =>
    engine.produce({
      coinbase: new Uint8Array(20).fill(index),
      timestamp: 10n * BigInt(index + 1),
    }),
  )
}

const open = (store: Store) => openEngine({ store, genesis })

async function wayOf(seed: number | undefined, openAnew = open, compared?: Store) {
  const store = memoryStore()
  const engine = await open(store)
  const options = { store: compared ?? store, openAnew, seed, comparedBytesMax: 2 ** 20 }
  return { engine, way: new PipelinedWay(engine, options) }
}

test('answers are those of an engine, of blocks on refused ones too', async () => {
  for (const seed of [undefined, 1, 2, 3]) {
    const { engine, way } = await wayOf(seed)
    const [first, second] = blocks as [Block, Block]
    const wrong = {
      ...first,
      header: sealHeader({ ...first.header, stateRoot: new Uint8Array(32) }),
    }
    const parentHash = wrong.header.hash
    const onWrong = { ...second, header: sealHeader({ ...second.header, parentHash }) }
    for (const block of [wrong, onWrong, ...blocks]) await way.hand(block)
    const answers = []
    for (let index = 0; index < 4; index++) answers.push((await way.answer(index))?.code)
    assert.deepEqual(answers, [
      'BLOCK_STATE_ROOT_MISMATCH',
      'BLOCK_PARENT_UNKNOWN',
      undefined,
      undefined,
    ])
    assert.equal(await way.finish(), undefined)
    assert.equal(engine.head.header.number, blocks.length)
  }
})

test('another answer, another head and another row are named', async () => {
  const refusing = (store: Store) =>
    openEngine({
      store,
      genesis,
      blockExecutor: () => {
        throw new VarveError('BLOCK_GAS', 'as no other does')
      },
    })
  const ahead = async (store: Store) => {
    const engine = await open(store)
    for (const block of blocks) engine.import(block)
    return engine
  }
  for (const [openAnew, compared, message] of [
    [refusing, undefined, /block 1 \(0\): expected BLOCK_GAS as without one, found accepted/],
    [ahead, undefined, /expected head 0x/],
    [open, memoryStore(), /expected the row of 0x\w+ as without one, found another or none/],
  ] as const) {
    const { way } = await wayOf(7, openAnew, compared)
    for (const block of blocks.slice(0, 3)) await way.hand(block)
    assert.match((await way.finish()) ?? '', message)
  }
})

test('each test has delays of its own', () => {
  assert.notEqual(seedOf(1, 'a'), seedOf(1, 'b'))
  assert.notEqual(seedOf(1, 'a'), seedOf(2, 'a'))
})
