/** The shapes of go-ethereum's trie benchmarks, each step timed apart, and what else a trie is asked. */
import { NodeArena } from '../../../arena/index.ts'
import { toBareHex } from '../../../base/index.ts'
import { RlpReader } from '../../../codec/index.ts'
import type { BenchCase, BenchSize, PreparedBench } from '../../../measure/index.ts'
import { type NodeSet, Trie, verifyProof } from '../../../trie/index.ts'
import { digestOfAll } from '../digest.ts'
import { accountPairs, proveNodeSet, proveTrie, samplePairs } from './trieWork.ts'

/** Reads of a run, and proofs. */
const READS = 2000
const PROOFS = 200
/** Updates of a run, each of two accounts and with the root after it, as small blocks have. */
const UPDATES = 100

/** A trie of as many accounts, hashed before the clock starts; what is timed is its one commit. */
function commitAfterHash(count: number, wantsLeaves: boolean): PreparedBench {
  const pairs = accountPairs(count)
  // One for all runs, as an engine has one.
  const arena = new NodeArena()
  let trie = new Trie({ arena })
  let set: NodeSet | undefined
  const nonces = new Set<bigint>()
  return {
    before() {
      trie = new Trie({ arena })
      trie.update(pairs)
      trie.root()
      nonces.clear()
    },
    run() {
      set = trie.commit({ leaves: wantsLeaves })
      // The count makes the entries that a consumer reads.
      if (set.nodes.length === 0) throw new Error('nothing was committed')
      // As a consumer does that looks for storage roots.
      for (const { value } of set.leaves) nonces.add(readNonce(value))
    },
    prove() {
      const proof = proveNodeSet(set!, arena)
      // Nonces of 63 random bits differ.
      return wantsLeaves ? { ...proof, operations: nonces.size } : proof
    },
    after: () => trie.dispose(),
  }
}

function readNonce(account: Uint8Array): bigint {
  const reader = new RlpReader(account)
  reader.openList('account')
  return reader.readBigint(8, 'nonce')
}

/** Puts `count` accounts into a new trie. */
function put(count: number): PreparedBench {
  const pairs = accountPairs(count)
  const arena = new NodeArena()
  let trie = new Trie({ arena })
  return {
    before() {
      trie = new Trie({ arena })
    },
    run: () => trie.update(pairs),
    prove: () => proveTrie(trie, 0),
    after: () => trie.dispose(),
  }
}

/** All that a new trie takes: put, hashed, committed. */
function build(count: number): PreparedBench {
  const pairs = accountPairs(count)
  const arena = new NodeArena()
  let trie = new Trie({ arena })
  return {
    before() {
      trie = new Trie({ arena })
    },
    run() {
      trie.update(pairs)
      trie.root()
      if (trie.commit().nodes.length === 0) throw new Error('nothing was committed')
    },
    prove: () => proveTrie(trie, 0),
    after: () => trie.dispose(),
  }
}

/** The root of a trie whose newest `count` accounts were not hashed; as many or none lie below them. */
function hash(count: number, isOverOthers: boolean): PreparedBench {
  const pairs = accountPairs(isOverOthers ? 2 * count : count)
  const oldCount = pairs.length - count
  const arena = new NodeArena()
  let trie = new Trie({ arena })
  return {
    before() {
      trie = new Trie({ arena })
      if (oldCount > 0) trie.update(pairs.slice(0, oldCount))
      trie.root()
      trie.update(pairs.slice(oldCount))
    },
    run: () => void trie.root(),
    prove: () => proveTrie(trie, oldCount),
    after: () => trie.dispose(),
  }
}

/** Small changes of a committed trie: two accounts get the values of two others, and the root is asked. */
function updateTwo(count: number): PreparedBench {
  const pairs = accountPairs(count)
  const trie = committed(count)
  const some = samplePairs(pairs, 4 * UPDATES)
  const batches = Array.from({ length: UPDATES }, (_, index) =>
    [0, 1].map((place) => ({
      key: some[4 * index + place]!.key,
      value: some[4 * index + place + 2]!.value,
    })),
  )
  const roots: Uint8Array[] = new Array(UPDATES)
  return {
    before: () => void roots.fill(new Uint8Array(0)),
    run() {
      for (let index = 0; index < UPDATES; index++) {
        trie.update(batches[index]!)
        roots[index] = trie.root()
      }
    },
    prove: () => ({
      operations: new Set(roots.map(toBareHex)).size,
      digest: digestOfAll(roots),
    }),
    after: () => trie.rollback(),
    close: () => trie.dispose(),
  }
}

function committed(count: number): Trie {
  const trie = new Trie({ arena: new NodeArena() })
  trie.update(accountPairs(count))
  trie.commit()
  return trie
}

function get(count: number): PreparedBench {
  const trie = committed(count)
  const some = samplePairs(accountPairs(count), READS)
  const values: (Uint8Array | undefined)[] = new Array(READS)
  return {
    before: () => void values.fill(undefined),
    run() {
      for (let index = 0; index < READS; index++) values[index] = trie.get(some[index]!.key)
    },
    prove() {
      const found = values.flatMap((value) => value ?? [])
      return { operations: found.length, digest: digestOfAll(found) }
    },
    close: () => trie.dispose(),
  }
}

function prove(count: number): PreparedBench {
  const trie = committed(count)
  const root = trie.root()
  const some = samplePairs(accountPairs(count), PROOFS)
  const proofs: Uint8Array[][] = new Array(PROOFS)
  return {
    before: () => void proofs.fill([]),
    run() {
      for (let index = 0; index < PROOFS; index++) proofs[index] = trie.prove([some[index]!.key])
    },
    prove() {
      const valid = proofs.filter((proof, index) => {
        const answer = verifyProof({ root, key: some[index]!.key, proof })
        return answer.kind === 'present'
      })
      return { operations: valid.length, digest: digestOfAll(proofs.flat()) }
    },
    close: () => trie.dispose(),
  }
}

function verify(count: number): PreparedBench {
  const trie = committed(count)
  const root = trie.root()
  const some = samplePairs(accountPairs(count), PROOFS)
  const questions = some.map(({ key }) => ({ root, key, proof: trie.prove([key]) }))
  const values: (Uint8Array | undefined)[] = new Array(PROOFS)
  return {
    before: () => void values.fill(undefined),
    run() {
      for (let index = 0; index < PROOFS; index++) {
        const answer = verifyProof(questions[index]!)
        values[index] = answer.kind === 'present' ? answer.value : undefined
      }
    },
    prove() {
      const found = values.flatMap((value) => value ?? [])
      return { operations: found.length, digest: digestOfAll(found) }
    },
    close: () => trie.dispose(),
  }
}

/** Those of the benchmarks named FixedSize; there the 10 is a 20. */
const FIXED_SIZES = [10, 100, 1000, 10_000, 100_000]

const fixedSizes = (...digests: readonly string[]): BenchSize[] =>
  FIXED_SIZES.map((size, index) => ({ size, digest: digests[index]!, isLarge: size > 10_000 }))

type Shape = Pick<BenchCase, 'name' | 'about' | 'operation' | 'operationsOf' | 'prepare'> & {
  readonly sizes: readonly BenchSize[]
  readonly smoke?: BenchSize
}

const trieCase = (shape: Shape): BenchCase => ({
  group: 'trie',
  sizeUnit: 'accounts',
  arms: ['inline'],
  smoke: shape.sizes[0]!,
  ...shape,
})

/** Of the root of as many accounts. */
const ROOT_DIGESTS = [
  '453549ec269f7ebf',
  'aa593c84c23b14cc',
  '9901bd86a8c4c1ac',
  'c73a57ed6c2e57da',
  '84fa05d7355c0703',
]

export const CASES: readonly BenchCase[] = [
  trieCase({
    name: 'build',
    about: 'new accounts put into an empty trie, hashed and committed',
    operation: 'leaf',
    sizes: fixedSizes(...ROOT_DIGESTS),
    prepare: build,
  }),
  trieCase({
    name: 'put',
    about: 'new accounts put into an empty trie in one batch; not hashed',
    operation: 'leaf',
    sizes: fixedSizes(...ROOT_DIGESTS),
    prepare: put,
  }),
  trieCase({
    name: 'hash-fixed-size',
    about: 'the root of new accounts in a trie of their own, put before',
    operation: 'leaf',
    sizes: fixedSizes(...ROOT_DIGESTS),
    prepare: (count) => hash(count, false),
  }),
  trieCase({
    name: 'hash',
    about: 'the root of as many new accounts among as many that were hashed before',
    operation: 'leaf',
    sizes: fixedSizes(
      '93a092009ca20bd0',
      '4a943fdc5eb6e1bc',
      '9296c70c86162309',
      '7c57d774943667c8',
      'cf5509a99cc1cb33',
    ),
    prepare: (count) => hash(count, true),
  }),
  trieCase({
    name: 'commit-after-hash',
    about: 'the one commit of new accounts, put and hashed before; no leaf callback',
    operation: 'leaf',
    sizes: [
      { size: 10, digest: '22c3bbef81f1a733' },
      { size: 100, digest: '30077a176f260ff5' },
      { size: 1000, digest: '4b250dd7a8347c88' },
      { size: 10_000, digest: '02fa23d377c58297' },
      { size: 100_000, digest: '54c33b4580b201f8', isLarge: true },
    ],
    prepare: (count) => commitAfterHash(count, false),
  }),
  trieCase({
    name: 'commit-after-hash-leaves',
    about: 'the same, and each new leaf is handed over and its account decoded',
    operation: 'leaf',
    sizes: fixedSizes(
      'e67fcaa7e410c32c',
      'f6d8f1fa52c76459',
      '2559d8224d3b5423',
      'ba610fd9d383b57e',
      'ccf25a33459e5781',
    ),
    prepare: (count) => commitAfterHash(count, true),
  }),
  trieCase({
    name: 'update-two',
    about: 'two accounts of a committed trie change, and the root is asked; a hundred times',
    operation: 'update',
    sizes: [
      { size: 10_000, digest: '0c0c2be3ceb8e41e' },
      { size: 100_000, digest: 'e9ead7c2f844c9dc', isLarge: true },
    ],
    smoke: { size: 1000, digest: '9644bae60e48af48' },
    operationsOf: () => UPDATES,
    prepare: updateTwo,
  }),
  trieCase({
    name: 'get',
    about: '2,000 accounts read at random from a committed trie in memory',
    operation: 'read',
    sizes: [
      { size: 10_000, digest: 'e54c61001b5a407e' },
      { size: 100_000, digest: '84d8a7a1bd4a2fd3', isLarge: true },
    ],
    smoke: { size: 1000, digest: 'd4cf1c527e715e1f' },
    operationsOf: () => READS,
    prepare: get,
  }),
  trieCase({
    name: 'prove',
    about: 'proofs of 200 accounts, one by one',
    operation: 'proof',
    sizes: [
      { size: 10_000, digest: 'd7b06fe3c79df3f0' },
      { size: 100_000, digest: '77be727abf82dc5a', isLarge: true },
    ],
    smoke: { size: 1000, digest: 'b5ac0105e7bc9d5d' },
    operationsOf: () => PROOFS,
    prepare: prove,
  }),
  trieCase({
    name: 'verify-proof',
    about: 'proofs of 200 accounts verified, one by one',
    operation: 'proof',
    sizes: [
      { size: 10_000, digest: '0cdfe41a08f2f551' },
      { size: 100_000, digest: 'fcb37108d35d2f1a', isLarge: true },
    ],
    smoke: { size: 1000, digest: '0e8b36a963d189ed' },
    operationsOf: () => PROOFS,
    prepare: verify,
  }),
]
