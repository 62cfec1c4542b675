// Aim: whenever a process dies while its head goes to and fro, the store is at one head, with that head's state, index
// and deltas, and goes on. Method: a child is killed by SIGKILL at random moments, again and again on one folder; after
// each, every row is checked and the state compared with the full copy of the head's. @isolate
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { toHex } from '../../base/index.ts'
import { openLmdbStore } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { readHead } from '../chainRecords.ts'
import { openEngine } from '../engine.ts'
import { verifyStore } from '../verify/verifyStore.ts'
import { CHILD_HISTORY_BLOCKS, childTree } from './branchesChild.suite.ts'
import { copyOf } from './treeChain.suite.ts'

const KILL_COUNT = 5
const SEED = 11

test('G10: killed at random moments of reorganisations, the store stands at one head', async () => {
  const tree = await childTree(SEED, true)
  const copies = new Map(tree.blocks.map(({ block, copy }) => [toHex(block.header.hash), copy]))
  const folder = mkdtempSync(join(tmpdir(), 'varve-branches-'))
  const prng = new Prng(SEED)
  const heads = new Set<string>()
  for (let kill = 0; kill < KILL_COUNT; kill++) {
    await runAndKill(folder, prng.between(0, 400))
    const store = openLmdbStore(folder, { readOnly: true })
    assert.deepEqual([...verifyStore(store)], [], `after kill ${kill}`)
    const head = toHex(readHead(store).hash)
    heads.add(head)
    assert.deepEqual(
      copyOf(store),
      copies.get(head) ?? tree.genesisCopy,
      `state after kill ${kill}`,
    )
    const { kept } = await openEngine({ store, historyBlocks: CHILD_HISTORY_BLOCKS })
    assert.ok(kept.newest - kept.oldest <= CHILD_HISTORY_BLOCKS)
    store.close()
  }
  rmSync(folder, { recursive: true })
  assert.ok(heads.size > 1, 'the head moved between kills')
})

/** Lets the child work until its first write and some milliseconds more. */
async function runAndKill(folder: string, milliseconds: number): Promise<void> {
  const script = join(import.meta.dirname, 'branchesChild.suite.js')
  const child = spawn(process.execPath, [script, folder, `${SEED}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const started = new Promise<'started'>((resolve) =>
    child.stdout.once('data', () => resolve('started')),
  )
  const first = await Promise.race([exited, started])
  assert.equal(first, 'started', 'the child ended by itself')
  await sleep(milliseconds)
  child.kill('SIGKILL')
  await exited
}
