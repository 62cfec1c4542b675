import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesCompare, isVarveError } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { memoryStore } from './memoryStore.ts'
import { TABLE_INDEX, TABLES, type Table } from './tables.ts'
import { BATCH_BYTES_MAX, type PackedBatch, WriteBatch } from './writeBatch.ts'

const bytes = (...values: number[]) => Uint8Array.from(values)

function listed(batch: WriteBatch): [string, number[], number[] | undefined][] {
  return [...batch.operationsSorted()].map((operation) => {
    const value = batch.valueAt(operation)
    return [TABLES[batch.tableAt(operation)]!, [...batch.keyAt(operation)], value && [...value]]
  })
}

test('operations come by table, then key; of one key the last', () => {
  const batch = new WriteBatch()
  batch.put('meta', bytes(1), bytes(1))
  batch.put('accounts', bytes(2, 0), bytes(2))
  batch.put('accounts', bytes(2), bytes(3))
  batch.put('accounts', bytes(1, 2, 3, 4, 5, 7), bytes(4))
  batch.put('accounts', bytes(1, 2, 3, 4, 5, 6), bytes(5))
  batch.put('accounts', bytes(2), bytes(6))
  batch.delete('accounts', bytes(2, 0))
  batch.put('accountNodes', bytes(9), bytes())
  assert.deepEqual(listed(batch), [
    ['accountNodes', [9], []],
    ['accounts', [1, 2, 3, 4, 5, 6], [5]],
    ['accounts', [1, 2, 3, 4, 5, 7], [4]],
    ['accounts', [2], [6]],
    ['accounts', [2, 0], undefined],
    ['meta', [1], [1]],
  ])
})

test('a range removes earlier operations only, in its table only', () => {
  const batch = new WriteBatch()
  batch.put('accounts', bytes(1), bytes(1))
  batch.put('accounts', bytes(3), bytes(1))
  batch.put('accounts', bytes(5), bytes(1))
  batch.put('codes', bytes(3), bytes(1))
  batch.deleteRange('accounts', bytes(2), bytes(5))
  batch.deleteRange('accounts', bytes(2), bytes(4))
  batch.put('accounts', bytes(4), bytes(2))
  assert.equal(batch.entryCount, 7)
  assert.deepEqual(
    listed(batch).map(([table, key]) => `${table} ${key}`),
    ['accounts 1', 'accounts 4', 'accounts 5', 'codes 3'],
  )
})

test('the sweep over many ranges agrees with trying each', () => {
  const prng = new Prng(3)
  for (let round = 0; round < 60; round++) {
    const batch = new WriteBatch()
    const expected = new Map<string, boolean>()
    for (let step = 0; step < 300; step++) {
      const table = TABLES[prng.below(2)]!
      if (prng.oneIn(4)) {
        const gte = bytes(prng.below(40))
        const lt = prng.oneIn(6) ? undefined : bytes(prng.below(40))
        batch.deleteRange(table, gte, lt)
        for (const name of [...expected.keys()]) {
          const [inTable, byte] = name.split(' ')
          const key = bytes(Number(byte))
          const isIn =
            bytesCompare(key, gte) >= 0 && (lt === undefined || bytesCompare(key, lt) < 0)
          if (inTable === table && isIn) expected.delete(name)
        }
      } else {
        const byte = prng.below(40)
        batch.put(table, bytes(byte), bytes(1))
        expected.set(`${table} ${byte}`, true)
      }
    }
    const found = listed(batch).map(([table, key]) => `${table} ${key[0]}`)
    assert.deepEqual(found.sort(), [...expected.keys()].sort(), `round ${round}`)
  }
})

test('memory of shared buffers is copied too', () => {
  const batch = new WriteBatch()
  const value = new Uint8Array(new SharedArrayBuffer(3)).fill(7)
  batch.put('codes', bytes(1), value)
  value.fill(0)
  assert.deepEqual(listed(batch), [['codes', [1], [7, 7, 7]]])
})

test('grows, counts, clears, and lets go of a large slab', () => {
  const batch = new WriteBatch()
  const value = new Uint8Array(1 << 20)
  for (let index = 0; index < 20; index++) batch.put('codes', bytes(index), value)
  for (let index = 0; index < 2000; index++) batch.delete('meta', bytes(index >> 8, index))
  assert.equal(batch.entryCount, 2020)
  assert.equal(batch.byteCount, 20 * (1 + value.length) + 4000)
  assert.equal(batch.operationsSorted().length, 2020)
  batch.clear()
  assert.equal(batch.byteCount, 0)
  batch.put('meta', bytes(1), bytes(2))
  assert.deepEqual(listed(batch), [['meta', [1], [2]]])
  assert.ok(BATCH_BYTES_MAX < 2 ** 32, 'offsets fit 32 bits')
})

test('an unknown table is a bug, not a new table', () => {
  const batch = new WriteBatch()
  assert.throws(() => batch.put('nope' as never, bytes(1), bytes(1)), /one of TABLES/)
  assert.equal(TABLE_INDEX.accountNodes, 0)
  assert.throws(
    () => batch.put('meta', bytes(), bytes(1)),
    (error) => isVarveError(error, 'STORE_KEY_INVALID'),
  )
})

/** One random call, to be made on any batch. */
function randomCall(prng: Prng): (batch: WriteBatch) => void {
  const table: Table = TABLES[prng.below(3)]!
  const key = prng.oneIn(3) ? prng.bytes(1 + prng.below(3)) : bytes(prng.below(30))
  if (prng.oneIn(5)) {
    const lt = prng.oneIn(5) ? undefined : bytes(prng.below(30))
    return (batch) => batch.deleteRange(table, key, lt)
  }
  if (prng.oneIn(4)) return (batch) => batch.delete(table, key)
  const value = prng.bytes(prng.below(5))
  return (batch) => batch.put(table, key, value)
}

/** A message to another thread and back. */
const sent = (packed: PackedBatch): PackedBatch =>
  structuredClone(packed, { transfer: [packed.slab.buffer, packed.fields.buffer] })

test('packed batches that are joined do what their calls in order do', () => {
  const seed = 11
  const prng = new Prng(seed)
  for (let round = 0; round < 200; round++) {
    const whole = new WriteBatch()
    const joined = new WriteBatch()
    const part = new WriteBatch()
    for (let call = prng.below(120); call > 0; call--) {
      const make = randomCall(prng)
      make(whole)
      make(part)
      if (!prng.oneIn(8)) continue
      joined.addPacked(sent(part.pack()))
      part.clear()
      if (prng.oneIn(2)) continue
      // A call between two packed batches.
      const direct = randomCall(prng)
      direct(whole)
      direct(joined)
    }
    joined.addPacked(part.pack())
    const where = `seed ${seed} round ${round}`
    assert.deepEqual(listed(joined), listed(whole), where)
    assert.equal(joined.byteCount, whole.byteCount, where)
    assert.equal(joined.entryCount, whole.entryCount, where)
    const stores = [whole, joined].map((batch) => {
      const store = memoryStore()
      const first = new WriteBatch()
      for (let byte = 0; byte < 30; byte++) first.put(TABLES[byte % 3]!, bytes(byte), bytes(9))
      store.write(first)
      store.write(batch)
      return TABLES.map((table) => [...store.range(table)])
    })
    assert.deepEqual(stores[1], stores[0], where)
  }
})

test('a packed batch is trimmed, and its own', () => {
  const batch = new WriteBatch()
  batch.put('meta', bytes(1), bytes(2, 3))
  batch.deleteRange('codes', bytes(), undefined)
  const packed = batch.pack()
  assert.equal(packed.slab.buffer.byteLength, 3)
  assert.equal(packed.fields.buffer.byteLength, 16)
  batch.clear()
  batch.put('meta', bytes(7), bytes(7))
  const other = new WriteBatch()
  other.addPacked(packed)
  other.addPacked(new WriteBatch().pack())
  assert.deepEqual(listed(other), [['meta', [1], [2, 3]]])
  assert.equal(other.ranges.length, 1)
})

test('what does not fit is refused, and the batch stays as it was', () => {
  const batch = new WriteBatch()
  batch.put('meta', bytes(1), bytes(2))
  const { fields } = batch.pack()
  const slab = { length: BATCH_BYTES_MAX } as PackedBatch['slab']
  const ranges = [{ table: 0, gte: bytes(), lt: undefined, operationCount: 0 }]
  assert.throws(
    () => batch.addPacked({ slab, fields, ranges }),
    (error) => isVarveError(error, 'STORE_BATCH_TOO_LARGE'),
  )
  assert.equal(batch.entryCount, 1)
  assert.equal(batch.byteCount, 2)
  assert.deepEqual(listed(batch), [['meta', [1], [2]]])
})

test('the outcome of a key is what a store has of it after the batch', () => {
  for (let seed = 1; seed <= 30; seed++) {
    const prng = new Prng(seed)
    const batch = new WriteBatch()
    const tables = ['accounts', 'codes', 'sideReceipts'] as const
    const keys = Array.from({ length: 12 }, (_, index) => bytes(index, index))
    const before = new WriteBatch()
    for (const table of tables) for (const key of keys) before.put(table, key, bytes(0xff))
    for (let step = prng.below(25); step > 0; step--) {
      const table = prng.pick(tables)
      const choice = prng.below(4)
      if (choice < 2) batch.put(table, prng.pick(keys), bytes(step))
      else if (choice < 3) batch.delete(table, prng.pick(keys))
      else batch.deleteRange(table, prng.pick(keys), prng.oneIn(4) ? undefined : prng.pick(keys))
      // Asked in between, it is of the batch as it then is.
      batch.outcomeOf(table, prng.pick(keys))
    }
    const store = memoryStore()
    store.write(before)
    store.write(batch)
    for (const table of tables) {
      for (const key of keys) {
        const outcome = batch.outcomeOf(table, key)
        const value = outcome === undefined ? bytes(0xff) : (outcome ?? undefined)
        assert.deepEqual(value && [...value], store.get(table, key) && [...store.get(table, key)!])
      }
      const [start, end] = batch.spanOf(table)
      const inSpan = [...batch.operationsSorted()].map((operation, place) => [
        batch.tableAt(operation) === TABLE_INDEX[table],
        place >= start && place < end,
      ])
      for (const [isOfTable, isInside] of inSpan) assert.equal(isOfTable, isInside)
    }
  }
})
