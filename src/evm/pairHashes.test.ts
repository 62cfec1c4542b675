import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bigintFromBytes, bigintToBytes, bytesConcat } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { Prng } from '../testing/index.ts'
import { Machine } from './machine.ts'
import { assemble, RETURN_TOP, runCode } from './testWorld.suite.ts'

/** Returns the hash of the first 64 bytes of the input, hashed at an odd offset. */
const HASH_PAIR = assemble(`64 0 3 CALLDATACOPY 64 3 KECCAK256 ${RETURN_TOP}`)

function hashOf(machine: Machine, pair: Uint8Array): bigint {
  return bigintFromBytes(runCode(HASH_PAIR, { machine, input: pair }).output)
}

test('hashes of 64 bytes: right when new, when seen before, and after others took their place', () => {
  const machine = new Machine()
  const random = new Prng(7)
  const pairs: Uint8Array[] = [new Uint8Array(64), new Uint8Array(64).fill(255)]
  // As mappings make them: few bits differ, at the ends of key and slot number. Far more than places.
  for (let index = 1; index < 1500; index++)
    pairs.push(bytesConcat(bigintToBytes(BigInt(index), 32), bigintToBytes(BigInt(index % 3), 32)))
  // Equal in one half, and in all but one bit.
  const half = random.bytes(32)
  for (let bit = 0; bit < 256; bit++) {
    pairs.push(bytesConcat(half, bigintToBytes(1n << BigInt(bit), 32)))
    pairs.push(bytesConcat(bigintToBytes(1n << BigInt(bit), 32), half))
  }
  for (let round = 0; round < 2; round++)
    for (const pair of pairs) {
      const expected = bigintFromBytes(keccak256(pair))
      assert.equal(hashOf(machine, pair), expected)
      assert.equal(hashOf(machine, pair), expected, 'a second time')
    }
})
