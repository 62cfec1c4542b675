/**
 * Aim (A20): whenever a process dies, on reopening the head is at or after the last block that was said to be durable,
 * the chain up to it is the one that was handed in, and the database is whole. Method: a child kills itself at every
 * durable step, and is killed at random moments, again and again on one folder. @isolate
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { toHex } from '../../base/index.ts'
import { openBlockJournal, openLmdbStore } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { openEngine } from '../engine.ts'
import { copyOf } from '../tree/treeChain.suite.ts'
import { verifyStore } from '../verify/verifyStore.ts'
import { crashChain } from './crashChild.suite.ts'
import { DURABLE_STEPS } from './stepOrder.ts'

const RANDOM_KILLS = Number(process.env['VARVE_CRASH_KILLS'] ?? 4)
const SEED = Number(process.env['VARVE_CRASH_SEED'] ?? 1)

test('A20: killed at every durable step, and at random, the chain is there again', async () => {
  const chain = await crashChain()
  const prng = new Prng(SEED)
  const kills = [
    ...DURABLE_STEPS.flatMap((step) => [1, 2].map((count) => ({ step, count, afterMs: 20_000 }))),
    ...Array.from({ length: RANDOM_KILLS }, () => ({
      ...{ step: 'none', count: 0, afterMs: prng.between(1, 400) },
    })),
  ]
  let folder = newFolder()
  let isKilled = false
  for (const kill of kills) {
    const where = `seed ${SEED} ${JSON.stringify(kill)}`
    const { acknowledged, isEnded } = await runAndKill(folder, kill)
    isKilled ||= !isEnded
    const store = openLmdbStore(folder)
    const journal = openBlockJournal(join(folder, 'journal'), { mode: 'always' })
    assert.deepEqual([...verifyStore(store)], [], where)
    const engine = await openEngine({ store, genesis: chain.genesis, journal })
    const { number, hash } = engine.head.header
    assert.ok(number >= acknowledged, `${where}: block ${acknowledged} was durable, head ${number}`)
    if (number > 0) {
      const { block, copy } = chain.blocks[number - 1]!
      assert.equal(toHex(hash), toHex(block.header.hash), where)
      engine.flush()
      assert.deepEqual(copyOf(store), copy, where)
      assert.deepEqual([...verifyStore(store)], [], where)
    }
    journal.close()
    store.close()
    // A chain that is at its end kills nobody any more.
    if (number === chain.blocks.length || prng.oneIn(3)) {
      rmSync(folder, { recursive: true })
      folder = newFolder()
    }
  }
  rmSync(folder, { recursive: true })
  assert.ok(isKilled, 'some child was killed')
})

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'varve-crash-'))
}

type Kill = { readonly step: string; readonly count: number; readonly afterMs: number }

/** Lets the child work until it is dead, or ends. Returns the newest block that it said to be durable. */
async function runAndKill(folder: string, { step, count, afterMs }: Kill) {
  const script = join(import.meta.dirname, 'crashChild.suite.js')
  const child = spawn(process.execPath, [script, folder, step, `${count}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  let timer: NodeJS.Timeout | undefined
  child.stdout.on('data', (bytes: Buffer) => {
    text += bytes.toString()
    timer ??= setTimeout(() => child.kill('SIGKILL'), afterMs)
  })
  await new Promise((resolve) => child.on('close', resolve))
  clearTimeout(timer)
  const numbers = Array.from(text.matchAll(/^(?:durable|head) (\d+)$/gm), ([, digits]) =>
    Number(digits),
  )
  return { acknowledged: Math.max(0, ...numbers), isEnded: /^end$/m.test(text) }
}
