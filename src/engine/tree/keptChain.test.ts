// Aim: the edges of what is kept: limits of side blocks, the deepest move of the head, the border of the merge, sizes
// of the window. Method: by hand, on the small chain of this folder's tests.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, toHex } from '../../base/index.ts'
import { parseGenesisJson } from '../../chain/index.ts'
import type { Block } from '../../codec/index.ts'
import { memoryStore, TABLES } from '../../store/index.ts'
import { type Engine, openEngine } from '../engine.ts'
import { addressOf, dumpStore, testBlocks, testGenesis } from '../testChain.suite.ts'
import { verifyStore } from '../verify/verifyStore.ts'
import { treeGenesis } from './treeChain.suite.ts'

const genesis = testGenesis()
const blocks = await testBlocks(genesis, 30)

/** Makes blocks one on top of the other. */
function grow(engine: Engine, from: Uint8Array, count: number, seconds: bigint): Block[] {
  const made: Block[] = []
  for (let parent = from; made.length < count; parent = made.at(-1)!.header.hash) {
    const { timestamp } = engine.header(parent)!.header
    const choices = { coinbase: addressOf(7), timestamp: timestamp + seconds }
    made.push(engine.produce(choices, parent))
  }
  return made
}

test('whatever the window, the same blocks pass and the same chain is left', async () => {
  const dumps = await Promise.all(
    [0, 1, 3, 7, 1000].map(async (historyBlocks) => {
      const store = memoryStore()
      const engine = await openEngine({ store, genesis, historyBlocks, batchBlockCount: 4 })
      for (const block of blocks) engine.import(block)
      engine.flush()
      assert.deepEqual([...verifyStore(store)], [])
      assert.deepEqual(engine.kept, {
        oldest: Math.max(0, 30 - historyBlocks),
        newest: 30,
        sideCount: 0,
      })
      const { entryCount } = store.tableStats()[TABLES.indexOf('deltas')]!
      assert.equal(entryCount, Math.min(30, historyBlocks))
      // The floor and the deltas are the window.
      return dumpStore(store)
        .split('\n')
        .filter((line) => !line.startsWith('deltas') && !line.startsWith(`meta ${toHex(FLOOR)}`))
        .join('\n')
    }),
  )
  assert.equal(new Set(dumps).size, 1)
})

const FLOOR = new TextEncoder().encode('floor')

test('a block is known a second time, and its parent is named as unknown or too old', async () => {
  const engine = await openEngine({ store: memoryStore(), genesis, historyBlocks: 2 })
  const choices = { coinbase: addressOf(1), timestamp: blocks[1]!.header.timestamp + 3n }
  const other = await openEngine({ store: memoryStore(), genesis })
  for (const block of blocks.slice(0, 2)) other.import(block)
  const side = other.produce(choices, blocks[0]!.header.hash)
  for (const block of blocks.slice(0, 5)) assert.equal(engine.import(block).status, 'head')
  for (const block of blocks.slice(0, 5)) assert.equal(engine.import(block).status, 'known')
  assert.throws(() => engine.import(blocks[6]!), { code: 'BLOCK_PARENT_UNKNOWN' })
  assert.throws(() => engine.import(side), {
    code: 'ENGINE_STATE_NOT_KEPT',
    message: /the parent of block 2, 0x\w+, is not kept: kept are those of blocks 3 to 5/,
  })
  assert.throws(() => engine.setHead(blocks[1]!.header.hash), { code: 'ENGINE_STATE_NOT_KEPT' })
  assert.throws(() => engine.setHead(new Uint8Array(32)), { code: 'ENGINE_STATE_NOT_KEPT' })
})

test('G9 G11: the head moves back over the whole window and forward again, over writes', async () => {
  const store = memoryStore()
  const engine = await openEngine({
    store,
    genesis: treeGenesis(Fork.Shanghai),
    historyBlocks: 128,
  })
  const base = engine.head.header.hash
  const main = grow(engine, base, 128, 12n)
  engine.flush()
  const dump = dumpStore(store)
  const { status, dropped } = engine.setHead(base)
  assert.equal(status, 'reorg')
  assert.equal(dropped.length, 128)
  engine.flush()
  assert.deepEqual([...verifyStore(store)], [])
  assert.equal(engine.canonicalHash(1), undefined)
  const reopened = await openEngine({ store })
  const forward = reopened.setHead(main.at(-1)!.header.hash)
  assert.equal(forward.status, 'head')
  assert.equal(forward.added.length, 128)
  reopened.flush()
  assert.equal(dumpStore(store), dump)
})

test('side blocks are bounded: those that came first go, with all their rows', async () => {
  const store = memoryStore()
  const engine = await openEngine({ store, genesis, historyBlocks: 5 })
  for (const block of blocks.slice(0, 3)) engine.import(block)
  const { hash, timestamp } = engine.header(1)!.header
  for (let index = 0; index < 100; index++) {
    engine.produce({ coinbase: addressOf(index), timestamp: timestamp + 30n }, hash)
    if (index % 30 === 0) engine.flush()
  }
  assert.equal(engine.kept.sideCount, 64)
  assert.equal(engine.head.header.number, 3)
  engine.flush()
  assert.deepEqual([...verifyStore(store)], [])
  assert.equal(store.tableStats()[TABLES.indexOf('headers')]!.entryCount, 4 + 64)
})

test('one long side branch ends where it would push out its own beginning, until the head follows it', async () => {
  const store = memoryStore()
  const engine = await openEngine({ store, genesis: treeGenesis(Fork.Shanghai), historyBlocks: 8 })
  const base = engine.head.header.hash
  grow(engine, base, 2, 12n)
  const branch = grow(engine, base, 64, 13n)
  const tip = branch.at(-1)!.header.hash
  const before = dumpStore(store)
  assert.throws(() => grow(engine, tip, 1, 13n), { code: 'ENGINE_SIDE_BLOCKS_TOO_MANY' })
  assert.equal(dumpStore(store), before)
  assert.equal(engine.setHead(tip).status, 'reorg')
  assert.deepEqual(engine.kept, { oldest: 56, newest: 64, sideCount: 0 })
  grow(engine, tip, 1, 13n)
  engine.flush()
  assert.deepEqual([...verifyStore(store)], [])
})

test('terminal blocks compete by weight until one has a child; after that the head is told', async () => {
  // Two blocks of proof of work, then the terminal total difficulty is passed.
  const blocksOfForks = Object.fromEntries(
    ['homestead', 'eip150', 'eip155', 'eip158', 'byzantium', 'constantinople', 'petersburg']
      .concat('istanbul', 'berlin', 'london')
      .map((name) => [`${name}Block`, 0]),
  )
  const config = { chainId: 5, ...blocksOfForks, terminalTotalDifficulty: 131_072 * 3 }
  const alloc = { [toHex(addressOf(1))]: { balance: '1' } }
  const file = { config, difficulty: '0x20000', gasLimit: '0x1c9c380', alloc }
  const engine = await openEngine({
    store: memoryStore(),
    genesis: parseGenesisJson(JSON.stringify(file)),
  })
  const [first] = grow(engine, engine.head.header.hash, 1, 30n)
  const from = first!.header.hash
  const [late] = grow(engine, from, 1, 30n)
  const [early] = grow(engine, from, 1, 1n)
  assert.ok(late!.header.difficulty < early!.header.difficulty)
  assert.deepEqual(engine.head.header.hash, early!.header.hash, 'the heavier terminal block')
  const [onLate] = grow(engine, late!.header.hash, 1, 12n)
  assert.equal(onLate!.header.difficulty, 0n)
  assert.deepEqual(engine.head.header.hash, early!.header.hash, 'no weight, no head')
  const [onEarly] = grow(engine, early!.header.hash, 1, 12n)
  assert.deepEqual(engine.head.header.hash, onEarly!.header.hash, 'a child of the head')
  assert.equal(engine.setHead(onLate!.header.hash).status, 'reorg')
  const [heavier] = grow(engine, from, 1, 2n)
  assert.ok(heavier!.header.difficulty > 0n)
  assert.deepEqual(engine.head.header.hash, onLate!.header.hash, 'proof of work is over')
})
