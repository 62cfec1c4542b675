/**
 * Aim (row A25): runs that are compared begin with the same bytes, and leave those that they were copied from. Method:
 * hashes of whole files before and after; a database whose journal is ahead of its store; a target that cannot be.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { isVarveError } from '../../base/index.ts'
import { openEngine } from '../../engine/index.ts'
import { dataFile, openLmdbStore } from '../../store/index.ts'
import { journalFolder, openDatabase } from '../database.ts'
import { UsageError } from '../exit.ts'
import { copyDatabase } from './checkpoint.ts'
import { runExecutor } from './runExecutor.ts'
import { BLOCKS, fill, optionsOf } from './testRun.suite.ts'

const folder = mkdtempSync(join(tmpdir(), 'varve-checkpoint-'))
after(() => rmSync(folder, { recursive: true }))
const source = join(folder, 'source')
fill(openLmdbStore(source, { sync: 'os' })).close()

const sumOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

test('A25: both arms start from the bytes of the source, which no run changes', async () => {
  const before = sumOf(dataFile(source))
  const arms = ['a', 'b'].map((name) => join(folder, name))
  const kinds = arms.map((arm) => copyDatabase(source, arm))
  assert.equal(kinds[0], kinds[1])
  for (const arm of arms) assert.equal(sumOf(dataFile(arm)), before)
  const reports = []
  for (const isPipelined of [false, true])
    reports.push(
      await runExecutor({
        ...optionsOf(['native-transfer'], { isPipelined, sync: { mode: 'os' } }),
        ...{ folder: source, checkpointFolder: join(folder, `run ${isPipelined}`) },
      }),
    )
  assert.deepEqual(reports[0]!.roots, reports[1]!.roots)
  assert.equal(reports[0]!.checkpoint, kinds[0])
  assert.equal(sumOf(dataFile(source)), before)
  // The arms have gone their own way.
  assert.notEqual(sumOf(dataFile(join(folder, 'run true'))), before)
})

test('A25: without commit not even the database of the run changes', async () => {
  const before = sumOf(dataFile(source))
  for (const isPipelined of [false, true]) {
    const options = optionsOf(['native-transfer'], { isPipelined, skipCommit: true })
    const report = await runExecutor({ ...options, folder: source })
    assert.equal(report.checkpoint, null)
    assert.equal(sumOf(dataFile(source)), before)
    assert.deepEqual(readdirSync(source).sort(), ['data.mdb', 'lock.mdb'])
  }
})

test('blocks that only the journal has are in the copy', async () => {
  const from = join(folder, 'journaled')
  copyDatabase(source, from)
  // As a process leaves it that dies before its write.
  const left = openDatabase(from, { mode: 'os' })
  const engine = await openEngine({ store: left.store, journal: left.journal })
  for (let timestamp = 2n; timestamp < 2n + BigInt(BLOCKS); timestamp++)
    engine.produce({ coinbase: new Uint8Array(20), timestamp, transactions: [] })
  left.close()
  const to = join(folder, 'journaled copy')
  copyDatabase(from, to)
  assert.deepEqual(readdirSync(journalFolder(to)), readdirSync(journalFolder(from)))
  const { store, journal, close } = openDatabase(to, { mode: 'os' })
  assert.equal((await openEngine({ store, journal })).head.header.number, BLOCKS)
  close()
})

test('what is in the way stays; a copy that fails leaves nothing', () => {
  const full = join(folder, 'full')
  mkdirSync(full)
  writeFileSync(join(full, 'mine'), '')
  assert.throws(() => copyDatabase(source, full), UsageError)
  assert.throws(() => copyDatabase(source, join(full, 'mine')), UsageError)
  assert.deepEqual(readdirSync(full), ['mine'])
  const to = join(full, 'mine', 'below')
  assert.throws(
    () => copyDatabase(source, to),
    (error) => isVarveError(error, 'EXECUTOR_COPY_FAILED'),
  )
  // A journal of which one file is none.
  const odd = join(folder, 'odd')
  copyDatabase(source, odd)
  mkdirSync(join(journalFolder(odd), 'folder'), { recursive: true })
  const target = join(folder, 'target')
  assert.throws(
    () => copyDatabase(odd, target),
    (error) => isVarveError(error, 'EXECUTOR_COPY_FAILED'),
  )
  assert.ok(!readdirSync(folder).includes('target'))
})
