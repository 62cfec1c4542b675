/**
 * Aim: transient storage lives for one transaction, belongs to the account that runs, and is restored where a frame
 * fails (N7, EIP-1153). Method: a model of a stack of maps under random nested frames; then the EIP's rules one by one.
 * The published tests are run elsewhere.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bigintFromBytes, bigintToBytes, Fork } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { Machine } from './machine.ts'
import { Status } from './status.ts'
import {
  addressOf,
  assemble,
  blockOf,
  RETURN_TOP,
  runCode,
  SENDER,
  TARGET,
  World,
} from './testWorld.suite.ts'

const TRANSACTION = { origin: SENDER, gasPrice: 1n }
const OTHER = addressOf(0xdddd)
/** Stores the second word at the first, or returns what is there if there is no second word. */
const CELL = assemble(
  `32 CALLDATASIZE GT @store JUMPI 0 CALLDATALOAD TLOAD ${RETURN_TOP} :store 32 CALLDATALOAD 0 CALLDATALOAD TSTORE STOP`,
)

function word(value: bigint | number): Uint8Array {
  return bigintToBytes(BigInt(value), 32)
}

function started(): Machine {
  const world = new World()
  world.put(SENDER, { nonce: 1n, balance: 1n })
  for (const address of [TARGET, OTHER]) world.put(address, { nonce: 1n, code: CELL })
  const machine = new Machine()
  machine.beginBlock(blockOf(Fork.Cancun), world)
  machine.beginTransaction(TRANSACTION)
  return machine
}

function send(machine: Machine, target: Uint8Array, ...words: (bigint | number)[]): bigint {
  const input = new Uint8Array(32 * words.length)
  words.forEach((value, index) => {
    input.set(word(value), 32 * index)
  })
  const { status, output } = machine.call({
    caller: SENDER,
    target,
    input,
    value: 0n,
    gas: 50_000n,
  })
  assert.equal(status, Status.Success)
  return bigintFromBytes(output)
}

test('N7: random cells of two accounts under snapshots, reverts and transactions follow a stack of maps', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = new Prng(seed)
    const machine = started()
    let model = new Map<string, bigint>()
    const stack: { point: ReturnType<Machine['snapshot']>; model: Map<string, bigint> }[] = []
    for (let step = 0; step < 300; step++) {
      const target = random.pick([TARGET, OTHER])
      const cell = random.below(40)
      const key = `${target[19]}.${cell}`
      const roll = random.below(12)
      if (roll === 0) stack.push({ point: machine.snapshot(), model: new Map(model) })
      else if (roll === 1 && stack.length > 0) {
        const keep = random.below(stack.length)
        machine.revert(stack[keep]!.point)
        model = stack[keep]!.model
        stack.length = keep
      } else if (roll === 2 && random.oneIn(4)) {
        machine.finishTransaction()
        machine.beginTransaction(TRANSACTION)
        model = new Map()
        stack.length = 0
      } else if (roll < 7) {
        const value = random.bigint(random.oneIn(3) ? 1 : 256)
        send(machine, target, cell, value)
        model.set(key, value)
      } else
        assert.equal(send(machine, target, cell), model.get(key) ?? 0n, `seed ${seed} step ${step}`)
    }
    machine.finishTransaction()
    assert.deepEqual(machine.writeSet(), [], 'nothing of it is ever written')
  }
})

test('N7: a frame that fails takes its cells back, one that succeeds keeps them', () => {
  for (const [end, expected] of [
    ['STOP', 6n],
    ['0 0 REVERT', 5n],
    ['POP', 5n],
  ] as const) {
    const world = new World()
    // Run by DELEGATECALL, so that it acts on the caller's cells.
    world.put(OTHER, { code: assemble(`6 1 TSTORE ${end}`) })
    const code = assemble(`5 1 TSTORE 0 0 0 0 0xdddd 9999 DELEGATECALL POP 1 TLOAD ${RETURN_TOP}`)
    assert.equal(bigintFromBytes(runCode(code, { world }).output), expected, end)
  }
})

test('N7: cells belong to the account that runs, not to the code that does', () => {
  const world = new World()
  world.put(OTHER, { code: assemble(`1 TLOAD ${RETURN_TOP}`) })
  const ask = (call: string): bigint => {
    const code = assemble(`5 1 TSTORE 32 0 0 0 ${call} POP 0 MLOAD ${RETURN_TOP}`)
    return bigintFromBytes(runCode(code, { world }).output)
  }
  assert.equal(ask('0 0xdddd GAS CALL'), 0n)
  assert.equal(ask('0xdddd GAS STATICCALL'), 0n)
  assert.equal(ask('0xdddd GAS DELEGATECALL'), 5n)
  assert.equal(ask('0 0xdddd GAS CALLCODE'), 5n)
})

test('N7: a static frame may read and not write; both cost 100, also at their first use', () => {
  const world = new World()
  world.put(OTHER, { code: assemble('1 1 TSTORE') })
  const code = assemble(`0 0 0 0 0xdddd 9999 STATICCALL ${RETURN_TOP}`)
  assert.equal(bigintFromBytes(runCode(code, { world }).output), 0n)
  const { status, gasUsed } = runCode(assemble('1 TLOAD POP 1 1 TSTORE 2 1 TSTORE'))
  assert.deepEqual([status, gasUsed], [Status.Success, 3n * 100n + 5n * 3n + 2n])
  assert.equal(runCode(assemble('1 TLOAD'), { fork: Fork.Shanghai }).status, Status.InvalidOpcode)
})
