/**
 * Aim: the native way gives what the EVM gives, delta, receipts and gas, or leaves the block to it. Method: random blocks
 * of transfers over few accounts, so that senders, receivers, coinbase and withdrawals meet; then each thing that is
 * not a plain transfer put into such a block.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  bigintToBytes,
  EMPTY_LIST_HASH,
  EMPTY_TRIE_ROOT,
  Fork,
  fromBareHex,
  isVarveError,
  ZERO_HASH,
} from '../base/index.ts'
import { rulesAt, singleForkSpec } from '../chain/index.ts'
import {
  type Block,
  EMPTY_BLOOM,
  sealHeader,
  sealTransaction,
  type Transaction,
  type TransactionFields,
} from '../codec/index.ts'
import { Prng } from '../testing/index.ts'
import { type BlockContext, executeBlock } from './executor.ts'
import { executeBlockNatively, executeTransfers } from './nativeTransfer.ts'
import { BEACON_ROOTS_ADDRESS } from './systemCalls.ts'
import { COINBASE, ETHER, type TestAccount, viewOf, world } from './testWorld.suite.ts'

const { machine, recovery } = world(Fork.London)
const BASE_FEE = 7n
const FORKS = [Fork.London, Fork.Paris, Fork.Shanghai, Fork.Cancun]

function addressAt(index: number): Uint8Array {
  return fromBareHex(`${'c0ffee'.padEnd(36, '0')}${index.toString(16).padStart(4, '0')}`)
}

type Sent = { readonly transaction: Transaction; readonly sender: Uint8Array }
type World = { readonly accounts: readonly TestAccount[]; readonly sent: readonly Sent[] }

/** Both ways over the same block. */
function bothWays(fork: Fork, { accounts, sent }: World, change: Partial<Block> = {}) {
  const spec = singleForkSpec(fork)
  const isCancun = fork >= Fork.Cancun
  const header = sealHeader({
    ...{ parentHash: ZERO_HASH, uncleHash: EMPTY_LIST_HASH, coinbase: COINBASE },
    ...{ stateRoot: ZERO_HASH, transactionsRoot: EMPTY_TRIE_ROOT, receiptsRoot: EMPTY_TRIE_ROOT },
    ...{ logsBloom: EMPTY_BLOOM, number: 1, gasLimit: 10_000_000n, gasUsed: 0n, timestamp: 1000n },
    ...{ difficulty: fork >= Fork.Paris ? 0n : 1n, extraData: new Uint8Array(0) },
    ...{ mixHash: ZERO_HASH, nonce: new Uint8Array(8), baseFeePerGas: BASE_FEE },
    ...(fork >= Fork.Shanghai ? { withdrawalsRoot: EMPTY_TRIE_ROOT } : {}),
    ...(isCancun ? { blobGasUsed: 0n, excessBlobGas: 0n, parentBeaconBlockRoot: ZERO_HASH } : {}),
  })
  const transactions = sent.map(({ transaction }) => transaction)
  const block: Block = { transactions, uncles: [], ...change, header }
  const context: BlockContext = {
    ...{ spec, rules: rulesAt(spec, 1, 1000n), view: viewOf(accounts), machine, recovery },
    blockHash: () => assert.fail('no code asks for a hash'),
    senders: sent.map(({ sender }) => sender),
  }
  return {
    native: () => executeTransfers(block, context),
    either: () => executeBlockNatively(block, context),
    evm: () => executeBlock(block, context),
  }
}

function transfer(change: Partial<TransactionFields> = {}): Transaction {
  return sealTransaction({
    ...{ type: 2, chainId: 1n, nonce: 0n, gasLimit: 21_000n, to: addressAt(1), value: 5n },
    ...{ maxFeePerGas: 10n, maxPriorityFeePerGas: 1n, accessList: [], data: new Uint8Array(0) },
    ...{ yParity: 0, r: 1n, s: 1n },
    ...change,
  } as TransactionFields)
}

/** Transfers of all plain types, to old and new accounts, with data and access lists, some without a tip. */
function randomWorld(prng: Prng): World {
  const count = prng.between(2, 12)
  const accounts: TestAccount[] = []
  const nonces = new Map<number, bigint>()
  for (let index = 0; index < count; index++) {
    const nonce = prng.oneIn(2) ? 0n : prng.bigint(60)
    nonces.set(index, nonce)
    accounts.push({ address: addressAt(index), nonce, balance: ETHER + prng.bigint(80) })
  }
  if (prng.oneIn(2)) accounts.push({ address: COINBASE, balance: 1n, nonce: prng.bigint(2) })
  const sent: Sent[] = []
  for (let left = prng.between(0, 30); left > 0; left--) {
    const from = prng.below(count)
    const nonce = nonces.get(from)!
    nonces.set(from, nonce + 1n)
    sent.push({ transaction: randomTransfer(prng, count, nonce), sender: addressAt(from) })
  }
  return { accounts, sent }
}

function randomTransfer(prng: Prng, count: number, nonce: bigint): Transaction {
  const type = prng.below(3)
  const price = prng.oneIn(3) ? BASE_FEE : BASE_FEE + prng.bigint(8)
  const list = type > 0 && prng.oneIn(3)
  return transfer({
    ...{ type, nonce, gasLimit: prng.oneIn(2) ? 21_000n + (list ? 9_000n : 0n) : 60_000n },
    // Beyond the accounts that are there lie new ones.
    to: prng.oneIn(9) ? COINBASE : addressAt(prng.below(count + 4)),
    value: prng.oneIn(4) ? 0n : prng.bigint(50),
    ...(prng.oneIn(4) ? { gasLimit: 60_000n, data: prng.bytes(prng.below(40)) } : {}),
    ...(type === 2
      ? { maxFeePerGas: price, maxPriorityFeePerGas: prng.oneIn(2) ? 0n : price - BASE_FEE }
      : { gasPrice: price }),
    ...(list ? { accessList: [{ address: addressAt(0), storageKeys: [ZERO_HASH] }] } : {}),
  } as Partial<TransactionFields>)
}

test('A24: random blocks of transfers: the native outcome is the EVM’s, whole', () => {
  let transferCount = 0
  for (let seed = 1; seed <= 1000; seed++) {
    const prng = new Prng(seed)
    const fork = prng.pick(FORKS)
    const made = randomWorld(prng)
    const withdrawals = Array.from({ length: fork < Fork.Shanghai ? 0 : prng.below(4) }, () => ({
      ...{ index: 0n, validatorIndex: 0n, address: addressAt(prng.below(20)) },
      amount: prng.bigint(20),
    }))
    const { native, evm } = bothWays(fork, made, fork < Fork.Shanghai ? {} : { withdrawals })
    const outcome = native()
    assert.ok(outcome !== undefined, `seed ${seed}: plain transfers are run natively`)
    assert.deepEqual(outcome, evm(), `seed ${seed}`)
    transferCount += made.sent.length
  }
  assert.ok(transferCount > 10_000, 'the blocks have transfers')
})

const RICH: TestAccount = { address: addressAt(0), balance: ETHER }

test('what is no plain transfer is left to the EVM, with the same outcome', () => {
  const code = new Uint8Array([0x5b, 0x00])
  const cases: Record<string, { accounts?: TestAccount[]; change?: object; fork?: Fork }> = {
    'a receiver with code': {
      accounts: [{ address: addressAt(1), code }],
      change: { gasLimit: 30_000n },
    },
    'a creation': { change: { to: undefined, gasLimit: 60_000n } },
    'a precompile': { change: { to: bigintToBytes(4n, 20), gasLimit: 30_000n } },
    'a blob transaction': {
      change: {
        type: 3,
        maxFeePerBlobGas: 1n,
        blobVersionedHashes: [bigintToBytes(1n << 248n, 32)],
      },
    },
    'an empty account that is touched': {
      accounts: [{ address: addressAt(1) }],
      change: { value: 0n },
    },
    'a system contract': { accounts: [{ address: BEACON_ROOTS_ADDRESS, code }] },
    'contracts at every block': { fork: Fork.Berlin, change: { type: 0, gasPrice: 10n } },
  }
  for (const [name, { accounts = [], change = {}, fork = Fork.Cancun }] of Object.entries(cases)) {
    const transaction = transfer(change)
    const { native, either, evm } = bothWays(fork, {
      accounts: [RICH, ...accounts],
      sent: [{ transaction, sender: addressAt(0) }],
    })
    assert.equal(native(), undefined, name)
    assert.deepEqual(either(), evm(), name)
  }
})

test('A24: a refused transfer is refused by both ways with the same code and place', () => {
  const cases: [string, object, object?][] = [
    ['TX_NONCE_TOO_HIGH', { nonce: 1n }],
    ['TX_NONCE_TOO_LOW', {}, { nonce: 1n }],
    ['TX_FUNDS', { value: 2n * ETHER }],
    ['TX_INTRINSIC_GAS', { gasLimit: 20_999n }],
    ['TX_FEE_CAP_TOO_LOW', { maxFeePerGas: 6n }],
    ['TX_TIP_ABOVE_FEE_CAP', { maxPriorityFeePerGas: 11n }],
    ['TX_GAS_LIMIT_REACHED', { gasLimit: 10_000_001n }],
    ['TX_SENDER_NOT_EOA', {}, { code: new Uint8Array([1]) }],
  ]
  for (const [code, change, sender = {}] of cases) {
    const { native, either, evm } = bothWays(Fork.Cancun, {
      accounts: [{ ...RICH, ...sender }],
      sent: [{ transaction: transfer(change), sender: addressAt(0) }],
    })
    assert.equal(native(), undefined, code)
    const faultOf = (work: () => unknown): string => {
      try {
        work()
      } catch (error) {
        assert.ok(isVarveError(error, code), `${code}: got ${error}`)
        return error.message
      }
      return assert.fail(`${code}: it was accepted`)
    }
    assert.equal(faultOf(either), faultOf(evm))
  }
})
