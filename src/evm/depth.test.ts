/** Aim: calls nest 1,024 deep and no deeper, on a flat native stack; big jump tables run; memory stays bounded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork } from '../base/index.ts'
import { Machine } from './machine.ts'
import { Status } from './status.ts'
import { assemble, RETURN_TOP, runCode } from './testWorld.suite.ts'

const GAS = 1n << 62n

/** Counts in slot 0 how often it ran, then calls itself. */
function recursion(call: string): Uint8Array {
  return assemble(`0 SLOAD 1 ADD 0 SSTORE ${call} POP`)
}

for (const [name, call] of [
  ['CALL', '0 0 0 0 0 ADDRESS GAS CALL'],
  ['CALLCODE', '0 0 0 0 0 ADDRESS GAS CALLCODE'],
  ['DELEGATECALL', '0 0 0 0 ADDRESS GAS DELEGATECALL'],
] as const)
  test(`${name} to itself runs 1,025 frames and fails in the last`, () => {
    const { status, machine } = runCode(recursion(call), { gas: GAS, fork: Fork.Prague })
    assert.equal(status, Status.Success)
    const [write] = machine.writeSet().filter(({ slots }) => slots.length > 0)
    assert.equal(write!.slots[0]!.after, 1025n)
    assert.ok(machine.heapBytes < 8 << 20, `${machine.heapBytes} bytes`)
  })

test('STATICCALL nests as deep', () => {
  // Each frame adds 1 to what its callee returned, and 0 came from the call that failed.
  const code = assemble(`32 0 0 0 ADDRESS GAS STATICCALL POP 0 MLOAD 1 ADD ${RETURN_TOP}`)
  const { output } = runCode(code, { gas: GAS })
  assert.equal(BigInt(`0x${Buffer.from(output).toString('hex')}`), 1025n)
})

test('CREATE nests as deep: init code creates from a copy of itself', () => {
  const code = assemble('CODESIZE 0 0 CODECOPY CODESIZE 0 0 CREATE POP')
  const { status, machine } = runCode(code, { gas: GAS, fork: Fork.Prague })
  assert.equal(status, Status.Success)
  const created = machine.writeSet().filter(({ before }) => before === undefined)
  assert.equal(created.length, 1024)
  assert.ok(machine.heapBytes < 16 << 20, `${machine.heapBytes} bytes`)
})

test('each frame may fill its stack of 1,024 words, and not one more', () => {
  const full = Uint8Array.from([...new Array(1024).fill(0x5f), 0x00])
  assert.equal(runCode(full).status, Status.Success)
  const over = Uint8Array.from([...new Array(1025).fill(0x5f), 0x00])
  assert.equal(runCode(over).status, Status.StackOverflow)
  const under = Uint8Array.from([0x5f, 0x01])
  assert.equal(runCode(under).status, Status.StackUnderflow)
})

test('a jump table of 24 KB', () => {
  // 6,000 blocks of JUMPDEST PUSH2 next JUMP, each to the one before, entered at the last.
  const blockCount = 4900
  const bytes: number[] = [0x61, 0, 0, 0x56]
  const starts: number[] = []
  for (let block = 0; block < blockCount; block++) {
    starts.push(bytes.length)
    if (block === 0) bytes.push(0x5b, 0x00)
    else {
      const to = starts[block - 1]!
      bytes.push(0x5b, 0x61, to >> 8, to & 255, 0x56)
    }
  }
  bytes[1] = starts.at(-1)! >> 8
  bytes[2] = starts.at(-1)! & 255
  assert.ok(bytes.length > 24_000)
  const { status, gasUsed } = runCode(Uint8Array.from(bytes))
  assert.equal(status, Status.Success)
  assert.equal(gasUsed, BigInt(11 + 12 * (blockCount - 1) + 1))
})

test('a jump into the operand of a PUSH is refused', () => {
  assert.equal(runCode(Uint8Array.from([0x60, 4, 0x56, 0x60, 0x5b])).status, Status.InvalidJump)
  assert.equal(runCode(assemble('1 4 JUMPI STOP')).status, Status.InvalidJump)
  assert.equal(runCode(assemble('0xffffffffffffffffff JUMP')).status, Status.InvalidJump)
})

test('PUSH at the end of the code is filled with zeros on the right', () => {
  // 0x6101 pushes 0x0100, seen by running off the end in a frame whose creator can read the code's effect.
  const { status } = runCode(Uint8Array.from([0x61, 0x01]))
  assert.equal(status, Status.Success)
  const traced: bigint[][] = []
  const machine = new Machine()
  machine.trace({ wants: { stack: true }, onStep: ({ stack }) => traced.push([...stack]) })
  runCode(Uint8Array.from([0x61, 0x01]), { machine })
  assert.deepEqual(traced.at(-1), [0x100n])
})

test('memory beyond any gas is out of gas, at every opcode that reaches it', () => {
  for (const code of [
    '0xffffffffffffffff MLOAD',
    '0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff MLOAD',
    '1 0xffffffff MSTORE',
    '1 0x0fffffffffff MSTORE8',
    '0xffffffffffffffff 0 KECCAK256',
    '1 0xffffffffffffffff LOG0',
    '32 0 0xffffffffff CALLDATACOPY',
    '0xffffffffffffffff 0 0 CODECOPY',
    '1 0 0xffffffffffffffff MCOPY',
    '1 0xffffffffffffffff 0 MCOPY',
    '0xffffffffffffffff 0 RETURN',
    '0xffffffffffffffff 0 0 0 0 ADDRESS GAS CALL',
    '0xffffffffff 0 0 CREATE',
  ]) {
    const { status } = runCode(assemble(code))
    assert.ok(status === Status.OutOfGas || status === Status.GasOverflow, `${code}: ${status}`)
  }
})

test('an empty range costs nothing, wherever it lies', () => {
  const far = '0xffffffffffffffffffffffffffffffff'
  for (const code of [
    `0 ${far} KECCAK256`,
    `0 ${far} ${far} CALLDATACOPY`,
    `0 ${far} LOG0`,
    `0 ${far} RETURN`,
  ]) {
    const { status, gasUsed } = runCode(assemble(code))
    assert.equal(status, Status.Success)
    assert.ok(gasUsed < 500n)
  }
})
