/**
 * Aim: whatever lies in the folder, the answer is a database or one error with a code, never the end of the process.
 * Method: files made by hand, and damaged copies of a real database.
 */
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { open } from 'lmdb'
import { isVarveError } from '../base/index.ts'
import { type LmdbStoreOptions, openLmdbStore } from './lmdbStore.ts'
import type { StoreErrorCode } from './store.ts'
import { numberKey, TABLES } from './tables.ts'
import { WriteBatch } from './writeBatch.ts'

const root = mkdtempSync(join(tmpdir(), 'varve-lmdb-folder-'))
after(() => rmSync(root, { recursive: true }))
let folderCount = 0
const newFolder = () => join(root, `db${folderCount++}`)

/** Opening must fail with `code` and a message of one line that names the folder. */
function refuses(folder: string, code: StoreErrorCode, options?: LmdbStoreOptions): void {
  assert.throws(
    () => openLmdbStore(folder, options),
    (error) => {
      assert.ok(isVarveError(error, code), `expected ${code}, got ${error}`)
      assert.ok(error.message.includes(folder), error.message)
      assert.ok(!error.message.includes('\n'), error.message)
      return true
    },
  )
}

/** A closed database with `entryCount` accounts. */
function makeDatabase(entryCount: number): string {
  const folder = newFolder()
  const store = openLmdbStore(folder)
  const batch = new WriteBatch()
  for (let index = 0; index < entryCount; index++)
    batch.put('accounts', numberKey(index), new Uint8Array(100).fill(index))
  store.write(batch)
  store.close()
  return folder
}

test('reading needs a database; nothing is made', () => {
  const folder = newFolder()
  refuses(folder, 'STORE_NOT_FOUND', { readOnly: true })
  assert.ok(!existsSync(folder))
  mkdirSync(folder)
  refuses(folder, 'STORE_NOT_FOUND', { readOnly: true })
  assert.deepEqual(readdirSync(folder), [])
  writeFileSync(join(folder, 'data.mdb'), '')
  refuses(folder, 'STORE_NOT_FOUND', { readOnly: true })
})

test('folders above are made, also with dots in their names', () => {
  const folder = join(newFolder(), 'chain.v1', 'state.db')
  openLmdbStore(folder).close()
  assert.deepEqual(readdirSync(folder).sort(), ['data.mdb', 'lock.mdb'])
})

test('a folder that can not be', () => {
  const file = newFolder()
  writeFileSync(file, 'a file')
  refuses(file, 'STORE_UNWRITABLE')
  refuses(join(file, 'below'), 'STORE_UNWRITABLE')
  refuses(join(file, 'below'), 'STORE_NOT_FOUND', { readOnly: true })
  if (existsSync('/proc/self')) refuses('/proc/varve/db', 'STORE_UNWRITABLE')
})

test('files that are no database', () => {
  for (const content of [
    Buffer.alloc(20_000, 7),
    Buffer.alloc(20_000),
    Buffer.from('short'),
    Buffer.alloc(168, 0xff),
  ]) {
    const folder = newFolder()
    mkdirSync(folder)
    writeFileSync(join(folder, 'data.mdb'), content)
    for (const readOnly of [true, false]) refuses(folder, 'STORE_CORRUPT', { readOnly })
    assert.deepEqual(readFileSync(join(folder, 'data.mdb')), content, 'left as it was')
  }
})

test('a file of another version', () => {
  const folder = makeDatabase(1)
  const path = join(folder, 'data.mdb')
  const content = readFileSync(path)
  content.writeUInt32LE(1, 28)
  writeFileSync(path, content)
  for (const readOnly of [true, false]) refuses(folder, 'STORE_VERSION', { readOnly })
  // Data version 1 has a shorter page header.
  content.writeUInt32LE(0xbeefc0de, 16)
  writeFileSync(path, content)
  refuses(folder, 'STORE_VERSION')
})

test('a page size that can not be, and a page count beyond reason', () => {
  for (const [offset, value] of [
    [48, 0],
    [48, 4097],
    [150, 0xffff],
    [4096 + 150, 0xffff],
  ] as const) {
    const folder = makeDatabase(100)
    const path = join(folder, 'data.mdb')
    const content = readFileSync(path)
    content.writeUInt16LE(value, offset)
    // Make the damaged meta page the newer one.
    content.writeBigUInt64LE(1n << 40n, offset < 4096 ? 152 : 4096 + 152)
    writeFileSync(path, content)
    for (const readOnly of [true, false]) refuses(folder, 'STORE_CORRUPT', { readOnly })
  }
})

test('a database cut at any length is an error, not a signal', () => {
  for (const share of [0.99, 0.9, 0.6, 0.3, 0.1, 0.01, 0.001])
    for (const pageBytes of [4096, 1]) {
      const folder = makeDatabase(3000)
      const path = join(folder, 'data.mdb')
      truncateSync(path, Math.floor((statSync(path).size * share) / pageBytes) * pageBytes)
      const code = statSync(path).size === 0 ? 'STORE_NOT_FOUND' : 'STORE_CORRUPT'
      refuses(folder, code, { readOnly: true })
      if (code === 'STORE_NOT_FOUND') continue
      if (pageBytes === 1) refuses(folder, 'STORE_CORRUPT')
      else {
        const found = readsWholeOrFails(folder)
        assert.ok(
          found === 'STORE_CORRUPT' || (found === 'whole' && share > 0.8),
          `${share}: ${found}`,
        )
      }
    }
})

/** The last pages of the file may be free: then everything is there. */
function readsWholeOrFails(folder: string): string {
  try {
    const store = openLmdbStore(folder)
    try {
      let index = 0
      for (const { key, value } of store.range('accounts')) {
        assert.deepEqual(key, numberKey(index))
        assert.deepEqual(value, new Uint8Array(100).fill(index++))
      }
      assert.equal(index, 3000)
      return 'whole'
    } finally {
      store.close()
    }
  } catch (error) {
    if (isVarveError(error)) return error.code
    throw error
  }
}

test('opening and closing for writing leaves the file as it was', () => {
  const folder = makeDatabase(50)
  const before = readFileSync(join(folder, 'data.mdb'))
  openLmdbStore(folder).close()
  assert.ok(before.equals(readFileSync(join(folder, 'data.mdb'))))
})

test('within one process: one writer, readers beside it, no writer beside a reader', () => {
  const folder = makeDatabase(3)
  const writer = openLmdbStore(folder)
  refuses(folder, 'STORE_LOCKED')
  const reader = openLmdbStore(folder, { readOnly: true })
  const batch = new WriteBatch()
  batch.put('codes', numberKey(1), numberKey(2))
  assert.throws(
    () => reader.write(batch),
    (error) => isVarveError(error, 'STORE_READ_ONLY'),
  )
  writer.write(batch)
  writer.close()
  assert.equal(reader.tableStats()[2]!.entryCount, 3)
  refuses(folder, 'STORE_LOCKED')
  reader.close()
  const again = openLmdbStore(folder)
  assert.deepEqual(again.get('codes', numberKey(1)), numberKey(2))
  again.close()
})

test('a database of another program is not written into; one without any entry is taken', async () => {
  const others: ((folder: string) => Promise<void>)[] = [
    async (folder) => {
      const other = open({ path: folder, noSubdir: false })
      await other.put('a key', 'a value')
      await other.close()
    },
    async (folder) => {
      const other = open({ path: folder, noSubdir: false })
      await other.openDB({ name: 'line\nbreak' }).put('a key', 'a value')
      await other.close()
    },
    // Names as ours, but not all of them.
    async (folder) => {
      const other = open({ path: folder, noSubdir: false })
      await other.openDB({ name: 'accounts' }).put('a key', 'a value')
      await other.close()
    },
    // All of ours, and one more.
    async (folder) => {
      const other = open({ path: folder, noSubdir: false, maxDbs: TABLES.length + 1 })
      for (const name of [...TABLES, 'users']) other.openDB({ name })
      await other.close()
    },
  ]
  for (const make of others) {
    const folder = newFolder()
    await make(folder)
    const names = readdirSync(folder)
    const before = readFileSync(join(folder, 'data.mdb'))
    refuses(folder, 'STORE_CORRUPT')
    assert.ok(before.equals(readFileSync(join(folder, 'data.mdb'))), 'left as it was')
    assert.deepEqual(readdirSync(folder), names)
  }
  const bare = newFolder()
  await open({ path: bare, noSubdir: false }).close()
  openLmdbStore(bare).close()
})

test('a torn lock file is nobody’s', () => {
  const folder = makeDatabase(1)
  for (const text of ['', '{"pid":', '{"pid":-1}', '{"pid":"1"}', 'null']) {
    writeFileSync(join(folder, 'writer.lock'), text)
    openLmdbStore(folder).close()
  }
})

test('a lock with this process’s number from an earlier life is stale', {
  skip: !existsSync('/proc/self/stat') && 'no /proc: start times are unknown',
}, () => {
  const folder = makeDatabase(1)
  writeFileSync(join(folder, 'writer.lock'), `{"pid":${process.pid},"startedAt":"before/1"}`)
  openLmdbStore(folder).close()
})
