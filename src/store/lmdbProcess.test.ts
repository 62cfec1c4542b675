/**
 * @isolate: starts and kills processes.
 * Aim: a batch is whole or absent after any kill, what was acknowledged is there, and two writers never meet.
 * Method: real processes and SIGKILL at random moments. A power cut can not be tried here.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { isVarveError, toBareHex } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { LOOP_KEY_COUNT, loopHead, loopKey, loopValue } from './lmdbChild.suite.ts'
import { openLmdbStore } from './lmdbStore.ts'
import type { Store } from './store.ts'

const root = mkdtempSync(join(tmpdir(), 'varve-lmdb-process-'))
after(() => rmSync(root, { recursive: true }))

type Child = {
  process: ChildProcess
  lines: AsyncIterableIterator<string>
  nextLine: () => Promise<string>
}

function start(mode: string, folder: string): Child {
  const script = join(import.meta.dirname, 'lmdbChild.suite.js')
  const child = spawn(process.execPath, [script, mode, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  return { process: child, lines, nextLine: async () => (await lines.next()).value ?? '' }
}

async function kill(child: Child): Promise<void> {
  if (child.process.exitCode !== null || child.process.signalCode !== null) return
  child.process.kill('SIGKILL')
  await once(child.process, 'exit')
}

/** The whole content must be what the batch named by the head record left. */
function checkLoopState(store: Store): void {
  const head = loopHead(store)
  if (head === 0) return
  for (let index = 0; index < LOOP_KEY_COUNT; index++) {
    assert.deepEqual(store.get('accounts', loopKey(index)), loopValue(head, index))
    assert.deepEqual(store.get('accountNodes', loopKey(index)), loopValue(head, index + 1))
  }
  const rows = [...store.range('storages')].map(({ key }) => toBareHex(key))
  const expected = [0, 1, 2].map((index) => toBareHex(loopKey(head * 3 + index)))
  assert.deepEqual(rows, expected.sort())
  const counts = Object.fromEntries(store.tableStats().map((row) => [row.table, row.entryCount]))
  assert.equal(counts['accounts'], LOOP_KEY_COUNT)
  assert.equal(counts['meta'], 1)
}

test('G10: twelve kills at random moments: the last acknowledged batch is there, and whole', async (t) => {
  const folder = join(root, 'killed')
  const seed = Date.now() % 1_000_000
  t.diagnostic(`seed ${seed}`)
  const prng = new Prng(seed)
  let acknowledged = 0
  for (let round = 0; round < 12; round++) {
    const child = start('loop', folder)
    // Some are killed while they open, most somewhere in a write.
    if (round % 4 !== 0) acknowledged = Number(await child.nextLine())
    const reading = (async () => {
      for await (const line of child.lines) acknowledged = Number(line)
    })()
    await delay(round % 4 === 0 ? prng.between(20, 200) : prng.between(0, 60))
    await kill(child)
    await reading
    const store = openLmdbStore(folder)
    const head = loopHead(store)
    assert.ok(head >= acknowledged, `round ${round}: acknowledged ${acknowledged}, found ${head}`)
    assert.ok(
      head <= acknowledged + 1,
      `round ${round}: acknowledged ${acknowledged}, found ${head}`,
    )
    checkLoopState(store)
    store.close()
    acknowledged = head
  }
  // Nine of the rounds wait for a batch of their own before the kill, on the slowest machine too.
  assert.ok(acknowledged >= 9, `the loop got somewhere: ${acknowledged}`)
})

test('a second writer is refused while the first lives, and takes over from a killed one', async () => {
  const folder = join(root, 'locked')
  const child = start('hold', folder)
  assert.equal(await child.nextLine(), 'open')
  const { pid } = child.process
  assert.throws(
    () => openLmdbStore(folder),
    (error) =>
      isVarveError(error, 'STORE_LOCKED') &&
      error.message.includes(folder) &&
      error.data['pid'] === pid,
  )
  // Reading beside the writer is allowed.
  const reader = openLmdbStore(folder, { readOnly: true })
  assert.equal(loopHead(reader), 0)
  reader.close()
  await kill(child)
  assert.ok(existsSync(join(folder, 'writer.lock')), 'the lock of a killed process stays behind')
  const store = openLmdbStore(folder)
  store.close()
  assert.ok(!existsSync(join(folder, 'writer.lock')), 'closing gives the lock back')
})

test('a reading process sees what another writes', async () => {
  const folder = join(root, 'read')
  openLmdbStore(folder).close()
  const reader = openLmdbStore(folder, { readOnly: true })
  const child = start('loop', folder)
  try {
    let seenCount = 0
    let last = 0
    while (seenCount < 10) {
      await delay(10)
      const head = loopHead(reader)
      checkLoopState(reader)
      assert.ok(head >= last, 'the head never goes back')
      if (head > last) seenCount++
      last = head
    }
  } finally {
    await kill(child)
    reader.close()
  }
})

test('of several processes that find a stale lock at the same moment, one gets it', async () => {
  const folder = join(root, 'race')
  openLmdbStore(folder).close()
  const racers = Array.from({ length: 4 }, () => start('race', folder))
  try {
    for (const racer of racers) assert.equal(await racer.nextLine(), 'ready')
    for (let round = 0; round < 12; round++) {
      writeFileSync(join(folder, 'writer.lock'), '{"pid":4194303,"startedAt":"long ago"}\n')
      const moment = Date.now() + 15
      for (const racer of racers) racer.process.stdin!.write(`${moment}\n`)
      const answers = await Promise.all(racers.map((racer) => racer.nextLine()))
      assert.deepEqual(answers.sort(), ['STORE_LOCKED', 'STORE_LOCKED', 'STORE_LOCKED', 'open'])
      for (const racer of racers) racer.process.stdin!.write('close\n')
      for (const racer of racers) assert.equal(await racer.nextLine(), 'closed')
    }
  } finally {
    await Promise.all(racers.map(kill))
  }
})
