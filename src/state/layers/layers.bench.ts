/**
 * What layers cost beside reads, writes and differences of accounts, which are cases of `varve bench layers`: many
 * branches of a big state, and the slots of one contract.
 */
import { bytesCompare, EMPTY_CODE_HASH } from '../../base/index.ts'
import { bench, cpuNs, Prng, report } from '../../testing/index.ts'
import type { Account } from '../account.ts'
import type { StateDelta } from '../delta.ts'
import { ModelBase, makeKeys } from './model.suite.ts'
import { StateLayers } from './stateLayers.ts'

type Batch = readonly { readonly key: Uint8Array; readonly value: number }[]

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
