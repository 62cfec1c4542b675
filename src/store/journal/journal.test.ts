/**
 * Aim: what was durable is there after any end of the process or the power, a torn tail is cut, damage is named, and an
 * error of the disk stops the journal. Method: the fuzz runs with fixed seeds on a disk in memory, single cases, and
 * child processes that are killed. @isolate
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { isVarveError } from '../../base/index.ts'
import { Prng } from '../../testing/index.ts'
import { inspectJournal, openBlockJournal, readJournal } from './blockJournal.ts'
import { fuzzJournalDamage, fuzzJournalPowerCut } from './journal.fuzz.ts'
import { CHILD_SYNCS, childPayload } from './journalChild.suite.ts'
import { PAYLOAD_BYTES_MAX, SEGMENT_HEADER_BYTES } from './layout.ts'
import { PowerCutDisk } from './powerCut.suite.ts'

const root = mkdtempSync(join(tmpdir(), 'varve-journal-'))
after(() => rmSync(root, { recursive: true }))
const ALWAYS = { mode: 'always' } as const
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)

test('G12: power cuts at random moments: a prefix, with all that was durable', () => {
  for (let seed = 1; seed <= 20; seed++) fuzzJournalPowerCut(seed, 400)
})

test('G12: a flipped bit in what was durable is named by file and byte', () => {
  for (let seed = 1; seed <= 20; seed++) fuzzJournalDamage(seed, 2000)
})

test('G12: records come back in order, across segments and openings', () => {
  const folder = join(root, 'plain', 'journal')
  const first = openBlockJournal(folder, { sync: ALWAYS, segmentBytes: 100 })
  assert.ok(!existsSync(folder), 'made with the first record')
  assert.equal(first.last, 0)
  for (let index = 1; index <= 5; index++) first.append(index, [bytes(index), bytes(), bytes(0)])
  assert.equal(first.stats.segmentCount, 3)
  first.close()
  const again = openBlockJournal(folder, { sync: ALWAYS })
  assert.equal(again.append(6, []), 6)
  const found = [...again.records(3)].map(({ sequence, kind, payload }) => [
    sequence,
    kind,
    ...payload,
  ])
  assert.deepEqual(found, [
    [3, 3, 3, 0],
    [4, 4, 4, 0],
    [5, 5, 5, 0],
    [6, 6],
  ])
  assert.equal(again.durable, 5)
  again.syncNow()
  assert.equal(again.durable, 6)
  again.close()
  const { segmentCount, recordCount, first: oldest, last, tornBytes } = inspectJournal(folder)
  assert.deepEqual([segmentCount, recordCount, oldest, last, tornBytes], [3, 6, 1, 6, 0])
  assert.equal([...readJournal(folder, 1)].length, 6)
  assert.throws(
    () => again.append(1, []),
    (error) => isVarveError(error, 'JOURNAL_CLOSED'),
  )
})

test('G12: every length of a torn tail is cut, and the journal goes on', () => {
  const folder = join(root, 'torn')
  const whole = SEGMENT_HEADER_BYTES + 2 * (36 + 10)
  for (let size = whole; size >= SEGMENT_HEADER_BYTES; size--) {
    rmSync(folder, { recursive: true, force: true })
    const journal = openBlockJournal(folder, { sync: { mode: 'os' } })
    for (let index = 1; index <= 2; index++) journal.append(0, [new Uint8Array(10).fill(index)])
    journal.close()
    const path = join(folder, readdirSync(folder)[0]!)
    truncateSync(path, size)
    if (size % 3 === 0) appendFileSync(path, new Uint8Array(50))
    const again = openBlockJournal(folder, { sync: ALWAYS })
    const left = Math.floor((size - SEGMENT_HEADER_BYTES) / 46)
    assert.equal(again.last, left, `${size} bytes`)
    assert.equal(again.append(0, [bytes(9)]), left + 1)
    again.close()
    assert.equal([...readJournal(folder, 1)].length, left + 1)
  }
})

test('cut deletes the segments that hold nothing else; a later start leaves none', () => {
  const disk = new PowerCutDisk()
  const journal = openBlockJournal('disk', { files: disk, sync: ALWAYS, segmentBytes: 60 })
  for (let index = 1; index <= 6; index++) journal.append(0, [bytes(index)])
  assert.deepEqual([journal.stats.segmentCount, journal.stats.first], [6, 1])
  journal.cut(3)
  assert.deepEqual([journal.stats.segmentCount, journal.stats.first], [3, 4])
  journal.cut(6)
  assert.deepEqual([journal.stats.segmentCount, journal.stats.first], [1, 6])
  assert.equal(journal.durable, 6, 'what is stored elsewhere is durable')
  journal.startAfter(100)
  assert.equal(disk.list().length, 0)
  assert.equal(journal.durable, 100)
  assert.equal(journal.append(0, []), 101)
  journal.append(0, [new Uint8Array(2 ** 21)])
  journal.cut(102)
  assert.equal(journal.stats.byteCount, SEGMENT_HEADER_BYTES, 'a large segment is given back')
  journal.close()
})

test('G12: a gap between segments, and a version of another program, are named', () => {
  const disk = new PowerCutDisk()
  const options = { files: disk, sync: ALWAYS, segmentBytes: 60 }
  const journal = openBlockJournal('disk', options)
  for (let index = 1; index <= 3; index++) journal.append(0, [bytes(index)])
  journal.close()
  disk.remove(disk.list()[1]!)
  assert.throws(
    () => openBlockJournal('disk', options),
    (error) => isVarveError(error, 'JOURNAL_CORRUPT') && error.message.includes('record 2 first'),
  )
})

test('many that wait share one sync', async () => {
  for (const sync of [ALWAYS, { mode: 'group', milliseconds: 1 }] as const) {
    const disk = new PowerCutDisk()
    const journal = openBlockJournal('disk', { files: disk, sync })
    journal.append(0, [])
    disk.syncCount = 0
    const resolved: number[] = []
    const waits = Array.from({ length: 10 }, async () => {
      const sequence = journal.append(0, [bytes(1)])
      await journal.whenDurable(sequence)
      resolved.push(sequence)
    })
    await delay(5)
    assert.deepEqual(resolved, [], 'nothing is durable before the sync ends')
    while (resolved.length < 10) {
      disk.endSync()
      await delay(2)
    }
    await Promise.all(waits)
    assert.ok(disk.syncCount <= 2, `${disk.syncCount} syncs for ten records`)
    journal.close()
  }
})

test('a full disk and a broken one have their codes, and the journal takes nothing more', async () => {
  for (const [call, code, expected] of [
    ['write', 'ENOSPC', 'JOURNAL_FULL'],
    ['write', 'EIO', 'JOURNAL_IO'],
    ['sync', 'EIO', 'JOURNAL_IO'],
    ['sync', 'EDQUOT', 'JOURNAL_FULL'],
  ] as const) {
    const disk = new PowerCutDisk()
    const journal = openBlockJournal('disk', { files: disk, sync: ALWAYS })
    journal.append(0, [bytes(1)])
    journal.syncNow()
    const isNamed = (error: unknown): boolean => isVarveError(error, expected)
    disk.partialBytes = 20
    if (call === 'write') {
      disk.fails.write = code
      assert.throws(() => journal.append(0, [bytes(2)]), isNamed)
    } else {
      const waiting = journal.whenDurable(journal.append(0, [bytes(2)]))
      disk.fails.sync = code
      disk.endSync()
      await assert.rejects(waiting, isNamed)
    }
    delete disk.fails.write
    delete disk.fails.sync
    for (const refused of [
      () => journal.append(0, []),
      () => journal.syncNow(),
      () => journal.cut(1),
      () => journal.roll(),
    ])
      assert.throws(refused, isNamed)
    journal.close()
    const again = openBlockJournal('disk', { files: disk, sync: ALWAYS })
    assert.ok(again.last >= 1)
    again.append(0, [])
    again.close()
  }
})

test('a record of more than 128 MiB is refused, and the journal goes on', () => {
  const journal = openBlockJournal('disk', { files: new PowerCutDisk(), sync: ALWAYS })
  const part = new Uint8Array(PAYLOAD_BYTES_MAX / 2)
  assert.throws(
    () => journal.append(0, [part, part, bytes(1)]),
    (error) => isVarveError(error, 'JOURNAL_RECORD_TOO_LARGE'),
  )
  assert.equal(journal.append(0, [bytes(1)]), 1)
  journal.close()
})

test('G10 G12: killed while it appends: everything acknowledged is there, whole, in each mode', async () => {
  const prng = new Prng(5)
  for (const mode of Object.keys(CHILD_SYNCS)) {
    const folder = join(root, `killed-${mode}`)
    let most = 0
    for (let kill = 0; kill < 5; kill++) {
      const script = join(import.meta.dirname, 'journalChild.suite.js')
      const child = spawn(process.execPath, [script, folder, mode], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let acknowledged = most
      const lines = createInterface({ input: child.stdout })
      lines.on('line', (line) => {
        acknowledged = Number(line)
      })
      const ended = once(lines, 'close')
      await once(lines, 'line')
      await delay(prng.between(0, 80))
      child.kill('SIGKILL')
      await ended
      const journal = openBlockJournal(folder, { sync: ALWAYS })
      assert.ok(journal.last >= acknowledged, `${mode}: ${journal.last} of ${acknowledged}`)
      for (const { sequence, payload } of journal.records())
        assert.deepEqual(payload, childPayload(sequence))
      most = journal.last
      journal.close()
    }
    assert.ok(most >= 5)
  }
})
