/**
 * Aim: with a journal, what was accepted is there again after an end without a write: the same head, state, side blocks.
 * Method: random trees and moves of the head; the engine is dropped at random and opened on the same store and journal;
 * beside it one that is never dropped.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Fork, isVarveError, toHex } from '../base/index.ts'
import { memoryStore, openBlockJournal } from '../store/index.ts'
import { Prng } from '../testing/index.ts'
import { openEngine } from './engine.ts'
import { dumpStore } from './testChain.suite.ts'
import { makeTree } from './tree/treeChain.suite.ts'
import { verifyStore } from './verify/verifyStore.ts'

test('G12: an engine that ends without a write stands where it stood, by its journal', async () => {
  for (let seed = 1; seed <= 4; seed++) await runWithEnds(seed)
})

async function runWithEnds(seed: number): Promise<void> {
  const prng = new Prng(seed)
  const options = { fork: Fork.Shanghai, blockCount: 30, spread: 3, withCopies: true }
  const { genesis, blocks } = await makeTree(prng, options)
  const valid = blocks.filter(({ copy }) => copy !== undefined)
  const folder = mkdtempSync(join(tmpdir(), 'varve-journaling-'))
  const stores = [memoryStore(), memoryStore()] as const
  const model = await openEngine({ store: stores[0], genesis })
  const open = () => openBlockJournal(folder, { sync: { mode: 'os' } })
  let journal = open()
  let engine = await openEngine({ store: stores[1], genesis, journal })
  for (const { block } of valid) {
    model.import(block)
    engine.import(block)
    if (prng.oneIn(3)) {
      const { hash } = prng.pick(valid).block.header
      assert.equal(tryHead(engine, hash), tryHead(model, hash))
    }
    if (prng.oneIn(6)) engine.flush()
    if (prng.oneIn(4)) {
      journal.close()
      journal = open()
      engine = await openEngine({ store: stores[1], genesis, journal })
    }
    assert.equal(toHex(engine.head.header.hash), toHex(model.head.header.hash), `seed ${seed}`)
  }
  model.flush()
  engine.flush()
  assert.deepEqual([...verifyStore(stores[1])], [])
  const lines = (text: string) => text.split('\n').filter((line) => !line.startsWith('meta 0x6a6f'))
  assert.deepEqual(lines(dumpStore(stores[1])), lines(dumpStore(stores[0])), `seed ${seed}`)
  journal.close()
  rmSync(folder, { recursive: true })
}

function tryHead(engine: Awaited<ReturnType<typeof openEngine>>, hash: Uint8Array): string {
  try {
    return engine.setHead(hash).status
  } catch (error) {
    if (!isVarveError(error)) throw error
    return error.code
  }
}

test('G12: a journal of another chain is refused, with the record', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-journaling-'))
  const options = { fork: Fork.Shanghai, blockCount: 4, spread: 1, withCopies: true }
  const one = await makeTree(new Prng(5), options)
  const other = await makeTree(new Prng(6), { ...options, fork: Fork.London })
  const journal = openBlockJournal(folder, { sync: { mode: 'always' } })
  const engine = await openEngine({ store: memoryStore(), genesis: one.genesis, journal })
  // The first one brings the chain into the store; its record goes with that.
  for (const { block } of one.blocks.filter(({ copy }) => copy !== undefined).slice(0, 2))
    engine.import(block)
  await assert.rejects(
    openEngine({ store: memoryStore(), genesis: other.genesis, journal }),
    (error) => isVarveError(error, 'ENGINE_JOURNAL_REFUSED') && /record 1 /.test(error.message),
  )
  journal.close()
  rmSync(folder, { recursive: true })
})

test('a journal that begins behind the database is a gap, by name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-journaling-'))
  const options = { fork: Fork.Shanghai, blockCount: 8, spread: 1, withCopies: true }
  const { genesis, blocks } = await makeTree(new Prng(8), options)
  const valid = blocks.filter(({ copy }) => copy !== undefined)
  // Each record a segment, so that a cut takes what it may.
  const journal = openBlockJournal(folder, { sync: { mode: 'always' }, segmentBytes: 1 })
  const stores = [memoryStore(), memoryStore()] as const
  const engine = await openEngine({ store: stores[0], genesis, journal })
  for (const { block } of valid.slice(0, 3)) engine.import(block)
  // A database as it was then, and the journal as it is later.
  const early = await openEngine({ store: stores[1], genesis })
  early.flush()
  for (const { block } of valid.slice(3, 6)) engine.import(block)
  engine.flush()
  await assert.rejects(
    openEngine({ store: stores[1], genesis, journal }),
    (error) =>
      isVarveError(error, 'ENGINE_JOURNAL_GAP') &&
      /expected record 1, the one after the database, got \d+ as the first/.test(error.message),
  )
  journal.close()
  rmSync(folder, { recursive: true })
})

test('records are taken in whatever history is asked for, and then no more is kept than that', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-journaling-'))
  const options = { fork: Fork.Shanghai, blockCount: 30, spread: 9, withCopies: true }
  const { genesis, blocks } = await makeTree(new Prng(12), options)
  const valid = blocks.filter(({ copy }) => copy !== undefined)
  const store = memoryStore()
  const journal = openBlockJournal(folder, { sync: { mode: 'os' } })
  const first = await openEngine({ store, genesis, journal })
  for (const { block } of valid) first.import(block)
  const { hash } = first.head.header
  const again = await openEngine({ store, genesis, journal, historyBlocks: 1 })
  assert.equal(toHex(again.head.header.hash), toHex(hash))
  const { oldest, newest } = again.kept
  assert.equal(newest - oldest, 1)
  again.flush()
  assert.deepEqual([...verifyStore(store)], [])
  journal.close()
  rmSync(folder, { recursive: true })
})
