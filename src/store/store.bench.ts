/** Batches, reads and scans of both stores, on rows of the sizes that an import writes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BenchMode, bench, Prng, report, timeNs } from '../testing/index.ts'
import { openLmdbStore } from './lmdbStore.ts'
import { memoryStore } from './memoryStore.ts'
import type { Store } from './store.ts'
import { blockKey, numberKey } from './tables.ts'
import { WriteBatch } from './writeBatch.ts'

const SIZES = {
  smoke: { batches: 2, blocks: 20, reads: 100 },
  full: { batches: 30, blocks: 1000, reads: 200_000 },
}

/** Rows of one empty block: header, body, receipts, canonical, number, the miner's account, some trie nodes. */
function addBlock(batch: WriteBatch, prng: Prng, number: number, keys: Uint8Array[]): void {
  const hash = prng.bytes(32)
  const key = blockKey(number, hash)
  batch.put('headers', key, prng.bytes(540))
  batch.put('bodies', key, prng.bytes(3))
  batch.put('receipts', key, prng.bytes(1))
  batch.put('canonical', numberKey(number), hash)
  batch.put('numbers', hash, numberKey(number))
  const account = prng.bytes(32)
  keys.push(account)
  batch.put('accounts', account, prng.bytes(16))
  batch.put('accountNodes', prng.bytes(4), prng.bytes(300))
}

function run(name: string, store: Store, mode: BenchMode): void {
  const { batches, blocks, reads } = SIZES[mode]
  const prng = new Prng(1)
  const batch = new WriteBatch()
  const keys: Uint8Array[] = []
  const fill: number[] = []
  const write: number[] = []
  for (let round = 0, number = 0; round < batches; round++) {
    batch.clear()
    const rows: WriteBatch = batch
    fill.push(
      timeNs(() => {
        for (let block = 0; block < blocks; block++) addBlock(rows, prng, number++, keys)
      }) /
        blocks /
        1000,
    )
    write.push(timeNs(() => store.write(batch)) / batch.entryCount)
  }
  report({
    name: `${name}: make rows`,
    unit: 'us/block',
    samples: fill,
    check: `${batch.byteCount}`,
  })
  report({ name: `${name}: write`, unit: 'ns/entry', samples: write, check: `${batch.entryCount}` })
  const get: number[] = []
  let sum = 0
  for (let round = 0; round < 5; round++)
    get.push(
      timeNs(() => {
        for (let read = 0; read < reads; read++)
          sum += store.get('accounts', keys[(read * 7919) % keys.length]!)![0]!
      }) / reads,
    )
  report({ name: `${name}: get`, unit: 'ns', samples: get, check: `${sum}` })
  const scan: number[] = []
  let count = 0
  for (let round = 0; round < 5; round++) {
    count = 0
    const ns = timeNs(() => {
      for (const { value } of store.range('accounts')) count += value.length >> 4
    })
    scan.push(ns / count)
  }
  report({ name: `${name}: scan`, unit: 'ns/entry', samples: scan, check: `${count}` })
}

bench('store in memory', (mode) => {
  const store = memoryStore()
  run('memory', store, mode)
  store.close()
})

for (const sync of ['os', 'always'] as const)
  bench(`store on lmdb, sync ${sync}`, (mode) => {
    const folder = mkdtempSync(join(tmpdir(), 'varve-bench-'))
    const store = openLmdbStore(folder, { sync })
    run(`lmdb ${sync}`, store, mode)
    store.close()
    rmSync(folder, { recursive: true })
  })
