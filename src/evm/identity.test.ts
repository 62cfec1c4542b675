/**
 * Aim: the identity precompile of the kernel is the one of the registry: same gas, same output, same failure, at
 * sizes around words and where the gas just does or does not suffice. Method: code that calls it, against the registry.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bigintFromBytes, Fork } from '../base/index.ts'
import { EvmEngine } from '../kernels/index.ts'
import { Machine } from './machine.ts'
import { precompileAt } from './precompiles/index.ts'
import { Status } from './status.ts'
import { addressOf, assemble, blockOf, runCode, SENDER, World } from './testWorld.suite.ts'

const IDENTITY = addressOf(4)
const SIZES = [0, 1, 31, 32, 33, 63, 64, 65, 1000, 4095, 4096, 4097, 70_000]

test('as the message of a transaction', () => {
  const machine = new Machine()
  machine.beginBlock(blockOf(Fork.Prague), new World())
  machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
  for (const size of SIZES) {
    const input = Uint8Array.from({ length: size }, (_, index) => (index * 7 + 1) & 255)
    const price = precompileAt(4, Fork.Prague)!.gas(input)
    for (const gas of [0n, price - 1n, price, price + 1n, 1n << 40n]) {
      const result = machine.call({ caller: SENDER, target: IDENTITY, input, value: 0n, gas })
      const expected = precompileAt(4, Fork.Prague)!.run(input, gas)
      const where = `${size} bytes, gas ${gas}`
      if (expected.kind === 'success') {
        assert.equal(result.status, Status.Success, where)
        assert.equal(result.gasLeft, gas - expected.gasUsed, where)
        assert.deepEqual(result.output, expected.output, where)
      } else {
        assert.equal(result.status, Status.PrecompileFailed, where)
        assert.equal(result.gasLeft, 0n, where)
        assert.equal(result.output.length, 0, where)
      }
    }
  }
})

test('called from code: the output fills the room given, all of it is return data', () => {
  for (const engine of [EvmEngine.Plain, EvmEngine.FastAlways]) {
    // Copies memory 0..95 upon itself, shifted by 32, with room for 40 bytes.
    const copied = runCode(
      assemble(
        '0x11 0 MSTORE 0x22 32 MSTORE 0x33 64 MSTORE 40 32 96 0 4 GAS STATICCALL ' +
          '128 MSTORE RETURNDATASIZE 160 MSTORE 192 0 RETURN',
      ),
      { machine: new Machine({ engine }) },
    )
    const word = (index: number) =>
      bigintFromBytes(copied.output.subarray(32 * index, 32 * index + 32))
    assert.deepEqual(
      [0, 1, 2, 4, 5].map(word),
      [0x11n, 0x11n, 0x33n, 1n, 96n],
      'words 0 and 1 equal, word 2 keeps its end',
    )
    const starved = runCode(
      assemble('0 0 40 0 0 4 20 CALL 0 MSTORE RETURNDATASIZE 32 MSTORE 64 0 RETURN'),
      {
        machine: new Machine({ engine }),
      },
    )
    assert.deepEqual(starved.output, new Uint8Array(64), '21 gas are needed for 40 bytes')
  }
})

test('a value that went with a failed call comes back', () => {
  const machine = new Machine()
  const world = new World()
  world.put(SENDER, { nonce: 1n, balance: 1000n })
  machine.beginBlock(blockOf(Fork.Prague), world)
  machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
  const message = { caller: SENDER, target: IDENTITY, input: new Uint8Array(0), value: 5n }
  assert.equal(machine.call({ ...message, gas: 14n }).status, Status.PrecompileFailed)
  assert.equal(machine.getBalance(IDENTITY), 0n)
  assert.equal(machine.call({ ...message, gas: 15n }).status, Status.Success)
  assert.equal(machine.getBalance(IDENTITY), 5n)
})
