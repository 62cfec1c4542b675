/**
 * Aim: branches say what a chain with their blocks would say, at no cost to the chain. Method: random trees of blocks
 * (`branch.fuzz.ts`), and by hand: very many at once, limits of memory, blocks that are imported afterwards, eras of
 * receipts, a chain that writes behind.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, toHex } from '../../base/index.ts'
import { parseGenesisJson, singleForkSpec } from '../../chain/index.ts'
import { type Block, SenderRecovery, sealTransaction, type Transaction } from '../../codec/index.ts'
import { memoryStore } from '../../store/index.ts'
import { type Engine, openEngine } from '../engine.ts'
import { addressOf } from '../testChain.suite.ts'
import { treeGenesis } from '../tree/treeChain.suite.ts'
import { fuzzBranches } from './branch.fuzz.ts'
import type { Branch } from './branch.ts'

const recovery = await SenderRecovery.open()
/** Abscissa of the curve's generator: with it any s and hash make a signature of somebody. */
const R = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n
/** One of the senders of `treeGenesis`. */
const SENDER = recovery.recoverSender(signed(1n))

test('branches make the blocks of random trees again, hash by hash, while the chain moves', async () => {
  for (let seed = 1; seed <= 4; seed++) await fuzzBranches(seed, 120)
})

/** The transaction is SENDER's by being told so: branches take senders as given. */
function transfer(nonce: bigint, to: Uint8Array, value: bigint): Transaction {
  return sealTransaction({
    ...{ type: 0, chainId: undefined, nonce, gasPrice: 20_000_000_000n, gasLimit: 21_000n },
    ...{ to, value, data: new Uint8Array(0), yParity: 0, r: R, s: 1n },
  })
}

/** One that a sender of `treeGenesis` has really signed: 1, 11, 21 … are plain transfers. */
function signed(s: bigint): Transaction {
  return sealTransaction({
    ...{ type: 0, chainId: undefined, nonce: 0n, gasPrice: 20_000_000_000n, gasLimit: 200_000n },
    ...{ to: addressOf(0x40 + (Number(s - 1n) % 7)), value: (s - 1n) % 3n },
    ...{ data: new Uint8Array(0), yParity: 0, r: R, s },
  })
}

function pay(branch: Branch, nonce: bigint, to: Uint8Array, value: bigint): void {
  branch.execute(transfer(nonce, to, value), { senders: [SENDER] })
}

function addressAt(index: number): Uint8Array {
  const address = addressOf(0x99)
  new DataView(address.buffer).setUint32(0, index)
  return address
}

async function opened(fork: Fork = Fork.Shanghai): Promise<Engine> {
  return openEngine({ store: memoryStore(), genesis: treeGenesis(fork), historyBlocks: 4 })
}

test('ten thousand live branches: each its own, a chunk or two each, all given back', async () => {
  const engine = await opened()
  const view = engine.at('latest')
  const branches = Array.from({ length: 10_000 }, () => view.fork())
  assert.deepEqual(engine.branches, { count: 10_000, bytes: 0 })
  for (const [index, branch] of branches.entries())
    pay(branch, 0n, addressAt(index), BigInt(index + 1))
  // Payer, payee, coinbase.
  assert.ok(engine.branches.bytes <= 10_000 * 2048, `${engine.branches.bytes} bytes`)
  for (let index = 0; index < branches.length; index += 7) {
    const branch = branches[index]!
    assert.equal(branch.account(addressAt(index))?.balance, BigInt(index + 1))
    assert.equal(branch.account(addressAt((index + 1) % 10_000)), undefined)
    assert.equal(branch.diff().accounts.length, 3)
  }
  const roots = branches.slice(0, 50).map((branch) => toHex(branch.root()))
  assert.equal(new Set(roots).size, 50)
  assert.equal(toHex(view.root()), toHex(engine.head.header.stateRoot))
  for (const branch of branches) branch.release()
  assert.deepEqual(engine.branches, { count: 0, bytes: 0 })
})

test('a fork shares what came before and nothing after; diff begins at the fork', async () => {
  const engine = await opened()
  const first = engine.at('latest').fork()
  pay(first, 0n, addressOf(0xb1), 1n)
  const second = first.fork()
  assert.equal(second.diff().accounts.length, 0)
  assert.equal(toHex(second.header().hash), toHex(first.header().hash))
  pay(first, 1n, addressOf(0xb2), 2n)
  pay(second, 1n, addressOf(0xb3), 3n)
  assert.equal(first.account(addressOf(0xb3)), undefined)
  assert.equal(second.account(addressOf(0xb2)), undefined)
  first.release()
  assert.equal(second.account(addressOf(0xb1))?.balance, 1n)
  assert.equal(second.number, 2)
  const changed = second.diff().accounts
  assert.equal(changed.length, 3)
  assert.ok(changed.every(({ before, after }) => before !== after))
  assert.equal(engine.head.header.number, 0)
  for (const ask of [() => first.root(), () => first.diff(), () => first.release()])
    assert.throws(ask, { code: 'STATE_LAYER_RELEASED' })
  assert.equal(second.isOpen, true)
  second.release()
})

for (const fork of [Fork.Frontier, Fork.Byzantium, Fork.London, Fork.Shanghai])
  test(`fork ${fork}: blocks of a branch pass an import, root and receipts included`, async () => {
    const engine = await opened(fork)
    const branch = engine.at('latest').fork()
    assert.equal(branch.block(), undefined)
    const blocks: Block[] = []
    for (const transactions of [[signed(1n)], [signed(11n), signed(21n)], []]) {
      branch.execute(transactions)
      blocks.push(branch.block()!)
    }
    for (const block of blocks) assert.equal(engine.import(block).status, 'head')
    assert.equal(toHex(engine.head.header.stateRoot), toHex(branch.root()))
    branch.release()
  })

test('BLOCKHASH knows the blocks of the branch and those of the chain', async () => {
  const contract = addressOf(0xcc)
  // Slot 0 = BLOCKHASH(NUMBER - 1), slot 1 = BLOCKHASH(NUMBER - 3).
  const code = '0x6001430340600055600343034060015500'
  const alloc = {
    [toHex(contract)]: { balance: '0x0', code },
    [toHex(SENDER)]: { balance: '0xde0b6b3a7640000' },
  }
  const file = { config: { chainId: 1 }, difficulty: '0x0', gasLimit: '0x1c9c380', alloc }
  const genesis = {
    ...parseGenesisJson(JSON.stringify(file)),
    spec: singleForkSpec(Fork.Shanghai),
  }
  const engine = await openEngine({ store: memoryStore(), genesis })
  grow(engine)
  const branch = engine.at('latest').fork()
  branch.execute([])
  const own = branch.fork()
  own.execute([])
  const call = { ...transfer(0n, contract, 0n), gasLimit: 100_000n }
  own.execute(sealTransaction(call), { senders: [SENDER] })
  const slot = (index: number) => toHex(own.storage(contract, new Uint8Array(32).fill(index, 31)))
  assert.equal(slot(0), toHex(own.block()!.header.parentHash))
  assert.equal(slot(1), toHex(engine.head.header.hash))
  branch.release()
  own.release()
})

test('a branch passes the merge at its own total difficulty', async () => {
  const zeros =
    'homestead eip150 eip155 eip158 byzantium constantinople petersburg istanbul berlin london'
  const blocks = Object.fromEntries(zeros.split(' ').map((name) => [`${name}Block`, 0]))
  const config = { chainId: 1, ...blocks, terminalTotalDifficulty: 0x20000 * 3 }
  const file = { config, difficulty: '0x20000', gasLimit: '0x1c9c380', alloc: {} }
  const genesis = parseGenesisJson(JSON.stringify(file))
  const engine = await openEngine({ store: memoryStore(), genesis })
  const branch = engine.at('latest').fork()
  const difficulties: boolean[] = []
  for (let count = 0; count < 4; count++) {
    branch.execute([])
    const block = branch.block()!
    difficulties.push(block.header.difficulty > 0n)
    engine.import(block)
  }
  assert.deepEqual(difficulties, [true, true, false, false])
  branch.release()
})

test('a chain that writes and moves on changes nothing, until the state is no longer kept', async () => {
  const engine = await opened()
  const branch = engine.at('latest').fork()
  pay(branch, 0n, addressOf(0xb1), 5n)
  const root = toHex(branch.root())
  for (let count = 0; count < 4; count++) {
    grow(engine)
    engine.flush()
    assert.equal(branch.account(addressOf(0xb1))?.balance, 5n)
    assert.equal(toHex(branch.root()), root)
    // Begun behind the head and behind the store.
    const late = engine.at(0).fork()
    assert.equal(late.account(addressOf(0xb1)), undefined)
    pay(late, 0n, addressOf(0xb1), 5n)
    assert.equal(toHex(late.root()), root)
    late.release()
  }
  pay(branch, 1n, addressOf(0xb2), 1n)
  grow(engine)
  for (const ask of [
    () => branch.root(),
    () => branch.fork(),
    () => branch.execute([]),
    () => branch.account(addressOf(0xe7)),
  ])
    assert.throws(ask, { code: 'ENGINE_STATE_NOT_KEPT' })
  branch.release()
})

test('branches stand beside an open pipeline, whose thread has the hashes', async () => {
  const engine = await opened()
  const branch = engine.at('latest').fork()
  pay(branch, 0n, addressOf(0xb1), 5n)
  const root = toHex(branch.root())
  const pipeline = engine.pipeline()
  for (let count = 0; count < 3; count++) {
    const { timestamp } = engine.head.header
    const choices = { coinbase: addressOf(0xb1), timestamp: timestamp + 12n }
    await (await pipeline.produce(choices)).accepted
    if (count === 1) await pipeline.flush()
    assert.equal(toHex(branch.root()), root)
    const newest = engine.at('latest').fork()
    pay(newest, 0n, addressOf(0xb2), 1n)
    assert.equal(newest.block()?.header.number, count + 2)
    newest.release()
  }
  await pipeline.close()
  assert.equal(toHex(branch.root()), root)
  branch.release()
})

function grow(engine: Engine): void {
  const { timestamp } = engine.head.header
  engine.produce({ coinbase: addressOf(0xb1), timestamp: timestamp + 12n })
}

test('a full share of the memory is said, changes nothing, and hinders no block', async () => {
  const memoryBytes = 64 * 2 ** 20
  const genesis = treeGenesis(Fork.Shanghai)
  const engine = await openEngine({ store: memoryStore(), genesis, memoryBytes })
  const view = engine.at('latest')
  const branches: Branch[] = []
  const fill = () => {
    for (;;) {
      const branch = view.fork()
      branches.push(branch)
      pay(branch, 0n, addressAt(branches.length), 1n)
    }
  }
  assert.throws(fill, { code: 'ARENA_CHUNKS_FULL' })
  assert.ok(engine.branches.bytes <= memoryBytes / 16)
  const last = branches.at(-1)!
  assert.equal(last.number, 0)
  assert.equal(toHex(last.root()), toHex(view.root()))
  engine.produce({ coinbase: addressOf(1), timestamp: engine.head.header.timestamp + 12n })
  branches[0]!.release()
  pay(last, 0n, addressOf(0xb1), 1n)
  for (const branch of branches.slice(1)) branch.release()
  assert.deepEqual(engine.branches, { count: 0, bytes: 0 })
})
