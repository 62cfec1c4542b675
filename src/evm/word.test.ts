/**
 * Aim: a word is what its bytes say (N1), and every arithmetic operation on words equals BigInt. Method: operands drawn from where carries, borrows and
 * quotient corrections live, each operation through the kernel's own function, aliased and not; then geth's tables.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  bigintFromBytes,
  bigintToBytes,
  bigintToMinimalBytes,
  Fork,
  fromBareHex,
  leadingZeroCount,
  U256_MAX,
} from '../base/index.ts'
import { type EvmExports, EvmKernel } from '../kernels/index.ts'
import { fixtureRecords, fixturesMissing, Prng } from '../testing/index.ts'
import { Machine } from './machine.ts'
import { OPCODES } from './opcodes.ts'
import { assemble, RETURN_TOP, runCode } from './testWorld.suite.ts'

const MOD = U256_MAX + 1n
const signed = (value: bigint): bigint => BigInt.asIntN(256, value)
const wrap = (value: bigint): bigint => BigInt.asUintN(256, value)

/** Model of each operation on two words, first operand first. */
const MODELS: Partial<Record<keyof EvmExports, (a: bigint, b: bigint) => bigint>> = {
  add: (a, b) => wrap(a + b),
  subtract: (a, b) => wrap(a - b),
  multiply: (a, b) => wrap(a * b),
  divide: (a, b) => (b === 0n ? 0n : a / b),
  modulo: (a, b) => (b === 0n ? 0n : a % b),
  divideSigned: (a, b) => (b === 0n ? 0n : wrap(signed(a) / signed(b))),
  moduloSigned: (a, b) => (b === 0n ? 0n : wrap(signed(a) % signed(b))),
  power: (a, b) => powerModel(a, b),
  shiftLeft: (a, b) => (a > 255n ? 0n : wrap(b << a)),
  shiftRight: (a, b) => (a > 255n ? 0n : b >> a),
  shiftRightSigned: (a, b) => wrap(signed(b) >> (a > 255n ? 255n : a)),
  byteAt: (a, b) => (a > 31n ? 0n : (b >> (8n * (31n - a))) & 255n),
  signExtend: (a, b) => (a > 30n ? b : wrap(BigInt.asIntN(Number(8n * (a + 1n)), b))),
}

function powerModel(base: bigint, exponent: bigint): bigint {
  let result = 1n
  let square = base
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % MOD
    square = (square * square) % MOD
  }
  return result
}

const A = 0x3000
const B = 0x3020
const C = 0x3040
const OUT = 0x3060

function bareKernel(): EvmKernel {
  const none = (): number => 0
  const kernel = new EvmKernel({
    loadAccount: none,
    hasStorage: none,
    openStorage: none,
    loadSlot: none,
    loadCode: none,
    blockHash: none,
    precompile: none,
    trimmedLoad: none,
    trimmedOriginal: none,
    trimmedStore: none,
    trimmedUndo: none,
    trimmedForget: none,
    trace: none,
  })
  return kernel
}

/** Edges: powers of two and their neighbours, runs of ones, limbs of all ones beside zeros, small and any. */
function drawWord(random: Prng): bigint {
  switch (random.below(7)) {
    case 0:
      return BigInt(random.below(4))
    case 1:
      return wrap((1n << BigInt(random.below(257))) + BigInt(random.below(3)) - 1n)
    case 2:
      return random.bigint(256)
    case 3: {
      let value = 0n
      for (let limb = 0; limb < 4; limb++)
        value = (value << 64n) | random.pick([0n, (1n << 64n) - 1n, 1n << 63n, random.bigint(64)])
      return value
    }
    case 4:
      return wrap(-random.bigint(64))
    case 5:
      return BigInt(random.below(300))
    default:
      return (random.bigint(256) << BigInt(random.below(128))) & U256_MAX
  }
}

/** Where the first byte other than zero may lie: 0 to 31, and nowhere. */
const FIRST_BYTES = Array.from({ length: 33 }, (_, index) => index)

test('N1: bytes of every length become the word they spell and come back, first byte other than zero anywhere', () => {
  const kernel = bareKernel()
  const random = new Prng(1)
  for (const first of FIRST_BYTES) {
    const full = random.bytes(32).fill(0, 0, first)
    if (first < 32) full[first]! |= 1 << random.below(8)
    const value = bigintFromBytes(full)
    for (let start = 0; start <= first; start++) {
      // What lay there before must not shine through.
      kernel.writeWord(A, U256_MAX)
      kernel.writeWordBytes(A, full.subarray(start))
      assert.equal(kernel.readWord(A), value, `first ${first}, from ${start}`)
      assert.deepEqual(kernel.readWordBytes(A, 32), full)
    }
    const trimmed = full.subarray(leadingZeroCount(full))
    assert.equal(trimmed.length, 32 - first)
    assert.deepEqual(bigintToMinimalBytes(value), trimmed)
    assert.deepEqual(kernel.readWordBytes(A, trimmed.length), trimmed)
    kernel.writeWord(B, value)
    assert(kernel.areEqual(A, B, 32))
  }
})

test('N1: one byte is the lowest of a word, not the highest', () => {
  const kernel = bareKernel()
  kernel.writeWordBytes(A, Uint8Array.of(7))
  assert.equal(kernel.readWord(A), 7n)
  assert.equal(kernel.bytes[A], 7)
  const { output } = runCode(assemble(`1 SLOAD ${RETURN_TOP}`), { storage: new Map([[1n, 7n]]) })
  assert.deepEqual(output, bigintToBytes(7n, 32))
})

test('N1: zero and equality look at all bytes', () => {
  const machine = new Machine()
  for (const first of FIRST_BYTES) {
    const value = first === 32 ? 0n : 1n << BigInt(8 * (31 - first))
    assert.equal(binary(machine, 'EQ', value, 0n), value === 0n ? 1n : 0n)
    assert.equal(binary(machine, 'EQ', value, value), 1n)
    const word = `0x${value.toString(16).padStart(64, '0')}`
    const { output } = runCode(assemble(`${word} ISZERO ${RETURN_TOP}`), { machine })
    assert.equal(bigintFromBytes(output), value === 0n ? 1n : 0n)
    // As a stored value: 0 is the one whose load and store are a no-op over nothing.
    const stored = runCode(assemble(`${word} 1 SSTORE 1 SLOAD ${RETURN_TOP}`), { machine })
    assert.equal(bigintFromBytes(stored.output), value)
    assert.equal(
      machine.writeSet().find(({ slots }) => slots.length > 0) === undefined,
      value === 0n,
    )
  }
})

test('operations on two words equal BigInt, also where the output is an operand', () => {
  const kernel = bareKernel()
  const seed = 20_260_101
  const random = new Prng(seed)
  for (let step = 0; step < 20_000; step++) {
    const a = drawWord(random)
    const b = random.oneIn(8) ? a : drawWord(random)
    for (const [name, model] of Object.entries(MODELS)) {
      if (name === 'power' && step % 10 !== 0) continue
      const run = kernel.exports[name as 'add']
      const expected = model(a, b)
      for (const out of [OUT, A, B]) {
        kernel.writeWord(A, a)
        kernel.writeWord(B, b)
        run(A, B, out)
        assert.equal(
          kernel.readWord(out),
          expected,
          `${name} ${a} ${b}, seed ${seed}, step ${step}`,
        )
      }
    }
    kernel.exports.leadingZeros(B, OUT)
    kernel.writeWord(A, a)
    kernel.exports.leadingZeros(A, OUT)
    assert.equal(kernel.readWord(OUT), a === 0n ? 256n : 256n - BigInt(a.toString(2).length))
  }
})

test('operations modulo a word equal BigInt', () => {
  const kernel = bareKernel()
  const random = new Prng(7)
  for (let step = 0; step < 60_000; step++) {
    const [a, b, m] = [drawWord(random), drawWord(random), drawWord(random)]
    const expected = m === 0n ? [0n, 0n] : [(a + b) % m, (a * b) % m]
    for (const [index, run] of [
      kernel.exports.addModulo,
      kernel.exports.multiplyModulo,
    ].entries()) {
      kernel.writeWord(A, a)
      kernel.writeWord(B, b)
      kernel.writeWord(C, m)
      run(A, B, C, C)
      assert.equal(kernel.readWord(C), expected[index], `${index} ${a} ${b} ${m}`)
    }
  }
})

test('comparisons and bit operations equal BigInt', () => {
  const random = new Prng(11)
  const machine = new Machine()
  const models: Record<string, (a: bigint, b: bigint) => bigint> = {
    LT: (a, b) => BigInt(a < b),
    GT: (a, b) => BigInt(a > b),
    SLT: (a, b) => BigInt(signed(a) < signed(b)),
    SGT: (a, b) => BigInt(signed(a) > signed(b)),
    EQ: (a, b) => BigInt(a === b),
    AND: (a, b) => a & b,
    OR: (a, b) => a | b,
    XOR: (a, b) => a ^ b,
  }
  for (let step = 0; step < 400; step++) {
    const a = drawWord(random)
    const b = random.oneIn(4) ? a : drawWord(random)
    for (const [name, model] of Object.entries(models))
      assert.equal(binary(machine, name, a, b), model(a, b), `${name} ${a} ${b}`)
  }
})

function binary(machine: Machine, name: string, first: bigint, second: bigint): bigint {
  const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`
  const code = assemble(`${word(second)} ${word(first)} ${name} ${RETURN_TOP}`)
  const { output } = runCode(code, { fork: Fork.Osaka, machine })
  return BigInt(`0x${Buffer.from(output).toString('hex')}`)
}

type OpcodeCase = { readonly X: string; readonly Y: string; readonly Expected: string }

test("geth's tables of two-operand opcodes", {
  skip: fixturesMissing('geth-opcodes', 'ethereum/go-ethereum core/vm/testdata'),
}, async () => {
  const machine = new Machine()
  let count = 0
  for await (const { path, items } of fixtureRecords<{ path: string; items: OpcodeCase[] }>(
    'geth-opcodes',
  )) {
    const short = path.match(/testcases_(\w+)\.json/)![1]!.toUpperCase()
    const name = short === 'SIGNEXT' ? 'SIGNEXTEND' : short
    assert.ok(
      OPCODES.some((opcode) => opcode?.name === name),
      name,
    )
    for (const { X, Y, Expected } of items) {
      // geth pushes X, then Y.
      const actual = binary(machine, name, BigInt(`0x${Y}`), BigInt(`0x${X}`))
      assert.equal(actual, BigInt(`0x${Expected}`), `${name} ${X} ${Y}`)
      count++
    }
  }
  assert.ok(count > 800, `${count} cases`)
  assert.equal(fromBareHex('00').length, 1)
})
