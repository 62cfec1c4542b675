// Aim: the layered map keeps what rows A1 to A12 and A16 of the specification of layers ask; each test names its rows.
// Method: random runs against the model (layers.fuzz.ts), and one small case for each rule.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SEGMENT_MASK, SEGMENT_SHIFT } from '../../arena/index.ts'
import {
  AssertionFault,
  bytesCompare,
  EMPTY_CODE_HASH,
  isVarveError,
  VERIFY,
} from '../../base/index.ts'
import { Prng } from '../../testing/index.ts'
import type { Account } from '../account.ts'
import { type AccountChange, EMPTY_DELTA, type StateDelta, sealDelta } from '../delta.ts'
import { hashKey } from '../key.ts'
import { diffAccounts } from './layerDiff.ts'
import { LayeredMap, UNWRITTEN } from './layeredMap.ts'
import { fuzzLayerSoak, fuzzLayers, fuzzLayersTightArena } from './layers.fuzz.ts'
import './layers.bench.ts'
import { LayerTree, type MapLayer } from './mapLayer.ts'
import { DeltaSource, ModelBase, type ModelState, makeKeys, modelApply } from './model.suite.ts'
import { KIND_MASK, NodeKind } from './nodeLayout.ts'
import { StateLayers } from './stateLayers.ts'

const hasCode = (code: string) => (error: unknown) => isVarveError(error, code)

function account(nonce: number): Account {
  return { nonce: BigInt(nonce), balance: 10n ** 20n, codeHash: EMPTY_CODE_HASH }
}

/** A delta that sets one account, whose state before the caller knows. */
function set(addressHash: Uint8Array, nonce: number | undefined, before?: number): StateDelta {
  return sealDelta([
    {
      addressHash,
      before: before === undefined ? undefined : account(before),
      after: nonce === undefined ? undefined : account(nonce),
      storageCleared: false,
      slots: [],
    },
  ])
}

/** A delta that sets accounts, none of which was there. */
function setMany(hashes: readonly Uint8Array[]): StateDelta {
  return sealDelta(
    hashes.map(
      (addressHash, index): AccountChange => ({
        addressHash,
        before: undefined,
        after: account(index),
        storageCleared: false,
        slots: [],
      }),
    ),
  )
}

const [KEY, OTHER] = makeKeys(new Prng(5), 'spread', 2) as [Uint8Array, Uint8Array]

/** Reads through a view that is closed again. */
function read(base: MapLayer, top: MapLayer, key: Uint8Array): unknown {
  const view = new LayeredMap(base, top)
  try {
    return view.account(key)
  } finally {
    view.close()
  }
}

test('A1 A2 A3 A5 A7 A9 A10 A16: random versions on random forks equal the model', () => {
  const counts: Record<string, number> = {}
  for (let seed = 1; seed <= 12; seed++)
    for (const [name, count] of Object.entries(fuzzLayers(seed, 250)))
      counts[name] = (counts[name] ?? 0) + count
  for (const name of [
    'read',
    'readBeside',
    'overtaken',
    'diffMany',
    'illegal',
    'persist',
    'persistRefused',
  ])
    assert(counts[name]! > 10, `${name} was exercised`)
})

test('A1 A7: a hundred layers of a hundred writes, with keys that differ late', () => {
  for (const shape of ['lastByte', 'firstByte', 'spread'] as const) {
    const prng = new Prng(3)
    const source = new DeltaSource(prng, shape, 100)
    const layers = new StateLayers({ persisted: new ModelBase() })
    let state = layers.open()
    let model: ModelState = new Map()
    for (let count = 0; count < 100; count++) {
      const delta = source.next(model)
      model = modelApply(model, delta)
      const next = state.apply(delta)
      state.release()
      state = next
    }
    for (const addressHash of source.addresses) {
      const expected = model.get(hashKey(addressHash))
      assert.deepEqual(state.account(addressHash), expected?.account)
      for (const slotHash of source.slots)
        assert.deepEqual(
          state.storage(addressHash, slotHash),
          expected?.slots.get(hashKey(slotHash)),
        )
    }
    state.release()
  }
})

test('A2: writes at or below the base are not seen, though their nodes are reachable', () => {
  const tree = new LayerTree()
  const one = tree.spawn(tree.root, tree.root, set(KEY, 1))
  const two = tree.spawn(tree.root, one, set(OTHER, 2))
  const three = tree.spawn(tree.root, two, EMPTY_DELTA)
  assert.deepEqual(read(tree.root, three, KEY), account(1))
  assert.equal(read(one, three, KEY), UNWRITTEN)
  assert.deepEqual(read(one, three, OTHER), account(2))
  assert.equal(read(two, three, OTHER), UNWRITTEN)
  assert.equal(read(three, three, OTHER), UNWRITTEN)
})

test('A3: a diff comes in trie order, each key once, and shard after shard is the whole', () => {
  const tree = new LayerTree()
  const keys = makeKeys(new Prng(6), 'spread', 500)
  const one = tree.spawn(tree.root, tree.root, setMany(keys.slice(0, 300)))
  const two = tree.spawn(tree.root, one, setMany(keys.slice(200)))
  const view = new LayeredMap(tree.root, two)
  const { accounts } = view.diff()
  assert.equal(accounts.length, keys.length)
  for (let index = 1; index < accounts.length; index++)
    assert(bytesCompare(accounts[index - 1]!.addressHash, accounts[index]!.addressHash) < 0)
  // As on another thread: a message carries memory that is shared, and numbers.
  const source = structuredClone(view.diffSource())
  assert.equal(source.segments[0]!.buffer instanceof SharedArrayBuffer, true)
  const shards = Array.from({ length: 16 }, (_, shard) => diffAccounts(source, shard))
  shards.forEach((changes, shard) => {
    for (const { addressHash } of changes) assert.equal(addressHash[0]! >>> 4, shard)
  })
  assert.deepEqual(shards.flat(), accounts)
})

test('A4: views that would be incomplete are refused, siblings too', () => {
  const tree = new LayerTree()
  const one = tree.spawn(tree.root, tree.root, set(KEY, 1))
  const two = tree.spawn(tree.root, one, set(KEY, 2, 1))
  const sibling = tree.spawn(tree.root, one, set(KEY, 3, 1))
  const later = tree.spawn(one, two, EMPTY_DELTA)
  const stranger = new LayerTree().root
  const refused: [MapLayer, MapLayer, RegExp][] = [
    [stranger, two, /two trees/],
    [two, one, /above the top/],
    [tree.root, later, /built over a view from layer 1/],
    [sibling, two, /not built on the base/],
    [sibling, later, /not built on the base/],
    [two, sibling, /not built on the base/],
  ]
  for (const [base, top, reason] of refused) {
    assert.throws(
      () => new LayeredMap(base, top),
      (error) => {
        assert(isVarveError(error, 'STATE_VIEW_ILLEGAL'))
        return reason.test(error.message)
      },
    )
    assert.equal(top.canViewAfter(base), false)
  }
  assert(later.canViewAfter(one) && later.canViewAfter(later) && two.canViewAfter(tree.root))
  assert.equal(sibling.number, two.number)
  assert.notEqual(sibling.id, two.id)
})

test('A5: two layers on one know nothing of each other', () => {
  const tree = new LayerTree()
  const one = tree.spawn(tree.root, tree.root, set(KEY, 1))
  const left = tree.spawn(tree.root, one, set(KEY, 2, 1))
  const right = tree.spawn(tree.root, one, set(OTHER, 3))
  assert.deepEqual(read(tree.root, left, KEY), account(2))
  assert.equal(read(tree.root, left, OTHER), UNWRITTEN)
  assert.deepEqual(read(tree.root, right, KEY), account(1))
  left.release()
  assert.deepEqual(read(tree.root, right, OTHER), account(3))
  assert.deepEqual(read(one, right, KEY), UNWRITTEN)
})

test('A6: what a layer takes is bounded by its own writes, at once and for good', () => {
  const tree = new LayerTree()
  let layer = tree.spawn(tree.root, tree.root, setMany(makeKeys(new Prng(7), 'spread', 1024)))
  assert(layer.chunkCount * 1024 < 1024 * 250)
  for (let count = 0; count < 20; count++) {
    layer = tree.spawn(tree.root, layer, EMPTY_DELTA)
    assert.equal(layer.chunkCount, 0, 'a layer without writes takes no chunk')
  }
  layer = tree.spawn(tree.root, layer, set(KEY, 1))
  assert(layer.chunkCount <= 1, 'one write copies one path')
})

test('A7: versions of a key at or below the base are dropped when the key is written again', () => {
  const tree = new LayerTree()
  const one = tree.spawn(tree.root, tree.root, set(KEY, 1))
  const two = tree.spawn(tree.root, one, set(KEY, 2, 1))
  const three = tree.spawn(one, two, set(KEY, 3, 2))
  const view = new LayeredMap(one, three)
  assert.deepEqual(view.diff().accounts[0]!.before, account(1))
  const four = tree.spawn(three, three, set(KEY, 4, 3))
  const last = new LayeredMap(three, four)
  assert.deepEqual(last.diff().accounts, set(KEY, 4, 3).accounts)
  assert.equal(four.chunkCount, 1)
})

test('A7: what the base holds is not carried along: a new layer over it has its own leaf alone', () => {
  const tree = new LayerTree()
  const one = tree.spawn(tree.root, tree.root, setMany(makeKeys(new Prng(4), 'spread', 300)))
  const two = tree.spawn(one, one, set(KEY, 1))
  const { handle } = two.accounts
  const header = tree.arena.segments[handle >>> SEGMENT_SHIFT]![(handle & SEGMENT_MASK) * 2]!
  assert.equal(header & KIND_MASK, NodeKind.Account)
  const three = tree.spawn(tree.root, one, set(KEY, 1))
  assert.equal(read(tree.root, three, KEY) === UNWRITTEN, false)
})

test('A8: released layers leave nothing, forks and middle layers in any order', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const prng = new Prng(seed)
    const tree = new LayerTree()
    const held = [tree.root]
    for (let step = 0; step < 200; step++) {
      held.push(tree.spawn(prng.pick(held), held.at(-1)!, EMPTY_DELTA))
      held.pop()!.release()
      const top = prng.pick(held)
      held.push(tree.spawn(top, top, setMany([prng.pick([KEY, OTHER])])))
      if (held.length > 8) held.splice(prng.below(held.length), 1)[0]!.release()
      if (held.length === 0) break
    }
    while (held.length > 0) held.splice(prng.below(held.length), 1)[0]!.release()
    assert.deepEqual([tree.status.layerCount, tree.status.usedBytes], [0, 0], `seed ${seed}`)
  }
})

test('A8: a chain of many layers goes by one release, from below and from above', () => {
  const length = 50_000
  for (const isFromBelow of [true, false]) {
    const tree = new LayerTree()
    let top = tree.root.pin()
    for (let count = 0; count < length; count++) {
      const next = tree.spawn(tree.root, top, count % 1000 === 0 ? set(KEY, count) : EMPTY_DELTA)
      top.release()
      top = next
    }
    assert.equal(tree.status.layerCount, length)
    assert(top.isDescendantOf(tree.root))
    if (isFromBelow) tree.root.release()
    else top.release()
    assert.deepEqual([tree.status.layerCount, tree.status.usedBytes], [0, 0])
    if (isFromBelow) top.release()
    else tree.root.release()
    assert.equal(top.isAlive || tree.root.isAlive, false)
  }
})

test('A8: layers made and released leave memory flat', () => {
  const { reservedBytes } = fuzzLayerSoak(1, 5000)
  assert(reservedBytes! <= 2 ** 20)
})

test('A8: a node of a released layer is found when it is used', {
  skip: !VERIFY && 'VARVE_VERIFY is off',
}, () => {
  const tree = new LayerTree()
  const one = tree.spawn(tree.root, tree.root, set(KEY, 1))
  const view = new LayeredMap(tree.root, one)
  // As a fault in the counts would do it: the memory goes while the view is open.
  one['memory']!.release()
  assert.throws(() => view.account(KEY), AssertionFault)
})

test('N3: a layer that was let go is refused, with its code', () => {
  const tree = new LayerTree()
  const one = tree.spawn(tree.root, tree.root, set(KEY, 1))
  const view = new LayeredMap(tree.root, one)
  one.release()
  assert.deepEqual(view.account(KEY), account(1))
  view.close()
  for (const use of [
    () => view.account(KEY),
    () => view.close(),
    () => view.diff(),
    () => one.pin(),
    () => one.release(),
  ])
    assert.throws(use, hasCode('STATE_LAYER_RELEASED'))
  assert.throws(() => new LayeredMap(tree.root, one), hasCode('STATE_LAYER_RELEASED'))
})

test('N4: a full arena refuses a layer whole, and the next one fits when room was made', () => {
  for (let seed = 1; seed <= 3; seed++) assert(fuzzLayersTightArena(seed, 200)['full']! > 0)
  const tree = new LayerTree({ bytesMax: 2 ** 18 })
  const batch = setMany(makeKeys(new Prng(8), 'spread', 1500))
  const one = tree.spawn(tree.root, tree.root, batch)
  const { usedBytes } = tree.status
  assert.throws(() => tree.spawn(tree.root, one, batch), hasCode('ARENA_CHUNKS_FULL'))
  assert.equal(tree.status.usedBytes, usedBytes)
  one.release()
  assert.equal(tree.spawn(tree.root, tree.root, batch).isAlive, true)
})

test('A batch out of order, or with a key twice, is a fault', () => {
  const tree = new LayerTree()
  const [one, two] = [KEY, OTHER].sort(bytesCompare) as [Uint8Array, Uint8Array]
  const change = (addressHash: Uint8Array) => set(addressHash, 1).accounts[0]!
  for (const accounts of [
    [change(two), change(one)],
    [change(one), change(one)],
  ])
    assert.throws(() => tree.spawn(tree.root, tree.root, { accounts, codes: [] }), AssertionFault)
  assert.equal(tree.status.usedBytes, 0)
})

test('Inner views give each layer its own delta back', () => {
  const tree = new LayerTree()
  const one = tree.spawn(tree.root, tree.root, set(KEY, 1))
  const two = tree.spawn(tree.root, one, set(KEY, 2, 1))
  const view = new LayeredMap(tree.root, two)
  const inner = view.layers()
  assert.deepEqual(
    inner.map((each) => each.diff()),
    [set(KEY, 1), set(KEY, 2, 1)],
  )
  for (const each of inner) each.close()
  view.close()
  one.release()
  two.release()
  assert.equal(tree.status.usedBytes, 0)
})

test('Ten thousand branches cost their writes, and go one by one', () => {
  const layers = new StateLayers({ persisted: new ModelBase() })
  const keys = makeKeys(new Prng(9), 'spread', 3000)
  const head = layers.open().apply(setMany(keys))
  const { usedBytes } = layers.status
  const branches = Array.from({ length: 10_000 }, (_, index) =>
    head.apply(set(keys[index % keys.length]!, index, index % keys.length)),
  )
  const perBranch = (layers.status.usedBytes - usedBytes) / branches.length
  assert(perBranch <= 1024, `${perBranch} bytes a branch`)
  branches.forEach((branch, index) => {
    assert.equal(branch.account(keys[index % keys.length]!)!.nonce, BigInt(index))
  })
  for (const branch of branches) branch.release()
  assert.equal(layers.status.usedBytes, usedBytes)
})
