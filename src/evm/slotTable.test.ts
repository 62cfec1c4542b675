/**
 * Aim: the numbered cells of the kernel are a map (N2), what is over leaves nothing behind (N3), and no size is too
 * big but by an error (N4). Method: maps as models; sizes past each table's first capacity, back down again, and past
 * the kernel's memory; transaction numbers at their end.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AssertionFault, bigintToBytes, Fork } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { Machine } from './machine.ts'
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
const slotOf = (number: number | bigint): Uint8Array => bigintToBytes(BigInt(number), 32)

function started(fork = Fork.Prague, world = new World()): Machine {
  const machine = new Machine()
  machine.beginBlock(blockOf(fork), world)
  machine.beginTransaction(TRANSACTION)
  return machine
}

/** Keys that differ in one byte alone, wherever it is, and random ones: some 300. */
function drawKeys(random: Prng): bigint[] {
  const keys = new Set([0n])
  for (let byte = 0n; byte < 32n; byte++)
    for (const value of [1n, 2n, 255n]) keys.add(value << (8n * byte))
  while (keys.size < 300) keys.add(random.bigint(256))
  return [...keys]
}

test('N2: equal cells have equal numbers, different ones different numbers, and none is 0', () => {
  const { kernel } = started() as unknown as { kernel: Machine['kernel'] }
  const { exports } = kernel
  const random = new Prng(2)
  const keys = drawKeys(random)
  const word = 0x3000 + 160
  const numbers = new Map<string, number>()
  for (let step = 0; step < 20_000; step++) {
    const owner = 1 + random.below(40)
    const key = random.pick(keys)
    kernel.writeWord(word, key)
    const number = exports.slotNumber(owner, word)
    const name = `${owner}.${key}`
    assert.equal(number, numbers.get(name) ?? number, name)
    numbers.set(name, number)
  }
  assert.equal(new Set(numbers.values()).size, numbers.size, 'no two cells share a number')
  assert.equal(exports.slotCount(), numbers.size)
  assert(!new Set(numbers.values()).has(0))
})

test('N2: a cell that nobody wrote is zero, stored or transient, beside others that are written', () => {
  const machine = started()
  machine.setStorage(TARGET, slotOf(1), 7n)
  assert.equal(machine.getStorage(TARGET, slotOf(2)), 0n)
  assert.equal(machine.getStorage(addressOf(5), slotOf(1)), 0n)
  const { output } = runCode(assemble(`7 1 TSTORE 2 TLOAD 1 TLOAD ADD ${RETURN_TOP}`), { machine })
  assert.deepEqual(output, slotOf(7))
})

test('N3: a snapshot of a transaction that is over is refused, and so is one that lies ahead', () => {
  const machine = started()
  const early = machine.snapshot()
  machine.addBalance(TARGET, 1n)
  const late = machine.snapshot()
  machine.revert(early)
  assert.throws(() => machine.revert(late), AssertionFault)
  machine.revert(early)
  machine.finishTransaction()
  assert.throws(() => machine.revert(early), AssertionFault, 'nothing can be undone after the end')
  machine.beginTransaction(TRANSACTION)
  assert.throws(() => machine.revert(early), AssertionFault)
  const own = machine.snapshot()
  machine.beginBlock(blockOf(Fork.Prague), new World())
  machine.beginTransaction(TRANSACTION)
  assert.throws(() => machine.revert(own), AssertionFault)
  machine.revert(machine.snapshot())
})

/** What a transaction may find of one before it, by gas and value: warmth of slot and account, original, transient cell. */
const PROBE = assemble(
  'GAS 0 CALLDATALOAD SLOAD POP GAS SWAP1 SUB 0 MSTORE GAS 5 0 CALLDATALOAD SSTORE GAS SWAP1 SUB 32 MSTORE ' +
    '0 CALLDATALOAD TLOAD 64 MSTORE GAS 0 CALLDATALOAD BALANCE POP GAS SWAP1 SUB 96 MSTORE ' +
    '9 0 CALLDATALOAD TSTORE 128 0 RETURN',
)

test('N3: a transaction finds nothing of the ones before, also where transaction numbers start again', () => {
  const world = new World()
  world.put(SENDER, { nonce: 1n, balance: 1n })
  world.put(TARGET, { nonce: 1n, code: PROBE })
  const machine = started(Fork.Prague, world)
  /** Probes a cell, slot, and account of this number in a transaction of its own, which takes its store back. */
  const probe = (number: number): Uint8Array => {
    machine.finishTransaction()
    machine.beginTransaction(TRANSACTION)
    machine.warmAddress(SENDER)
    machine.warmAddress(TARGET)
    const input = slotOf(number + 0x1000)
    const { output } = machine.call({
      caller: SENDER,
      target: TARGET,
      input,
      value: 0n,
      gas: 1_000_000n,
    })
    machine.setStorage(TARGET, input, 0n)
    return output
  }
  const expected = probe(0)
  assert.equal(new DataView(expected.buffer).getUint32(28), 2100 + 10, 'cold')
  for (let number = 4; number < 10; number++) assert.deepEqual(probe(number), expected)
  machine['kernel'].exports.setEpoch(2 ** 32 - 2)
  // The last number of all, then those of the first transactions, each over what that one has stamped.
  for (let number = 0; number < 10; number++) assert.deepEqual(probe(number), expected, `${number}`)
})

test('N3: a block finds nothing of the one before, in any of the tables', () => {
  const machine = new Machine()
  const world = new World()
  const many = assemble('2000 :l DUP1 DUP1 SSTORE DUP1 DUP1 TSTORE 1 SWAP1 SUB DUP1 @l JUMPI')
  assert.equal(runCode(many, { machine, world, gas: 1n << 40n }).status, 0)
  machine.beginBlock(blockOf(Fork.Prague), new World())
  machine.beginTransaction(TRANSACTION)
  assert.deepEqual(machine.writeSet(), [])
  for (const slot of [1, 2, 1999, 2000]) assert.equal(machine.getStorage(TARGET, slotOf(slot)), 0n)
})

test('N4: tables grow without losing or mixing entries', () => {
  const machine = started()
  const count = 20_000
  for (let index = 0; index < count; index++) {
    const address = addressOf(BigInt(index % 200) << 96n)
    machine.setStorage(address, slotOf(index), BigInt(index) + 1n)
  }
  for (let index = 0; index < count; index++) {
    const address = addressOf(BigInt(index % 200) << 96n)
    assert.equal(machine.getStorage(address, slotOf(index)), BigInt(index) + 1n)
    const other = addressOf(BigInt((index + 1) % 200) << 96n)
    if (index % 100 === 0) assert.equal(machine.getStorage(other, slotOf(index)), 0n)
  }
  for (let index = 0; index < 3000; index++)
    machine.addBalance(addressOf(index * 65_537), BigInt(index))
  for (let index = 0; index < 3000; index++)
    assert.equal(machine.getBalance(addressOf(index * 65_537)), BigInt(index))
})

test('N4: a million entries of the journal, and transient cells past every table, read back and are undone', () => {
  const machine = started()
  const cells = 150_000
  const snapshot = machine.snapshot()
  // Writes each cell of both kinds from the last to the first, then adds up what it reads.
  const code = assemble(
    `${cells} :w DUP1 DUP1 SSTORE DUP1 DUP1 2 MUL SWAP1 TSTORE 1 SWAP1 SUB DUP1 @w JUMPI ` +
      `0 ${cells} :r DUP1 SLOAD DUP2 TLOAD ADD DUP3 ADD SWAP2 POP 1 SWAP1 SUB DUP1 @r JUMPI POP ${RETURN_TOP}`,
  )
  machine.setCode(TARGET, code)
  const message = {
    caller: SENDER,
    target: TARGET,
    input: new Uint8Array(0),
    value: 0n,
    gas: 1n << 50n,
  }
  const { status, output } = machine.call(message)
  assert.equal(status, 0)
  assert.deepEqual(output, slotOf((3n * BigInt(cells) * BigInt(cells + 1)) / 2n))
  machine.revert(snapshot)
  assert.equal(machine.snapshot(), snapshot)
  assert.deepEqual(machine.writeSet(), [])
  for (const slot of [1, 2, cells - 1, cells])
    assert.equal(machine.getStorage(TARGET, slotOf(slot)), 0n)
})

test('N4: tables that a big block made large are right in the small blocks after it, while they shrink', () => {
  const machine = new Machine()
  const world = new World()
  const gas = 1n << 50n
  const count = (cells: number): Uint8Array =>
    assemble(
      `${cells} :l DUP1 DUP1 SSTORE DUP1 DUP1 TSTORE DUP1 BALANCE POP 1 SWAP1 SUB DUP1 @l JUMPI`,
    )
  for (const cells of [20_000, 3, 40, 3, 3, 700, 3, 3, 3, 3, 3, 3, 3, 3, 5000, 3]) {
    const { status } = runCode(count(cells), { machine, world, gas })
    assert.equal(status, 0)
    const writes = machine.writeSet().find(({ slots }) => slots.length > 0)
    assert.equal(writes?.slots.length, cells)
    for (const cell of [1, 2, 3, cells])
      assert.equal(machine.getStorage(TARGET, slotOf(cell)), BigInt(cell))
    assert.equal(machine.getStorage(TARGET, slotOf(cells + 1)), 0n)
  }
})

test('N4: memory beyond the kernel is a typed error, and the next block runs', () => {
  const machine = new Machine()
  const gas = 1n << 62n
  // 2 GiB and a word: some 2^43 gas, so it is paid for.
  const code = assemble('1 0x80000000 MSTORE')
  assert.throws(() => runCode(code, { machine, gas }), { code: 'EVM_OUT_OF_MEMORY' })
  assert.throws(
    () => machine.getBalance(SENDER),
    { code: 'EVM_OUT_OF_MEMORY' },
    'until a block begins',
  )
  assert.throws(() => machine.finishTransaction(), { code: 'EVM_OUT_OF_MEMORY' })
  const { status, gasUsed } = runCode(assemble('1 0 MSTORE'), { machine })
  assert.equal(status, 0)
  assert.equal(gasUsed, 12n)
  assert.throws(() => runCode(code, { machine, gas: 1n << 63n }), { code: 'EVM_GAS_RANGE' })
})

test('N4: memory that a method needs outside a message is a typed error as well, also where the host was asked', () => {
  const machine = new Machine()
  // 1 GiB of code, of which no byte is ever touched: the trap comes within the host's answer.
  const code = new Uint8Array(1 << 30)
  const codeHash = new Uint8Array(32).fill(1)
  const world = Object.assign(new World(), {
    loadAccount: () => ({ nonce: 1n, balance: 0n, codeHash }),
    loadCode: () => code,
  })
  machine.beginBlock(blockOf(Fork.Prague), world)
  machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
  assert.throws(() => machine.getCodeSize(SENDER), { code: 'EVM_OUT_OF_MEMORY' })
  assert.throws(() => machine.warmAddress(SENDER), { code: 'EVM_OUT_OF_MEMORY' })
  assert.equal(runCode(assemble('1 0 MSTORE'), { machine }).status, 0)
  const tooLong = new Uint8Array((1 << 30) + 1)
  assert.throws(() => machine.setCode(SENDER, tooLong), { code: 'EVM_OUT_OF_MEMORY' })
  assert.throws(() => machine.snapshot(), { code: 'EVM_OUT_OF_MEMORY' })
})
