/**
 * Aim: the commit thread's faults come with their codes, and closing waits for the write under way. That it writes what
 * the stage on this thread writes is `pipeline.fuzz.ts`.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { EMPTY_TRIE_ROOT } from '../../base/index.ts'
import { EMPTY_USAGE, FlatState, FlatView, StateLayers } from '../../state/index.ts'
import { memoryStore, numberKey, openLmdbStore, type Store, WriteBatch } from '../../store/index.ts'
import { putHead, putUsage } from '../chainRecords.ts'
import { CommitThread } from './commitThread.ts'
import type { CommitWork } from './stages.ts'

const root = mkdtempSync(join(tmpdir(), 'varve-commit-thread-'))
after(() => rmSync(root, { recursive: true }))
let folderCount = 0

/** A write of `rowCount` bodies and of the empty state. */
function workOf(rowCount: number): CommitWork {
  const rows = new WriteBatch()
  putHead(rows, { number: 0, hash: new Uint8Array(32), stateRoot: EMPTY_TRIE_ROOT })
  putUsage(rows, EMPTY_USAGE)
  for (let row = 0; row < rowCount; row++) rows.put('bodies', numberKey(row), new Uint8Array(200))
  const layers = new StateLayers({
    persisted: new FlatView(new FlatState(memoryStore())),
    version: 0,
    usage: EMPTY_USAGE,
    bytesMax: 1 << 20,
  })
  const state = layers.open()
  const span = state.sincePersisted()
  return {
    rows: rows.pack(),
    nodes: new WriteBatch().pack(),
    state: span.diffSource(),
    deltas: [],
  }
}

async function withStore(work: (store: Store) => Promise<void>): Promise<void> {
  const store = openLmdbStore(join(root, `db${folderCount++}`), { sync: 'os' })
  try {
    await work(store)
  } finally {
    store.close()
  }
}

const bodyCount = (store: Store): number => [...store.range('bodies')].length

test('writes come in their order, and closing waits for them', async () => {
  await withStore(async (store) => {
    const stage = new CommitThread(store.shared!)
    await stage.write(workOf(10))
    store.refresh()
    assert.equal(bodyCount(store), 10)
    const last = stage.write(workOf(20_000))
    await stage.close()
    await last
    store.refresh()
    assert.equal(bodyCount(store), 20_000)
    await assert.rejects(stage.write(workOf(1)), { code: 'THREAD_POOL_CLOSED' })
  })
})

test('a database that the thread cannot open fails each write with the code of the store', async () => {
  await withStore(async (store) => {
    const file = join(root, 'file')
    writeFileSync(file, 'no folder')
    const stage = new CommitThread({ ...store.shared!, folder: file })
    await assert.rejects(stage.write(workOf(1)), { code: 'STORE_UNWRITABLE' })
    await stage.close()
    assert.equal(bodyCount(store), 0)
  })
})

test('a failed write leaves the store as it was, and its code is the same here', async () => {
  await withStore(async (store) => {
    const stage = new CommitThread(store.shared!)
    // As after a failure of the disk, on whatever thread.
    Atomics.store(store.shared!.gate, 1, 1)
    await assert.rejects(stage.write(workOf(5)), { code: 'STORE_IO' })
    assert.throws(() => store.write(new WriteBatch()), { code: 'STORE_IO' })
    await stage.close()
    store.refresh()
    assert.equal(bodyCount(store), 0)
  })
})
