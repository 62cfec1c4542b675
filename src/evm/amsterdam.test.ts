/**
 * Aim: what Amsterdam brings to messages, each by the smallest case. Method: a model of the stack for the deep
 * operations, sums by hand for state gas; the published tests cover the combinations (`conformance/`).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, toHex } from '../base/index.ts'
import { EvmEngine } from '../kernels/index.ts'
import { Machine } from './machine.ts'
import { stateByteGas } from './stateGas.ts'
import { Status } from './status.ts'
import { addressOf, assemble, blockOf, SENDER, TARGET, World } from './testWorld.suite.ts'

const GAS_LIMIT = 100_000_000n
/** Gas a byte of state in a block of 100 million gas. */
const BYTE_GAS = 1174n
const SLOT_GAS = 32n * BYTE_GAS
const ACCOUNT_GAS = 112n * BYTE_GAS
const HEIR = addressOf(0xee)

const engines = [EvmEngine.Plain, EvmEngine.FastAlways].map((engine) => new Machine({ engine }))

type Options = { readonly gas?: bigint; readonly stateGas?: bigint; readonly value?: bigint }

/** Runs code in a block of Amsterdam on each engine; the outcomes are the same. */
function run(code: Uint8Array, { gas = 1_000_000n, stateGas = 0n, value = 0n }: Options = {}) {
  const outcomes = engines.map((machine) => {
    const world = new World()
    world.put(SENDER, { nonce: 1n, balance: 1n << 100n })
    world.put(TARGET, { nonce: 1n, balance: 1000n, code, storage: new Map([[9n, 9n]]) })
    machine.beginBlock(
      blockOf(Fork.Amsterdam, { gasLimit: GAS_LIMIT, slotNumber: 1n << 63n }),
      world,
    )
    machine.beginTransaction({ origin: SENDER, gasPrice: 10n })
    machine.warmAddress(TARGET)
    const input = new Uint8Array(0)
    const result = machine.call({ caller: SENDER, target: TARGET, input, value, gas, stateGas })
    const destructed = machine.destructedStateGas()
    machine.finishTransaction()
    const logs = machine.logs().map(({ address, topics, data }) => ({
      address: toHex(address),
      topics: topics.map(toHex),
      data: data.length === 0 ? 0n : BigInt(toHex(data)),
    }))
    return { ...result, destructed, logs, changes: machine.changes(), reads: machine.accesses() }
  })
  assert.deepEqual(outcomes[1], outcomes[0])
  return outcomes[0]!
}

/** Puts 1, 2, … on the stack, runs the operation and returns what lies on top. */
function topAfter(height: number, operation: readonly number[], depth: number): bigint | undefined {
  const pushes = Array.from({ length: height }, (_, index) => [
    0x61,
    index >> 8,
    index & 255,
  ]).flat()
  const pops = new Array<number>(depth).fill(0x50)
  const store = [...assemble('0 MSTORE 32 0 RETURN')]
  const { status, output } = run(Uint8Array.from([...pushes, ...operation, ...pops, ...store]))
  return status === Status.Success ? BigInt(toHex(output)) : undefined
}

test('DUPN and SWAPN reach 17 to 235 words, by a byte that is no JUMPDEST and no PUSH (EIP-8024)', () => {
  const reached: number[] = []
  for (let operand = 0; operand < 256; operand++) {
    const isValid = operand <= 90 || operand >= 128
    const depth = (operand + 145) % 256
    const copied = topAfter(256, [0xe6, operand], 0)
    assert.equal(copied, isValid ? BigInt(256 - depth) : undefined, `DUPN ${operand}`)
    const swapped = topAfter(256, [0xe7, operand], 0)
    assert.equal(swapped, isValid ? BigInt(255 - depth) : undefined, `SWAPN ${operand}`)
    if (isValid) reached.push(depth)
  }
  reached.sort((a, b) => a - b)
  assert.deepEqual(
    reached,
    Array.from({ length: 219 }, (_, index) => 17 + index),
  )
  assert.equal(topAfter(16, [0xe6, 0x80], 0), undefined, 'too few words for DUPN 17')
  assert.equal(topAfter(17, [0xe6, 0x80], 0), 0n)
  assert.equal(topAfter(17, [0xe7, 0x80], 0), undefined, 'too few words for SWAPN 17')
  assert.equal(topAfter(18, [0xe7, 0x80], 0), 0n)
})

test('EXCHANGE swaps each pair of two words that its byte can name, each once (EIP-8024)', () => {
  const pairs = new Set<string>()
  for (let operand = 0; operand < 256; operand++) {
    const [row, column] = [(operand ^ 143) >> 4, (operand ^ 143) & 15]
    const [upper, lower] = row < column ? [row + 1, column + 1] : [column + 1, 29 - row]
    const isValid = operand <= 81 || operand >= 128
    const found = topAfter(30, [0xe8, operand], isValid ? upper : 0)
    assert.equal(found, isValid ? BigInt(29 - lower) : undefined, `EXCHANGE ${operand}`)
    if (isValid) {
      assert.equal(topAfter(30, [0xe8, operand], lower), BigInt(29 - upper))
      assert.equal(topAfter(lower, [0xe8, operand], 0), undefined, 'too few words')
      pairs.add(`${upper}-${lower}`)
    }
  }
  assert.equal(pairs.size, 210)
})

test('an operand at the end of the code is 0, and a bad one may be a place to jump to', () => {
  const zeros = new Array<number>(145).fill(0x5f)
  assert.equal(run(Uint8Array.from([...zeros, 0xe6])).status, Status.Success)
  assert.equal(run(Uint8Array.from([...zeros.slice(1), 0xe6])).status, Status.StackUnderflow)
  assert.equal(run(Uint8Array.of(0x60, 4, 0x56, 0xe6, 0x5b, 0x00)).status, Status.Success)
  assert.equal(run(Uint8Array.of(0x60, 4, 0x56, 0xe6, 0x00, 0x00)).status, Status.InvalidJump)
})

test('SLOTNUM is the slot of the block (EIP-7843)', () => {
  const { output } = run(assemble('SLOTNUM 0 MSTORE 32 0 RETURN'))
  assert.equal(BigInt(toHex(output)), 1n << 63n)
})

test('the price of a byte follows the gas limit in steps (EIP-8037)', () => {
  assert.equal(stateByteGas({ fork: Fork.Osaka, gasLimit: GAS_LIMIT }), 0n)
  assert.equal(stateByteGas({ fork: Fork.Amsterdam, gasLimit: GAS_LIMIT }), BYTE_GAS)
  assert.equal(stateByteGas({ fork: Fork.Amsterdam, gasLimit: 120_000_000n }), BYTE_GAS)
  assert.equal(stateByteGas({ fork: Fork.Amsterdam, gasLimit: 0n }), 1n)
  assert.equal(stateByteGas({ fork: Fork.Amsterdam, gasLimit: 60_000_000n }), 662n)
  assert.equal(stateByteGas({ fork: Fork.Amsterdam, gasLimit: 300_000_000n }), 3222n)
})

test('a new slot is paid from the reservoir first, then from the other gas', () => {
  const code = assemble('1 0 SSTORE')
  const work = 3n + 3n + 2100n + 2900n
  const rich = run(code, { gas: 10_000n, stateGas: SLOT_GAS + 5n })
  assert.deepEqual(rich.stateGas, { left: 5n, used: SLOT_GAS, spilled: 0n })
  assert.equal(rich.gasLeft, 10_000n - work)
  const mixed = run(code, { gas: 100_000n, stateGas: 7n })
  assert.deepEqual(mixed.stateGas, { left: 0n, used: SLOT_GAS, spilled: SLOT_GAS - 7n })
  assert.equal(mixed.gasLeft, 100_000n - work - SLOT_GAS + 7n)
  const poor = run(code, { gas: 10_000n, stateGas: SLOT_GAS - 5_000n })
  assert.equal(poor.status, Status.OutOfGas)
  assert.deepEqual(poor.stateGas, { left: SLOT_GAS - 5_000n, used: 0n, spilled: 0n })
})

test('a slot that is made and removed costs no state; one that was there before never does', () => {
  const undone = run(assemble('1 0 SSTORE 0 0 SSTORE'), { stateGas: SLOT_GAS })
  assert.deepEqual(undone.stateGas, { left: SLOT_GAS, used: 0n, spilled: 0n })
  const changed = run(assemble('0 9 SSTORE 1 9 SSTORE'), { stateGas: SLOT_GAS })
  assert.deepEqual(changed.stateGas, { left: SLOT_GAS, used: 0n, spilled: 0n })
})

test('state gas of a message that fails flows back to the reservoir, wherever it came from', () => {
  const reverted = run(assemble('1 0 SSTORE 0 0 REVERT'), { gas: 100_000n, stateGas: 7n })
  assert.equal(reverted.status, Status.Revert)
  assert.deepEqual(reverted.stateGas, { left: SLOT_GAS, used: 0n, spilled: SLOT_GAS - 7n })
  const halted = run(assemble('1 0 SSTORE 0xfe JUMP'), { gas: 100_000n, stateGas: 7n })
  assert.equal(halted.gasLeft, 0n)
  assert.deepEqual(halted.stateGas, { left: SLOT_GAS, used: 0n, spilled: SLOT_GAS - 7n })
})

test('a value sent to nobody makes an account, and logs (EIP-8037, EIP-7708)', () => {
  const { stateGas, logs } = run(assemble('0 0 0 0 5 0xee GAS CALL'), { stateGas: ACCOUNT_GAS })
  assert.deepEqual(stateGas, { left: 0n, used: ACCOUNT_GAS, spilled: 0n })
  assert.equal(logs.length, 1)
  const [log] = logs
  assert.equal(log!.address, '0xfffffffffffffffffffffffffffffffffffffffe')
  assert.deepEqual(log!.topics, [
    '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    `0x${'00'.repeat(12)}${toHex(TARGET).slice(2)}`,
    `0x${'00'.repeat(12)}${toHex(HEIR).slice(2)}`,
  ])
  assert.equal(log!.data, 5n)
})

test('the value of the message itself is logged first; what fails takes its logs back', () => {
  assert.deepEqual(
    run(assemble('0 0 LOG0'), { value: 3n }).logs.map(({ topics }) => topics.length),
    [3, 0],
  )
  assert.deepEqual(run(assemble('0 0 REVERT'), { value: 3n }).logs, [])
  assert.deepEqual(run(assemble('0 0 0 0 5 ADDRESS GAS CALL')).logs, [], 'to itself')
})

/** Init code that destroys itself in favour of itself, and the creation of it with 5 wei. */
const BURN = '0x30ff 0 MSTORE 2 30 5 CREATE'

test('a contract that is made and destroyed is no growth; what it held is logged as burnt', () => {
  const { stateGas, destructed, logs, changes, reads } = run(assemble(BURN), {
    stateGas: ACCOUNT_GAS,
  })
  assert.equal(stateGas.used, ACCOUNT_GAS)
  assert.equal(destructed, ACCOUNT_GAS)
  assert.deepEqual(
    logs.map(({ topics }) => topics[0]!.slice(0, 10)),
    ['0xddf252ad', '0xcc16f5db'],
  )
  const created = logs[1]!.topics[1]!.slice(26)
  assert.ok(
    reads.some(({ address }) => toHex(address).slice(2) === created),
    'read',
  )
  assert.ok(!changes.some(({ address }) => toHex(address).slice(2) === created), 'not changed')
})

test('what a destroyed contract is sent later is logged at the end, by address (EIP-7708)', () => {
  const send = (wei: number): string => `${BURN} 0 0 0 0 ${wei} DUP6 GAS CALL POP POP`
  const code = assemble(`${send(7)} ${send(8)}`)
  const burns = run(code, { stateGas: 2n * ACCOUNT_GAS }).logs.filter(({ topics }) =>
    topics[0]!.startsWith('0xcc16f5db'),
  )
  // The two that destroyed themselves, then, in the order of their addresses, what they were sent after it.
  assert.deepEqual(burns.map(({ data }) => data).sort(), [5n, 5n, 7n, 8n])
  const [, , first, second] = burns
  assert.ok(first!.topics[1]! < second!.topics[1]!)
})

test('deployed code pays for its hash as work and for its bytes as growth', () => {
  // Returns 33 zero bytes.
  const { stateGas, gasLeft } = run(assemble('0x60215ff3 0 MSTORE 4 28 0 CREATE'), {
    stateGas: ACCOUNT_GAS + 33n * BYTE_GAS,
  })
  assert.deepEqual(stateGas, { left: 0n, used: ACCOUNT_GAS + 33n * BYTE_GAS, spilled: 0n })
  const init = 3n + 2n + 6n
  const hash = 12n
  assert.equal(1_000_000n - gasLeft, 18n + 3n + 9000n + 2n + init + hash)
})

test('what a block reads: only what was paid for, and slots of a failed frame too (EIP-7928)', () => {
  const addresses = (code: string, gas: bigint) =>
    run(assemble(code), { gas }).reads.map(({ address }) => toHex(address))
  assert.ok(addresses('0xee BALANCE', 2603n).includes(toHex(HEIR)))
  assert.ok(!addresses('0xee BALANCE', 2602n).includes(toHex(HEIR)))
  // A call with value has to have paid for access and value.
  const call = '0 0 0 0 1 0xee 0 CALL'
  assert.ok(addresses(call, 21n + 2600n + 9000n).includes(toHex(HEIR)))
  assert.ok(!addresses(call, 21n + 2600n + 8999n).includes(toHex(HEIR)))
  const { reads, changes } = run(assemble('1 7 SSTORE 8 SLOAD 0 0 REVERT'), { stateGas: SLOT_GAS })
  const target = reads.find(({ address }) => toHex(address) === toHex(TARGET))
  assert.deepEqual(
    target!.slots.map((slot) => BigInt(toHex(slot))),
    [7n, 8n],
  )
  assert.deepEqual(changes, [])
})

test('what a transaction changed is told by its first and last values (EIP-7928)', () => {
  const slotsAfter = (source: string) =>
    run(assemble(source), { stateGas: SLOT_GAS }).changes.flatMap(({ slots }) =>
      slots.map(({ slot, value }) => [BigInt(toHex(slot)), value]),
    )
  assert.deepEqual(slotsAfter('5 9 SSTORE 6 9 SSTORE'), [[9n, 6n]])
  assert.deepEqual(slotsAfter('5 9 SSTORE 9 9 SSTORE'), [], 'as it began')
  // Init code that writes a slot and destroys itself: the slot was read, and is as it was.
  const source = '0x60015f5530ff 0 MSTORE 6 26 0 CREATE'
  const { reads, changes } = run(assemble(source), { stateGas: ACCOUNT_GAS + SLOT_GAS })
  const created = reads.find(({ slots }) => slots.length > 0)
  assert.equal(created!.slots.length, 1)
  assert.deepEqual(
    changes.map(({ address }) => toHex(address)),
    [toHex(TARGET)],
    'only the nonce of the creator',
  )
})

test('hooks see the logs of the protocol where they happen', () => {
  const seen: string[] = []
  const machine = new Machine()
  machine.trace({
    onEnter: ({ depth }) => seen.push(`enter ${depth}`),
    onLog: ({ topics }) => seen.push(`log ${topics.length}`),
    onSelfDestruct: () => seen.push('destruct'),
    onExit: ({ depth }) => seen.push(`exit ${depth}`),
    onStep: ({ opcode, cost }) => {
      if (opcode >= 0xf0) seen.push(`${opcode.toString(16)} ${cost}`)
    },
  })
  const world = new World()
  world.put(SENDER, { balance: 100n })
  world.put(HEIR, { balance: 1n })
  const code = assemble('0 0 0 0 5 0xee 0 CALL 0xee SELFDESTRUCT')
  world.put(TARGET, { balance: 50n, code })
  machine.beginBlock(blockOf(Fork.Amsterdam, { gasLimit: GAS_LIMIT }), world)
  machine.beginTransaction({ origin: SENDER, gasPrice: 0n })
  machine.call({ caller: SENDER, target: TARGET, input: code, value: 3n, gas: 100_000n })
  assert.deepEqual(seen, [
    ...['enter 1', 'log 3'],
    ...['f1 11600', 'enter 2', 'log 3', 'exit 2'],
    ...['destruct', 'log 3', 'ff 5000', 'exit 1'],
  ])
})
