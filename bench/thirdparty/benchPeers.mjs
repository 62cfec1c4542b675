// Peers of `varve bench --vs peer:NAME`: by case, the same work on the same input, with a result that has the same hash.
// Each loads its library only when it runs, since the command reads this file for the names.
import { readFileSync } from 'node:fs'
import { keccakInputs, proveHashes } from '../../dist/cli/bench/cases/keccak.js'

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
}
