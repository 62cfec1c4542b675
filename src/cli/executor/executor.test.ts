/**
 * Aim: the benchmark's database is whole, each kind of transaction does what its name says, and the ways to run give the
 * same states. Method: small databases in memory; states looked at through the engine; what was sent is counted.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { bigintFromBytes, bytesCompare, isVarveError, toHex } from '../../base/index.ts'
import { SenderRecovery, sealTransaction, signingHash } from '../../codec/index.ts'
import { openEngine, verifyStore } from '../../engine/index.ts'
import { openLmdbStore, type Store } from '../../store/index.ts'
import { AccountBook, contractAddress, decodeCounts } from './accountBook.ts'
import { holdingSlot } from './contracts.ts'
import { hashAt, hashOrderOf } from './hashOrder.ts'
import { TRANSACTION_KINDS, type TransactionKind } from './kinds.ts'
import { latencyOf } from './report.ts'
import type { RunOptions } from './runExecutor.ts'
import { signForBenchmark } from './signer.ts'
import { BLOCK_SIZE, BLOCKS, COUNTS, database, fill, run } from './testRun.suite.ts'
import { Workload } from './workload.ts'

async function slotOf(
  store: Store,
  contract: Parameters<typeof contractAddress>[0],
  slot: Uint8Array,
) {
  const engine = await openEngine({ store })
  return bigintFromBytes(engine.at('latest').storage(contractAddress(contract), slot))
}

function differences(store: Store): unknown[] {
  const progress = { blockCount: 0, accountCount: 0, slotCount: 0, nodeCount: 0 }
  return [...verifyStore(store, progress)]
}

test('hashes are sorted as bytes are', () => {
  const order = hashOrderOf(3000, (index) => Uint8Array.of(index >> 8, index & 255))
  assert.equal(new Set(order.order).size, 3000)
  for (let at = 1; at < 3000; at++)
    assert.ok(
      bytesCompare(hashAt(order, order.order[at - 1]!), hashAt(order, order.order[at]!)) < 0,
    )
})

test('a benchmark signature is one of its key’s address', async () => {
  const recovery = await SenderRecovery.open()
  const book = new AccountBook(COUNTS)
  for (let index = 0; index < COUNTS.signers; index++) {
    const fields = {
      ...{ type: 2 as const, chainId: 5n, nonce: BigInt(index), gasLimit: 21_000n },
      ...{ maxFeePerGas: 9n, maxPriorityFeePerGas: 1n, accessList: [], value: 1n },
      ...{ to: book.address(index), data: new Uint8Array(0) },
    }
    const signature = signForBenchmark(signingHash(fields), book.privateKey(index))
    const sender = recovery.recoverSender(sealTransaction({ ...fields, ...signature }))
    assert.equal(toHex(sender), toHex(book.address(index)))
  }
})

test('every kind runs without a failure, and leaves a database that is whole', async () => {
  for (const kind of TRANSACTION_KINDS) {
    const store = database()
    assert.deepEqual(differences(store), [])
    const report = await run(store, [kind])
    assert.equal(report.transactions, BLOCKS * BLOCK_SIZE)
    assert.equal(report.roots.length, BLOCKS)
    assert.ok(report.noncesVerified! > 0, kind)
    assert.deepEqual(differences(store), [], kind)
  }
})

test('the counter counts, tokens move and none is lost, the pool keeps its product', async () => {
  const book = new AccountBook(COUNTS)
  const zero = new Uint8Array(32)
  const sent = BigInt(BLOCKS * BLOCK_SIZE)
  const counter = database()
  await run(counter, ['hot-slot'])
  assert.equal(await slotOf(counter, 'counter', zero), sent)

  const token = database()
  await run(token, ['erc20-transfer'])
  let total = 0n
  let changedCount = 0
  for (let index = 0; index < COUNTS.accounts; index++) {
    const has = await slotOf(token, 'token', holdingSlot(book.address(index), 0n))
    const had = index < COUNTS.signers ? 10n ** 24n : 0n
    total += has - had
    if (has !== had) changedCount++
  }
  assert.equal(total, 0n)
  assert.ok(changedCount > 40, 'tokens have moved')

  const pool = database()
  await run(pool, ['amm-swap'])
  for (const own of [0n, 1n]) {
    let held = await slotOf(
      pool,
      'amm',
      Uint8Array.from({ length: 32 }, (_, at) => (at === 31 ? Number(own) : 0)),
    )
    assert.notEqual(held, 10n ** 27n)
    for (let index = 0; index < COUNTS.signers; index++)
      held += await slotOf(pool, 'amm', holdingSlot(book.address(index), own))
    assert.equal(held, 10n ** 27n + BigInt(COUNTS.signers) * 10n ** 24n)
  }
})

test('native or EVM, recovered or known, at once or ahead: the same states', async () => {
  const kinds: TransactionKind[] = ['native-transfer', 'account-generation', 'erc20-transfer']
  const expected = await run(database(), kinds)
  const changes: Partial<RunOptions>[] = [
    { executor: 'native' },
    { recoverSenders: true },
    { generateThenExecute: true, executor: 'native' },
    { splitStages: true, recoverSenders: true },
    { isPipelined: true },
  ]
  for (const change of changes) {
    const { roots, gas } = await run(database(), kinds, change)
    assert.deepEqual(roots, expected.roots)
    assert.equal(gas, expected.gas)
  }
  const other = await run(database(), kinds, { seed: 8 })
  assert.notDeepEqual(other.roots, expected.roots)
})

test('connected groups: each group has one middle, whatever the order; all succeed', async () => {
  const groups = { connectedGroupCount: 4 }
  const inTurn = await run(database(), ['native-transfer'], groups)
  const native = await run(database(), ['native-transfer'], { ...groups, executor: 'native' })
  assert.deepEqual(native.roots, inTurn.roots)
  const shuffled = await run(database(), ['native-transfer'], { ...groups, shuffleConnected: true })
  assert.equal(shuffled.transactions, inTurn.transactions)
  const workload = new Workload({
    ...{ ...groups, book: new AccountBook(COUNTS), chainId: 1n, blockSize: 200, seed: 3, run: 0 },
    ...{ transactionsPerSender: 1, mainSignerCount: 40, additionalDestinationCount: 0 },
    ...{ kinds: [{ kind: 'native-transfer', weight: 1 }], hotspotProbability: 0.5 },
    ...{ shuffleConnected: true, moduleWorkingSet: 1, isSigned: false, nonceOf: () => 0n },
  })
  const book = new AccountBook(COUNTS)
  const middles = new Set([0, 10, 20, 30].map((index) => toHex(book.address(index))))
  const { transactions, senders } = workload.next()
  for (const [index, { to }] of transactions.entries()) {
    const ends = [toHex(senders[index]!), toHex(to!)]
    assert.equal(ends.filter((address) => middles.has(address)).length, 1)
  }
})

test('a run goes on where the last one ended; a failure ends it with a code', async () => {
  const store = database()
  await run(store, ['account-generation'])
  await run(store, ['account-generation'], { executor: 'native' })
  assert.equal((await openEngine({ store })).head.header.number, 2 * BLOCKS)
  await assert.rejects(run(store, ['no-op'], { executor: 'native' }), (error) =>
    isVarveError(error, 'EXECUTOR_NOT_NATIVE'),
  )
  // Senders without tokens.
  const poor = { mainSignersOf: () => 100, additionalDestinationCount: 0, transactionsPerSender: 1 }
  await assert.rejects(run(database(), ['erc20-transfer'], { ...poor, blockSize: 100 }), (error) =>
    isVarveError(error, 'EXECUTOR_TRANSACTION_FAILED'),
  )
  assert.throws(
    () => decodeCounts(new Uint8Array(24)),
    (error) => isVarveError(error, 'EXECUTOR_DATABASE_OTHER'),
  )
})

test('a run that fails ends the threads of its pipeline', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-executor-'))
  const store = fill(openLmdbStore(folder, { sync: 'os' }))
  const before = workerCount()
  const kinds: TransactionKind[] = ['native-transfer']
  await run(store, kinds, { isPipelined: true })
  assert.equal(workerCount(), before)
  // Senders without tokens.
  const poor = { mainSignersOf: () => 100, additionalDestinationCount: 0, transactionsPerSender: 1 }
  const change = { ...poor, blockSize: 100, isPipelined: true }
  await assert.rejects(run(store, ['erc20-transfer'], change), (error) =>
    isVarveError(error, 'EXECUTOR_TRANSACTION_FAILED'),
  )
  assert.equal(workerCount(), before)
  store.close()
  rmSync(folder, { recursive: true })
})

/** Threads that keep this process alive. */
function workerCount(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length
}

test('percentiles are those of the nearest rank', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index)
  assert.deepEqual(latencyOf(values), { p50: 50, p90: 90, p99: 99, max: 100 })
  assert.deepEqual(latencyOf([3]), { p50: 3, p90: 3, p99: 3, max: 3 })
})
