/**
 * A second process for the test that kills it: `node branchesChild.suite.js FOLDER SEED`. Imports the tree of that seed
 * into a database, its blocks in random order, and moves the head to and fro without end, with writes between. Prints a
 * dot for each write. Does nothing when imported.
 */
import { writeSync } from 'node:fs'
import { Fork, isVarveError } from '../../base/index.ts'
import { openLmdbStore } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { openEngine } from '../engine.ts'
import { makeTree, type TestTree } from './treeChain.suite.ts'

/** Small, so that states fall out of reach all the time. */
export const CHILD_HISTORY_BLOCKS = 6

/** The tree of a seed, the same in both processes. */
export function childTree(seed: number, withCopies: boolean): Promise<TestTree> {
  const options = { fork: Fork.Shanghai, blockCount: 30, spread: 5, withCopies }
  return makeTree(new Prng(seed), options)
}

async function moveForever(folder: string, seed: number): Promise<void> {
  const tree = await childTree(seed, false)
  const store = openLmdbStore(folder)
  const engine = await openEngine({
    store,
    genesis: tree.genesis,
    historyBlocks: CHILD_HISTORY_BLOCKS,
    batchBlockCount: 4,
  })
  const prng = new Prng(seed ^ process.pid)
  for (;;) {
    const { block } = prng.pick(tree.blocks)
    try {
      if (prng.oneIn(3)) engine.setHead(block.header.hash)
      else engine.import(block)
    } catch (error) {
      if (!isVarveError(error)) throw error
    }
    if (!prng.oneIn(3)) continue
    engine.flush()
    writeSync(1, '.')
  }
}

const [, script, folder, seed] = process.argv
if (script === import.meta.filename && folder !== undefined) await moveForever(folder, Number(seed))
