import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { FileTooLargeError, readBounded } from './boundedRead.ts'

const folder = mkdtempSync(join(tmpdir(), 'varve-bounded-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('a file up to the bound is read whole, a larger one is refused', () => {
  const path = join(folder, 'file')
  for (const byteCount of [0, 1, 1024 * 1024, 3 * 1024 * 1024 + 5]) {
    writeFileSync(path, Buffer.alloc(byteCount, 7))
    assert.deepEqual(readBounded(path, byteCount), Buffer.alloc(byteCount, 7))
    if (byteCount > 0) assert.throws(() => readBounded(path, byteCount - 1), FileTooLargeError)
  }
})

test('a device without end, whose size is said to be 0, is refused at the bound', {
  skip: process.platform !== 'linux',
}, () => {
  assert.throws(() => readBounded('/dev/zero', 5_000_000), FileTooLargeError)
})
