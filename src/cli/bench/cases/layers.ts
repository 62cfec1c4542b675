/**
 * Layers of state against a map, a sorted array and what layers might have been. The keys of a size lie in 96 layers, a
 * 96th in each; what is timed is one more layer, reads at the top, and differences.
 */
import { bytesCompare, EMPTY_CODE_HASH } from '../../../base/index.ts'
import { type BenchCase, type BenchSize, type PreparedBench, Prng } from '../../../measure/index.ts'
import type { Account } from '../../../state/index.ts'
import { digestOf, digestOfAll } from '../digest.ts'
import { type Batch, type Entry, makeStructure, type Structure } from './layerStructures.ts'

const LAYER_COUNT = 96
/** Keys of the layer that is timed, and reads of a run. */
const BATCH = 1000
const READS = 4096
/** Of the difference that spans the newest layers: the tables with skips have a run that begins there. */
const LAYERS_BACK = 32
/** Sorted arrays of more would fill the heap. */
const SORTED_MAX = 2_000_000

/** Accounts, few, so that a heap of 16 million keys holds them. */
const ACCOUNTS: readonly Account[] = Array.from({ length: 1024 }, (_, index) => ({
  nonce: BigInt(index + 1),
  balance: 10n ** 18n + BigInt(index),
  codeHash: EMPTY_CODE_HASH,
}))

function makeKey(random: Prng): Uint8Array {
  const words = new Uint32Array(8)
  for (let word = 0; word < 8; word++) words[word] = random.uint32()
  return new Uint8Array(words.buffer)
}

function makeBatch(random: Prng, count: number): Batch {
  // A number first: it tells nearly all keys apart, and 16 million are sorted.
  const entries = Array.from({ length: count }, () => {
    const key = makeKey(random)
    const head = ((key[0]! << 24) | (key[1]! << 16) | (key[2]! << 8) | key[3]!) >>> 0
    return { key, head, account: random.pick(ACCOUNTS) }
  }).sort((a, b) => a.head - b.head || bytesCompare(a.key, b.key))
  const accounts = entries.map(({ key, account }) => ({
    addressHash: key,
    before: undefined,
    after: account,
    storageCleared: false,
    slots: [],
  }))
  return { entries, delta: { accounts, codes: [] } }
}

type Filled = {
  readonly structure: Structure
  /** Some of the keys, at random. */
  readonly sample: readonly Uint8Array[]
  /** Numbers that have made no key yet. */
  readonly random: Prng
}

function fill(size: number, arm: string): Filled {
  if (arm === 'sorted' && size > SORTED_MAX)
    throw new RangeError(`expected at most ${SORTED_MAX} keys in a sorted array, got ${size}`)
  const random = new Prng(size)
  const structure = makeStructure(arm)
  const sample: Uint8Array[] = []
  for (let layer = 0; layer < LAYER_COUNT; layer++) {
    const end = Math.floor(((layer + 1) * size) / LAYER_COUNT)
    const batch = makeBatch(random, end - Math.floor((layer * size) / LAYER_COUNT))
    structure.push(batch)
    const sampleEnd = Math.floor(((layer + 1) * READS) / LAYER_COUNT)
    while (sample.length < sampleEnd) sample.push(random.pick(batch.entries).key)
  }
  // Reads of neighbours in time are not neighbours in age.
  const order = sample.map((key) => ({ key, place: random.uint32() }))
  order.sort((a, b) => a.place - b.place)
  return { structure, sample: order.map(({ key }) => key), random }
}

function insert(size: number, arm: string): PreparedBench {
  const { structure, random } = fill(size, arm)
  const batch = makeBatch(random, BATCH)
  return {
    run: () => structure.push(batch),
    prove: () => proveReads(batch.entries.map(({ key }) => structure.get(key))),
    after: () => structure.pop(),
  }
}

/** Reads that found what is there. */
function proveReads(found: readonly (Account | undefined)[]) {
  const nonces = found.flatMap((account) => (account === undefined ? [] : [account.nonce]))
  return { operations: nonces.length, digest: digestOf(nonces.join()) }
}

function get(size: number, arm: string): PreparedBench {
  const { structure, sample } = fill(size, arm)
  const found: (Account | undefined)[] = new Array(READS)
  return {
    before: () => void found.fill(undefined),
    run() {
      for (let index = 0; index < READS; index++) found[index] = structure.get(sample[index]!)
    },
    prove: () => proveReads(found),
  }
}

function getMissing(size: number, arm: string): PreparedBench {
  const { structure, random } = fill(size, arm)
  const keys = Array.from({ length: READS }, () => makeKey(random))
  const found: (Account | undefined)[] = new Array(READS)
  return {
    before: () => void found.fill(ACCOUNTS[0]),
    run() {
      for (let index = 0; index < READS; index++) found[index] = structure.get(keys[index]!)
    },
    prove() {
      const operations = found.filter((account) => account === undefined).length
      return { operations, digest: digestOf(`${operations} of nothing`) }
    },
  }
}

/** Keys of the difference of a size. */
const changedCount = (size: number, base: number): number =>
  size - Math.floor((base * size) / LAYER_COUNT)

function diff(size: number, arm: string, base: number): PreparedBench {
  const { structure } = fill(size, arm)
  const count = changedCount(size, base)
  const found: (Entry | undefined)[] = new Array(count)
  return {
    before: () => void found.fill(undefined),
    run() {
      let index = 0
      structure.diff(base, (entry) => {
        found[index++] = entry
      })
    },
    prove() {
      const entries = found.flatMap((entry) => (entry === undefined ? [] : [entry]))
      const digest = digestOfAll(
        entries.flatMap(({ key, account }) => [
          key,
          new Uint8Array([Number(account.nonce & 255n)]),
        ]),
      )
      return { operations: found.length === count ? entries.length : found.length, digest }
    },
  }
}

/** The largest holds no difference, whose entries would fill the heap. */
const SIZES = [100_000, 1_000_000, 16_000_000]

const sizesOf = (...digests: readonly string[]): BenchSize[] =>
  digests.map((digest, index) => ({ size: SIZES[index]!, digest, isLarge: index > 0 }))

type Shape = Pick<
  BenchCase,
  'name' | 'about' | 'operation' | 'arms' | 'operationsOf' | 'prepare'
> & {
  readonly sizes: readonly BenchSize[]
  /** Result at 960 keys. */
  readonly smokeDigest: string
}

function layersCase({ smokeDigest, ...shape }: Shape): BenchCase {
  const smoke = { size: 960, digest: smokeDigest }
  return { group: 'layers', sizeUnit: 'entries', smoke, ...shape }
}

const ALL = ['layers', 'map', 'sorted', 'skip-tables', 'key-index'] as const
const WITH_VERSIONS = ['layers', 'key-index', 'skip-tables'] as const

export const CASES: readonly BenchCase[] = [
  layersCase({
    name: 'insert',
    about: '1,000 new accounts as one layer on top; taken away again untimed',
    operation: 'account',
    sizes: sizesOf('fc055b5ac9f3c988', 'a5660385a92c5fb4', '90e5d6ed763b4565'),
    smokeDigest: '50fbfbe5d703c970',
    arms: ALL,
    operationsOf: () => BATCH,
    prepare: insert,
  }),
  layersCase({
    name: 'get',
    about: '4,096 accounts read at the top, at random over all layers',
    operation: 'read',
    sizes: sizesOf('c54fae4fbeab1724', 'a0d9393c1f4a71aa', '0abc6a2f92d84815'),
    smokeDigest: '203c6b9363b45ec7',
    arms: ALL,
    operationsOf: () => READS,
    prepare: get,
  }),
  layersCase({
    name: 'get-missing',
    about: '4,096 accounts asked for that are not there',
    operation: 'read',
    sizes: sizesOf('0615732ffe8676e7', '0615732ffe8676e7', '0615732ffe8676e7'),
    smokeDigest: '0615732ffe8676e7',
    arms: ALL,
    operationsOf: () => READS,
    prepare: getMissing,
  }),
  layersCase({
    name: 'diff',
    about: 'what the newest third of the layers has written, in order',
    operation: 'account',
    sizes: sizesOf('f3ef3e0c45f9fe6f', 'c2d543e9a6bc4dea'),
    smokeDigest: '16dd15b5f9b6bd4b',
    arms: WITH_VERSIONS,
    operationsOf: (size) => changedCount(size, LAYER_COUNT - LAYERS_BACK),
    prepare: (size, arm) => diff(size, arm, LAYER_COUNT - LAYERS_BACK),
  }),
  layersCase({
    name: 'diff-all',
    about: 'all that is there, in order',
    operation: 'account',
    sizes: sizesOf('b3f371c29133c9a3', '35571103a2132c2a'),
    smokeDigest: 'b5b3387c9aba662e',
    arms: ALL,
    prepare: (size, arm) => diff(size, arm, 0),
  }),
]
