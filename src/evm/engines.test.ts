/**
 * Aim: the engines agree where they hand over to each other: gas that ends anywhere in a block, code that runs often
 * or jumps often, one code under several forks. Method: the same runs on machines of each engine, all gas limits.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork } from '../base/index.ts'
import { EvmEngine } from '../kernels/index.ts'
import './startUp.bench.ts'
import { Machine } from './machine.ts'
import { addressOf, assemble, type RunOptions, runCode, World } from './testWorld.suite.ts'

const plain = new Machine({ engine: EvmEngine.Plain })
const others = [
  new Machine({ engine: EvmEngine.Fast }),
  new Machine({ engine: EvmEngine.FastAlways }),
  // The baseline arm of storage belongs here too: it has to give the same results.
  new Machine({ storage: 'trimmed' }),
]

function same(code: Uint8Array, options: RunOptions, where: string): void {
  const outcome = (machine: Machine): unknown => {
    const { status, gasLeft, output } = runCode(code, { ...options, machine })
    return {
      status,
      gasLeft,
      output,
      refund: machine.refund,
      logs: machine.logs(),
      writes: machine.writeSet(),
    }
  }
  const expected = outcome(plain)
  for (const machine of others) assert.deepEqual(outcome(machine), expected, where)
}

/** One of everything whose price depends on operands, with ops before and behind it in its block. */
const PRICED = `
  1 0 MSTORE 2 64 MSTORE 7 96 MSTORE8 0 MLOAD POP 128 MLOAD POP 3 5 EXP POP 64 0 KECCAK256 POP
  32 0 0 CALLDATACOPY 32 0 32 CODECOPY ADDRESS BALANCE POP 16 0 0 ADDRESS EXTCODECOPY
  ADDRESS EXTCODEHASH POP 5 SLOAD POP 9 5 SSTORE 0 5 SSTORE GAS 6 SSTORE 32 0 64 MCOPY
  1 2 32 0 LOG2 0 0 0 0 0 0xee 10000 CALL POP RETURNDATASIZE POP GAS PC ADD 0 MSTORE 32 0 RETURN`

test('N14: out of gas at every point of a block ends alike, in every engine and both arms of storage', () => {
  const code = assemble(PRICED)
  const { gasUsed, status } = runCode(code, { machine: plain })
  assert.equal(status, 0)
  const step = 37n
  for (let gas = 0n; gas <= gasUsed + 2n * step; gas += step) same(code, { gas }, `gas ${gas}`)
  for (let gas = gasUsed - 60n; gas <= gasUsed + 1n; gas++) same(code, { gas }, `gas ${gas}`)
  for (let gas = 0n; gas < 150n; gas++) same(code, { gas }, `gas ${gas}`)
})

test('the same code under each fork, one after the other and back', () => {
  const code = assemble(
    '5 SLOAD 1 ADD 5 SSTORE ADDRESS BALANCE POP 3 300 EXP POP 0 0 0 0 0 0xee GAS CALL 0 MSTORE 32 0 LOG0',
  )
  const forks = Object.values(Fork)
  for (const fork of [...forks, ...forks.toReversed()])
    for (const gas of [20_000n, 100_000n]) same(code, { fork, gas }, `fork ${fork}`)
})

test('stack faults inside a block end alike', () => {
  for (const source of ['1 2 ADD ADD 5 6', '1 POP POP 1', 'DUP1', 'SWAP1 POP', '1 SWAP1 POP'])
    same(assemble(source), {}, source)
  const nearlyFull = [...new Array(1022).fill('CALLER'), '1 2 ADD 3 4 5'].join(' ')
  same(assemble(nearlyFull), {}, 'overflow in the middle of a block')
})

test('jumps: static, computed, to bad places, and hot loops', () => {
  same(assemble('@end JUMP :end STOP'), {}, 'static')
  same(assemble('@end 0 ADD JUMP 0xfe :end 7 0 MSTORE 32 0 RETURN'), {}, 'computed')
  same(assemble('1 3 JUMPI STOP'), {}, 'bad static, taken')
  same(assemble('0 3 JUMPI STOP'), {}, 'bad static, not taken')
  same(assemble('3 JUMP'), {}, 'bad static')
  same(Uint8Array.from([0x5b, 0x60, 0x00, 0x56]), { gas: 5000n }, 'endless from offset 0')
  const loop = assemble('0 :loop 1 ADD DUP1 0 MSTORE DUP1 5000 GT @loop JUMPI 32 0 RETURN')
  same(loop, {}, 'a loop that turns hot')
  for (let gas = 20_000n; gas < 20_100n; gas++) same(loop, { gas }, `hot, gas ${gas}`)
})

test('code that turns hot while it calls itself, and while it creates', () => {
  const recursive = assemble(`
    1 SLOAD DUP1 12 GT @go JUMPI STOP :go 1 ADD 1 SSTORE
    0 0 0 0 0 ADDRESS GAS CALL POP 0 0 0 0 0 ADDRESS GAS CALL POP 0 :loop 1 ADD DUP1 600 GT @loop JUMPI`)
  same(recursive, { gas: 3_000_000n }, 'recursion')
  const world = new World()
  world.put(addressOf(0xee), { code: assemble('CALLER 0 MSTORE 32 0 REVERT') })
  same(
    assemble(
      `0 :loop 1 ADD 0 0 0 0 0 0xee GAS CALL POP DUP1 500 GT @loop JUMPI ${'32 0 0 RETURNDATACOPY 32 0 RETURN'}`,
    ),
    { world },
    'a hot loop of calls',
  )
})
