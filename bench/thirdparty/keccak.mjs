// keccak-256 here and elsewhere, in one run, the subjects taking turns: ns a hash, median of the rounds with min and max.
// Usage: node keccak.mjs [--json] [--rounds N]     after `npm run build` at the root and `npm ci` here.
//
// Every subject hashes the same inputs and has to give the same hashes. The peers take and give byte arrays; Varve is
// measured that way too, and as its trie uses it: inputs lying in the kernel's memory, one call a batch.
import { keccak_256 } from '@noble/hashes/sha3.js'
import { createKeccak } from 'hash-wasm'
import {
  createKeccakKernel,
  createKernelMemory,
  KECCAK_RECORD_BYTES,
  keccak256,
  keccak256Batch,
} from '../../dist/kernels/index.js'

const asJson = process.argv.includes('--json')
const roundsAt = process.argv.indexOf('--rounds')
const roundCount = roundsAt < 0 ? 31 : Number(process.argv[roundsAt + 1])
if (!Number.isInteger(roundCount) || roundCount < 1) throw new Error('--rounds takes a count')
const WARMUP_ROUNDS = 10
const INPUT_COUNT = 512
const RECORD_OFFSET = 2048
/** Goals of batches in memory, as ratios to the peer's time. */
const GOALS = { noble: 20, hashWasm: 3 }

const reusedHasher = await createKeccak(256)

function makeInputs(length) {
  let word = 0x9e3779b9 ^ length
  return Array.from({ length: INPUT_COUNT }, () => {
    const bytes = new Uint8Array(length)
    for (let index = 0; index < length; index++) {
      word = (Math.imul(word, 1664525) + 1013904223) >>> 0
      bytes[index] = word >>> 24
    }
    return bytes
  })
}

/** Name -> work that returns the hashes' source, read after the clock has stopped. */
function makeSubjects(inputs, length) {
  const memory = createKernelMemory(16, 16)
  const kernel = createKeccakKernel(memory, 0)
  const outputOffset = RECORD_OFFSET + INPUT_COUNT * KECCAK_RECORD_BYTES
  const inputOffset = outputOffset + INPUT_COUNT * 32
  const bytes = new Uint8Array(memory.buffer)
  const records = new Uint32Array(memory.buffer, RECORD_OFFSET, 3 * INPUT_COUNT)
  inputs.forEach((input, index) => {
    bytes.set(input, inputOffset + index * length)
    records.set([inputOffset + index * length, length, outputOffset + index * 32], 3 * index)
  })
  const memoryHashes = () =>
    inputs.map((_, index) => bytes.slice(outputOffset + index * 32, outputOffset + index * 32 + 32))
  const hashes = new Array(INPUT_COUNT)
  const each = (hash) => () => {
    for (let index = 0; index < INPUT_COUNT; index++) hashes[index] = hash(inputs[index])
    return () => hashes
  }
  return {
    varveMemoryBatch: () => {
      kernel.hashMany(RECORD_OFFSET, INPUT_COUNT)
      return memoryHashes
    },
    varveMemorySingle: () => {
      for (let index = 0; index < INPUT_COUNT; index++)
        kernel.hash(inputOffset + index * length, length, outputOffset + index * 32)
      return memoryHashes
    },
    varveBytesBatch: () => {
      const batch = keccak256Batch(inputs)
      return () => batch
    },
    varveBytesSingle: each(keccak256),
    hashWasm: each((input) => reusedHasher.init().update(input).digest('binary')),
    noble: each(keccak_256),
  }
}

function measure(length) {
  const inputs = makeInputs(length)
  const subjects = Object.entries(makeSubjects(inputs, length))
  const samples = new Map(subjects.map(([name]) => [name, []]))
  let expected
  for (let round = 0; round < WARMUP_ROUNDS + roundCount; round++) {
    // The order turns from round to round, so that nobody always runs after the same neighbour.
    for (let turn = 0; turn < subjects.length; turn++) {
      const [name, work] = subjects[(turn + round) % subjects.length]
      const start = process.hrtime.bigint()
      const result = work()
      const ns = Number(process.hrtime.bigint() - start) / INPUT_COUNT
      if (round >= WARMUP_ROUNDS) samples.get(name).push(ns)
      const digest = result()
        .map((hash) => Buffer.from(hash).toString('hex'))
        .join('')
      expected ??= digest
      if (digest !== expected) throw new Error(`${name} disagrees at ${length} bytes`)
    }
  }
  return Object.fromEntries([...samples].map(([name, figures]) => [name, summarise(figures)]))
}

function summarise(figures) {
  const sorted = [...figures].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const median =
    sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  return { median, min: sorted[0], max: sorted.at(-1), samples: figures }
}

const sizes = [32, 136, 532].map((length) => {
  const subjects = measure(length)
  const ratio = (peer, own) => subjects[peer].median / subjects[own].median
  const ratios = Object.fromEntries(
    ['noble', 'hashWasm'].map((peer) => [
      peer,
      {
        memoryBatch: ratio(peer, 'varveMemoryBatch'),
        memorySingle: ratio(peer, 'varveMemorySingle'),
        bytesBatch: ratio(peer, 'varveBytesBatch'),
        bytesSingle: ratio(peer, 'varveBytesSingle'),
        goal: GOALS[peer],
        goalMet: ratio(peer, 'varveMemoryBatch') >= GOALS[peer],
      },
    ]),
  )
  return { length, subjects, ratios }
})

if (asJson) {
  console.log(
    JSON.stringify({ bench: 'keccak', unit: 'ns/hash', node: process.version, roundCount, sizes }),
  )
} else {
  for (const { length, subjects, ratios } of sizes) {
    console.log(`${length} bytes, ns a hash over ${roundCount} rounds   median     min     max`)
    for (const [name, { median, min, max }] of Object.entries(subjects))
      console.log(
        `  ${name.padEnd(38)}${[median, min, max].map((ns) => ns.toFixed(0).padStart(8)).join('')}`,
      )
    for (const [peer, { memoryBatch, bytesSingle, goal, goalMet }] of Object.entries(ratios))
      console.log(
        `  against ${peer.padEnd(9)} memory batch ${memoryBatch.toFixed(1)}x (goal ${goal}x: ${goalMet ? 'met' : 'missed'}), single on bytes ${bytesSingle.toFixed(1)}x`,
      )
  }
}
