// Peers of `varve bench --vs peer:NAME`: by case, the same work on the same input, with a result that has the same hash.
// Each loads its library only when it runs, since the command reads this file for the names.
import { readFileSync } from 'node:fs'
import { evmProgram, proveCall } from '../../dist/cli/bench/cases/evm.js'
import { keccakInputs, proveHashes } from '../../dist/cli/bench/cases/keccak.js'
import { accountPairs } from '../../dist/cli/bench/cases/trieWork.js'
import { digestOfAll } from '../../dist/cli/bench/digest.js'

function labelOf(name) {
  const url = new URL(`node_modules/${name}/package.json`, import.meta.url)
  return `${name} ${JSON.parse(readFileSync(url, 'utf8')).version}`
}

/** One hash a call over the inputs of a size. */
const hashing = (makeHash) => async (length) => {
  const hash = await makeHash()
  const inputs = keccakInputs(length)
  const hashes = new Array(inputs.length).fill(new Uint8Array(32))
  return {
    run() {
      for (let index = 0; index < inputs.length; index++) hashes[index] = hash(inputs[index])
    },
    prove: () => proveHashes(hashes),
  }
}

/** Accounts into a trie of @ethereumjs/mpt, up to its commit. */
const building = (configuration) => async (count) => {
  const { MerklePatriciaTrie } = await import('@ethereumjs/mpt')
  const { trieOptions } = await import('./ethereumjs.mjs')
  const pairs = accountPairs(count)
  let trie
  return {
    before() {
      trie = new MerklePatriciaTrie(trieOptions(configuration))
    },
    async run() {
      trie.checkpoint()
      for (const { key, value } of pairs) await trie.put(key, value)
      trie.root()
      await trie.commit()
    },
    async prove() {
      let operations = 0
      await trie.walkAllValueNodes(async () => {
        operations++
      })
      return { operations, digest: digestOfAll([trie.root()]) }
    },
  }
}

const TARGET = `0x${'cc'.repeat(20)}`
const CALLEE = `0x${'ee'.padStart(40, '0')}`

/** A program in @ethereumjs/evm; what it changed is forgotten after each run. */
const calling = (name) => async (rounds) => {
  const { ENGINES } = await import('./evmEngines.mjs')
  const engine = await ENGINES.ethereumjs.createExact()
  await engine.install(TARGET, evmProgram(name, rounds), [])
  await engine.install(CALLEE, Uint8Array.of(0), [])
  const input = new Uint8Array(0)
  let result
  return {
    async run() {
      result = await engine.isolate(() => engine.call(TARGET, input))
    },
    prove: () => proveCall(0, result.gasUsed, Buffer.from(result.output.slice(2), 'hex')),
  }
}

const EVM_PROGRAMS = [
  'small-arithmetic',
  'wide-arithmetic',
  'keccak',
  'memory',
  'warm-storage',
  'cold-storage',
  'transient-storage',
  'calls',
]

export const PEERS = {
  noble: {
    label: labelOf('@noble/hashes'),
    cases: {
      'keccak/hash': hashing(async () => (await import('@noble/hashes/sha3.js')).keccak_256),
    },
  },
  'hash-wasm': {
    label: labelOf('hash-wasm'),
    cases: {
      'keccak/hash': hashing(async () => {
        const hasher = await (await import('hash-wasm')).createKeccak(256)
        return (input) => hasher.init().update(input).digest('binary')
      }),
    },
  },
  mpt: {
    label: labelOf('@ethereumjs/mpt'),
    cases: { 'trie/build': building('asItComes') },
  },
  'mpt-best': {
    label: `${labelOf('@ethereumjs/mpt')}, its best`,
    cases: { 'trie/build': building('best') },
  },
  ethereumjs: {
    label: labelOf('@ethereumjs/evm'),
    cases: Object.fromEntries(EVM_PROGRAMS.map((name) => [`evm/${name}`, calling(name)])),
  },
}
