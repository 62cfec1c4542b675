/**
 * A second process for the tests of `lmdbStore`: `node lmdbChild.suite.js MODE FOLDER`. Does nothing when imported.
 *
 * - `loop`: writes batches 1, 2, 3, … without end, each described by `batchOf`, and prints each number after its write.
 * - `hold`: opens for writing, prints `open` or the error's code, and holds until its input ends.
 * - `race`: prints `ready`, is told a moment in milliseconds since 1970, opens for writing at that moment, prints
 *   `open` or the error's code, and at the next line, `close`, closes and prints `closed`; then waits for the next moment.
 */
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { readUint32BE, VarveError, writeUint32BE } from '../base/index.ts'
import { openLmdbStore } from './lmdbStore.ts'
import type { Store } from './store.ts'
import { META } from './tables.ts'
import { WriteBatch } from './writeBatch.ts'

/** Keys that every batch writes again, in two tables. */
export const LOOP_KEY_COUNT = 60

/** Number of the newest batch in the store, 0 for none. */
export function loopHead(store: Store): number {
  const head = store.get('meta', META.head)
  return head === undefined ? 0 : readUint32BE(head, 0)
}

/** Key `index`, spread over the key space. */
export function loopKey(index: number): Uint8Array {
  const key = new Uint8Array(32)
  writeUint32BE(key, 0, Math.imul(index + 1, 0x9e37_79b9) >>> 0)
  return key
}

/** What batch `number` leaves under key `index`: grows and shrinks, so that pages split and overflow pages come and go. */
export function loopValue(number: number, index: number): Uint8Array {
  const value = new Uint8Array(4 + ((number * 37 + index * 101) % 6000))
  writeUint32BE(value, 0, number)
  value.fill(number & 255, 4)
  return value
}

/** Batch `number`: all keys anew in two tables, last batch's rows of a third gone, three new ones, the head record. */
export function fillLoopBatch(batch: WriteBatch, number: number): void {
  batch.clear()
  batch.deleteRange('storages', new Uint8Array(0), undefined)
  for (let index = 0; index < LOOP_KEY_COUNT; index++) {
    batch.put('accounts', loopKey(index), loopValue(number, index))
    batch.put('accountNodes', loopKey(index), loopValue(number, index + 1))
  }
  for (let index = 0; index < 3; index++)
    batch.put('storages', loopKey(number * 3 + index), loopValue(number, index))
  batch.put('meta', META.head, loopValue(number, 0).slice(0, 4))
}

function loop(folder: string): void {
  const store = openLmdbStore(folder)
  const batch = new WriteBatch()
  for (let number = loopHead(store) + 1; ; number++) {
    fillLoopBatch(batch, number)
    store.write(batch)
    writeSync(1, `${number}\n`)
  }
}

function hold(folder: string): void {
  const store = tryOpen(folder)
  process.stdin.on('end', () => store?.close())
  process.stdin.resume()
}

function race(folder: string): void {
  writeSync(1, 'ready\n')
  let store: Store | undefined
  createInterface({ input: process.stdin }).on('line', (line) => {
    if (line === 'close') {
      store?.close()
      writeSync(1, 'closed\n')
      return
    }
    while (Date.now() < Number(line)) {}
    store = tryOpen(folder)
  })
}

/** Opens for writing and prints `open` or the code of the error. */
function tryOpen(folder: string): Store | undefined {
  try {
    const store = openLmdbStore(folder)
    writeSync(1, 'open\n')
    return store
  } catch (error) {
    writeSync(1, `${error instanceof VarveError ? error.code : error}\n`)
    return undefined
  }
}

const [, script, mode, folder] = process.argv
if (script?.endsWith('lmdbChild.suite.js') && folder !== undefined) {
  if (mode === 'loop') loop(folder)
  else if (mode === 'hold') hold(folder)
  else race(folder)
}
