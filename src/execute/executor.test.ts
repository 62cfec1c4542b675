/**
 * Aim: what a block does beside its transactions, in its order, and what its owner may put in the place of a part. Method:
 * blocks over a few accounts; transactions carry no real signature, their senders are given.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_LIST_HASH, EMPTY_TRIE_ROOT, Fork, ZERO_HASH } from '../base/index.ts'
import { DAO_ADDRESSES, DAO_REFUND_ADDRESS, rulesAt, singleForkSpec } from '../chain/index.ts'
import {
  type Block,
  type HeaderFields,
  type SenderRecovery,
  sealHeader,
  sealTransaction,
  type Withdrawal,
} from '../codec/index.ts'
import { assemble } from '../evm/testWorld.suite.ts'
import { addressHashOf, type StateDelta } from '../state/index.ts'
import { type BlockContext, executeBlock, recoverSenders } from './executor.ts'
import {
  COINBASE,
  ETHER,
  SENDER,
  TARGET,
  type TestAccount,
  viewOf,
  world,
} from './testWorld.suite.ts'
import { executeTransaction } from './transaction.ts'

const { machine, recovery } = world(Fork.Frontier)

function blockOf(fields: Partial<HeaderFields>, body: Partial<Block> = {}): Block {
  const header = sealHeader({
    ...{
      parentHash: ZERO_HASH,
      uncleHash: EMPTY_LIST_HASH,
      coinbase: COINBASE,
      stateRoot: ZERO_HASH,
    },
    ...{ transactionsRoot: EMPTY_TRIE_ROOT, receiptsRoot: EMPTY_TRIE_ROOT, difficulty: 1n },
    ...{ logsBloom: new Uint8Array(256), number: 1, gasLimit: 10_000_000n, gasUsed: 0n },
    ...{ timestamp: 1000n, extraData: new Uint8Array(0), mixHash: ZERO_HASH },
    nonce: new Uint8Array(8),
    ...fields,
  })
  return { transactions: [], uncles: [], ...body, header }
}

function contextOf(fork: Fork, accounts: readonly TestAccount[]): BlockContext {
  const spec = singleForkSpec(fork)
  const view = viewOf(accounts)
  const blockHash = () => assert.fail('no code asks for a hash')
  return { spec, rules: rulesAt(spec, 1, 1000n), view, blockHash, machine, recovery }
}

function balanceIn(delta: StateDelta, address: Uint8Array): bigint | undefined {
  const hash = addressHashOf(address)
  return delta.accounts.find(({ addressHash }) => Buffer.compare(addressHash, hash) === 0)?.after
    ?.balance
}

/** Sends 1 wei to the target. */
function transfer(nonce: bigint, chainId?: bigint) {
  return sealTransaction({
    ...{ type: 0, chainId, nonce, gasPrice: 10n, gasLimit: 100_000n, to: TARGET },
    ...{ value: 1n, data: new Uint8Array(0), yParity: 0, r: 1n, s: 1n },
  })
}

test('the DAO and its children lose their ether at the fork’s block, on chains that follow it', () => {
  const [first, second] = DAO_ADDRESSES
  const accounts = [
    { address: first!, balance: 5n },
    { address: second!, balance: 7n },
    { address: DAO_REFUND_ADDRESS, balance: 1n },
  ]
  const context = contextOf(Fork.Homestead, accounts)
  const { spec } = context
  const run = (dao: { block: number; support: boolean }) =>
    executeBlock(blockOf({}), {
      ...context,
      spec: { ...spec, schedule: { ...spec.schedule, dao } },
    })
  const { delta } = run({ block: 1, support: true })
  assert.equal(balanceIn(delta, first!), 0n)
  assert.equal(balanceIn(delta, second!), 0n)
  assert.equal(balanceIn(delta, DAO_REFUND_ADDRESS), 13n)
  for (const dao of [
    { block: 1, support: false },
    { block: 2, support: true },
  ])
    assert.equal(balanceIn(run(dao).delta, DAO_REFUND_ADDRESS), undefined)
})

test('rewards and withdrawals come after the transactions, and are none of theirs', () => {
  // Stores the coinbase's balance.
  const code = assemble('COINBASE BALANCE 0 SSTORE')
  const accounts = [
    { address: SENDER, balance: ETHER },
    { address: TARGET, code },
  ]
  const body = { transactions: [transfer(0n)] }
  const before = executeBlock(blockOf({}, body), {
    ...contextOf(Fork.Byzantium, accounts),
    senders: [SENDER],
  })
  const slotsOf = (delta: StateDelta) => delta.accounts.flatMap(({ slots }) => slots)
  assert.deepEqual(slotsOf(before.delta), [])
  assert.equal(balanceIn(before.delta, COINBASE), 3n * ETHER + before.gasUsed * 10n)
  const withdrawals: Withdrawal[] = [
    { index: 0n, validatorIndex: 0n, address: COINBASE, amount: 2n },
    { index: 1n, validatorIndex: 0n, address: COINBASE, amount: 3n },
  ]
  const fields = { baseFeePerGas: 7n, difficulty: 0n, withdrawalsRoot: ZERO_HASH }
  const after = executeBlock(blockOf(fields, { ...body, withdrawals }), {
    ...contextOf(Fork.Shanghai, accounts),
    senders: [SENDER],
  })
  assert.deepEqual(slotsOf(after.delta), [])
  assert.equal(balanceIn(after.delta, COINBASE), 5_000_000_000n + after.gasUsed * 3n)
})

test('receipts before Byzantium have the roots that the owner computes of all changes so far', () => {
  const context = contextOf(Fork.Homestead, [{ address: SENDER, balance: ETHER }])
  const seen: StateDelta[] = []
  const stateRootOf = (delta: StateDelta) => {
    seen.push(delta)
    return new Uint8Array(32).fill(seen.length)
  }
  const block = blockOf({}, { transactions: [transfer(0n), transfer(1n)] })
  const { receipts, gasUsed } = executeBlock(block, {
    ...context,
    senders: [SENDER, SENDER],
    stateRootOf,
  })
  assert.deepEqual(
    receipts.map(({ outcome }) => (outcome as Uint8Array)[0]),
    [1, 2],
  )
  assert.deepEqual(
    receipts.map(({ cumulativeGasUsed }) => cumulativeGasUsed),
    [21_000n, 42_000n],
  )
  assert.equal(gasUsed, 42_000n)
  assert.deepEqual(
    seen.map((delta) => balanceIn(delta, TARGET)),
    [1n, 2n],
  )
})

test('who watches transactions stands in for their execution; a rejected one names its place', () => {
  const context = { ...contextOf(Fork.Byzantium, [{ address: SENDER, balance: ETHER }]) }
  const watched: bigint[] = []
  const runTransaction: typeof executeTransaction = (...parameters) => {
    watched.push(parameters[1].nonce)
    return executeTransaction(...parameters)
  }
  const run = (...nonces: bigint[]) =>
    executeBlock(blockOf({}, { transactions: nonces.map((nonce) => transfer(nonce)) }), {
      ...context,
      senders: nonces.map(() => SENDER),
      runTransaction,
    })
  assert.throws(() => run(0n, 2n), {
    code: 'TX_NONCE_TOO_HIGH',
    message: /^block 1, transaction 1: nonce too high/,
  })
  // The machine has nothing left of the refused block.
  assert.equal(balanceIn(run(0n, 1n).delta, TARGET), 2n)
  assert.deepEqual(watched, [0n, 2n, 0n, 1n])
})

test('a signature is checked under the rules of the block, also where the sender is known', () => {
  const context = contextOf(Fork.Homestead, [])
  const block = blockOf({}, { transactions: [transfer(0n, 1n)] })
  assert.throws(() => recoverSenders(block, context, [SENDER]), { code: 'TRANSACTION_CHAIN_ID' })
  const unasked = { recoverSender: () => assert.fail('the sender is known') }
  const plain = blockOf({}, { transactions: [transfer(0n)] })
  const recoveryOf = unasked as unknown as SenderRecovery
  assert.deepEqual(recoverSenders(plain, { ...context, recovery: recoveryOf }, [SENDER]), [SENDER])
})
