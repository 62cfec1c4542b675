/**
 * Aim: what an observer is told is true, adds up, and changes nothing. Method: random chains with creations, destructions
 * and reorganisations, with stages on this thread and on others, beside an engine that nobody watches; sums against
 * totals that were counted another way; one contract made hot on purpose.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { bigintToBytes, Fork, toHex } from '../../base/index.ts'
import { type Genesis, parseGenesisJson, singleForkSpec } from '../../chain/index.ts'
import { SenderRecovery, sealTransaction } from '../../codec/index.ts'
import { executeBlock } from '../../execute/index.ts'
import { memoryStore, openLmdbStore, type Store } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { type EngineOptions, openEngine } from '../engine.ts'
import { addressOf, dumpStore } from '../testChain.suite.ts'
import { makeTree, type TestTree } from '../tree/treeChain.suite.ts'
import type { BlockCosts, KeyCost } from './blockCosts.ts'
import type { BlockReport, WriteReport } from './observer.ts'

type Told = {
  readonly blocks: BlockReport[]
  readonly costs: BlockCosts[]
  readonly writes: WriteReport[]
}

function watching(wantsCosts = true): {
  told: Told
  observer: NonNullable<EngineOptions['observer']>
} {
  const told: Told = { blocks: [], costs: [], writes: [] }
  const observer = {
    wantsCosts,
    onBlock: (report: BlockReport) => {
      told.blocks.push(report)
      if (wantsCosts) told.costs.push(report.costs())
    },
    onWrite: (report: WriteReport) => told.writes.push(report),
  }
  return { told, observer }
}

const COUNTS = ['reads', 'writes', 'nodesRead', 'nodesMade', 'gas', 'operations'] as const
const TIMES = ['readMs', 'ms'] as const

/** Every sum over the accounts, and what no account stands for, is the total. */
function checkSums({ total, accounts, others }: BlockCosts, what: string): void {
  for (const name of COUNTS) {
    const sum = [...accounts, others].reduce((value, cost) => value + BigInt(cost[name]), 0n)
    assert.equal(sum, BigInt(total[name]), `${what}: ${name}`)
  }
  for (const name of TIMES) {
    const sum = [...accounts, others].reduce((value, cost) => value + cost[name], 0)
    assert.ok(Math.abs(sum - total[name]) < 1e-6, `${what}: ${name}: ${sum} of ${total[name]}`)
  }
}

/** No slot has more than its account. */
function checkSlots({ accounts, slots }: BlockCosts): void {
  const of = new Map(accounts.map((each) => [toHex(each.addressHash), each]))
  const sums = new Map<KeyCost, { reads: number; nodesMade: number }>()
  for (const { addressHash, reads, nodesMade } of slots) {
    const account = of.get(toHex(addressHash))!
    const sum = sums.get(account) ?? { reads: 0, nodesMade: 0 }
    sums.set(account, { reads: sum.reads + reads, nodesMade: sum.nodesMade + nodesMade })
  }
  for (const [account, { reads, nodesMade }] of sums) {
    assert.ok(reads <= account.reads)
    assert.ok(nodesMade <= account.nodesMade)
  }
}

async function importAll(
  { genesis, blocks }: TestTree,
  options: Partial<EngineOptions> & { readonly store: Store },
  way: 'inline' | 'pipeline' | 'threads',
): Promise<void> {
  const engine = await openEngine({ genesis, batchBlockCount: 3, ...options })
  const pipeline =
    way === 'inline'
      ? undefined
      : engine.pipeline({ isThreaded: way === 'threads', inlineBlocksAfterSwitch: 1 })
  for (const { block, copy } of blocks) {
    if (copy === undefined) continue
    if (pipeline === undefined) engine.import(block)
    else await pipeline.push(block)
  }
  if (pipeline === undefined) engine.flush()
  else await pipeline.close()
}

function withFolder<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'varve-watch-'))
  const store = openLmdbStore(folder, { sync: 'os' })
  return work(store).finally(() => {
    store.close()
    rmSync(folder, { recursive: true })
  })
}

test('X16: attribution adds up to the totals, on every way in, and nothing else changes by it', async () => {
  for (const [seed, fork, spread] of [
    [1, Fork.London, 1],
    [2, Fork.London, 4],
    [3, Fork.Cancun, 3],
    [4, Fork.Frontier, 1],
  ] as const) {
    const tree = await makeTree(new Prng(seed), { fork, blockCount: 14, spread, withCopies: true })
    const plain = memoryStore()
    await importAll(tree, { store: plain }, 'inline')
    for (const way of ['inline', 'pipeline', 'threads'] as const)
      await withFolder(async (folderStore) => {
        const store = way === 'threads' ? folderStore : memoryStore()
        const { told, observer } = watching()
        await importAll(tree, { store, observer }, way)
        assert.equal(dumpStore(store), dumpStore(plain), `seed ${seed}, ${way}`)
        assert.equal(told.blocks.length, tree.blocks.filter(({ copy }) => copy).length)
        told.costs.forEach((costs, index) => {
          const { block, totalMs, phases, acceptMs } = told.blocks[index]!
          checkSums(costs, `seed ${seed}, ${way}, block ${block.header.number}`)
          checkSlots(costs)
          assert.equal(costs.total.gas, block.header.gasUsed)
          const { validate, senders, execute, root, journal } = phases
          const sum = validate + senders + execute + root + journal + acceptMs
          assert.ok(Math.abs(sum - totalMs) < 1e-6)
          assert.ok(root > 0 || fork === Fork.Frontier)
        })
        const written = told.writes.reduce((sum, { blockCount }) => sum + blockCount, 0)
        assert.ok(written >= told.blocks.length, `seed ${seed}, ${way}: ${written} blocks written`)
        assert.ok(told.writes.every(({ bytes, storeMs }) => bytes > 0 && storeMs > 0))
      })
  }
})

test('reads and made nodes are those that others count', async () => {
  const tree = await makeTree(new Prng(7), {
    ...{ fork: Fork.Cancun, blockCount: 30, spread: 1, withCopies: true },
  })
  const asked = { accounts: 0, slots: 0, codes: 0 }
  const { told, observer } = watching()
  const engine = await openEngine({
    store: memoryStore(),
    genesis: tree.genesis,
    observer,
    blockExecutor: (block, context) => {
      const { view } = context
      return executeBlock(block, {
        ...context,
        view: {
          account: (hash) => {
            asked.accounts++
            return view.account(hash)
          },
          storage: (hash, slot) => {
            asked.slots++
            return view.storage(hash, slot)
          },
          code: (hash) => {
            asked.codes++
            return view.code(hash)
          },
          hasStorage: (hash) => view.hasStorage(hash),
        },
      })
    },
  })
  engine.flush()
  let sameCount = 0
  for (const { block, copy } of tree.blocks) {
    if (copy === undefined) continue
    const before = { ...asked }
    engine.import(block)
    const { status, reads, trie } = told.blocks.at(-1)!
    assert.deepEqual(
      { accounts: reads.accounts, slots: reads.slots, codes: reads.codes },
      {
        accounts: asked.accounts - before.accounts,
        slots: asked.slots - before.slots,
        codes: asked.codes - before.codes,
      },
    )
    engine.flush()
    // A side block's nodes are not written.
    if (status !== 'head') continue
    const { nodesWritten } = told.writes.at(-1)!
    assert.deepEqual(trie.nodesMade, nodesWritten, `block ${block.header.number}`)
    sameCount++
  }
  assert.ok(sameCount > 5, `${sameCount} blocks on the head`)
})

const recovery = await SenderRecovery.open()
const R = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n
const HOT = addressOf(0xee)
/** Reads and sets slots 1 to 60, and reads slot 1 each time. */
const HOT_CODE = '603c' + '5b' + '80548155' + '60015450' + '6001900380' + '600257' + '00'

function call(mark: number, to: Uint8Array) {
  return sealTransaction({
    ...{ type: 0, chainId: undefined, nonce: 0n, gasPrice: 2_000_000_000n, gasLimit: 3_000_000n },
    ...{ to, value: 1n, data: new Uint8Array(0), yParity: 0, r: R, s: 1n + BigInt(mark) },
  })
}

function hotGenesis(transactions: readonly ReturnType<typeof call>[]): Genesis {
  // Sets each slot to one more, so that all of them change.
  const storage = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [
      `0x${(index + 1).toString(16).padStart(2, '0')}`,
      '0x05',
    ]),
  )
  const alloc: Record<string, unknown> = {
    [toHex(HOT)]: { balance: '0x0', code: `0x${HOT_CODE}`, storage },
  }
  for (const transaction of transactions)
    alloc[toHex(recovery.recoverSender(transaction))] = { balance: '0xde0b6b3a7640000' }
  const file = { config: { chainId: 1 }, difficulty: '0x0', gasLimit: '0x1c9c380', alloc }
  return { ...parseGenesisJson(JSON.stringify(file)), spec: singleForkSpec(Fork.Cancun) }
}

test('X16: a contract that was made hot is ranked first, and its hottest slot among the slots', async () => {
  const transactions = Array.from({ length: 12 }, (_, index) =>
    call(index, index === 5 ? HOT : addressOf(0x20 + index)),
  )
  const genesis = hotGenesis(transactions)
  for (const isPipelined of [false, true]) {
    const { told, observer } = watching()
    const engine = await openEngine({ store: memoryStore(), genesis, observer })
    const choices = { coinbase: addressOf(9), timestamp: 10n, transactions }
    if (isPipelined) {
      const pipeline = engine.pipeline()
      await pipeline.produce(choices)
      await pipeline.close()
    } else engine.produce(choices)
    const [costs] = told.costs
    const [first, second] = costs!.accounts
    assert.equal(costs!.isReplayed, true)
    assert.equal(toHex(first!.address!), toHex(HOT))
    assert.ok(first!.gas > 100_000n)
    assert.ok(first!.ms > 2 * second!.ms, `${first!.ms} ms, ${second!.ms} ms`)
    assert.equal(costs!.slots.length, 60)
    const busiest = costs!.slots.reduce((a, b) => (a.operations >= b.operations ? a : b))
    assert.deepEqual(busiest.slot, bigintToBytes(1n, 32))
    assert.equal(busiest.operations, 62)
    assert.ok(costs!.slots.every(({ address }) => toHex(address!) === toHex(HOT)))
  }
})

test('where the state before a block is gone at once, costs add up all the same', async () => {
  const tree = await makeTree(new Prng(11), {
    ...{ fork: Fork.London, blockCount: 10, spread: 1, withCopies: true },
  })
  for (const way of ['inline', 'pipeline'] as const) {
    const { told, observer } = watching()
    await importAll(tree, { store: memoryStore(), observer, historyBlocks: 0 }, way)
    assert.ok(told.costs.length >= 9)
    told.costs.forEach((costs, index) => {
      checkSums(costs, `${way}, block ${index}`)
      assert.equal(costs.isReplayed, false)
      assert.equal(costs.total.gas, told.blocks[index]!.block.header.gasUsed)
    })
  }
})

test('without costs nothing is told by key, and without an observer nothing is told', async () => {
  const tree = await makeTree(new Prng(9), {
    ...{ fork: Fork.London, blockCount: 8, spread: 1, withCopies: true },
  })
  const { told, observer } = watching(false)
  await importAll(tree, { store: memoryStore(), observer }, 'pipeline')
  for (const { trie, reads } of told.blocks) {
    assert.equal(trie.rows.length, 0)
    assert.ok(reads.accounts > 0)
  }
})
