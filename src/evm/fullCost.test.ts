/**
 * Aim: a step that fails shows what it would have cost in full, as geth's tracers do, whatever the gas that is there.
 * Method: the cost of the last step of a run that succeeds is its price; each smaller gas must give that same price,
 * or the fixed part where that is already too much. What geth alone decides stands as numbers, with the reason.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork } from '../base/index.ts'
import type { StepEvent } from './hooks.ts'
import { Machine } from './machine.ts'
import { Status } from './status.ts'
import { assemble, runCode } from './testWorld.suite.ts'

/** The last step of `source` with `gas` for it, after what its operands cost. */
function lastStep(source: string, gas: bigint, fork: Fork): StepEvent {
  const steps: StepEvent[] = []
  const machine = new Machine()
  machine.trace({ onStep: (step) => steps.push(step) })
  const code = assemble(source)
  const run = (limit: bigint): StepEvent => {
    steps.length = 0
    runCode(code, { machine, fork, storage: new Map([[1n, 7n]]), gas: limit })
    // Past the code's end there may be the step of a STOP.
    return steps.findLast(({ pc }) => pc === code.length - 1)!
  }
  const plenty = 100_000_000n
  return run(plenty - run(plenty).gas + gas)
}

/** The last opcode of the code fails with `gas`: its cost. */
function costAt(source: string, gas: bigint, fork: Fork): bigint {
  const step = lastStep(source, gas, fork)
  assert.equal(step.gas, gas, source)
  assert.equal(step.error, Status.OutOfGas, `${source} with ${gas}`)
  return step.cost
}

/** Source, and the fixed part and the whole of what its last opcode costs. */
const CASES: readonly (readonly [source: string, fixed: bigint, full: bigint, fork?: Fork])[] = [
  ['1000 0 KECCAK256', 30n, 30n + 6n * 32n + 98n],
  ['1000 0 0 CALLDATACOPY', 3n, 3n + 3n * 32n + 98n],
  ['1000 0 0 CODECOPY', 3n, 3n + 3n * 32n + 98n],
  ['1000 0 0 0x77 EXTCODECOPY', 100n, 2600n + 3n * 32n + 98n],
  ['1000 0 0 0x77 EXTCODECOPY', 700n, 700n + 3n * 32n + 98n, Fork.Istanbul],
  ['32 0 32 MCOPY', 3n, 3n + 3n + 6n, Fork.Cancun],
  ['0x77 BALANCE', 100n, 2600n],
  ['0x77 EXTCODEHASH', 100n, 2600n],
  ['1000 MLOAD', 3n, 3n + 3n * 33n + 2n],
  ['0 31 MSTORE8', 3n, 3n + 3n],
  ['65536 2 EXP', 0n, 10n + 3n * 50n],
  ['1 SLOAD', 0n, 2100n],
  ['100 0 LOG0', 0n, 375n + 12n + 800n],
  ['9 8 100 0 LOG2', 0n, 3n * 375n + 12n + 800n],
  ['64 32 0 CREATE', 32_000n, 32_000n + 9n + 4n],
  ['7 64 32 0 CREATE2', 32_000n, 32_000n + 9n + 4n + 12n],
]

test('the whole price whatever part of it the gas covers, the fixed part where less than that is there', () => {
  for (const [source, fixed, full, fork = Fork.Cancun] of CASES)
    for (const gas of [0n, 1n, fixed - 1n, fixed, fixed + 1n, (fixed + full) / 2n, full - 1n]) {
      if (gas < 0n || gas >= full) continue
      const expected = gas < fixed ? fixed : full
      assert.equal(costAt(source, gas, fork), expected, `${source} with ${gas}`)
    }
})

test('SSTORE: nothing below the stipend (EIP-2200), else all of it', () => {
  assert.equal(costAt('9 1 SSTORE', 2300n, Fork.Prague), 0n)
  assert.equal(costAt('9 1 SSTORE', 2301n, Fork.Prague), 5000n)
  assert.equal(costAt('9 2 SSTORE', 2301n, Fork.Prague), 22_100n)
  assert.equal(costAt('9 2 SSTORE', 10n, Fork.Byzantium), 20_000n)
})

test('calls: memory, value and new account together with the gas asked for', () => {
  // 64 bytes of memory are 6 gas, the value 9000, a new account 25000; 500 gas are asked for.
  const call = '64 0 0 0 3 0x77 500 CALL'
  assert.equal(costAt(call, 99n, Fork.Prague), 100n)
  assert.equal(
    costAt(call, 2599n, Fork.Prague),
    100n,
    'geth stops where the cold access is too much',
  )
  assert.equal(costAt(call, 12_000n, Fork.Prague), 2600n + 6n + 9000n + 25_000n + 500n)
  assert.equal(costAt('64 0 0 0 0x77 0 STATICCALL', 2600n, Fork.Prague), 2606n)
  assert.equal(costAt('0 0 0 0 0 0x77 500 CALL', 100n, Fork.Frontier), 40n + 25_000n + 500n)
  // All gas asked for: the number of gas left has wrapped, and its 63 64ths are given.
  const rest = (1n << 64n) - 6n
  const all = `64 0 0 0 0x77 0x${'ff'.repeat(32)} STATICCALL`
  assert.equal(costAt(all, 2600n, Fork.Prague), BigInt.asUintN(64, 2606n + rest - rest / 64n))
})

test('SELFDESTRUCT: cold heir and new account', () => {
  assert.equal(costAt('0x77 SELFDESTRUCT', 4999n, Fork.Prague), 5000n)
  assert.equal(costAt('0x77 SELFDESTRUCT', 20_000n, Fork.Prague), 32_600n)
})

test('what memory can never reach costs the fixed part, by its own status', () => {
  for (const source of [
    '0x2000000000 MLOAD',
    `0x${'ff'.repeat(8)} MLOAD`,
    '1 0x2000000000 KECCAK256',
  ]) {
    const step = lastStep(source, 1000n, Fork.Prague)
    assert.equal(step.error, Status.GasOverflow, source)
    assert.equal(step.cost, source.endsWith('KECCAK256') ? 30n : 3n, source)
  }
  const step = lastStep('4294967296 MLOAD', 1000n, Fork.Prague)
  const words = (1n << 27n) + 1n
  assert.equal(step.error, Status.OutOfGas)
  assert.equal(step.cost, 3n + 3n * words + (words * words) / 512n)
})

test('other failures: the price without a stack, nothing for an unknown opcode', () => {
  assert.equal(lastStep('1 ADD', 1000n, Fork.Prague).cost, 3n)
  assert.equal(lastStep('LOG1', 1000n, Fork.Prague).cost, 0n)
  assert.equal(lastStep('1 5 RETURNDATACOPY', 1000n, Fork.Prague).cost, 3n)
})
