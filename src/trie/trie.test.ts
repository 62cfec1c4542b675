/**
 * Aim: the trie agrees with the naive model in every operation, and keeps its promises about faults and memory.
 * Method: short seeded runs of `trie.fuzz.ts` in three settings, and the cases below that each pin one promise.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeArena } from '../arena/index.ts'
import { EMPTY_TRIE_ROOT, fromBareHex, toBareHex, toHex } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { Prng } from '../testing/index.ts'
import type { TrieChange } from './batch.ts'
import type { NodeReader } from './core.ts'
import { pathText } from './faults.ts'
import { naiveTree } from './naiveTrie.suite.ts'
import { joinDisjointNodeSets, mergeNodeSets, type NodeSet } from './nodeSet.ts'
import { fuzzTrie, fuzzTrieReference, fuzzTrieTightArena } from './trie.fuzz.ts'
import { Trie } from './trie.ts'

const arena = new NodeArena({ bytesMax: 2 ** 26 })

function put(key: string, value: string): TrieChange {
  return { key: fromBareHex(key), value: fromBareHex(value) }
}
function gone(key: string): TrieChange {
  return { key: fromBareHex(key), value: undefined }
}

/** A store keyed by path, as a commit's consumer keeps it. */
class PathStore implements NodeReader {
  readonly nodes = new Map<string, Uint8Array>()
  reads: string[] = []
  /** The read of this number fails, counted from 0. */
  failAt = -1

  readNode(path: Uint8Array): Uint8Array | undefined {
    this.reads.push(pathText(path))
    return this.reads.length - 1 === this.failAt ? undefined : this.nodes.get(pathText(path))
  }

  apply(set: NodeSet): void {
    for (const { path } of set.deletions) this.nodes.delete(pathText(path))
    for (const { path, bytes } of set.nodes) this.nodes.set(pathText(path), bytes)
  }
}

/** A trie opened over a store that holds `changes`, with nothing loaded. */
function stored(changes: readonly TrieChange[]): {
  trie: Trie
  store: PathStore
  root: Uint8Array
} {
  const builder = new Trie({ arena })
  builder.update(changes)
  const store = new PathStore()
  const set = builder.commit()
  store.apply(set)
  builder.dispose()
  return { trie: new Trie({ arena, root: set.root, reader: store }), store, root: set.root }
}

const fuzzed: [string, (seed: number, steps: number) => Record<string, number>, number, number][] =
  [
    ['over the kernel, 10^5 steps', fuzzTrie, 200, 500],
    ['over the twin', fuzzTrieReference, 10, 200],
    ['in an arena that is full', fuzzTrieTightArena, 40, 300],
  ]
for (const [name, fuzz, seedCount, stepCount] of fuzzed)
  test(`G1 G2 G6 G7: random operations ${name} agree with the naive model`, () => {
    const counts: Record<string, number> = {}
    for (let seed = 1; seed <= seedCount; seed++)
      try {
        for (const [what, count] of Object.entries(fuzz(seed, stepCount)))
          counts[what] = (counts[what] ?? 0) + count
      } catch (fault) {
        const text = fault instanceof Error ? fault.message : String(fault)
        throw new Error(`${fuzz.name} seed ${seed}: ${text}`, { cause: fault })
      }
    for (const what of [
      'commit',
      'reopen',
      'shrink',
      'faultThrown',
      'iterateInterrupted',
      'proveDamaged',
    ])
      assert.ok(counts[what]! > 0, `${what} was exercised`)
    if (fuzz === fuzzTrieTightArena) assert.ok(counts['arenaFull']! > 0, 'the arena was full')
  })

test('the empty trie: root, proof, entries, commit, delete', () => {
  const trie = new Trie({ arena })
  assert.deepEqual(trie.root(), EMPTY_TRIE_ROOT)
  assert.notEqual(trie.root(), EMPTY_TRIE_ROOT, 'the root belongs to the caller')
  assert.deepEqual(trie.prove([Uint8Array.of(1)]), [])
  assert.deepEqual([...trie.entries()], [])
  assert.equal(trie.commit().nodes.length, 0)
  trie.delete(new Uint8Array(0))
  assert.equal(trie.isChanged, false)
  assert.equal(trie.usedBytes, 0)
})

test('G1: sequences of puts and deletes that have given wrong roots elsewhere', () => {
  const sequences: [TrieChange[], string[]][] = [
    [
      [put('01', 'aa'), put('0111', 'bb'), put('0100', 'cc'), gone('0111'), gone('0100')],
      ['01=aa'],
    ],
    [
      [put('1100', 'aa'), put('1000', 'bb'), put('1001', 'cc')],
      ['1100=aa', '1000=bb', '1001=cc'],
    ],
    // key1/value1 is shorter than 32 bytes: an embedded sibling comes and goes.
    [
      [put('6b657931', '76616c756531'), put('6b657932', '76616c756532'), gone('6b657932')],
      ['6b657931=76616c756531'],
    ],
  ]
  for (const [changes, left] of sequences) {
    const values = new Map(
      left.map((pair) => [pair.split('=')[0]!, fromBareHex(pair.split('=')[1]!)]),
    )
    const expected = toHex(naiveTree(values).root)
    for (const batches of [changes.map((change) => [change]), [changes]]) {
      const trie = new Trie({ arena })
      for (const batch of batches) trie.update(batch)
      assert.equal(toHex(trie.root()), expected)
      assert.deepEqual(
        [...trie.entries()].map(({ key }) => toBareHex(key)).sort(),
        [...values.keys()].sort(),
      )
      trie.dispose()
    }
  }
})

test('a later change of the same key wins, an empty value deletes', () => {
  const trie = new Trie({ arena })
  trie.update([put('aa', '01'), put('bb', '02'), gone('aa'), put('aa', '03'), put('bb', '')])
  assert.deepEqual(trie.get(fromBareHex('aa')), Uint8Array.of(3))
  assert.equal(trie.get(fromBareHex('bb')), undefined)
  trie.dispose()
})

test('puts count before deletes: a sibling is read only where the branch collapses', () => {
  const long = '11'.repeat(40)
  const pairs = [put('10aa', long), put('20bb', long)]
  const replaced = stored(pairs)
  replaced.trie.update([gone('10aa'), put('30cc', long)])
  assert.deepEqual(replaced.store.reads, ['', '1'], 'the sibling at 2 is not needed')
  replaced.trie.dispose()
  const collapsed = stored(pairs)
  collapsed.trie.update([gone('10aa')])
  assert.deepEqual(collapsed.store.reads, ['', '1', '2'])
  collapsed.trie.dispose()
})

test('an update whose n-th read fails changes nothing, for every n', () => {
  const prng = new Prng(7)
  const keys = Array.from({ length: 60 }, () => prng.bytes(2))
  const pairs = keys.map((key) => ({ key, value: prng.bytes(40) }))
  const changes = [
    ...keys.slice(0, 40).map((key) => ({ key, value: undefined })),
    ...Array.from({ length: 10 }, () => ({ key: prng.bytes(2), value: prng.bytes(33) })),
  ]
  const whole = stored(pairs)
  whole.trie.update(changes)
  const readCount = whole.store.reads.length
  const rootAfter = toHex(whole.trie.root())
  whole.trie.dispose()
  assert.ok(readCount > 40)
  for (let failAt = 0; failAt < readCount; failAt++) {
    const { trie, store, root } = stored(pairs)
    store.failAt = failAt
    assert.throws(() => trie.update(changes), { code: 'TRIE_NODE_MISSING' })
    assert.equal(trie.isChanged, false)
    assert.equal(toHex(trie.root()), toHex(root))
    trie.update(changes)
    assert.equal(toHex(trie.root()), rootAfter, 'the next try works')
    trie.dispose()
  }
  assert.equal(arena.usedBytes, 0)
})

test('a fault names path and hash', () => {
  const { trie, store, root } = stored([put('1234', '11'.repeat(40)), put('1299', '22'.repeat(40))])
  const rootBytes = store.nodes.get('')!
  store.nodes.delete('')
  const hash = toHex(root)
  assert.throws(() => trie.get(fromBareHex('1234')), {
    code: 'TRIE_NODE_MISSING',
    data: { path: '', hash },
  })
  const changed = rootBytes.slice()
  changed[5]! ^= 1
  store.nodes.set('', changed)
  assert.throws(() => trie.get(fromBareHex('1234')), { code: 'TRIE_NODE_INVALID' })
  store.nodes.set('', rootBytes)
  assert.deepEqual(trie.get(fromBareHex('1234')), fromBareHex('11'.repeat(40)))
  trie.dispose()
})

test('limits: keys over 255 bytes and values over 16 MiB are refused, at the limit they work', () => {
  const trie = new Trie({ arena })
  assert.throws(() => trie.put(new Uint8Array(256), Uint8Array.of(1)), { code: 'TRIE_KEY_INVALID' })
  assert.throws(() => trie.put(Uint8Array.of(1), new Uint8Array(2 ** 24 + 1)), {
    code: 'TRIE_VALUE_INVALID',
  })
  const longest = new Uint8Array(255).fill(7)
  const biggest = new Uint8Array(2 ** 24).fill(9)
  trie.update([
    { key: longest, value: biggest },
    { key: longest.subarray(0, 254), value: Uint8Array.of(1) },
  ])
  const set = trie.commit()
  const values = new Map([
    [toBareHex(longest), biggest],
    [toBareHex(longest.subarray(0, 254)), Uint8Array.of(1)],
  ])
  assert.equal(toHex(set.root), toHex(naiveTree(values).root))
  assert.equal(trie.get(longest)!.length, 2 ** 24)
  trie.dispose()
})

test('the longest chain of prefixes: 256 keys, each the beginning of the next', () => {
  const trie = new Trie({ arena })
  const key = Uint8Array.from({ length: 255 }, (_, index) => index * 7)
  const changes = Array.from({ length: 256 }, (_, length) => ({
    key: key.slice(0, length),
    value: Uint8Array.of(length, 1),
  }))
  trie.update(changes)
  const values = new Map(changes.map((change) => [toBareHex(change.key), change.value]))
  assert.equal(toHex(trie.root()), toHex(naiveTree(values).root))
  assert.deepEqual(
    [...trie.entries()].map((entry) => entry.key.length),
    changes.map((_, length) => length),
  )
  trie.update(
    changes
      .filter((_, length) => length % 3 !== 0)
      .map((change) => ({ ...change, value: undefined })),
  )
  for (let length = 0; length < 256; length++)
    if (length % 3 !== 0) values.delete(toBareHex(key.slice(0, length)))
  assert.equal(toHex(trie.root()), toHex(naiveTree(values).root))
  trie.dispose()
})

test('G2: a stored node that becomes embedded is deleted, the root is stored however short', () => {
  const trie = new Trie({ arena })
  trie.update([put('10aa', '11'.repeat(40)), put('20bb', '01')])
  const first = trie.commit()
  assert.deepEqual(
    first.nodes.map(({ path }) => pathText(path)),
    ['1', ''],
  )
  trie.put(fromBareHex('10aa'), Uint8Array.of(1))
  const second = trie.commit()
  assert.deepEqual(
    second.deletions.map(({ path }) => pathText(path)),
    ['1'],
  )
  assert.deepEqual(second.deletions[0]!.previous, first.nodes[0]!.bytes)
  assert.deepEqual(
    second.nodes.map(({ path }) => pathText(path)),
    [''],
  )
  assert.deepEqual(second.nodes[0]!.previous, first.nodes[1]!.bytes)
  assert.ok(second.nodes[0]!.bytes.length < 32)
  trie.update([gone('10aa'), gone('20bb')])
  const third = trie.commit()
  assert.deepEqual(third.root, EMPTY_TRIE_ROOT)
  assert.deepEqual(
    third.deletions.map(({ path }) => pathText(path)),
    [''],
  )
  trie.dispose()
})

test('G6: commit of an unchanged trie, and of one that is back where it was, is empty', () => {
  const { trie } = stored([put('1234', '11'.repeat(40)), put('1299', '22'.repeat(40))])
  assert.equal(trie.commit().nodes.length, 0)
  trie.put(fromBareHex('1234'), Uint8Array.of(1))
  trie.root()
  trie.put(fromBareHex('1234'), fromBareHex('11'.repeat(40)))
  const set = trie.commit()
  assert.equal(set.nodes.length + set.deletions.length, 0)
  assert.equal(trie.isChanged, false)
  trie.dispose()
})

test('G8: subtrees committed apart join to the set of the whole, an overlap is refused', () => {
  const prng = new Prng(3)
  const changes = Array.from({ length: 5000 }, () => ({
    key: prng.bytes(32),
    value: prng.bytes(32),
  }))
  const whole = new Trie({ arena })
  whole.update(changes)
  const expected = whole.commit()
  // The sixteen children of the root, each as the only one of a trie with a stray key beside it.
  const sets = Array.from({ length: 16 }, (_, nibble): NodeSet => {
    const part = new Trie({ arena })
    part.update(changes.filter(({ key }) => key[0]! >> 4 === nibble))
    const stray = new Uint8Array(32).fill(nibble === 0 ? 0xff : 0)
    part.put(stray, Uint8Array.of(1))
    const set = part.commit()
    part.dispose()
    const isOwn = (path: Uint8Array): boolean => path.length > 0 && path[0] === nibble
    return { ...set, nodes: set.nodes.filter(({ path }) => isOwn(path)), deletions: [], leaves: [] }
  })
  const root: NodeSet = {
    root: expected.root,
    nodes: expected.nodes.slice(-1),
    deletions: [],
    leaves: [],
  }
  const joined = joinDisjointNodeSets(expected.root, [...sets, root])
  const text = (set: NodeSet): string[] =>
    set.nodes
      .map(({ path, hash, bytes }) => `${pathText(path)} ${toBareHex(hash)} ${bytes.length}`)
      .sort()
  assert.deepEqual(text(joined), text(expected))
  assert.throws(() => joinDisjointNodeSets(expected.root, [root, root]), {
    code: 'NODE_SET_OVERLAP',
  })
  whole.dispose()
})

test('merged node sets: the newest node and the first origin of each path', () => {
  const { trie, store } = stored([put('10aa', '11'.repeat(40)), put('20bb', '22'.repeat(40))])
  const origin = store.nodes.get('1')!
  trie.delete(fromBareHex('10aa'))
  const removed = trie.commit()
  trie.put(fromBareHex('10aa'), fromBareHex('33'.repeat(40)))
  const again = trie.commit()
  assert.equal(again.nodes.find(({ path }) => pathText(path) === '1')!.previous, undefined)
  const merged = mergeNodeSets(removed, again)
  assert.deepEqual(merged.nodes.find(({ path }) => pathText(path) === '1')!.previous, origin)
  trie.put(fromBareHex('10aa'), fromBareHex('11'.repeat(40)))
  const back = mergeNodeSets(merged, trie.commit())
  assert.equal(back.nodes.length + back.deletions.length, 0, 'all is as it was')
  trie.dispose()
})

test('a disposed trie refuses every use', () => {
  const trie = new Trie({ arena })
  trie.put(Uint8Array.of(1), Uint8Array.of(2))
  const open = trie.entries()
  open.next()
  trie.dispose()
  trie.dispose()
  const disposed = { code: 'TRIE_DISPOSED' }
  for (const use of [
    () => trie.root(),
    () => trie.get(Uint8Array.of(1)),
    () => trie.update([]),
    () => trie.commit(),
    () => trie.prove([]),
    () => trie.shrink(0),
    () => trie.rollback(),
    () => [...trie.entries()],
    () => open.next(),
  ])
    assert.throws(use, disposed)
})

test('iteration over a stored trie holds memory of one path, also two at a time', () => {
  const prng = new Prng(5)
  const pairs = Array.from({ length: 3000 }, () => ({
    key: keccak256(prng.bytes(8)),
    value: prng.bytes(60),
  }))
  const { trie } = stored(pairs)
  let most = 0
  let count = 0
  const other = trie.entries()
  for (const { value } of trie.entries()) {
    assert.ok(value.length === 60)
    most = Math.max(most, trie.usedBytes)
    if (count++ % 3 === 0) other.next()
  }
  assert.equal(count, 3000)
  assert.ok(most < 40_000, `${most} bytes at most`)
  other.return()
  trie.get(pairs[0]!.key)
  trie.shrink(0)
  assert.equal(trie.usedBytes, 40, 'only the hash of the root is left')
  trie.dispose()
  assert.equal(arena.usedBytes, 0)
})
