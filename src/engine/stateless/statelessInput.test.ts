/**
 * Aim: the bytes of EIP-8025's fixtures are read, and the requests hash to what they say.
 * Method: every block of the published suite; the block rebuilt has the fixture's hash.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromHex, isVarveError, toHex } from '../../base/index.ts'
import { fixtureRecords, fixturesMissing, Prng } from '../../testing/index.ts'
import {
  blockOfStatelessInput,
  decodeStatelessInput,
  encodeStatelessOutput,
  requestRootOf,
} from './statelessInput.ts'

type Fixture = {
  readonly tests: Record<
    string,
    {
      readonly blocks: readonly {
        readonly rlp: string
        readonly blockHeader: { readonly hash: string }
        readonly executionWitness: Record<'state' | 'codes' | 'headers', readonly string[]>
        readonly statelessInputBytes: string
        readonly statelessOutputBytes: string
      }[]
    }
  >
}

test('inputs of EIP-8025 fixtures decode; roots and block hashes are theirs', {
  skip: fixturesMissing('stateless inputs', 'ethereum/execution-specs zkevm releases'),
}, async () => {
  let count = 0
  for await (const { tests } of fixtureRecords<Fixture>('eest-zkevm-witness'))
    for (const { blocks } of Object.values(tests))
      for (const block of blocks) {
        const input = decodeStatelessInput(fromHex(block.statelessInputBytes))
        assert.equal(toHex(blockOfStatelessInput(input).header.hash), block.blockHeader.hash)
        const { state, codes, headers } = input.witness
        assert.deepEqual(
          { state: state.map(toHex), codes: codes.map(toHex), headers: headers.map(toHex) },
          block.executionWitness,
        )
        const expected = fromHex(block.statelessOutputBytes)
        const output = encodeStatelessOutput({
          requestRoot: requestRootOf(input),
          isValid: expected[32] === 1,
          chainId: input.chainId,
        })
        assert.deepEqual(output, expected)
        count++
      }
  assert.ok(count >= 100)
})

test('damaged inputs are refused by code, or make another block: nothing else comes of them', {
  skip: fixturesMissing('stateless inputs', 'ethereum/execution-specs zkevm releases'),
}, async () => {
  const { statelessInputBytes } = await firstBlock()
  const bytes = fromHex(statelessInputBytes)
  const prng = new Prng(3)
  const outcomes = new Set<string>()
  for (let round = 0; round < 400; round++) {
    const damaged = bytes.slice(0, round % 10 === 0 ? prng.below(bytes.length) : undefined)
    // Offsets lie at the front of each list; a random place is mostly in a node.
    const at = round % 2 === 0 ? prng.below(damaged.length) : prng.below(64)
    if (at < damaged.length) damaged[at]! ^= 1 << prng.below(8)
    try {
      blockOfStatelessInput(decodeStatelessInput(damaged))
      outcomes.add('decoded')
    } catch (error) {
      assert.ok(isVarveError(error) && /^(SSZ|PAYLOAD)_/.test(error.code), String(error))
      outcomes.add(error.code)
    }
  }
  for (const outcome of ['decoded', 'SSZ_INVALID', 'PAYLOAD_HASH_MISMATCH'])
    assert.ok(outcomes.has(outcome), outcome)
})

async function firstBlock(): Promise<{ readonly statelessInputBytes: string }> {
  for await (const { tests } of fixtureRecords<Fixture>('eest-zkevm-witness'))
    for (const { blocks } of Object.values(tests)) return blocks[0]!
  throw new Error('the suite is empty')
}
