/**
 * Aim: `lookUp` finds what a map finds, whatever the caller expects, changes no content, and saves the reads that it
 * promises to save. Method: random tries of dense keys of several lengths, looked up cold, between updates that are not
 * committed, and with expectations that are right, wrong or absent; reads counted against those of `get`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeArena } from '../arena/index.ts'
import { fromBareHex, isVarveError, toBareHex, toHex } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { Prng } from '../testing/index.ts'
import type { NodeReader } from './core.ts'
import { pathText } from './faults.ts'
import type { Wanted } from './lookup.ts'
import { naiveTree } from './naiveTrie.suite.ts'
import { Trie } from './trie.ts'

type Values = Map<string, Uint8Array>

class CountingStore implements NodeReader {
  readonly reads: string[] = []
  readonly nodes: Map<string, Uint8Array>
  constructor(values: Values) {
    this.nodes = naiveTree(values).nodes
  }
  readNode(path: Uint8Array): Uint8Array | undefined {
    this.reads.push(pathText(path))
    return this.nodes.get(pathText(path))
  }
}

function open(arena: NodeArena, values: Values): { trie: Trie; store: CountingStore } {
  const store = new CountingStore(values)
  return { trie: new Trie({ arena, root: naiveTree(values).root, reader: store }), store }
}

function randomKey(prng: Prng): string {
  // Few distinct nibbles and three lengths: keys are prefixes of others, extensions and values of branches come up.
  const byteCount = prng.between(1, 3)
  let key = ''
  for (let index = 0; index < 2 * byteCount; index++) key += prng.below(3).toString(16)
  return key
}

function randomValue(prng: Prng): Uint8Array {
  return prng.bytes(prng.oneIn(3) ? prng.between(1, 4) : prng.between(30, 60))
}

function found(trie: Trie, wanted: readonly Wanted[]): (string | undefined)[] {
  const values: (string | undefined)[] = wanted.map(() => undefined)
  trie.lookUp(wanted, (index, bytes, start, end) => {
    assert.equal(values[index], undefined, 'a key is visited once')
    values[index] = toBareHex(bytes.slice(start, end))
  })
  return values
}

test('lookUp agrees with a map over loaded, stored and uncommitted nodes, whatever is expected', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const prng = new Prng(seed)
    const arena = new NodeArena({ bytesMax: 2 ** 24 })
    const values: Values = new Map()
    const count = prng.between(0, 60)
    for (let index = 0; index < count; index++) values.set(randomKey(prng), randomValue(prng))
    const { trie } = open(arena, values)
    for (let round = 0; round < 4; round++) {
      const keys = Array.from({ length: prng.between(0, 40) }, () =>
        prng.oneIn(3) || values.size === 0 ? randomKey(prng) : prng.pick([...values.keys()]),
      )
      const wanted = keys.map((key): Wanted => {
        const expected = prng.oneIn(3)
          ? randomValue(prng)
          : prng.oneIn(3)
            ? undefined
            : values.get(key)
        return { key: fromBareHex(key), expected }
      })
      const expectedValues = keys.map((key) => {
        const value = values.get(key)
        return value === undefined ? undefined : toBareHex(value)
      })
      const before = toHex(trie.root())
      assert.deepEqual(found(trie, wanted), expectedValues, `seed ${seed}`)
      assert.equal(toHex(trie.root()), before)
      const changes = Array.from({ length: prng.between(0, 12) }, () => ({
        key: randomKey(prng),
        value: prng.oneIn(3) ? undefined : randomValue(prng),
      }))
      if (prng.oneIn(4)) continue
      trie.update(changes.map(({ key, value }) => ({ key: fromBareHex(key), value })))
      for (const { key, value } of changes)
        if (value === undefined) values.delete(key)
        else values.set(key, value)
      assert.equal(toHex(trie.root()), toHex(naiveTree(values).root), `seed ${seed}`)
    }
    trie.dispose()
    assert.equal(arena.usedBytes, 0, `seed ${seed}: memory`)
  }
})

function manyValues(count: number): Values {
  const values: Values = new Map()
  for (let index = 0; index < count; index++) {
    const key = keccak256(Uint8Array.of(index, index >> 8))
    values.set(toBareHex(key), keccak256(key))
  }
  return values
}

test('what is expected rightly is not read; what is expected wrongly costs no more reads than get', () => {
  const values = manyValues(2000)
  const some = [...values].filter((_, index) => index % 7 === 0)
  const reads = (expect: (value: Uint8Array) => Uint8Array | undefined): string[] => {
    const { trie, store } = open(new NodeArena({ bytesMax: 2 ** 24 }), values)
    const wanted = some.map(([key, value]) => ({ key: fromBareHex(key), expected: expect(value) }))
    assert.deepEqual(
      found(trie, wanted),
      some.map(([, value]) => toBareHex(value)),
    )
    return store.reads
  }
  const { trie, store } = open(new NodeArena({ bytesMax: 2 ** 24 }), values)
  for (const [key] of some) trie.get(fromBareHex(key))
  const plain = reads(() => undefined)
  assert.deepEqual([...plain].sort(), [...store.reads].sort())
  assert.deepEqual([...reads((value) => value.slice(1))].sort(), [...store.reads].sort())
  const guessed = reads((value) => value)
  const leafReads = guessed.filter((path) => isDeepLeaf(store.nodes.get(path)!)).length
  assert.ok(leafReads < some.length / 20, `${leafReads} of ${some.length} leaves were read`)
  assert.ok(
    guessed.every((path) => store.reads.includes(path)),
    'nothing else is read',
  )
})

/** Whether a node is a leaf of a 32-byte key, three levels down or more: its path has 16 to 31 bytes, a hash 32. */
function isDeepLeaf(node: Uint8Array): boolean {
  const header = node[node[0]! >= 0xf8 ? 2 : 1]!
  return header >= 0x90 && header < 0xa0
}

test('a lookup that fails leaves the trie as it was, and no memory behind', () => {
  const values = manyValues(300)
  const wanted = [...values].map(([key, value], index) => ({
    key: fromBareHex(key),
    expected: index % 2 === 0 ? value : value.slice(1),
  }))
  const { store } = open(new NodeArena(), values)
  const missing = [...store.nodes.keys()].find((path) => path.length === 2)!
  store.nodes.delete(missing)
  const arena = new NodeArena({ bytesMax: 2 ** 24 })
  const trie = new Trie({ arena, root: naiveTree(values).root, reader: store })
  assert.throws(
    () => trie.lookUp(wanted),
    (error) => isVarveError(error) && error.code === 'TRIE_NODE_MISSING',
  )
  assert.throws(() => {
    trie.lookUp(wanted.slice(0, 40), () => {
      throw new Error('visitor')
    })
  }, /visitor/)
  store.nodes.set(missing, naiveTree(values).nodes.get(missing)!)
  assert.equal(found(trie, wanted).filter((value) => value !== undefined).length, 300)
  trie.dispose()
  assert.equal(arena.usedBytes, 0)
})

test('prefetch loads all that lookUp has to read, and changes nothing', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const prng = new Prng(seed)
    const values: Values = new Map()
    for (let index = 0; index < 400; index++)
      values.set(toBareHex(keccak256(prng.bytes(4))), prng.bytes(70))
    const keys = [...values.keys()].filter(() => prng.oneIn(2)).map((key) => fromBareHex(key))
    const { trie, store } = open(new NodeArena({ bytesMax: 2 ** 24 }), values)
    trie.prefetch(keys)
    const readBefore = store.reads.length
    assert(readBefore > 0)
    assert.equal(toHex(trie.root()), toHex(naiveTree(values).root), `seed ${seed}`)
    const expected = keys.map((key) => values.get(toBareHex(key))!)
    const wanted = keys.map((key, index) => ({ key, expected: expected[index] }))
    assert.deepEqual(
      found(trie, wanted),
      expected.map((value) => toBareHex(value)),
      `seed ${seed}`,
    )
    assert.equal(store.reads.length, readBefore, `seed ${seed}`)
  }
})
