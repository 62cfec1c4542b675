// Aim: reading while importing changes nothing. Method: one chain with branches goes into two stores; one engine is
// asked a thousand questions on the way, about any kept block, before and after writes. Both stores end up equal.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, toHex } from '../../base/index.ts'
import { memoryStore } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { type Engine, openEngine } from '../engine.ts'
import { addressOf, dumpStore } from '../testChain.suite.ts'
import { makeTree, type TreeBlock, treeGenesis } from './treeChain.suite.ts'

const QUESTION_COUNT = 1000

test('a thousand questions during an import change no root and no row', async () => {
  const prng = new Prng(21)
  const options = { fork: Fork.London, blockCount: 100, spread: 3, withCopies: false }
  const { genesis, blocks } = await makeTree(prng, options)
  const dumps: string[][] = []
  for (const questionsPerBlock of [0, Math.ceil(QUESTION_COUNT / blocks.length)]) {
    const store = memoryStore()
    const engine = await openEngine({ store, genesis, historyBlocks: 40, batchBlockCount: 9 })
    const states: string[] = []
    blocks.forEach(({ block }, index) => {
      try {
        engine.import(block)
      } catch {
        // Invalid blocks are part of the tree: both engines refuse the same.
      }
      for (let count = 0; count < questionsPerBlock; count++)
        ask(engine, prng.pick(blocks.slice(0, index + 1)), prng)
      states.push(`${toHex(engine.head.header.hash)} ${dumpStore(store).length}`)
    })
    engine.flush()
    states.push(dumpStore(store))
    dumps.push(states)
  }
  assert.deepEqual(dumps[1], dumps[0])
})

/** One of every kind of question, to a block that may be there, or not any more. */
function ask(engine: Engine, { block }: TreeBlock, prng: Prng): void {
  const { hash, stateRoot, number } = block.header
  const address = addressOf(prng.pick([0xcc, 0xd1, 0xd2, 0xfa, 0x41]))
  const slot = new Uint8Array(32).fill(prng.below(8), 31)
  engine.receipts(hash)
  engine.block(number)
  try {
    const view = engine.at(hash)
    switch (prng.below(6)) {
      case 0:
        assert.deepEqual(view.root(), stateRoot)
        break
      case 1:
        view.code(address)
        view.storage(address, slot)
        break
      case 2:
        assert.deepEqual(
          view.proof(address, [slot]).storageProof[0]!.value,
          view.storage(address, slot),
        )
        break
      case 3:
        // A summary of one's own may be changed at will.
        view.summary().update({
          accounts: [
            { addressHash: prng.bytes(32), after: undefined, storageCleared: true, slots: [] },
          ],
        })
        break
      case 4:
        assert.deepEqual(engine.witness(hash).headers.length > 0, true)
        break
      default:
        engine.blockHashBefore(hash)(BigInt(Math.max(0, number - 3)))
    }
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENGINE_STATE_NOT_KEPT') throw error
  }
}

test('a view that is held reads on when the head leaves and comes back', async () => {
  const engine = await openEngine({ store: memoryStore(), genesis: treeGenesis(Fork.Shanghai) })
  const base = engine.head.header
  const produce = (seconds: bigint, parent: Uint8Array) => {
    const timestamp = base.timestamp + seconds
    return engine.produce({ coinbase: addressOf(7), timestamp }, parent).header.hash
  }
  const first = produce(12n, base.hash)
  const tip = produce(24n, first)
  engine.flush()
  const view = engine.at(0)
  assert.equal(view.account(addressOf(0xd1))?.balance, 5n)
  // The head's block is the same afterwards, the state that stands for it is not.
  engine.setHead(first)
  engine.setHead(tip)
  assert.equal(view.account(addressOf(0xd1))?.balance, 5n)
  assert.equal(view.account(addressOf(0xd2))?.balance, 5n)
})
