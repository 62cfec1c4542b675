// Aim: the engine accepts exactly valid blocks, stores what it accepted whatever the sizes of its writes, and stands
// where it stood after a refusal. Method: a chain made by one engine goes through others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isVarveError, toHex } from '../base/index.ts'
import { type Block, decodeBlock, encodeBlock, sealHeader } from '../codec/index.ts'
import { verifyAccountProof } from '../commit/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { memoryStore, type Store, WriteBatch } from '../store/index.ts'
import { openEngine } from './engine.ts'
import { addressOf, dumpStore, testBlocks, testGenesis } from './testChain.suite.ts'
import { verifyStore } from './verify/verifyStore.ts'

const genesis = testGenesis()
const blocks = await testBlocks(genesis, 40)

function isCode(code: string) {
  return (error: unknown) => isVarveError(error, code)
}

/** A copy of a block with other header fields, sealed anew. */
function withHeader(block: Block, changes: Partial<Block['header']>): Block {
  return { ...block, header: sealHeader({ ...block.header, ...changes }) }
}

test('blocks of one engine pass another, whatever the size of its writes, and leave equal stores', async () => {
  const dumps: string[] = []
  for (const batchBlockCount of [1, 7, 1000]) {
    const store = memoryStore()
    const engine = await openEngine({ store, genesis, batchBlockCount })
    for (const block of blocks) engine.import(decodeBlock(encodeBlock(block)))
    engine.flush()
    assert.equal(toHex(engine.head.header.hash), toHex(blocks.at(-1)!.header.hash))
    assert.deepEqual([...verifyStore(store)], [])
    dumps.push(dumpStore(store))
  }
  assert.equal(dumps[0], dumps[1])
  assert.equal(dumps[0], dumps[2])
})

test('an engine that is opened again goes on where the store stands', async () => {
  const store = memoryStore()
  for (const block of blocks) {
    // The genesis is needed once; later the store knows its chain.
    const isFirst = block.header.number === 1
    const engine = await openEngine(isFirst ? { store, genesis } : { store })
    assert.equal(engine.head.header.number, block.header.number - 1)
    engine.import(block)
    engine.flush()
  }
  assert.deepEqual([...verifyStore(store)], [])
})

test('a store that died before its first batch, with codes that went ahead, is as good as an empty one', async () => {
  const store = memoryStore()
  const code = Uint8Array.of(0x60, 0x00)
  const batch = new WriteBatch()
  batch.put('codes', keccak256(code), code)
  store.write(batch)
  const engine = await openEngine({ store, genesis })
  engine.import(blocks[0]!)
  engine.flush()
  assert.equal((await openEngine({ store })).head.header.number, 1)
})

test('nothing is written before the first flush, and a block that was not written is gone after a restart', async () => {
  const store = memoryStore()
  const engine = await openEngine({ store, genesis })
  engine.import(blocks[0]!)
  assert.equal(dumpStore(store), '')
  await assert.rejects(openEngine({ store }), isCode('ENGINE_GENESIS_MISSING'))
})

test('where writes are on flush, none comes before, however many blocks wait', async () => {
  const store = memoryStore()
  const now = { batchBlockCount: 1, batchMilliseconds: 0 }
  const engine = await openEngine({ store, genesis, ...now, writes: 'on flush' })
  for (const block of blocks) engine.import(block)
  assert.equal(dumpStore(store), '')
  engine.flush()
  assert.deepEqual([...verifyStore(store)], [])
  assert.equal((await openEngine({ store })).head.header.number, blocks.length)
})

const refusals: [name: string, code: string, make: (block: Block) => Block][] = [
  [
    'another state root',
    'BLOCK_STATE_ROOT_MISMATCH',
    (block) => withHeader(block, { stateRoot: new Uint8Array(32) }),
  ],
  [
    'another parent',
    'BLOCK_PARENT_UNKNOWN',
    (block) => withHeader(block, { parentHash: new Uint8Array(32) }),
  ],
  [
    'another difficulty',
    'BLOCK_DIFFICULTY_INVALID',
    (block) => withHeader(block, { difficulty: 1n }),
  ],
  ['another gas sum', 'BLOCK_GAS_USED_INVALID', (block) => withHeader(block, { gasUsed: 1n })],
  [
    'an uncle too many',
    'BLOCK_UNCLE_HASH_INVALID',
    (block) => ({ ...block, uncles: [block.header] }),
  ],
]
for (const [name, code, make] of refusals)
  test(`a block with ${name} is refused and leaves no trace`, async () => {
    const store = memoryStore()
    const engine = await openEngine({ store, genesis })
    for (const block of blocks.slice(0, 20)) engine.import(block)
    engine.flush()
    engine.import(blocks[20]!)
    const before = dumpStore(store)
    assert.throws(() => engine.import(make(blocks[21]!)), isCode(code))
    assert.equal(dumpStore(store), before)
    assert.equal(engine.head.header.number, 21)
    assert.equal(toHex(engine.at('latest').root()), toHex(blocks[20]!.header.stateRoot))
    // The right block still fits, so neither state nor tries kept anything of the wrong one.
    for (const block of blocks.slice(21)) engine.import(block)
    engine.flush()
    assert.deepEqual([...verifyStore(store)], [])
  })

test('another genesis is refused on a store that has a chain', async () => {
  const store = memoryStore()
  const engine = await openEngine({ store, genesis })
  engine.flush()
  await assert.rejects(
    openEngine({ store, genesis: testGenesis(31) }),
    isCode('ENGINE_CHAIN_MISMATCH'),
  )
  await openEngine({ store, genesis: testGenesis(30) })
})

test('views answer for their block with proofs that verify, and say so once it is too old', async () => {
  const engine = await openEngine({ store: memoryStore(), genesis, historyBlocks: 5 })
  const view = engine.at('latest')
  assert.equal(view.account(addressOf(3))?.balance, 3n)
  assert.equal(view.account(addressOf(0x77)), undefined)
  assert.equal(toHex(view.code(addressOf(0xcc))), '0x6001600055')
  const slot = (index: number) => new Uint8Array(32).fill(index, 31)
  assert.equal(BigInt(toHex(view.storage(addressOf(0xcc), slot(1)))), 0xff00n)
  assert.equal(BigInt(toHex(view.storage(addressOf(0xcc), slot(9)))), 0n)
  const proof = view.proof(addressOf(0xcc), [slot(0), slot(1), slot(9)])
  const verified = verifyAccountProof(view.root(), proof)
  assert.equal(verified.account?.nonce, 1n)
  assert.deepEqual(
    verified.values.map((value) => BigInt(toHex(value))),
    [1n, 0xff00n, 0n],
  )
  // An account without storage, and none at all: both have proofs (USERS M7, M8).
  assert.equal(
    verifyAccountProof(view.root(), view.proof(addressOf(3), [slot(0)])).account?.balance,
    3n,
  )
  assert.equal(
    verifyAccountProof(view.root(), view.proof(addressOf(0x77), [slot(0)])).account,
    undefined,
  )
  // A proof of one state proves nothing under another root (USERS M10).
  assert.throws(() => verifyAccountProof(new Uint8Array(32), proof), isCode('PROOF_INVALID'))
  for (const forged of [{ nonce: 2n }, { balance: 1n }, { storageRoot: new Uint8Array(32) }])
    assert.throws(
      () => verifyAccountProof(view.root(), { ...proof, ...forged }),
      isCode('PROOF_INVALID'),
    )
  engine.import(blocks[0]!)
  // The view stays what it was, proofs and all, until its block is too old.
  assert.equal(view.account(addressOf(3))?.balance, 3n)
  assert.deepEqual(view.proof(addressOf(0xcc), [slot(0), slot(1), slot(9)]), proof)
  assert.equal(engine.at(1).header.number, 1)
  for (const block of blocks.slice(1, 6)) engine.import(block)
  assert.throws(() => view.account(addressOf(3)), isCode('ENGINE_STATE_NOT_KEPT'))
  assert.throws(() => view.proof(addressOf(3)), isCode('ENGINE_STATE_NOT_KEPT'))
  assert.throws(() => view.summary().root(), isCode('ENGINE_STATE_NOT_KEPT'))
  assert.throws(() => engine.at(0), {
    code: 'ENGINE_STATE_NOT_KEPT',
    message: 'the state of block 0 is not kept: kept are those of blocks 1 to 6',
  })
  assert.throws(() => engine.at(7), isCode('ENGINE_STATE_NOT_KEPT'))
})

test('reading between blocks changes neither roots nor stores', async () => {
  const quiet = memoryStore()
  const asked = memoryStore()
  for (const store of [quiet, asked]) {
    const engine = await openEngine({ store, genesis, batchBlockCount: 5 })
    for (const block of blocks) {
      engine.import(block)
      if (store === quiet) continue
      const view = engine.at('latest')
      for (let byte = 0; byte < 256; byte += 5) view.proof(addressOf(byte), [new Uint8Array(32)])
    }
    engine.flush()
  }
  assert.equal(dumpStore(asked), dumpStore(quiet))
})

test('after a failed write the engine takes no more calls, and the store opens where it stood', async () => {
  const inner = memoryStore()
  let isBroken = false
  const store: Store = new Proxy(inner, {
    get(target, name: keyof Store) {
      if (name !== 'write')
        return target[name] instanceof Function ? target[name].bind(target) : target[name]
      return (batch: Parameters<Store['write']>[0]) => {
        if (isBroken) throw new Error('disk on fire')
        target.write(batch)
      }
    },
  })
  const engine = await openEngine({ store, genesis })
  engine.import(blocks[0]!)
  engine.flush()
  const before = dumpStore(inner)
  engine.import(blocks[1]!)
  isBroken = true
  assert.throws(() => engine.flush(), /disk on fire/)
  assert.throws(() => engine.import(blocks[2]!), isCode('ENGINE_FAILED'))
  assert.throws(() => engine.at('latest'), isCode('ENGINE_FAILED'))
  assert.equal(dumpStore(inner), before)
  assert.equal((await openEngine({ store: inner })).head.header.number, 1)
})

test('what cannot be written down is neither made nor imported', async () => {
  const engine = await openEngine({ store: memoryStore(), genesis })
  const choices = { coinbase: new Uint8Array(20), timestamp: 1n << 40n }
  const wrong = [
    { timestamp: 1n << 64n },
    { coinbase: new Uint8Array(3) },
    { mixHash: new Uint8Array(3) },
    { extraData: new Uint8Array(5000) },
  ]
  for (const part of wrong)
    assert.throws(() => engine.produce({ ...choices, ...part }), /RLP|HEADER|extra data/)
  const [block] = blocks
  assert.throws(() => engine.import(withHeader(block!, { mixHash: new Uint8Array(3) })), /mixHash/)
  assert.equal(engine.head.header.number, 0)
  // A hash that is not that of the fields counts for nothing.
  const { header } = block!
  engine.import({
    ...block!,
    header: { ...header, hash: new Uint8Array(32), raw: new Uint8Array(9) },
  })
  assert.equal(toHex(engine.head.header.hash), toHex(header.hash))
})

test('a block is named by number, hash or latest, and by nothing else', async () => {
  const engine = await openEngine({ store: memoryStore(), genesis })
  for (const name of ['0x00', '1', 1n, new Uint8Array(31)])
    assert.throws(() => engine.at(name as never), isCode('ENGINE_BLOCK_ID_INVALID'))
})
