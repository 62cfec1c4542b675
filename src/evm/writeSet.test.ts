/**
 * Aim: what a block hands on is what differs from its start, over several transactions in one round: the value that
 * gas looks at is the transaction's, the value that is written is the block's, no-ops of either kind vanish (N10b).
 * Method: random transactions against a model of three maps: before the block, before the transaction, now.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bigintFromBytes, bigintToBytes, Fork } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { Machine } from './machine.ts'
import { addressOf, assemble, blockOf, SENDER, TARGET, World } from './testWorld.suite.ts'

const TRANSACTION = { origin: SENDER, gasPrice: 1n }
const SLOT_COUNT = 5
/** Stores the second word at the first; the gas of the store alone is what is left of the call's. */
const STORE = assemble('32 CALLDATALOAD 0 CALLDATALOAD SSTORE')
const STORE_PUSHES = 12n
const GAS = 100_000n

const slotOf = (slot: number): Uint8Array => bigintToBytes(BigInt(slot), 32)

/** Gas of one store on a slot that is cold or warm, from London on (EIP-2929, EIP-3529). */
function storeGas(original: bigint, current: bigint, value: bigint, isCold: boolean): bigint {
  const cold = isCold ? 2100n : 0n
  if (current === value || original !== current) return cold + 100n
  return cold + (original === 0n ? 20_000n : 2900n)
}

class Model {
  readonly before: Map<number, bigint>
  original: Map<number, bigint>
  now: Map<number, bigint>
  warm = new Set<number>()
  readonly used = new Set<number>()

  constructor(before: Map<number, bigint>) {
    this.before = before
    this.original = new Map(before)
    this.now = new Map(before)
  }

  value(slot: number): bigint {
    return this.now.get(slot) ?? 0n
  }

  /** The gas that a store must cost; does it. */
  store(slot: number, value: bigint): bigint {
    const original = this.original.get(slot) ?? 0n
    const gas = storeGas(original, this.value(slot), value, !this.warm.has(slot))
    this.warm.add(slot)
    this.used.add(slot)
    this.now.set(slot, value)
    return gas
  }

  nextTransaction(): void {
    this.original = new Map(this.now)
    this.warm = new Set()
  }

  /** Slots whose value differs from that before the block. */
  changed(): { slot: number; before: bigint; after: bigint }[] {
    return Array.from({ length: SLOT_COUNT }, (_, slot) => ({
      slot,
      before: this.before.get(slot) ?? 0n,
      after: this.value(slot),
    })).filter(({ before, after }) => before !== after)
  }
}

function store(machine: Machine, slot: number, value: bigint): bigint {
  const input = new Uint8Array(64)
  input.set(slotOf(slot))
  input.set(bigintToBytes(value, 32), 32)
  const { status, gasLeft } = machine.call({
    caller: SENDER,
    target: TARGET,
    input,
    value: 0n,
    gas: GAS,
  })
  assert.equal(status, 0)
  return GAS - gasLeft - STORE_PUSHES
}

test('N6 N10b: gas and writes of random transactions in one block follow the model, under nested reverts', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Prng(seed)
    const before = new Map(
      Array.from({ length: SLOT_COUNT }, (_, slot) => [slot, BigInt(random.below(3))] as const),
    )
    const world = new World()
    world.put(SENDER, { nonce: 1n, balance: 1n })
    const storage = new Map([...before].map(([slot, value]) => [BigInt(slot), value] as const))
    world.put(TARGET, { nonce: 1n, code: STORE, storage })
    const machine = new Machine()
    machine.beginBlock(blockOf(Fork.Prague), world)
    const model = new Model(before)
    for (let transaction = 0; transaction < 6; transaction++) {
      const where = `seed ${seed}, transaction ${transaction}`
      machine.beginTransaction(TRANSACTION)
      model.nextTransaction()
      const stack: {
        point: ReturnType<Machine['snapshot']>
        now: Map<number, bigint>
        warm: Set<number>
      }[] = []
      for (let step = random.below(20); step > 0; step--) {
        const slot = random.below(SLOT_COUNT)
        const roll = random.below(6)
        if (roll === 0)
          stack.push({
            point: machine.snapshot(),
            now: new Map(model.now),
            warm: new Set(model.warm),
          })
        else if (roll === 1 && stack.length > 0) {
          const keep = random.below(stack.length)
          const { point, now, warm } = stack[keep]!
          machine.revert(point)
          Object.assign(model, { now, warm })
          stack.length = keep
        } else {
          const value = BigInt(random.below(3))
          assert.equal(store(machine, slot, value), model.store(slot, value), where)
        }
      }
      machine.finishTransaction()
      const slots = machine.writeSet().flatMap((write) => write.slots)
      const found = slots.map(({ slot, before: old, after }) => ({
        slot: slot[31]!,
        before: old,
        after,
      }))
      assert.deepEqual(
        found.sort((a, b) => a.slot - b.slot),
        model.changed(),
        where,
      )
    }
    assert.equal(
      world.slotLoads,
      model.used.size,
      'each slot is read once, also where it is only written',
    )
  }
})

test('N10b: the write set drops what ends as it began', () => {
  const world = new World()
  const address = addressOf(7)
  world.put(address, { nonce: 1n, balance: 5n, storage: new Map([[1n, 9n]]) })
  const machine = new Machine()
  machine.beginBlock(blockOf(Fork.Prague), world)
  machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
  const slot = bigintToBytes(1n, 32)
  machine.setStorage(address, slot, 10n)
  machine.addBalance(address, 3n)
  machine.finishTransaction()
  machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
  machine.setStorage(address, slot, 9n)
  machine.subtractBalance(address, 3n)
  machine.finishTransaction()
  assert.deepEqual(machine.writeSet(), [])
  machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
  machine.setStorage(address, slot, 0n)
  machine.finishTransaction()
  const [write] = machine.writeSet()
  assert.deepEqual(write!.slots, [{ slot, before: 9n, after: 0n }])
})

test('N10b: a store never goes before the read of what it overwrites, also where that read fails', () => {
  const world = new World()
  world.put(SENDER, { nonce: 1n, balance: 1n })
  world.put(TARGET, { nonce: 1n, code: STORE, storage: new Map([[1n, 2n]]) })
  let failures = 1
  const failing = Object.assign(Object.create(world) as World, {
    openStorage(address: Uint8Array) {
      const read = world.openStorage(address)
      return (slot: Uint8Array) => {
        if (bigintFromBytes(slot) === 1n && failures-- > 0) throw new Error('not now')
        return read?.(slot)
      }
    },
  })
  const machine = new Machine()
  machine.beginBlock(blockOf(Fork.Prague), failing)
  machine.beginTransaction(TRANSACTION)
  assert.throws(() => store(machine, 1, 5n), /not now/)
  assert.deepEqual(machine.writeSet(), [])
  assert.equal(store(machine, 1, 5n), 5000n, 'cold still, and 2 is its original')
  machine.finishTransaction()
  const [write] = machine.writeSet()
  assert.deepEqual(write!.slots, [{ slot: slotOf(1), before: 2n, after: 5n }])
})
