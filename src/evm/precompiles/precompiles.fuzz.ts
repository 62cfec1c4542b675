/** Random and half-right bytes through every precompile of every fork: no throw, exact gas, input untouched. */
import assert from 'node:assert/strict'
import { bytesEqual, Fork, fromBareHex, toBareHex } from '../../base/index.ts'
import { Prng } from '../../testing/index.ts'
import type { Precompile } from './precompile.ts'
import { precompileAddresses, precompileAt } from './registry.ts'

/** Far more than the fuzzed inputs cost, small enough that none of them runs for long. */
const GAS_LIMIT = 300_000n

/** Lengths around those that the precompiles ask for. */
const LENGTHS = [0, 1, 31, 32, 64, 95, 96, 127, 128, 160, 192, 213, 256, 288, 384, 512, 576, 768]

/** Words that are special to one curve or another: orders, moduli, generators' coordinates. */
const WORDS = [
  '30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47',
  '30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001',
  'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141',
  '73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001',
  '0000000000000000000000000000000017f1d3a73197d7942695638c4fa9ac0f',
  'c3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb',
  '0000000000000000000000000000000008b3f481e3aaa0f1a09e30ed741d8ae4',
  'fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1',
].map((text) => fromBareHex(text))

export function fuzzPrecompiles(seed: number, stepCount: number): void {
  const random = new Prng(seed)
  const forks = Object.values(Fork)
  for (let step = 0; step < stepCount; step++) {
    const fork = random.pick(forks)
    const address = random.pick(precompileAddresses(fork))
    const input = draw(random)
    const where = `seed ${seed}, step ${step}, fork ${fork}, address ${address}: ${toBareHex(input)}`
    checkOne(precompileAt(address, fork)!, input, where)
  }
}

function checkOne(precompile: Precompile, input: Uint8Array, where: string): void {
  const before = new Uint8Array(input)
  const gas = precompile.gas(input)
  const result = precompile.run(input, GAS_LIMIT)
  assert.ok(bytesEqual(input, before), `${where}: the input was changed`)
  assert.equal(result.kind === 'outOfGas', gas > GAS_LIMIT, where)
  if (result.kind === 'failure') assert.notEqual(result.reason, 'precompile fault', where)
  if (result.kind !== 'success') return
  assert.equal(result.gasUsed, gas, where)
  assert.ok(result.output.length <= 1 << 20, where)
  if (gas > 0n) assert.equal(precompile.run(input, gas - 1n).kind, 'outOfGas', where)
}

/** Bytes of a likely length, made of zeros, small numbers, special words and noise. */
function draw(random: Prng): Uint8Array {
  const length = random.oneIn(3) ? random.below(800) : random.pick(LENGTHS)
  const input = new Uint8Array(length)
  for (let at = 0; at + 32 <= length; at += 32)
    switch (random.below(5)) {
      case 0:
        input.set(random.bytes(32), at)
        break
      case 1:
        input.set(random.pick(WORDS), at)
        break
      case 2:
        input[at + 31] = random.below(random.pick([4, 40, 256]))
        break
      default:
    }
  if (length > 0 && random.oneIn(4)) input[random.below(length)] = random.below(256)
  // Rounds of blake2f: keep the first word's head small half of the time.
  if (random.oneIn(2)) input.fill(0, 0, 3)
  return input
}
