/** Rewards by hand-computed tables of the EIPs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AssertionFault, Fork } from '../base/index.ts'
import { blockReward, blockRewards } from './rewards.ts'

const ETHER = 10n ** 18n
const miner = new Uint8Array(20).fill(1)
const uncleMiner = new Uint8Array(20).fill(2)

test('block reward by fork', () => {
  const table: readonly (readonly [Fork, bigint])[] = [
    [Fork.Frontier, 5n],
    [Fork.SpuriousDragon, 5n],
    [Fork.Byzantium, 3n],
    [Fork.Constantinople, 2n],
    [Fork.GrayGlacier, 2n],
    [Fork.Paris, 0n],
    [Fork.Osaka, 0n],
  ]
  for (const [fork, ether] of table) assert.equal(blockReward(fork), ether * ETHER)
})

test('an uncle is paid by its depth, and its nephew 1/32 more', () => {
  for (let depth = 1; depth <= 6; depth++) {
    const rewards = blockRewards(Fork.Frontier, { number: 100, coinbase: miner }, [
      { number: 100 - depth, coinbase: uncleMiner },
    ])
    assert.deepEqual(rewards, [
      { address: miner, amount: 5n * ETHER + (5n * ETHER) / 32n },
      { address: uncleMiner, amount: (5n * ETHER * BigInt(8 - depth)) / 8n },
    ])
  }
})

test('two uncles, one of the same miner', () => {
  const rewards = blockRewards(Fork.Constantinople, { number: 9, coinbase: miner }, [
    { number: 8, coinbase: miner },
    { number: 7, coinbase: uncleMiner },
  ])
  assert.deepEqual(
    rewards.map(({ amount }) => amount),
    [2_125_000_000_000_000_000n, 1_750_000_000_000_000_000n, 1_500_000_000_000_000_000n],
  )
  assert.equal(rewards[1]?.address, miner)
})

test('none after the merge', () => {
  assert.deepEqual(blockRewards(Fork.Paris, { number: 9, coinbase: miner }, []), [])
})

test('an unchecked uncle is a bug', () => {
  for (const number of [100, 93])
    assert.throws(
      () =>
        blockRewards(Fork.Frontier, { number: 100, coinbase: miner }, [
          { number, coinbase: uncleMiner },
        ]),
      AssertionFault,
    )
})
