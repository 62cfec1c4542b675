/**
 * Aim: the storage of an account that goes is gone whole, read before or not, and one that stays after all has kept
 * it whole (N10). Method: contracts that destroy themselves and are made again in the same block, a frame that takes
 * its self-destruct back, and the host's count of what it is asked: after a clear a missing slot is zero unasked.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bigintToBytes, Fork, toBareHex } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { Machine } from './machine.ts'
import { assemble, blockOf, SENDER, TARGET, World } from './testWorld.suite.ts'

const TRANSACTION = { origin: SENDER, gasPrice: 1n }
const STORAGE = new Map([1n, 2n, 3n, 4n].map((slot) => [slot, slot + 10n]))
/** Destroys itself if it is sent anything, else does nothing. */
const MORTAL = assemble('CALLDATASIZE @end JUMPI STOP :end 0x99 SELFDESTRUCT')

const slotOf = (slot: number | bigint): Uint8Array => bigintToBytes(BigInt(slot), 32)

function started(fork: Fork): { machine: Machine; world: World } {
  const world = new World()
  world.put(SENDER, { nonce: 1n, balance: 1000n })
  world.put(TARGET, { nonce: 1n, balance: 5n, code: MORTAL, storage: new Map(STORAGE) })
  const machine = new Machine()
  machine.beginBlock(blockOf(fork), world)
  machine.beginTransaction(TRANSACTION)
  return { machine, world }
}

function kill(machine: Machine): void {
  const input = Uint8Array.of(1)
  const message = { caller: SENDER, target: TARGET, input, value: 0n, gas: 100_000n }
  assert.equal(machine.call(message).status, 0)
}

const values = (machine: Machine): bigint[] =>
  [1, 2, 3, 4, 5].map((slot) => machine.getStorage(TARGET, slotOf(slot)))

const WHOLE = [11n, 12n, 13n, 14n, 0n]
const GONE = [0n, 0n, 0n, 0n, 0n]

test('N10: a clear takes what was read, what was written, and what nobody touched; the host is not asked again', () => {
  const { machine, world } = started(Fork.Shanghai)
  assert.equal(machine.getStorage(TARGET, slotOf(1)), 11n)
  machine.setStorage(TARGET, slotOf(2), 99n)
  kill(machine)
  assert.equal(machine.getStorage(TARGET, slotOf(3)), 13n, 'it goes at the end of the transaction')
  const asked = world.slotLoads
  machine.finishTransaction()
  machine.beginTransaction(TRANSACTION)
  assert.deepEqual(values(machine), GONE)
  assert.equal(world.slotLoads, asked, 'missing means zero')
  machine.finishTransaction()
  const write = machine.writeSet().find(({ address }) => address[19] === TARGET[19])
  assert.equal(write?.after, undefined)
  assert.equal(write?.storageCleared, true)
})

test('N10: a self-destruct that is taken back leaves every slot as it was, touched and untouched', () => {
  for (const fork of [Fork.Shanghai, Fork.Prague]) {
    const { machine } = started(fork)
    machine.setStorage(TARGET, slotOf(2), 99n)
    const snapshot = machine.snapshot()
    machine.setStorage(TARGET, slotOf(1), 98n)
    kill(machine)
    machine.revert(snapshot)
    assert.deepEqual(values(machine), [11n, 99n, 13n, 14n, 0n])
    machine.finishTransaction()
    machine.beginTransaction(TRANSACTION)
    assert.deepEqual(values(machine), [11n, 99n, 13n, 14n, 0n], 'nor at the end')
  }
})

test('N10: a contract made again in the same block has none of its old slots, and keeps its new ones', () => {
  const { machine, world } = started(Fork.Shanghai)
  kill(machine)
  machine.finishTransaction()
  machine.beginTransaction(TRANSACTION)
  machine.setNonce(TARGET, 1n)
  machine.setCode(TARGET, MORTAL)
  machine.setStorage(TARGET, slotOf(2), 7n)
  const snapshot = machine.snapshot()
  machine.setStorage(TARGET, slotOf(3), 8n)
  machine.revert(snapshot)
  assert.deepEqual(values(machine), [0n, 7n, 0n, 0n, 0n])
  machine.finishTransaction()
  const writes = machine.writeSet()
  const write = writes.find(({ address }) => address[19] === TARGET[19])!
  assert.equal(write.storageCleared, true)
  assert.deepEqual(
    write.slots.map(({ slot, after }) => [slot[31], after]),
    [[2, 7n]],
  )
  world.apply(writes)
  const next = new Machine()
  next.beginBlock(blockOf(Fork.Shanghai), world)
  next.beginTransaction(TRANSACTION)
  assert.deepEqual(values(next), [0n, 7n, 0n, 0n, 0n])
})

test('N10: from Cancun on only a contract of the same transaction goes (EIP-6780)', () => {
  const { machine } = started(Fork.Cancun)
  kill(machine)
  machine.finishTransaction()
  machine.beginTransaction(TRANSACTION)
  assert.deepEqual(values(machine), WHOLE)
  const initCode = assemble('7 1 SSTORE 0x99 SELFDESTRUCT')
  const { created } = machine.create({ caller: SENDER, initCode, value: 0n, gas: 100_000n })
  assert.equal(machine.getStorage(created!, slotOf(1)), 7n)
  machine.finishTransaction()
  machine.beginTransaction(TRANSACTION)
  assert.equal(machine.getStorage(created!, slotOf(1)), 0n)
  assert(!machine.exists(created!))
})

test('N10: random lives and deaths in a block give the model’s storage, over the old state as well', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Prng(seed)
    const { machine, world } = started(Fork.Shanghai)
    let now: Map<bigint, bigint> = new Map(STORAGE)
    let isAlive = true
    for (let transaction = 0; transaction < 8; transaction++) {
      const where = `seed ${seed}, transaction ${transaction}`
      if (!isAlive && random.oneIn(2)) {
        machine.setNonce(TARGET, 1n)
        machine.setCode(TARGET, MORTAL)
        isAlive = true
      }
      const change = (): void => {
        const slot = BigInt(random.between(1, 5))
        const value = BigInt(random.below(3))
        machine.setStorage(TARGET, slotOf(slot), value)
        now.set(slot, value)
      }
      if (isAlive && random.oneIn(2)) change()
      const before = new Map(now)
      const snapshot = machine.snapshot()
      if (isAlive && random.oneIn(2)) change()
      const dies = isAlive && random.oneIn(2)
      if (dies) kill(machine)
      const isTakenBack = random.oneIn(3)
      if (isTakenBack) {
        machine.revert(snapshot)
        now = before
      }
      if (random.oneIn(3)) machine.getStorage(TARGET, slotOf(random.between(1, 5)))
      machine.finishTransaction()
      machine.beginTransaction(TRANSACTION)
      if (dies && !isTakenBack) {
        isAlive = false
        now = new Map()
      }
      const expected = [1n, 2n, 3n, 4n, 5n].map((slot) => now.get(slot) ?? 0n)
      if (random.oneIn(2)) assert.deepEqual(values(machine), expected, where)
    }
    machine.finishTransaction()
    world.apply(machine.writeSet())
    const stored = [1n, 2n, 3n, 4n, 5n].map(
      (slot) => world.accounts.get(toBareHex(TARGET))?.storage.get(slot) ?? 0n,
    )
    assert.deepEqual(
      stored,
      [1n, 2n, 3n, 4n, 5n].map((slot) => now.get(slot) ?? 0n),
      `seed ${seed}`,
    )
  }
})
