/**
 * Aim (row A25): a run fails on the first transaction that is refused or fails, its report says where the time went, and
 * what it leaves out it says. Method: a fault put between workload and run; reports of runs in all ways.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { isVarveError, toHex } from '../../base/index.ts'
import { sealTransaction, type TransactionFields } from '../../codec/index.ts'
import { openEngine } from '../../engine/index.ts'
import { openLmdbStore, type Store } from '../../store/index.ts'
import { contractAddress } from './accountBook.ts'
import type { RunOptions } from './runExecutor.ts'
import { BLOCK_SIZE, BLOCKS, COUNTS, database, fill, run } from './testRun.suite.ts'
import type { WorkloadBlock } from './workload.ts'

const folder = mkdtempSync(join(tmpdir(), 'varve-strict-'))
after(() => rmSync(folder, { recursive: true }))
let storeCount = 0
const lmdb = (): Store => fill(openLmdbStore(join(folder, `${storeCount++}`), { sync: 'os' }))

/** The second block with one transaction changed. */
function faulty(change: object): (block: WorkloadBlock, index: number) => WorkloadBlock {
  return (block, index) => {
    if (index !== 1) return block
    const transactions = [...block.transactions]
    const fields = { ...transactions[3]!, ...change } as unknown as TransactionFields
    transactions[3] = sealTransaction(fields)
    return { ...block, transactions }
  }
}

const WAYS: Partial<RunOptions>[] = (['evm', 'native'] as const).flatMap((executor) =>
  [true, false].map((isPipelined) => ({ executor, isPipelined })),
)

test('A25: a wrong nonce, and whatever else is refused or fails, ends the run', async () => {
  const cases: [string, object][] = [
    ['TX_NONCE_TOO_HIGH', { nonce: 1000n }],
    ['TX_FUNDS', { value: 10n ** 30n }],
    ['TX_INTRINSIC_GAS', { gasLimit: 20_999n }],
  ]
  for (const way of WAYS) {
    const store = lmdb()
    for (const [code, change] of cases)
      await assert.rejects(
        run(store, ['native-transfer'], { ...way, through: faulty(change) }),
        (error) => isVarveError(error, code),
        `${code} ${JSON.stringify(way)}`,
      )
    // Out of gas is accepted, and no success.
    const outOfGas = { data: new Uint8Array(4), to: contractAddress('counter'), gasLimit: 21_100n }
    await assert.rejects(
      run(store, ['native-transfer'], { ...way, through: faulty(outOfGas) }),
      (error) =>
        isVarveError(error, 'EXECUTOR_TRANSACTION_FAILED') ||
        isVarveError(error, 'EXECUTOR_NOT_NATIVE'),
    )
    // The same run without a fault.
    await run(store, ['native-transfer'], way)
    store.close()
  }
})

test('A25: stages are on the threads that do them, and fit into their time', async () => {
  const base = ['generate', 'validate', 'senders', 'execute', 'root', 'write', 'seal']
  const cases: [Partial<RunOptions>, string[], string[]][] = [
    [{ isPipelined: false }, base, ['main']],
    [{ isPipelined: true }, [...base, 'collect'], ['main', 'summary', 'commit']],
    [
      { isPipelined: true, recoverSenders: true, recoverThreadCount: 1 },
      [...base, 'collect', 'recover'],
      ['main', 'summary', 'commit', 'senders'],
    ],
    [
      { isPipelined: true, skipCommit: true },
      base.filter((name) => name !== 'write'),
      ['main', 'summary'],
    ],
    [{ isPipelined: false, generateThenExecute: true }, base, ['ahead', 'main']],
  ]
  for (const [way, stageNames, threadNames] of cases) {
    const store = lmdb()
    const report = await run(store, ['erc20-transfer'], way)
    store.close()
    const { stages, threads, seconds, transactions, gas } = report
    assert.deepEqual(Object.keys(stages).sort(), [...stageNames].sort())
    assert.deepEqual(Object.keys(threads).sort(), [...threadNames].sort())
    for (const [name, thread] of Object.entries(threads)) {
      const own = Object.values(stages).filter((stage) => stage.thread === name)
      const sum = own.reduce((total, stage) => total + stage.seconds, 0)
      assert.ok(Math.abs(sum - thread.busySeconds) < 0.02, `${name}: ${sum}`)
      assert.ok(name === 'senders' || sum <= seconds + 0.02, `${name}: ${sum} of ${seconds}`)
    }
    for (const stage of Object.values(stages)) {
      assert.ok(Math.abs(stage.share - stage.seconds / seconds) < 1e-9)
      assert.ok(Math.abs(stage.tps * stage.seconds - transactions) < 1e-6)
      assert.ok(Math.abs(stage.gasPerSecond * stage.seconds - Number(gas)) < 1)
    }
  }
})

test('skip-commit: the same roots and nonces, and a store that has heard of nothing', async () => {
  for (const isPipelined of [false, true]) {
    const expected = await run(database(), ['erc20-transfer'], { isPipelined })
    const store = lmdb()
    const skipped = await run(store, ['erc20-transfer'], { isPipelined, skipCommit: true })
    assert.deepEqual(skipped.roots, expected.roots)
    assert.equal(skipped.noncesVerified, expected.noncesVerified)
    assert.equal(skipped.isCommitted, false)
    assert.equal(skipped.durableTps, null)
    assert.equal((await openEngine({ store })).head.header.number, 0)
    store.close()
  }
})

test('a working set: calls go to all copies alike, the native way with them', async () => {
  const counts = new Map<string, number>()
  const through = (block: WorkloadBlock) => {
    for (const { to } of block.transactions)
      counts.set(toHex(to!), (counts.get(toHex(to!)) ?? 0) + 1)
    return block
  }
  const change = { moduleWorkingSet: 3, blockSize: 80, through }
  const evm = await run(database(), ['erc20-transfer'], change)
  const copies = [0, 1, 2].map((copy) => toHex(contractAddress('token', copy)))
  assert.deepEqual([...counts.keys()].sort(), copies.sort())
  for (const count of counts.values()) assert.ok(count > (BLOCKS * 80) / 6, `${count} calls`)
  const native = await run(database(), ['erc20-transfer'], { ...change, executor: 'native' })
  assert.deepEqual(native.roots, evm.roots)
  const one = await run(database(), ['erc20-transfer'], { blockSize: 80 })
  assert.notDeepEqual(one.roots, evm.roots)
})

test('with one thread of senders, and a short history, the states are the same', async () => {
  const expected = await run(database(), ['native-transfer'])
  const changes: Partial<RunOptions>[] = [
    { recoverSenders: true, recoverThreadCount: 1 },
    { historyBlocks: 1 },
  ]
  for (const change of changes) {
    const { roots, transactions } = await run(database(), ['native-transfer'], change)
    assert.deepEqual(roots, expected.roots)
    assert.equal(transactions, BLOCKS * BLOCK_SIZE)
  }
  assert.equal(COUNTS.moduleCopies, expected.database.moduleCopies)
})
