/**
 * What every `Store` must do, stamped out for each implementation. Aim: order, bounds, atomicity, snapshots and limits
 * behave alike, so that the layers above are tested on memory and run on LMDB. Method: small hand-made cases for each
 * sentence of `store.ts`, then random operations against a plain map.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isVarveError } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { runStoreFuzz } from './store.fuzz.ts'
import { KEY_BYTES_MAX, type RangeBounds, type Store, VALUE_BYTES_MAX } from './store.ts'
import { TABLES } from './tables.ts'
import { WriteBatch } from './writeBatch.ts'

export type StoreSuiteSetup = {
  /** A new, empty store. */
  readonly create: () => Store
  /** Closes a store and opens its data again; absent where there is nothing to open. */
  readonly reopen?: (store: Store) => Store
  readonly cleanUp?: () => void
}

const bytes = (...values: number[]) => Uint8Array.from(values)
const keysOf = (store: Store, bounds?: RangeBounds) =>
  [...store.range('accounts', bounds)].map(({ key }) => [...key].join('.'))

/** Puts the keys into `accounts`, each with itself as value. */
function putAll(store: Store, keys: readonly Uint8Array[]): void {
  const batch = new WriteBatch()
  for (const key of keys) batch.put('accounts', key, key)
  store.write(batch)
}

export function storeSuite(name: string, setup: StoreSuiteSetup): void {
  describe(`store suite: ${name}`, () => {
    let store: Store
    before(() => {
      store = setup.create()
    })
    after(() => {
      store.close()
      setup.cleanUp?.()
    })
    /** Starts a test from nothing. */
    const emptied = (): Store => {
      const batch = new WriteBatch()
      for (const table of TABLES) batch.deleteRange(table, bytes(), undefined)
      store.write(batch)
      return store
    }
    readTests(emptied)
    rangeTests(emptied)
    batchTests(emptied)
    limitTests(emptied)
    lifeTests(setup)
    test('10^4 random operations agree with a map', () => {
      emptied()
      const seed = 20
      store = runStoreFuzz(store, seed, 10_000, setup.reopen)
    })
  })
}

function readTests(emptied: () => Store): void {
  test('an empty store has nothing', () => {
    const store = emptied()
    assert.equal(store.get('accounts', bytes(1)), undefined)
    assert.equal(store.has('accounts', bytes(1)), false)
    assert.deepEqual([...store.range('accounts')], [])
    assert.deepEqual(
      store.tableStats().map(({ table, entryCount }) => [table, entryCount]),
      TABLES.map((table) => [table, 0]),
    )
  })

  test('tables are apart', () => {
    const store = emptied()
    const batch = new WriteBatch()
    TABLES.forEach((table, index) => {
      batch.put(table, bytes(7), bytes(index))
    })
    store.write(batch)
    TABLES.forEach((table, index) => {
      assert.deepEqual(store.get(table, bytes(7)), bytes(index))
      assert.deepEqual([...store.range(table)], [{ key: bytes(7), value: bytes(index) }])
    })
  })

  test('an empty value is a value', () => {
    const store = emptied()
    const batch = new WriteBatch()
    batch.put('codes', bytes(1), bytes())
    store.write(batch)
    assert.deepEqual(store.get('codes', bytes(1)), bytes())
    assert.equal(store.has('codes', bytes(1)), true)
    assert.deepEqual([...store.range('codes')], [{ key: bytes(1), value: bytes() }])
  })

  test('what is read belongs to the reader, and what was written is the store’s own', () => {
    const store = emptied()
    const key = bytes(1, 2)
    const value = bytes(3, 4)
    const batch = new WriteBatch()
    batch.put('accounts', key, value)
    key.fill(9)
    value.fill(9)
    store.write(batch)
    batch.clear()
    batch.put('accounts', bytes(8, 8), bytes(8, 8))
    const first = store.get('accounts', bytes(1, 2))!
    assert.equal(Object.getPrototypeOf(first), Uint8Array.prototype, 'a plain Uint8Array')
    first.fill(7)
    const [entry] = [...store.range('accounts')]
    assert.equal(Object.getPrototypeOf(entry!.key), Uint8Array.prototype)
    assert.equal(Object.getPrototypeOf(entry!.value), Uint8Array.prototype)
    entry!.value.fill(7)
    assert.deepEqual(store.get('accounts', bytes(1, 2)), bytes(3, 4))
    // A later read must not write into an array handed out before.
    const second = store.get('accounts', bytes(1, 2))!
    putAll(store, [bytes(5)])
    store.get('accounts', bytes(5))
    assert.deepEqual(second, bytes(3, 4))
  })
}

function rangeTests(emptied: () => Store): void {
  const sorted = [
    bytes(0),
    bytes(0, 0),
    bytes(0, 1),
    bytes(1),
    bytes(0x7f),
    bytes(0x80),
    bytes(0xff),
  ]

  test('keys come bytewise, a prefix before its extensions', () => {
    const store = emptied()
    putAll(store, [...sorted].reverse())
    const expected = sorted.map((key) => [...key].join('.'))
    assert.deepEqual(keysOf(store), expected)
    assert.deepEqual(keysOf(store, { reverse: true }), [...expected].reverse())
  })

  test('bounds of every form', () => {
    const store = emptied()
    putAll(store, [bytes(1), bytes(1, 0), bytes(2), bytes(3)])
    const cases: [RangeBounds, string[]][] = [
      [{ gte: bytes(1, 0) }, ['1.0', '2', '3']],
      [{ gt: bytes(1, 0) }, ['2', '3']],
      [{ gt: bytes(1) }, ['1.0', '2', '3']],
      [{ lt: bytes(2) }, ['1', '1.0']],
      [{ lte: bytes(2) }, ['1', '1.0', '2']],
      [{ lte: bytes(1) }, ['1']],
      [{ gte: bytes(1), lt: bytes(2) }, ['1', '1.0']],
      [{ gt: bytes(1), lte: bytes(2) }, ['1.0', '2']],
      [{ gt: bytes(3) }, []],
      [{ lt: bytes(1) }, []],
      [{ gte: bytes(2), lt: bytes(2) }, []],
      [{ gt: bytes(2), lt: bytes(2) }, []],
      [{ gte: bytes(3), lte: bytes(1) }, []],
      [{ gte: bytes() }, ['1', '1.0', '2', '3']],
      [{ gt: bytes() }, ['1', '1.0', '2', '3']],
      [{ lt: bytes() }, []],
      [{ lte: bytes() }, []],
      [{ gte: bytes(1, 1), lte: bytes(2, 5) }, ['2']],
    ]
    for (const [bounds, expected] of cases) {
      assert.deepEqual(keysOf(store, bounds), expected, JSON.stringify(bounds))
      const down = keysOf(store, { ...bounds, reverse: true })
      assert.deepEqual(down, [...expected].reverse(), `${JSON.stringify(bounds)} reversed`)
    }
  })

  test('limit counts from where the iteration starts', () => {
    const store = emptied()
    putAll(store, [bytes(1), bytes(2), bytes(3)])
    assert.deepEqual(keysOf(store, { limit: 0 }), [])
    assert.deepEqual(keysOf(store, { limit: 2 }), ['1', '2'])
    assert.deepEqual(keysOf(store, { limit: 2, reverse: true }), ['3', '2'])
    assert.deepEqual(keysOf(store, { limit: 9 }), ['1', '2', '3'])
  })

  test('contradicting bounds are refused', () => {
    const store = emptied()
    for (const bounds of [
      { gte: bytes(1), gt: bytes(1) },
      { lte: bytes(1), lt: bytes(1) },
      { limit: -1 },
      { limit: 1.5 },
      { limit: Number.NaN },
      { gte: new Uint8Array(KEY_BYTES_MAX + 1) },
    ])
      assert.throws(
        () => store.range('accounts', bounds),
        (error) => isVarveError(error, 'STORE_RANGE_INVALID'),
      )
  })

  test('an iteration sees the table as it was at its first step', () => {
    const store = emptied()
    const keys = Array.from({ length: 500 }, (_, index) => bytes(index >> 8, index & 255, 1))
    putAll(store, keys)
    const seen: Uint8Array[] = []
    for (const { key, value } of store.range('accounts')) {
      assert.deepEqual(value, key)
      seen.push(key)
      if (seen.length % 50 !== 1) continue
      const batch = new WriteBatch()
      for (const later of keys) {
        batch.delete('accounts', later)
        batch.put('accounts', bytes(...later, 5), bytes(seen.length))
      }
      store.write(batch)
      // The new state is visible to every other read at once, also to one nested in the iteration.
      assert.equal(store.get('accounts', keys[0]!), undefined)
      assert.deepEqual(keysOf(store, { limit: 1 }), ['0.0.1.5'])
    }
    assert.deepEqual(seen, keys)
  })

  test('nested and abandoned iterations do not disturb each other', () => {
    const store = emptied()
    putAll(store, [bytes(1), bytes(2), bytes(3)])
    const pairs: string[] = []
    for (const outer of store.range('accounts')) {
      for (const inner of store.range('accounts', { reverse: true })) {
        if (inner.key[0] === outer.key[0]) break
        pairs.push(`${outer.key[0]}${inner.key[0]}`)
      }
    }
    assert.deepEqual(pairs, ['13', '12', '23'])
    const iterable = store.range('accounts', { gt: bytes(1) })
    assert.equal([...iterable].length, 2)
    assert.equal([...iterable].length, 2, 'an iterable can be walked again')
  })
}

function batchTests(emptied: () => Store): void {
  test('within a batch the later operation wins', () => {
    const store = emptied()
    const batch = new WriteBatch()
    batch.put('accounts', bytes(1), bytes(1))
    batch.put('accounts', bytes(1), bytes(2))
    batch.put('accounts', bytes(2), bytes(1))
    batch.delete('accounts', bytes(2))
    batch.delete('accounts', bytes(3))
    batch.put('accounts', bytes(3), bytes(3))
    assert.equal(batch.entryCount, 6)
    assert.equal(batch.byteCount, 10)
    store.write(batch)
    assert.deepEqual(store.get('accounts', bytes(1)), bytes(2))
    assert.equal(store.get('accounts', bytes(2)), undefined)
    assert.deepEqual(store.get('accounts', bytes(3)), bytes(3))
  })

  test('deleteRange removes what is there and what the batch put before, and spares what follows', () => {
    const store = emptied()
    putAll(store, [bytes(1), bytes(2), bytes(2, 0), bytes(3), bytes(4)])
    const batch = new WriteBatch()
    batch.put('accounts', bytes(2, 5), bytes(9))
    batch.put('storages', bytes(2, 5), bytes(9))
    batch.deleteRange('accounts', bytes(2), bytes(4))
    batch.put('accounts', bytes(3), bytes(7))
    store.write(batch)
    assert.deepEqual(keysOf(store), ['1', '3', '4'])
    assert.deepEqual(store.get('accounts', bytes(3)), bytes(7))
    assert.equal(store.has('storages', bytes(2, 5)), true, 'other tables are spared')
    batch.clear()
    batch.deleteRange('accounts', bytes(4), bytes(1))
    store.write(batch)
    assert.equal(keysOf(store).length, 3, 'an empty range removes nothing')
    batch.clear()
    batch.deleteRange('accounts', bytes(3), undefined)
    store.write(batch)
    assert.deepEqual(keysOf(store), ['1'])
  })

  test('deleteRange over many entries', () => {
    const store = emptied()
    const keys = Array.from({ length: 20_000 }, (_, index) => bytes(index >> 8, index & 255))
    putAll(store, keys)
    const batch = new WriteBatch()
    batch.deleteRange('accounts', keys[1]!, keys[19_999]!)
    store.write(batch)
    assert.equal(keysOf(store).length, 2)
  })

  test('a batch can be written again, and an empty one changes nothing', () => {
    const store = emptied()
    const batch = new WriteBatch()
    store.write(batch)
    batch.put('accounts', bytes(1), bytes(1))
    store.write(batch)
    store.write(batch)
    batch.clear()
    assert.equal(batch.entryCount, 0)
    assert.equal(batch.byteCount, 0)
    store.write(batch)
    assert.deepEqual(keysOf(store), ['1'])
  })

  test('a write that throws half-way leaves everything as it was', () => {
    const store = emptied()
    putAll(store, [bytes(1), bytes(2)])
    const batch = new WriteBatch()
    batch.deleteRange('accounts', bytes(1), bytes(2))
    for (let index = 0; index < 100; index++) batch.put('accounts', bytes(3, index), bytes(1))
    batch.put('meta', bytes(1), bytes(1))
    const valueAt = batch.valueAt.bind(batch)
    let callCount = 0
    batch.valueAt = (operation) => {
      if (++callCount > 60) throw new Error('planted')
      return valueAt(operation)
    }
    assert.throws(() => store.write(batch), /planted/)
    assert.deepEqual(keysOf(store), ['1', '2'])
    assert.equal(store.has('meta', bytes(1)), false)
    putAll(store, [bytes(5)])
    assert.deepEqual(keysOf(store), ['1', '2', '5'], 'the store works on')
  })
}

function limitTests(emptied: () => Store): void {
  test('keys of no byte or too many are refused, the longest is kept', () => {
    const store = emptied()
    const batch = new WriteBatch()
    for (const key of [bytes(), new Uint8Array(KEY_BYTES_MAX + 1)]) {
      const isKeyFault = (error: unknown) => isVarveError(error, 'STORE_KEY_INVALID')
      assert.throws(() => batch.put('accounts', key, bytes(1)), isKeyFault)
      assert.throws(() => batch.delete('accounts', key), isKeyFault)
      assert.equal(store.get('accounts', key), undefined)
      assert.equal(store.has('accounts', key), false)
    }
    assert.equal(batch.entryCount, 0)
    const longest = new Uint8Array(KEY_BYTES_MAX).fill(0xff)
    putAll(store, [longest])
    assert.deepEqual(store.get('accounts', longest), longest)
    assert.equal([...store.range('accounts', { gte: longest, lte: longest })].length, 1)
  })

  test('large values, up to 16 MiB, beside small ones', () => {
    const store = emptied()
    const prng = new Prng(4)
    const values = [0, 1, 4095, 4096, 4097, 40_000, 1 << 20, 1 << 24].map((length) => {
      const value = new Uint8Array(length)
      const pattern = prng.bytes(61)
      for (let index = 0; index < length; index++) value[index] = pattern[index % 61]!
      return value
    })
    const batch = new WriteBatch()
    values.forEach((value, index) => {
      batch.put('codes', bytes(index), value)
    })
    store.write(batch)
    values.forEach((value, index) => {
      assert.ok(Buffer.compare(store.get('codes', bytes(index))!, value) === 0, `value ${index}`)
    })
    let index = 0
    for (const { value } of store.range('codes'))
      assert.ok(Buffer.compare(value, values[index++]!) === 0, `value ${index} of the range`)
    assert.equal(index, values.length)
  })

  test('a value above the limit is refused', () => {
    const batch = new WriteBatch()
    assert.throws(
      () => batch.put('codes', bytes(1), new Uint8Array(VALUE_BYTES_MAX + 1)),
      (error) => isVarveError(error, 'STORE_VALUE_TOO_LARGE'),
    )
  })
}

function lifeTests(setup: StoreSuiteSetup): void {
  const isClosed = (error: unknown) => isVarveError(error, 'STORE_CLOSED')

  test('a closed store refuses everything, also to iterations that outlive it', () => {
    const store = setup.create()
    putAll(store, [bytes(1), bytes(2), bytes(3)])
    const running = store.range('accounts')[Symbol.iterator]()
    running.next()
    const waiting = store.range('accounts')
    store.close()
    store.close()
    assert.throws(() => running.next(), isClosed)
    assert.throws(() => [...waiting], isClosed)
    assert.throws(() => store.get('accounts', bytes(1)), isClosed)
    assert.throws(() => store.has('accounts', bytes(1)), isClosed)
    assert.throws(() => store.range('accounts'), isClosed)
    assert.throws(() => store.write(new WriteBatch()), isClosed)
    assert.throws(() => store.tableStats(), isClosed)
    assert.throws(() => store.refresh(), isClosed)
  })

  const { reopen } = setup
  if (reopen === undefined) return
  test('what was written is there after opening again', () => {
    let store = setup.create()
    const keys = Array.from({ length: 3000 }, (_, index) => bytes(index >> 8, index & 255))
    putAll(store, keys)
    store = reopen(store)
    assert.equal(keysOf(store).length, keys.length)
    for (const key of keys) assert.deepEqual(store.get('accounts', key), key)
    const stats = store.tableStats().find(({ table }) => table === 'accounts')!
    assert.equal(stats.entryCount, keys.length)
    assert.ok(stats.bytes >= keys.length * 4, 'bytes count at least keys and values')
    store.close()
  })
}
