/**
 * Aim: the bytes of EIP-8025's fixtures are read, and the requests hash to what they say.
 * Method: every block of the published suite; the block rebuilt has the fixture's hash.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromHex, toHex } from '../../base/index.ts'
import { fixtureRecords, fixturesMissing } from '../../testing/index.ts'
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
