// The trie here and in @ethereumjs/mpt, in one run, the subjects taking turns on equal data; roots must be equal.
// Usage: node trie.mjs [--sizes 10,100,1000,10000,100000] [--random 100000|0] [--rounds 3] [--json]
//
// 1. The shape of geth's AfterHash benchmark, with true counts: a new trie in memory, N accounts (hashed addresses,
//    account RLP of 70 to 110 bytes), and three times taken apart:
//      put     all accounts into the trie; keys are hashed before the clock starts
//      hash    the root; @ethereumjs/mpt hashes while it puts, so there it is near zero
//      commit  the node set of the change; @ethereumjs/mpt writes its nodes into its map here
//    `total` is their sum. Varve's node set is not kept anywhere in it, as in geth's figure, so `totalKept` adds `keep`:
//    every node copied into a Map by its path. `totalCpu` is `total` in CPU time of all threads, the figure to trust on a
//    machine that others use: a time slice lost weighs more in a short run than in a long one.
// 2. N random keys of 32 bytes with values of 32 bytes, and the root.
import { MerklePatriciaTrie } from '@ethereumjs/mpt'
import { NodeArena } from '../../dist/arena/index.js'
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from '../../dist/base/index.js'
import { keccak256Batch } from '../../dist/kernels/index.js'
import { Trie } from '../../dist/trie/index.js'
import { trieOptions } from './ethereumjs.mjs'
import {
  circumstances,
  count,
  counts,
  cpuMs,
  hex,
  nowMs,
  randomBytes,
  readOptions,
  runAsSubject,
  shown,
  takeTurns,
  versionOf,
} from './harness.mjs'

const options = readOptions({
  sizes: '10,100,1000,10000,100000',
  random: '100000',
  rounds: '3',
  subject: undefined,
  kind: undefined,
  'warm-up': '0',
  runs: '1',
})
/** Goals at 10,000 accounts: build, hash and commit, as ratios to the peer's time. */
const GOALS = { 'mpt as it comes': 60, 'mpt best': 25 }
const GOAL_SIZE = 10_000

function rlpText(bytes) {
  let start = 0
  while (start < bytes.length && bytes[start] === 0) start++
  const trimmed = bytes.subarray(start)
  if (trimmed.length === 1 && trimmed[0] < 0x80) return [trimmed[0]]
  return [0x80 + trimmed.length, ...trimmed]
}

function accountRlp(random) {
  const nonce = random(8)
  nonce[0] &= 0x7f
  const payload = [
    ...rlpText(nonce),
    ...rlpText(random(random(1)[0] % 33)),
    0xa0,
    ...EMPTY_TRIE_ROOT,
    0xa0,
    ...EMPTY_CODE_HASH,
  ]
  const head = payload.length < 56 ? [0xc0 + payload.length] : [0xf8, payload.length]
  return Uint8Array.from([...head, ...payload])
}

function accounts(accountCount) {
  const random = randomBytes(1)
  const keys = keccak256Batch(Array.from({ length: accountCount }, () => random(20)))
  return { keys, values: Array.from(keys, () => accountRlp(random)) }
}

function randomEntries(entryCount) {
  const random = randomBytes(7)
  const keys = Array.from({ length: entryCount }, () => random(32))
  return { keys, values: Array.from(keys, () => random(32)) }
}

/** One arena for all runs, as an engine has one; each run starts with an empty trie. */
const arena = new NodeArena()

function runVarve({ keys, values }, fill) {
  const trie = new Trie({ arena })
  const cpuStart = cpuMs()
  const start = nowMs()
  fill(trie, keys, values)
  const filled = nowMs()
  const root = trie.root()
  const hashed = nowMs()
  const set = trie.commit()
  const committed = nowMs()
  const cpu = cpuMs() - cpuStart
  const kept = new Map()
  for (const { path, bytes } of set.nodes)
    kept.set(String.fromCharCode.apply(null, path), bytes.slice())
  const end = nowMs()
  trie.dispose()
  const us = (ms) => (ms * 1000) / keys.length
  return {
    figures: {
      put: us(filled - start),
      hash: us(hashed - filled),
      commit: us(committed - hashed),
      total: us(committed - start),
      totalCpu: us(cpu),
      keep: us(end - committed),
      totalKept: us(end - start),
    },
    result: hex(root),
  }
}

const fillAtOnce = (trie, keys, values) => {
  const changes = new Array(keys.length)
  for (let index = 0; index < keys.length; index++)
    changes[index] = { key: keys[index], value: values[index] }
  trie.update(changes)
}

const fillOneByOne = (trie, keys, values) => {
  for (let index = 0; index < keys.length; index++) trie.put(keys[index], values[index])
}

async function runPeer({ keys, values }, configuration) {
  const trie = new MerklePatriciaTrie(trieOptions(configuration))
  const cpuStart = cpuMs()
  const start = nowMs()
  trie.checkpoint()
  for (let index = 0; index < keys.length; index++) await trie.put(keys[index], values[index])
  const filled = nowMs()
  const root = trie.root()
  const hashed = nowMs()
  await trie.commit()
  const committed = nowMs()
  const cpu = cpuMs() - cpuStart
  const us = (ms) => (ms * 1000) / keys.length
  const total = us(committed - start)
  return {
    figures: {
      put: us(filled - start),
      hash: us(hashed - filled),
      commit: us(committed - hashed),
      total,
      totalCpu: us(cpu),
      totalKept: total,
    },
    result: hex(root),
  }
}

const subjects = {
  varve: async (data) => runVarve(data, fillAtOnce),
  'varve, a call a key': async (data) => runVarve(data, fillOneByOne),
  'mpt as it comes': (data) => runPeer(data, 'asItComes'),
  'mpt best': (data) => runPeer(data, 'best'),
}
const entriesOf = { accounts, 'random keys': randomEntries }

/**
 * Everybody is compiled when the clock counts. A peer's second holds a hundred times more calls than our hundredth of
 * one, so it needs fewer runs for that; and fewer runs of 30 seconds are asked of it.
 */
function runCounts(name, size) {
  const isOwn = name.startsWith('varve')
  const warmUpLeaves = isOwn ? 400_000 : 20_000
  const countedLeaves = isOwn ? 200_000 : 20_000
  const within = (value, low, high) => Math.min(high, Math.max(low, Math.round(value)))
  return {
    warmUpCount: within(warmUpLeaves / size, isOwn ? 4 : 0, 2000),
    runCount: within(countedLeaves / size, 1, 50),
    roundCount: count(options.rounds, 'rounds'),
  }
}

function compare(kind, size) {
  const comparison = takeTurns({
    script: import.meta.filename,
    subjects: Object.keys(subjects).map((name) => ({ name, ...runCounts(name, size) })),
    childOptions: { kind, sizes: size },
  })
  const figuresOf = (name) => comparison.subjects.find((subject) => subject.name === name).figures
  const ratios = {}
  for (const peer of ['mpt as it comes', 'mpt best']) {
    const ratio = (own, figure) => figuresOf(peer)[figure].median / figuresOf(own)[figure].median
    ratios[peer] = {
      total: ratio('varve', 'total'),
      totalCpu: ratio('varve', 'totalCpu'),
      totalKept: ratio('varve', 'totalKept'),
      oneByOne: ratio('varve, a call a key', 'total'),
    }
    if (kind === 'accounts' && size === GOAL_SIZE) {
      ratios[peer].goal = GOALS[peer]
      ratios[peer].goalMet = ratios[peer].total >= GOALS[peer]
    }
  }
  return { kind, size, root: comparison.result, subjects: comparison.subjects, ratios }
}

const cases = []
const print = (comparison) => {
  if (options.json) return
  const { kind, size, root, subjects, ratios } = comparison
  console.log(
    `${size} ${kind}, us a leaf, root ${root.slice(0, 12)}…      median       min       max`,
  )
  for (const { name, figures } of subjects)
    for (const [figure, summary] of Object.entries(figures))
      console.log(`  ${name.padEnd(22)}${figure.padEnd(12)}${shown(summary, 3)}`)
  for (const [peer, { total, totalCpu, totalKept, oneByOne, goal, goalMet }] of Object.entries(
    ratios,
  )) {
    const verdict = goal === undefined ? '' : ` (goal ${goal}x: ${goalMet ? 'met' : 'missed'})`
    console.log(
      `  against ${peer.padEnd(16)} ${total.toFixed(1)}x${verdict}, CPU time ${totalCpu.toFixed(1)}x, nodes kept ${totalKept.toFixed(1)}x, a call a key ${oneByOne.toFixed(1)}x`,
    )
  }
}

function compareAll() {
  for (const size of counts(options.sizes, 'sizes')) {
    cases.push(compare('accounts', size))
    print(cases.at(-1))
  }
  if (options.random !== '0') {
    cases.push(compare('random keys', count(options.random, 'random')))
    print(cases.at(-1))
  }
  const peer = `@ethereumjs/mpt ${versionOf('@ethereumjs/mpt')}`
  if (options.json)
    console.log(JSON.stringify({ bench: 'trie', unit: 'us/leaf', peer, ...circumstances(), cases }))
  else console.log({ peer, ...circumstances() })
}

if (options.subject === undefined) compareAll()
else {
  const data = entriesOf[options.kind](count(options.sizes, 'sizes'))
  await runAsSubject({
    run: () => subjects[options.subject](data),
    warmUpCount: Number(options['warm-up']),
    runCount: count(options.runs, 'runs'),
  })
}
