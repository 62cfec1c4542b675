/**
 * Aim: rows G9, G11 and G13 of the feature list, what go-ethereum's layer tree and histories promise, each as a whole.
 * Method: random chains with storage that is cleared and contracts that come again; states are held against full copies,
 * roots against the naive trie, rebuilt from the flat rows.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, fromHex, toBareHex, toHex } from '../../base/index.ts'
import type { Block } from '../../codec/index.ts'
import { encodeAccountLeaf, encodeSlotLeaf } from '../../commit/index.ts'
import { decodeFlatAccount, decodeFlatSlot } from '../../state/index.ts'
import { memoryStore } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { naiveTree } from '../../trie/naiveTrie.suite.ts'
import { openEngine } from '../engine.ts'
import { addressOf } from '../testChain.suite.ts'
import { verifyStore } from '../verify/verifyStore.ts'
import { copyOf, makeTree, type StateCopy, treeGenesis } from './treeChain.suite.ts'

test('G9: 128 states and no more; siblings and children with one and the same root are states of their own', async () => {
  const engine = await openEngine({
    store: memoryStore(),
    genesis: treeGenesis(Fork.Shanghai),
    historyBlocks: 128,
  })
  const root = toHex(engine.head.header.stateRoot)
  const empty = (parent: Uint8Array, seconds: bigint): Block => {
    const { timestamp } = engine.header(parent)!.header
    return engine.produce({ coinbase: addressOf(7), timestamp: timestamp + seconds }, parent)
  }
  // Blocks without transactions change nothing: on both forks every root is that of the parent.
  const genesis = engine.head.header.hash
  const main: Uint8Array[] = [genesis]
  for (let count = 0; count < 10; count++) main.push(empty(main.at(-1)!, 12n).header.hash)
  const side: Uint8Array[] = [genesis]
  for (let count = 0; count < 10; count++) side.push(empty(side.at(-1)!, 13n).header.hash)
  for (const hash of [...main, ...side]) {
    assert.equal(toHex(engine.at(hash).root()), root)
    assert.equal(toHex(engine.header(hash)!.header.stateRoot), root)
  }
  assert.equal(new Set([...main, ...side].map(toHex)).size, 21)
  const held = engine.at(main[1]!)
  for (let count = 10; count < 130; count++) main.push(empty(main.at(-1)!, 12n).header.hash)
  engine.flush()
  assert.deepEqual(engine.kept, { oldest: 2, newest: 130, sideCount: 0 })
  for (const hash of main.slice(2)) assert.equal(toHex(engine.at(hash).root()), root)
  // Older ones, and forks that end below the oldest, are refused by name, also through a view from before.
  for (const hash of [...main.slice(0, 2), ...side.slice(1)])
    assert.throws(() => engine.at(hash), { code: 'ENGINE_STATE_NOT_KEPT' })
  assert.throws(() => held.account(addressOf(1)), { code: 'ENGINE_STATE_NOT_KEPT' })
})

test('G11: 200 random blocks are taken back one by one, and each step is the state that was there', async () => {
  const prng = new Prng(11)
  const { genesis, genesisCopy, blocks } = await makeTree(prng, {
    ...{ fork: Fork.Shanghai, blockCount: 200, spread: 1, withCopies: true, poolCount: 500 },
  })
  const chain = blocks.filter(({ copy }) => copy !== undefined)
  const store = memoryStore()
  const engine = await openEngine({ store, genesis, historyBlocks: 300, batchBlockCount: 17 })
  const states: { readonly hash: Uint8Array; readonly copy: StateCopy }[] = [
    { hash: engine.head.header.hash, copy: genesisCopy },
  ]
  for (const { block, copy } of chain) {
    // The tree's last block is a child of the first one.
    if (engine.import(block).status === 'head')
      states.push({ hash: block.header.hash, copy: copy! })
  }
  assert.ok(states.length >= 200)
  engine.flush()
  for (const { hash, copy } of states.reverse()) {
    engine.setHead(hash)
    const { stateRoot } = engine.head.header
    assert.equal(toHex(engine.at(hash).root()), toHex(stateRoot))
    assert.equal(toHex(engine.at(hash).summary().root()), toHex(stateRoot))
    engine.flush()
    assert.deepEqual(copyOf(store), copy)
  }
  assert.equal(engine.head.header.number, 0)
  assert.deepEqual([...verifyStore(store)], [])
})

test('G13: after every random block the flat rows make the root, and the stored nodes are its trie', async () => {
  const { genesis, blocks } = await makeTree(new Prng(13), {
    ...{ fork: Fork.Shanghai, blockCount: 80, spread: 1, withCopies: true, poolCount: 300 },
  })
  const store = memoryStore()
  const engine = await openEngine({ store, genesis, historyBlocks: 100 })
  for (const { block, copy } of blocks) {
    if (copy === undefined) continue
    if (engine.import(block).status === 'side') continue
    engine.flush()
    assert.equal(toHex(rootOfRows(copyOf(store))), toHex(block.header.stateRoot))
    assert.deepEqual([...verifyStore(store)], [])
  }
})

/** The state root by the Yellow Paper's recursion over accounts and slots; knows nothing of the engine's tries. */
function rootOfRows(rows: StateCopy): Uint8Array {
  const slots = new Map<string, Map<string, Uint8Array>>()
  for (const [key, row] of rows) {
    const bytes = fromHex(key)
    if (bytes.length === 32) continue
    const account = toBareHex(bytes.subarray(0, 32))
    const values = slots.get(account) ?? new Map<string, Uint8Array>()
    slots.set(account, values)
    values.set(toBareHex(bytes.subarray(32)), encodeSlotLeaf(decodeFlatSlot(fromHex(row), bytes)))
  }
  const accounts = new Map<string, Uint8Array>()
  for (const [key, row] of rows) {
    if (fromHex(key).length !== 32) continue
    const account = toBareHex(fromHex(key))
    const storageRoot = naiveTree(slots.get(account) ?? new Map()).root
    accounts.set(
      account,
      encodeAccountLeaf(decodeFlatAccount(fromHex(row), fromHex(key)), storageRoot),
    )
  }
  return naiveTree(accounts).root
}
