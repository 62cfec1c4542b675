/**
 * A process that runs a chain of blocks through a pipeline with a journal and prints the number of each block as it is
 * durable; run by `pipelineCrash.test.ts`, which kills it, or tells it the step at which it kills itself.
 */
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { Fork } from '../../base/index.ts'
import { openBlockJournal, openLmdbStore } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { openEngine } from '../engine.ts'
import { makeTree } from '../tree/treeChain.suite.ts'

/** A valid chain, the same in both processes. */
export async function crashChain() {
  const options = { fork: Fork.Shanghai, blockCount: 60, spread: 1, withCopies: true }
  const { genesis, blocks } = await makeTree(new Prng(17), options)
  return { genesis, blocks: blocks.filter(({ copy }) => copy !== undefined) }
}

async function run(folder: string, step: string, count: number): Promise<void> {
  const { genesis, blocks } = await crashChain()
  const store = openLmdbStore(folder)
  const journal = openBlockJournal(join(folder, 'journal'), { mode: 'always' })
  const engine = await openEngine({ store, genesis, journal, batchMilliseconds: 20 })
  writeSync(1, `head ${engine.head.header.number}\n`)
  let seen = 0
  const pipeline = engine.pipeline({
    onStep: (reached) => {
      if (reached === step && ++seen === count) process.kill(process.pid, 'SIGKILL')
    },
  })
  for (const { block } of blocks) {
    const { durable } = await pipeline.push(block)
    durable().then(
      () => writeSync(1, `durable ${block.header.number}\n`),
      () => undefined,
    )
  }
  await pipeline.close()
  journal.close()
  store.close()
  writeSync(1, 'end\n')
}

const [, script, folder, step, count] = process.argv
if (script?.endsWith('crashChild.suite.js') && folder !== undefined)
  await run(folder, step!, Number(count))
