/**
 * Aim (A20): whenever a process dies, on reopening the head is at or after the last block that was said to be durable,
 * the chain up to it is the one that was handed in, and the database is whole. Method: a child kills itself at every
 * declared step, and is killed at random moments under load, again and again on one folder, with every way of syncing.
 * VARVE_CRASH_KILLS=200 VARVE_CRASH_SEED=7 for more of the latter (`npm run crashtest`). @isolate
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { toHex } from '../../base/index.ts'
import { encodeBlock } from '../../codec/index.ts'
import { type JournalSync, openLmdbStore } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { openEngine } from '../engine.ts'
import { copyOf, type TestTree } from '../tree/treeChain.suite.ts'
import { verifyStore } from '../verify/verifyStore.ts'
import { type CrashPlan, crashChain, openCrashJournal } from './crashChild.suite.ts'
import { DURABLE_STEPS, STEP_NEEDS, type Step } from './stepOrder.ts'

const RANDOM_KILLS = Number(process.env['VARVE_CRASH_KILLS'] ?? 4)
const SEED = Number(process.env['VARVE_CRASH_SEED'] ?? 1)
/** Whoever asks for many kills wants to see them. */
const IS_SHOWN = RANDOM_KILLS > 20

/** Milliseconds between a sign of life and a kill, at most: about what some blocks take. */
const KILL_MS = 60
const SYNCS: readonly JournalSync[] = [
  { mode: 'always' },
  { mode: 'group', milliseconds: 5 },
  { mode: 'os' },
]

test('A20 G10: killed at every declared step, and at random, the chain is there again', async () => {
  const chain = await crashChain()
  const prng = new Prng(SEED)
  const folders = new CrashFolders(prng)
  const chainFile = folders.writeChain(chain)
  for (const step of Object.keys(STEP_NEEDS) as Step[]) {
    const isDurable = (DURABLE_STEPS as readonly Step[]).includes(step)
    for (const count of isDurable ? [1, 2] : [1]) {
      // Writes come at once, so that every step is reached.
      const plan = { ...randomPlan(prng), step, count, batchMilliseconds: 0 }
      const outcome = await runAndKill([folders.current, chainFile], plan)
      assert.ok(!outcome.isEnded, `${JSON.stringify(plan)}: the child came to its end`)
      await checkAfter(chain, folders, plan, outcome)
    }
  }
  for (let kills = 0, tries = 0; kills < RANDOM_KILLS; tries++) {
    assert.ok(tries < 10 + 3 * RANDOM_KILLS, 'most children meet their kill')
    const plan = randomPlan(prng)
    const outcome = await runAndKill([folders.current, chainFile], plan, {
      signs: prng.between(0, chain.blocks.length),
      milliseconds: prng.between(0, KILL_MS),
    })
    if (!outcome.isEnded) kills++
    const head = await checkAfter(chain, folders, plan, outcome)
    if (IS_SHOWN)
      console.log(
        `kill ${kills} of ${RANDOM_KILLS}: durable ${outcome.acknowledged}, head ${head}, ${plan.sync.mode}`,
      )
  }
  folders.remove()
})

/** Folders of databases: one goes from child to child, until its chain is through or by chance. */
class CrashFolders {
  current = newFolder()
  private readonly prng: Prng
  private readonly common = newFolder()

  constructor(prng: Prng) {
    this.prng = prng
  }

  /** Writes what children hand in, since making it takes longer than importing it. */
  writeChain({ blocks }: TestTree): string {
    const path = join(this.common, 'chain')
    writeFileSync(path, blocks.map(({ block }) => toHex(encodeBlock(block))).join('\n'))
    return path
  }

  /** @param isThrough a chain that is at its end kills nobody any more */
  next(isThrough: boolean): void {
    if (!isThrough && !this.prng.oneIn(4)) return
    rmSync(this.current, { recursive: true })
    this.current = newFolder()
  }

  remove(): void {
    for (const folder of [this.current, this.common]) rmSync(folder, { recursive: true })
  }
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'varve-crash-'))
}

function randomPlan(prng: Prng): CrashPlan {
  return {
    step: 'none',
    count: 0,
    sync: prng.pick(SYNCS),
    batchMilliseconds: prng.pick([0, 5, 20, 80]),
    isThreaded: !prng.oneIn(4),
  }
}

/** @returns the number of the head that was found */
async function checkAfter(
  chain: TestTree,
  folders: CrashFolders,
  plan: CrashPlan,
  { acknowledged }: Outcome,
): Promise<number> {
  const where = `seed ${SEED} ${JSON.stringify(plan)}`
  const store = openLmdbStore(folders.current)
  const journal = openCrashJournal(folders.current, { mode: 'always' })
  assert.deepEqual([...verifyStore(store)], [], where)
  const engine = await openEngine({ store, genesis: chain.genesis, journal })
  const { number, hash } = engine.head.header
  assert.ok(number >= acknowledged, `${where}: block ${acknowledged} was durable, head ${number}`)
  const valid = chain.blocks.filter(({ copy }) => copy !== undefined)
  if (number > 0) {
    const { block, copy } = valid[number - 1]!
    assert.equal(toHex(hash), toHex(block.header.hash), where)
    engine.flush()
    assert.deepEqual(copyOf(store), copy, where)
    assert.deepEqual([...verifyStore(store)], [], where)
  }
  journal.close()
  store.close()
  folders.next(number === valid.length)
  return number
}

type Outcome = {
  /** The newest block that was said to be durable, or that was there when the child began. */
  readonly acknowledged: number
  readonly isEnded: boolean
}

/** After so many lines that the child has printed, and then so long. */
type Moment = { readonly signs: number; readonly milliseconds: number }

/** Lets the child work until it is dead, or ends. @param moment of its death; by itself, without it */
async function runAndKill(
  paths: readonly string[],
  plan: CrashPlan,
  moment?: Moment,
): Promise<Outcome> {
  const script = join(import.meta.dirname, 'crashChild.suite.js')
  const child = spawn(process.execPath, [script, ...paths, JSON.stringify(plan)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  let timer: NodeJS.Timeout | undefined
  let lineCount = 0
  child.stdout.on('data', (bytes: Buffer) => {
    const part = bytes.toString()
    text += part
    lineCount += part.split('\n').length - 1
    if (moment === undefined || lineCount <= moment.signs) return
    timer ??= setTimeout(() => child.kill('SIGKILL'), moment.milliseconds)
  })
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  clearTimeout(timer)
  // Whoever was killed has no exit code: a child that fails by itself is no crash of this test's making.
  assert.ok(code === 0 || code === null, `seed ${SEED} ${JSON.stringify(plan)}: the child failed`)
  const numbers = Array.from(text.matchAll(/^(?:durable|head) (\d+)$/gm), ([, digits]) =>
    Number(digits),
  )
  return { acknowledged: Math.max(0, ...numbers), isEnded: code === 0 }
}
