/**
 * Aim: what was appended comes back, in order, after any end of the process; a torn end is cut; any other damage is
 * named; files go when they are cut. Method: a list beside the journal; every length that a file may be torn at; every
 * byte of a small journal flipped.
 */
import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { isVarveError, toHex } from '../../base/index.ts'
import { Prng } from '../../testing/index.ts'
import { type BlockJournal, type JournalSync, openBlockJournal } from './blockJournal.ts'

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-journal-'))
  folders.push(folder)
  return folder
}

const OS: JournalSync = { mode: 'os' }

function contentOf(journal: BlockJournal, from = 0): string[] {
  return Array.from(
    journal.records(from),
    ({ sequence, kind, payload }) => `${sequence} ${kind} ${toHex(payload)}`,
  )
}

function fill(journal: BlockJournal, prng: Prng, count: number): void {
  for (let index = 0; index < count; index++)
    journal.append(prng.between(0, 255), [
      prng.bytes(prng.between(0, 40)),
      prng.bytes(prng.between(0, 9)),
    ])
}

test('records come back in order, over files, from any number on, and go when they are cut', () => {
  const folder = newFolder()
  const prng = new Prng(1)
  let journal = openBlockJournal(folder, OS)
  fill(journal, prng, 5)
  journal.roll()
  fill(journal, prng, 4)
  journal.roll()
  journal.roll()
  fill(journal, prng, 3)
  const all = contentOf(journal)
  assert.equal(all.length, 12)
  journal.close()
  journal = openBlockJournal(folder, OS)
  assert.deepEqual(contentOf(journal), all)
  assert.deepEqual(contentOf(journal, 7), all.slice(7))
  fill(journal, prng, 1)
  assert.equal(journal.last, 13)
  journal.cut(8)
  assert.deepEqual(contentOf(journal, 5).slice(0, 7), all.slice(5))
  assert.equal(readdirSync(folder).length, 3, 'the first file went')
  journal.cut(13)
  journal.close()
  const again = openBlockJournal(folder, OS)
  assert.equal(again.last, 13)
  again.startAfter(20)
  assert.equal(again.append(1, []), 21)
  assert.deepEqual(contentOf(again, 20), ['21 1 0x'])
  again.close()
})

test('a journal that is torn anywhere in its last record loses that one alone', () => {
  const folder = newFolder()
  const journal = openBlockJournal(folder, OS)
  fill(journal, new Prng(2), 3)
  const all = contentOf(journal)
  const whole = readFileSync(fileOf(folder)).length
  fill(journal, new Prng(3), 1)
  journal.close()
  const bytes = readFileSync(fileOf(folder))
  for (let length = whole; length < bytes.length; length++) {
    for (const name of readdirSync(folder).sort().slice(1)) rmSync(join(folder, name))
    writeFileSync(fileOf(folder), bytes.subarray(0, length))
    const opened = openBlockJournal(folder, OS)
    assert.deepEqual(contentOf(opened), all, `torn at ${length}`)
    assert.equal(opened.append(7, [Uint8Array.of(1)]), 4)
    opened.close()
    assert.equal(contentOf(openBlockJournal(folder, OS)).length, 4)
  }
})

test('a changed byte before the last record is named; in the last one it reads as torn', () => {
  const folder = newFolder()
  const journal = openBlockJournal(folder, OS)
  for (let index = 0; index < 3; index++) journal.append(index, [Uint8Array.of(index, 5, 6)])
  journal.close()
  const bytes = readFileSync(fileOf(folder))
  const recordBytes = bytes.length / 3
  for (let at = 0; at < bytes.length; at++) {
    const flipped = Uint8Array.from(bytes)
    flipped[at]! ^= 1 << (at % 8)
    writeFileSync(fileOf(folder), flipped)
    const isLength = at % recordBytes < 4
    if (at < 2 * recordBytes && !isLength)
      assert.throws(
        () => openBlockJournal(folder, OS),
        (error) => isVarveError(error, 'JOURNAL_CORRUPT') && /byte \d+/.test(error.message),
        `byte ${at}`,
      )
    else if (at >= 2 * recordBytes) assert.equal(openBlockJournal(folder, OS).last, 2, `byte ${at}`)
  }
})

test('damage in a file that is not the last one is named, however it looks', () => {
  const folder = newFolder()
  const journal = openBlockJournal(folder, OS)
  journal.append(1, [Uint8Array.of(1, 2, 3)])
  journal.roll()
  journal.append(1, [Uint8Array.of(4)])
  journal.close()
  appendFileSync(fileOf(folder), Uint8Array.of(0))
  assert.throws(
    () => openBlockJournal(folder, OS),
    (error) => isVarveError(error, 'JOURNAL_CORRUPT'),
  )
})

test('each mode says when a record is durable', async () => {
  for (const sync of [
    { mode: 'always' },
    { mode: 'group', milliseconds: 5 },
    { mode: 'os' },
  ] as const) {
    const journal = openBlockJournal(newFolder(), sync)
    const first = journal.append(1, [Uint8Array.of(1)])
    assert.equal(journal.durable, sync.mode === 'os' ? first : 0, sync.mode)
    await Promise.all([journal.whenDurable(first), journal.whenDurable(journal.append(1, []))])
    assert.equal(journal.durable, 2, sync.mode)
    journal.append(1, [])
    journal.flush()
    assert.equal(journal.durable, 3, sync.mode)
    journal.close()
    assert.throws(
      () => journal.append(1, []),
      (error) => isVarveError(error, 'JOURNAL_IO'),
    )
  }
})

function fileOf(folder: string): string {
  return join(folder, readdirSync(folder).sort()[0]!)
}
