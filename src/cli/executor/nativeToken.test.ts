/**
 * Aim (row A24): the token written out is the token's code, to the last unit of gas. Method: thousands of random blocks
 * both ways; the shares of blocks that fail and that are left to the EVM show that all ways are gone.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareTokenBlock, type TokenFuzzCount } from './nativeToken.fuzz.ts'

test('A24: random blocks of plain and token transfers have the EVM’s outcome', () => {
  const counts: TokenFuzzCount = { blocks: 0, transfers: 0, left: 0, failed: 0 }
  for (let seed = 1; seed <= 3000; seed++) compareTokenBlock(seed, counts)
  const { blocks, transfers, left, failed } = counts
  assert.ok(transfers > 30_000, `${transfers} transfers`)
  // A block is left where a transfer of it fails, or has nearly no gas to spare.
  assert.ok(failed > 300, `${failed} blocks with a failure`)
  // A block is left where a transfer of it fails, or has nearly no gas to spare.
  assert.ok(left >= failed && left < failed + 30, `${left} left, ${failed} failed`)
  assert.ok(blocks - left > 1500, `${left} of ${blocks} left`)
})
