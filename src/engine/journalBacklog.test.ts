/** Aim: what a journal has beyond its database is told, and damage of it is. Method: a chain that was not written; a byte. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Fork, isVarveError } from '../base/index.ts'
import { memoryStore, openBlockJournal } from '../store/index.ts'
import { Prng } from '../testing/index.ts'
import { openEngine } from './engine.ts'
import { readBacklog } from './journalBacklog.ts'
import { makeTree } from './tree/treeChain.suite.ts'

test('the records beyond the database are counted, their newest block is named, and damage is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-backlog-'))
  const options = { fork: Fork.Shanghai, blockCount: 7, spread: 1, withCopies: true }
  const { genesis, blocks } = await makeTree(new Prng(4), options)
  const valid = blocks.filter(({ copy }) => copy !== undefined)
  const store = memoryStore()
  assert.equal(readBacklog(join(folder, 'none'), store, 'all').recordCount, 0)
  const journal = openBlockJournal(folder, { sync: { mode: 'always' } })
  const engine = await openEngine({ store, genesis, journal })
  for (const { block } of valid.slice(0, 4)) engine.import(block)
  engine.flush()
  assert.equal(readBacklog(folder, store, 'newest').beyondCount, 0)
  for (const { block } of valid.slice(4, 6)) engine.import(block)
  journal.close()
  const { header } = valid[5]!.block
  const expected = { number: header.number, hash: header.hash }
  for (const depth of ['newest', 'all'] as const) {
    const { beyondCount, newest, recordCount } = readBacklog(folder, store, depth)
    assert.deepEqual(
      { beyondCount, newest, recordCount },
      { beyondCount: 2, newest: expected, recordCount: 6 },
    )
  }
  assert.equal(readBacklog(folder, store, 'count').newest, undefined)
  const path = join(folder, readdirSync(folder)[0]!)
  const bytes = readFileSync(path)
  // In the payload of the first record, which the database has: only who reads all sees it.
  bytes[24 + 36 + 8]! ^= 1
  writeFileSync(path, bytes)
  assert.equal(readBacklog(folder, store, 'newest').beyondCount, 2)
  assert.throws(
    () => readBacklog(folder, store, 'all'),
    (error) =>
      isVarveError(error, 'JOURNAL_CORRUPT') &&
      error.data['path'] === path &&
      error.data['offset'] === 24,
  )
  rmSync(folder, { recursive: true })
})
