/**
 * Aim: state after any nesting of snapshots and reverts is what a stack of maps gives, and the original value of a
 * slot holds through its transaction (N6). Method: random operations against a naive model, then deep nesting.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bigintToBytes, Fork } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { Machine, type Snapshot } from './machine.ts'
import { addressOf, assemble, blockOf, runCode, SENDER, World } from './testWorld.suite.ts'

type ModelAccount = { nonce: bigint; balance: bigint; code: string; storage: Map<number, bigint> }
type Model = Map<number, ModelAccount>

const ACCOUNT_COUNT = 5
const SLOT_COUNT = 6

function copyModel(model: Model): Model {
  return new Map(
    [...model].map(([key, account]) => [key, { ...account, storage: new Map(account.storage) }]),
  )
}

function accountOf(model: Model, index: number): ModelAccount {
  let account = model.get(index)
  if (account === undefined) {
    account = { nonce: 0n, balance: 0n, code: '', storage: new Map() }
    model.set(index, account)
  }
  return account
}

const slotKey = (slot: number): Uint8Array => bigintToBytes(BigInt(slot) << 200n, 32)

function change(random: Prng, machine: Machine, model: Model): void {
  const index = random.below(ACCOUNT_COUNT)
  const address = addressOf(index + 100)
  const account = accountOf(model, index)
  const amount = random.bigint(100)
  switch (random.below(5)) {
    case 0:
      machine.addBalance(address, amount)
      account.balance += amount
      return
    case 1: {
      const part = account.balance === 0n ? 0n : amount % (account.balance + 1n)
      machine.subtractBalance(address, part)
      account.balance -= part
      return
    }
    case 2:
      machine.setNonce(address, account.nonce + 1n)
      account.nonce++
      return
    case 3: {
      const code = random.bytes(random.below(4))
      machine.setCode(address, code)
      account.code = String(code)
      return
    }
    default: {
      const slot = random.below(SLOT_COUNT)
      const value = random.oneIn(3) ? 0n : amount
      machine.setStorage(address, slotKey(slot), value)
      account.storage.set(slot, value)
    }
  }
}

function compare(machine: Machine, model: Model, where: string): void {
  for (let index = 0; index < ACCOUNT_COUNT; index++) {
    const address = addressOf(index + 100)
    const account = accountOf(model, index)
    assert.equal(machine.getBalance(address), account.balance, where)
    assert.equal(machine.getNonce(address), account.nonce, where)
    assert.equal(String(machine.getCode(address)), account.code, where)
    assert.equal(machine.getCodeSize(address), machine.getCode(address).length, where)
    for (let slot = 0; slot < SLOT_COUNT; slot++)
      assert.equal(
        machine.getStorage(address, slotKey(slot)),
        account.storage.get(slot) ?? 0n,
        where,
      )
  }
}

function started(fork: Fork): Machine {
  const machine = new Machine()
  machine.beginBlock(blockOf(fork), new World())
  machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
  return machine
}

test('N6: random changes, snapshots and reverts follow a stack of maps', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = new Prng(seed)
    const machine = started(Fork.Homestead)
    let model: Model = new Map()
    const stack: { snapshot: Snapshot; model: Model }[] = []
    for (let step = 0; step < 500; step++) {
      const roll = random.below(10)
      if (roll < 2) stack.push({ snapshot: machine.snapshot(), model: copyModel(model) })
      else if (roll === 2 && stack.length > 0) {
        const keep = random.below(stack.length)
        model = stack[keep]!.model
        machine.revert(stack[keep]!.snapshot)
        stack.length = keep
      } else if (roll === 3 && random.oneIn(4)) {
        // A transaction ends: what it did stays, and can no longer be undone.
        machine.finishTransaction()
        machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
        stack.length = 0
      } else change(random, machine, model)
      if (step % 10 === 0) compare(machine, model, `seed ${seed}, step ${step}`)
    }
    compare(machine, model, `seed ${seed}, end`)
  }
})

test('N6: 1,024 nested snapshots unwind one by one', () => {
  const random = new Prng(5)
  const machine = started(Fork.Homestead)
  let model: Model = new Map()
  const stack: { snapshot: Snapshot; model: Model }[] = []
  for (let depth = 0; depth < 1024; depth++) {
    stack.push({ snapshot: machine.snapshot(), model: copyModel(model) })
    change(random, machine, model)
  }
  for (const { snapshot, model: before } of stack.reverse()) {
    machine.revert(snapshot)
    model = before
    assert.equal(machine.snapshot(), snapshot, 'the journal is as long as it was')
    compare(machine, model, 'unwinding')
  }
})

test('an error of the host undoes the message, and the machine goes on', () => {
  const world = new World()
  world.put(SENDER, { nonce: 1n, balance: 100n })
  const target = addressOf(0x77)
  // SSTORE, then SLOAD of a slot the host cannot give, two frames deep.
  world.put(target, { code: Uint8Array.from([0x60, 1, 0x60, 1, 0x55, 0x60, 66, 0x54]) })
  const machine = new Machine()
  const failing = Object.assign(Object.create(world) as World, {
    openStorage: () => (slot: Uint8Array) => {
      if (slot[31] === 66) throw new Error('no such slot')
      return undefined
    },
  })
  machine.beginBlock(blockOf(Fork.Prague), failing)
  machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
  const message = { caller: SENDER, target, input: new Uint8Array(0), value: 5n, gas: 100_000n }
  const snapshot = machine.snapshot()
  assert.throws(() => machine.call(message), /no such slot/)
  assert.equal(machine.getBalance(SENDER), 100n)
  assert.equal(machine.getStorage(target, bigintToBytes(1n, 32)), 0n)
  assert.equal(machine.snapshot(), snapshot, 'the journal is as long as it was')
  assert.equal(machine.call({ ...message, target: addressOf(0x78) }).status, 0)
  assert.equal(machine.getBalance(SENDER), 95n)
})

test('warming an address or a slot does not ask the host, the first use does', () => {
  const asked: string[] = []
  const world = new World()
  const address = addressOf(0x55)
  world.put(address, { nonce: 1n, balance: 3n, storage: new Map([[1n, 9n]]) })
  const watched = Object.assign(Object.create(world) as World, {
    loadAccount(account: Uint8Array) {
      asked.push('account')
      return world.loadAccount(account)
    },
    openStorage(account: Uint8Array) {
      asked.push('storage')
      const read = world.openStorage(account)
      return (slot: Uint8Array) => {
        asked.push('slot')
        return read?.(slot)
      }
    },
  })
  const machine = new Machine()
  // A block before leaves values in the records that the next one takes over.
  runCode(assemble('7 1 SSTORE 8 2 SSTORE'), { machine })
  machine.beginBlock(blockOf(Fork.Prague), watched)
  machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
  machine.warmAddress(address)
  machine.warmSlot(address, bigintToBytes(1n, 32))
  assert.deepEqual(asked, [])
  assert.deepEqual(machine.writeSet(), [])
  assert.equal(machine.getStorage(address, bigintToBytes(1n, 32)), 9n)
  assert.equal(machine.getBalance(address), 3n)
  assert.equal(machine.getBalance(address), 3n)
  assert.deepEqual(asked, ['account', 'storage', 'slot'])
})

test('storage is opened once a block, and only where there may be slots', () => {
  const world = new World()
  const [full, empty, missing] = [addressOf(0x55), addressOf(0x56), addressOf(0x57)]
  world.put(full, { nonce: 1n, storage: new Map([[1n, 9n]]) })
  world.put(empty, { nonce: 1n })
  const machine = new Machine()
  const slots = (address: Uint8Array): bigint[] =>
    [0, 1, 2].map((slot) => machine.getStorage(address, bigintToBytes(BigInt(slot), 32)))
  for (let block = 0; block < 2; block++) {
    world.storageOpenings = 0
    world.slotLoads = 0
    machine.beginBlock(blockOf(Fork.Prague), world)
    machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
    assert.deepEqual(slots(full), [0n, 9n, 0n])
    assert.deepEqual([world.storageOpenings, world.slotLoads], [1, 3])
    assert.deepEqual(slots(empty), [0n, 0n, 0n])
    assert.deepEqual([world.storageOpenings, world.slotLoads], [2, 3])
    assert.deepEqual(slots(missing), [0n, 0n, 0n])
    const snapshot = machine.snapshot()
    machine.addBalance(missing, 1n)
    machine.setStorage(missing, bigintToBytes(1n, 32), 5n)
    machine.revert(snapshot)
    assert.deepEqual(slots(missing), [0n, 0n, 0n])
    assert.deepEqual([world.storageOpenings, world.slotLoads], [2, 3], 'no account, no question')
  }
})

test('a host that could not open a storage is asked again', () => {
  const world = new World()
  const address = addressOf(0x55)
  world.put(address, { nonce: 1n, storage: new Map([[1n, 9n]]) })
  let failures = 1
  const failing = Object.assign(Object.create(world) as World, {
    openStorage(account: Uint8Array) {
      if (failures-- > 0) throw new Error('not now')
      return world.openStorage(account)
    },
  })
  const machine = new Machine()
  machine.beginBlock(blockOf(Fork.Prague), failing)
  machine.beginTransaction({ origin: SENDER, gasPrice: 1n })
  assert.throws(() => machine.getStorage(address, bigintToBytes(1n, 32)), /not now/)
  assert.equal(machine.getStorage(address, bigintToBytes(1n, 32)), 9n)
})

test('a call that cannot pay for a cold account does not read it', () => {
  const world = new World()
  const asked = new Set<string>()
  const watched = Object.assign(Object.create(world) as World, {
    loadAccount(account: Uint8Array) {
      asked.add(String(account.at(-1)))
      return world.loadAccount(account)
    },
  })
  runCode(assemble('0x66 BALANCE'), { world: watched, gas: 1000n })
  assert.ok(!asked.has(String(0x66)))
  runCode(assemble('0x66 BALANCE'), { world: watched })
  assert.ok(asked.has(String(0x66)))
})
