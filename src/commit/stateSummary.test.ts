/**
 * Aim: rows A13 and A14 of the specification of layers: a summary's root is that of the naive trees, it reads the nodes
 * of written keys alone, each once, and a node that is withheld or damaged is an error by name, never another root.
 * Method: random states over a source of nodes that counts, with every node that an update reads spoilt in turn.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_TRIE_ROOT, fromHex, isVarveError, toBareHex, toHex } from '../base/index.ts'
import { decodeRlp } from '../codec/index.ts'
import { type HashKey, hashKey, hashOfKey, type StateDelta } from '../state/index.ts'
import {
  DeltaSource,
  KEY_SHAPES,
  type ModelState,
  modelApply,
} from '../state/layers/model.suite.ts'
import { Prng } from '../testing/index.ts'
import { NaiveState } from './naiveState.suite.ts'
import type { StateNodes } from './nodeReaders.ts'
import { StateSummary } from './stateSummary.ts'

/** Gives out the nodes of naive trees, counts, and spoils the one it is told to. */
class CountingNodes implements StateNodes {
  readonly counts = new Map<string, number>()
  readonly accounts = { readNode: (path: Uint8Array) => this.read('', path) }
  private readonly state: NaiveState
  private readonly spoil: ((id: string, bytes: Uint8Array) => Uint8Array | undefined) | undefined

  constructor(
    state: NaiveState,
    spoil?: (id: string, bytes: Uint8Array) => Uint8Array | undefined,
  ) {
    this.state = state
    this.spoil = spoil
  }

  storage(addressHash: Uint8Array) {
    return { readNode: (path: Uint8Array) => this.read(hashKey(addressHash), path) }
  }

  private read(place: HashKey | '', nibbles: Uint8Array): Uint8Array | undefined {
    const path = Array.from(nibbles, (nibble) => nibble.toString(16)).join('')
    const id = idOf(place, path)
    this.counts.set(id, (this.counts.get(id) ?? 0) + 1)
    const bytes = this.state.node(place, path)
    return bytes === undefined || this.spoil === undefined ? bytes : this.spoil(id, bytes)
  }
}

function idOf(place: HashKey | '', path: string): string {
  return `${place === '' ? '' : toBareHex(hashOfKey(place))}:${path}`
}

type Step = { readonly before: NaiveState; readonly after: NaiveState; readonly delta: StateDelta }

/** States that follow on each other; a delta that changes nothing is left out. */
function randomSteps(seed: number, count: number): Step[] {
  const prng = new Prng(seed)
  const source = new DeltaSource(prng, KEY_SHAPES[seed % KEY_SHAPES.length]!, 24)
  const steps: Step[] = []
  let state: ModelState = new Map()
  let before = new NaiveState(state)
  while (steps.length < count) {
    const delta = source.next(state)
    if (delta.accounts.length === 0) continue
    state = modelApply(state, delta)
    const after = new NaiveState(state)
    steps.push({ before, after, delta })
    before = after
  }
  return steps
}

/** Nodes on the way to written keys. Where a storage is cleared, nothing is asked of it. */
function writtenPaths({ before, delta }: Step): Set<string> {
  const ids = new Set<string>()
  const add = (place: HashKey | '', key: Uint8Array) => {
    const path = toBareHex(key)
    for (let depth = 0; depth <= path.length; depth++)
      if (before.node(place, path.slice(0, depth)) !== undefined)
        ids.add(idOf(place, path.slice(0, depth)))
  }
  for (const { addressHash, after, storageCleared, slots } of delta.accounts) {
    add('', addressHash)
    if (storageCleared || after === undefined) continue
    for (const { slotHash } of slots) add(hashKey(addressHash), slotHash)
  }
  return ids
}

/** Whether a node was the last child of a branch, so that it takes that one's place and must be known. */
function isLeftAlone(id: string, { before, after }: Step): boolean {
  const [owner, path] = id.split(':') as [string, string]
  const place = owner === '' ? '' : hashKey(fromHex(`0x${owner}`))
  const isBranch = (state: NaiveState) => {
    const bytes = state.node(place, path.slice(0, -1))
    return bytes !== undefined && (decodeRlp(bytes) as unknown[]).length === 17
  }
  return path.length > 0 && isBranch(before) && !isBranch(after)
}

test('A13: the root is that of the naive trees, and written keys alone are read, each node once', () => {
  let readCount = 0
  let extraCount = 0
  for (let seed = 1; seed <= 24; seed++)
    for (const step of randomSteps(seed, 6)) {
      const nodes = new CountingNodes(step.before)
      const summary = new StateSummary(nodes, step.before.accounts.root)
      assert.equal(toHex(summary.update(step.delta)), step.after.root, `seed ${seed}`)
      const expected = writtenPaths(step)
      for (const [id, count] of nodes.counts) {
        assert.equal(count, 1, `seed ${seed}: ${id} is read once`)
        if (expected.has(id)) continue
        extraCount++
        assert.ok(isLeftAlone(id, step), `seed ${seed}: ${id} is on the way to no written key`)
      }
      for (const id of expected) assert.ok(nodes.counts.has(id), `seed ${seed}: ${id} is read`)
      readCount += nodes.counts.size
      // What is in memory is not read again.
      const { size } = nodes.counts
      assert.equal(toHex(summary.update(step.delta)), step.after.root)
      assert.equal(
        [...nodes.counts.values()].reduce((sum, count) => sum + count, 0),
        size,
      )
    }
  assert.ok(readCount > 1000 && extraCount > 0, `${readCount} reads, ${extraCount} of siblings`)
})

test('A13: the nodes handed over make the stored tries those of the naive trees, node by node', () => {
  for (let seed = 1; seed <= 12; seed++) {
    const stored = new Map<string, Uint8Array>()
    for (const { before, after, delta } of randomSteps(seed, 8)) {
      const summary = new StateSummary(new CountingNodes(before), before.accounts.root)
      summary.update(delta)
      const { accountNodes, storageNodes } = summary.collect()
      const sets = [
        { owner: '', isCleared: false, nodes: accountNodes },
        ...storageNodes.map(({ addressHash, ...set }) => ({
          owner: toBareHex(addressHash),
          ...set,
        })),
      ]
      for (const { owner, isCleared, nodes } of sets) {
        const id = (path: Uint8Array) =>
          `${owner}:${Array.from(path, (n) => n.toString(16)).join('')}`
        if (isCleared)
          for (const key of stored.keys()) if (key.startsWith(owner)) stored.delete(key)
        for (const { path } of nodes.deletions) stored.delete(id(path))
        for (const { path, bytes } of nodes.nodes) stored.set(id(path), bytes)
      }
      assert.deepEqual(sorted(stored), sorted(allNodes(after)), `seed ${seed}`)
    }
  }
})

function allNodes(state: NaiveState): Map<string, Uint8Array> {
  const nodes = new Map<string, Uint8Array>()
  for (const [path, bytes] of state.accounts.nodes) nodes.set(idOf('', path), bytes)
  for (const [key, tree] of state.storages)
    for (const [path, bytes] of tree.nodes) nodes.set(idOf(key, path), bytes)
  return nodes
}

function sorted(nodes: ReadonlyMap<string, Uint8Array>): [string, string][] {
  return [...nodes]
    .map(([id, bytes]): [string, string] => [id, toHex(bytes)])
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Ways in which a proof falls short, and the code that says so. */
const FAULTS: readonly [
  name: string,
  code: string,
  make: (bytes: Uint8Array) => Uint8Array | undefined,
][] = [
  ['withheld', 'TRIE_NODE_MISSING', () => undefined],
  ['empty', 'TRIE_NODE_INVALID', () => new Uint8Array(0)],
  ['cut at its end', 'TRIE_NODE_INVALID', (bytes) => bytes.slice(0, -1)],
  ['cut at its beginning', 'TRIE_NODE_INVALID', (bytes) => bytes.slice(1)],
  ['longer by a byte', 'TRIE_NODE_INVALID', (bytes) => Uint8Array.of(...bytes, 0)],
  ['one bit off', 'TRIE_NODE_INVALID', (bytes) => flipped(bytes)],
]

function flipped(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice()
  copy[bytes.length >>> 1]! ^= 4
  return copy
}

test('A14: each node that an update needs, withheld or damaged, is an error by name, never a root', () => {
  let tryCount = 0
  for (let seed = 1; seed <= 8; seed++)
    for (const { before, after, delta } of randomSteps(seed, 3).slice(1)) {
      const honest = new CountingNodes(before)
      new StateSummary(honest, before.accounts.root).update(delta)
      for (const id of honest.counts.keys())
        for (const [name, code, make] of FAULTS) {
          const spoil = (found: string, bytes: Uint8Array) => (found === id ? make(bytes) : bytes)
          const summary = new StateSummary(new CountingNodes(before, spoil), before.accounts.root)
          const where = `seed ${seed}: ${id} ${name}`
          assert.throws(
            () => summary.update(delta),
            (error) => isVarveError(error) && error.code === code,
            where,
          )
          tryCount++
        }
      const again = new StateSummary(new CountingNodes(before), before.accounts.root)
      assert.equal(toHex(again.update(delta)), after.root)
    }
  assert.ok(tryCount > 500, `${tryCount} faults were tried`)
})

test('A14: a node of another place, whole in itself, is refused as well', () => {
  const [, { before, delta }] = randomSteps(5, 2) as [Step, Step]
  const others = [...allNodes(before).values()]
  const honest = new CountingNodes(before)
  new StateSummary(honest, before.accounts.root).update(delta)
  for (const id of honest.counts.keys()) {
    const spoil = (found: string, bytes: Uint8Array) =>
      found === id ? others.find((other) => toHex(other) !== toHex(bytes)) : bytes
    const summary = new StateSummary(new CountingNodes(before, spoil), before.accounts.root)
    assert.throws(() => summary.update(delta), { code: 'TRIE_NODE_INVALID' }, id)
  }
})

test('A13: an empty state reads nothing, and a delta that changes nothing leaves the root', () => {
  const nodes = new CountingNodes(new NaiveState(new Map()))
  const summary = new StateSummary(nodes, EMPTY_TRIE_ROOT)
  assert.equal(toHex(summary.update({ accounts: [] })), toHex(EMPTY_TRIE_ROOT))
  assert.equal(nodes.counts.size, 0)
})
