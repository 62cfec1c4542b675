/**
 * Layers against what they might have been (`candidates.suite.ts`), and what they cost as they are: writes, reads that
 * find and that do not, diffs, branches, releases. Equal digests: all arms give the same answers in the same order.
 */

import { NO_CHUNK, SEGMENT_MASK, SEGMENT_SHIFT } from '../../arena/index.ts'
import { bytesCompare, EMPTY_CODE_HASH } from '../../base/index.ts'
import { type BenchMode, bench, cpuNs, Prng, report } from '../../testing/index.ts'
import type { Account } from '../account.ts'
import type { StateDelta } from '../delta.ts'
import {
  type Batch,
  type Candidate,
  digestOf,
  KeyIndex,
  PlainMap,
  SkipTables,
  SortedArray,
} from './candidates.suite.ts'
import { LayeredMap } from './layeredMap.ts'
import { LayerTree, type MapLayer } from './mapLayer.ts'
import { ModelBase, makeKeys } from './model.suite.ts'
import { ACCOUNT_VALUE_WORD } from './nodeLayout.ts'
import { StateLayers } from './stateLayers.ts'

const BYTES_MAX = 4 * 2 ** 30

/** A delta that sets accounts; `before` is the value that they all had, where they were there. */
function deltaOf(batch: Batch, before?: number): StateDelta {
  const accounts = batch.map(({ key, value }) => ({
    addressHash: key,
    before: before === undefined ? undefined : accountOf(before),
    after: accountOf(value),
    storageCleared: false,
    slots: [],
  }))
  return { accounts, codes: [] }
}

function accountOf(value: number): Account {
  return { nonce: BigInt(value), balance: 10n ** 19n, codeHash: EMPTY_CODE_HASH }
}

/** Layers as a candidate: accounts whose nonce is the value. */
class Layers implements Candidate {
  readonly name: string = 'layers'
  readonly tree = new LayerTree({ bytesMax: BYTES_MAX })
  private readonly layers: MapLayer[] = [this.tree.root]
  private readonly deltas = new Map<Batch, StateDelta>()
  private view = new LayeredMap(this.tree.root, this.tree.root)

  /** Fills memory once and lets it go, as an engine at work has done: first touches cost more than all else. */
  warm(batches: readonly Batch[]): void {
    for (const batch of batches) {
      this.deltas.set(batch, deltaOf(batch))
      this.push(batch)
    }
    for (const layer of this.layers.splice(1)) layer.release()
    this.view.close()
    this.view = new LayeredMap(this.tree.root, this.tree.root)
  }

  push(batch: Batch): void {
    this.layers.push(this.view.spawn(this.deltas.get(batch)!))
    this.view.close()
    this.view = new LayeredMap(this.tree.root, this.layers.at(-1)!)
  }

  /** The nonce's low word, without making an account. */
  get(key: Uint8Array): number | undefined {
    const leaf = this.view['findAccount'](key)
    if (leaf === NO_CHUNK) return undefined
    const words = this.tree.arena.segments[leaf >>> SEGMENT_SHIFT]!
    return words[(leaf & SEGMENT_MASK) * 2 + ACCOUNT_VALUE_WORD]
  }

  /** As a reader asks it. */
  account(key: Uint8Array): Account {
    return this.view.account(key) as Account
  }

  diff(base: number): { count: number; digest: number } {
    const view = new LayeredMap(this.layers[base]!, this.layers.at(-1)!)
    const { accounts } = view.diff()
    view.close()
    let digest = 0
    for (const { addressHash, after } of accounts)
      digest = digestOf(digest, addressHash, Number(after!.nonce))
    return { count: accounts.length, digest }
  }
}

/** `layerCount` batches of distinct new keys, each a shuffled part of `keys`, sorted. */
function batchesOf(keys: readonly Uint8Array[], layerCount: number): Batch[] {
  const size = keys.length / layerCount
  return Array.from({ length: layerCount }, (_, layer) =>
    keys
      .slice(layer * size, (layer + 1) * size)
      .map((key, index) => ({ key, value: layer * size + index }))
      .sort((a, b) => bytesCompare(a.key, b.key)),
  )
}

function compare(mode: BenchMode, entryCount: number, layerCount: number): void {
  const prng = new Prng(entryCount)
  const keys = makeKeys(prng, 'spread', entryCount)
  const missing = makeKeys(prng, 'spread', Math.min(entryCount, 100_000))
  const batches = batchesOf(keys, layerCount)
  const asked = Array.from({ length: missing.length }, () => prng.pick(keys))
  const makers: (() => Candidate)[] = [
    () => new Layers(),
    () => new SkipTables(),
    () => new KeyIndex(),
    () => new PlainMap(),
  ]
  // Merging the whole array a layer takes minutes from here on.
  if (entryCount * layerCount <= 10 ** 7) makers.push(() => new SortedArray())
  for (const make of makers) {
    const candidate = make()
    const figure = (what: string, unit: string, samples: number[], check: string) =>
      report({
        name: `${entryCount} in ${layerCount}, ${candidate.name}: ${what}`,
        unit,
        samples,
        check,
      })
    if (candidate instanceof Layers) candidate.warm(batches)
    else for (const batch of batches) make().push(batch)
    const put = cpuNs(() => {
      for (const batch of batches) candidate.push(batch)
    })
    figure('put', 'ns a key', [put / entryCount], String(layerCount))
    const runCount = mode === 'full' ? 5 : 1
    for (const [what, questions] of [
      ['get', asked],
      ['get nothing', missing],
    ] as const) {
      let sum = 0
      const samples = Array.from({ length: runCount }, () => {
        sum = 0
        const took = cpuNs(() => {
          for (const key of questions) sum += candidate.get(key) ?? 1
        })
        return took / questions.length
      })
      figure(what, 'ns a key', samples, String(sum))
    }
    const hasVersions = !(candidate instanceof PlainMap || candidate instanceof SortedArray)
    for (const base of hasVersions && layerCount > 8 ? [0, layerCount - 8] : [0]) {
      let result = { count: 0, digest: 0 }
      const took = cpuNs(() => {
        result = candidate.diff(base)
      })
      const what = base === 0 ? 'diff of all' : 'diff of the last 8'
      figure(what, 'ns a key', [took / result.count], `${result.count}.${result.digest}`)
    }
    if (candidate instanceof Layers) {
      let sum = 0
      const took = cpuNs(() => {
        for (const key of asked) sum += Number(candidate.account(key).nonce)
      })
      figure('get an account', 'ns a key', [took / asked.length], String(sum))
    }
    if (candidate instanceof Layers)
      figure('memory', 'bytes a key', [candidate.tree.status.usedBytes / entryCount], '-')
  }
}

bench('layers against other structures', (mode) => {
  if (mode === 'smoke') compare(mode, 400, 20)
  else {
    compare(mode, 100_000, 1)
    compare(mode, 100_000, 500)
    compare(mode, 1_000_000, 1000)
  }
})

bench('branches of a big state', (mode) => {
  const keyCount = mode === 'full' ? 1_000_000 : 1000
  const branchCount = mode === 'full' ? 10_000 : 20
  const keys = makeKeys(new Prng(1), 'spread', keyCount)
  const layers = new StateLayers({ persisted: new ModelBase(), bytesMax: BYTES_MAX })
  const head = layers.open().apply(deltaOf(batchesOf(keys, 1)[0]!))
  const { usedBytes } = layers.status
  report({
    name: `${keyCount} accounts in one layer: memory`,
    unit: 'bytes a key',
    samples: [usedBytes / keyCount],
    check: '-',
  })
  const fork = cpuNs(() => {
    for (let count = 0; count < branchCount; count++) head.fork().release()
  })
  report({ name: 'fork and release', unit: 'ns', samples: [fork / branchCount], check: '-' })
  const deltas = Array.from({ length: branchCount }, (_, index) =>
    deltaOf([{ key: keys[index]!, value: index + 1 }], index),
  )
  // Memory is touched once before, as in an engine at work.
  for (const branch of deltas.map((delta) => head.apply(delta))) branch.release()
  const branches = [head]
  const apply = cpuNs(() => {
    for (const delta of deltas) branches.push(head.apply(delta))
  })
  const memory = (layers.status.usedBytes - usedBytes) / branchCount
  report({
    name: `${branchCount} branches of one write: make`,
    unit: 'ns a branch',
    samples: [apply / branchCount],
    check: '-',
  })
  report({
    name: `${branchCount} branches of one write: memory`,
    unit: 'bytes',
    samples: [memory],
    check: '-',
  })
  let sum = 0n
  const read = cpuNs(() => {
    for (let index = 0; index < branchCount; index++)
      sum += branches[index + 1]!.account(keys[index]!)!.nonce
  })
  report({
    name: `${branchCount} branches: one read each`,
    unit: 'ns',
    samples: [read / branchCount],
    check: String(sum),
  })
  const release = cpuNs(() => {
    for (const branch of branches) branch.release()
  })
  report({
    name: `${branchCount} branches: release`,
    unit: 'ns a branch',
    samples: [release / branchCount],
    check: String(layers.status.usedBytes),
  })
})

bench('slots of one contract', (mode) => {
  const slotCount = mode === 'full' ? 200_000 : 500
  const prng = new Prng(2)
  const [address] = makeKeys(prng, 'spread', 1) as [Uint8Array]
  const keys = makeKeys(prng, 'spread', slotCount)
  const account = { nonce: 1n, balance: 0n, codeHash: EMPTY_CODE_HASH }
  const layers = new StateLayers({ persisted: new ModelBase(), bytesMax: BYTES_MAX })
  let state = layers.open()
  const batches = batchesOf(keys, 100)
  const put = cpuNs(() => {
    batches.forEach((batch, index) => {
      const slots = batch.map(({ key }) => ({ slotHash: key, before: undefined, after: key }))
      const before = index === 0 ? undefined : account
      const change = { addressHash: address, before, after: account, storageCleared: false, slots }
      const next = state.apply({ accounts: [change], codes: [] })
      state.release()
      state = next
    })
  })
  report({
    name: `${slotCount} slots in 100 layers: put`,
    unit: 'ns a slot',
    samples: [put / slotCount],
    check: String(state.usage.slotCount),
  })
  let sum = 0
  const samples = Array.from({ length: mode === 'full' ? 5 : 1 }, () => {
    sum = 0
    return (
      cpuNs(() => {
        for (const key of keys) sum += state.storage(address, key)![0]!
      }) / slotCount
    )
  })
  report({
    name: `${slotCount} slots in 100 layers: get`,
    unit: 'ns a slot',
    samples,
    check: String(sum),
  })
  report({
    name: `${slotCount} slots in 100 layers: memory`,
    unit: 'bytes a slot',
    samples: [layers.status.usedBytes / slotCount],
    check: '-',
  })
})
