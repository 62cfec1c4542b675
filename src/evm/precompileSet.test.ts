/**
 * Aim: a block's set decides which addresses are precompiles: what a call does and pays there, and what is warm.
 * Method: one machine from block to block, the first under the draft of EIP-2537, the next under the final rules.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork } from '../base/index.ts'
import { ruleParameters } from './forkTable.ts'
import { Machine, type MessageResult } from './machine.ts'
import type { PrecompileSet } from './precompiles/index.ts'
import { Status } from './status.ts'
import { addressOf, assemble, blockOf, SENDER, TARGET, World } from './testWorld.suite.ts'

const DRAFT = 'eip2537-april-2024'
const AMPLE_GAS = 1_000_000n

const machine = new Machine()

function begin(precompileSet: PrecompileSet | undefined, fork: Fork, code = 'STOP'): void {
  const world = new World()
  world.put(TARGET, { code: assemble(code) })
  machine.beginBlock(blockOf(fork, { precompileSet }), world)
  machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
}

function call(target: Uint8Array, input: Uint8Array): MessageResult {
  return machine.call({ caller: SENDER, target, input, value: 0n, gas: AMPLE_GAS })
}

test('the kernel learns the addresses of the set', () => {
  assert.equal(ruleParameters(Fork.Prague, DRAFT).PRECOMPILES, 0xffffe)
  assert.equal(ruleParameters(Fork.Prague).PRECOMPILES, 0x3fffe)
  assert.equal(ruleParameters(Fork.Cancun, DRAFT).PRECOMPILES, 0xffffe)
  assert.equal(ruleParameters(Fork.Shanghai, DRAFT).PRECOMPILES, 0x3fe)
})

test('an address means what the set of the block says', () => {
  // Two points at infinity: an addition of G1 under both; 0x12 maps a field element under the draft only.
  const prices: readonly (readonly [PrecompileSet | undefined, bigint, bigint])[] = [
    [DRAFT, 500n, 5500n],
    [undefined, 375n, 0n],
    ['final', 375n, 0n],
    [DRAFT, 500n, 5500n],
  ]
  for (const [set, addGas, mapGas] of prices) {
    begin(set, Fork.Prague)
    const sum = call(addressOf(0x0b), new Uint8Array(256))
    assert.equal(sum.status, Status.Success)
    assert.equal(AMPLE_GAS - sum.gasLeft, addGas)
    assert.equal(sum.output.length, 128)
    const point = call(addressOf(0x12), new Uint8Array(64))
    assert.equal(point.status, Status.Success)
    assert.equal(AMPLE_GAS - point.gasLeft, mapGas)
    assert.equal(point.output.length, mapGas === 0n ? 0 : 128)
  }
})

test('a refused input takes all gas, at the addresses that only the draft has too', () => {
  begin(DRAFT, Fork.Prague)
  const refused = call(addressOf(0x13), new Uint8Array(127))
  assert.equal(refused.status, Status.PrecompileFailed)
  assert.equal(refused.gasLeft, 0n)
})

test('warm from the start are the precompiles of the set (EIP-2929)', () => {
  const gasOfBalance = (set: PrecompileSet, fork: Fork): bigint => {
    begin(set, fork, '0x13 BALANCE STOP')
    return AMPLE_GAS - call(TARGET, new Uint8Array(0)).gasLeft - 3n
  }
  assert.equal(gasOfBalance(DRAFT, Fork.Prague), 100n)
  assert.equal(gasOfBalance('final', Fork.Prague), 2600n)
  assert.equal(gasOfBalance(DRAFT, Fork.Cancun), 100n)
  assert.equal(gasOfBalance('final', Fork.Cancun), 2600n)
})
