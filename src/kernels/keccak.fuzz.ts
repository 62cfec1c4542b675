/** Random inputs and batches through the kernel, its twin and an oracle; all must agree. Accepts no error. */
import assert from 'node:assert/strict'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { toBareHex } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { edgeLengths, MemoryBatch } from './keccak.suite.ts'
import { createKeccakHasher } from './keccak.ts'

export function fuzzKeccak(seed: number, stepCount: number): void {
  const random = new Prng(seed)
  const hashers = [
    createKeccakHasher({ implementation: 'kernel' }),
    createKeccakHasher({ implementation: 'reference' }),
  ]
  const batch = new MemoryBatch('kernel')
  const edges = edgeLengths.filter((length) => length < 1000)
  const draw = (): Uint8Array => {
    const length = random.oneIn(2) ? random.pick(edges) : random.below(random.pick([40, 140, 700]))
    return random.bytes(length)
  }
  for (let step = 0; step < stepCount; step++) {
    const where = `seed ${seed}, step ${step}`
    const input = draw()
    const expected = toBareHex(keccak_256(input))
    for (const hasher of hashers)
      assert.equal(
        toBareHex(hasher.keccak256(input)),
        expected,
        `${where}, ${hasher.implementation}, ${input.length} bytes`,
      )
    if (!random.oneIn(4)) continue
    const inputs = Array.from({ length: random.below(24) }, draw)
    try {
      batch.check(inputs)
    } catch (error) {
      throw new Error(`${where}: ${(error as Error).message}`)
    }
  }
}
