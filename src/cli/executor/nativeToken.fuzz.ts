/**
 * Random blocks of transfers, plain ones and of the token, run natively and by the EVM: the whole outcome is compared,
 * delta, receipts, logs and gas. A world is a few accounts, so that all of them meet.
 */
import assert from 'node:assert/strict'
import { EMPTY_CODE_HASH, Fork, fromBareHex, U256_MAX, ZERO_HASH } from '../../base/index.ts'
import { rulesAt, singleForkSpec } from '../../chain/index.ts'
import {
  type AccessListEntry,
  type Block,
  EMPTY_BLOOM,
  SenderRecovery,
  sealHeader,
  sealTransaction,
  type Transaction,
  type TransactionFields,
} from '../../codec/index.ts'
import { Machine } from '../../evm/index.ts'
import { executeBlock, executeTransfers, slotBytes } from '../../execute/index.ts'
import { keccak256 } from '../../kernels/index.ts'
import { addressHashOf, hashKey, type StateView, slotHashOf } from '../../state/index.ts'
import { Prng } from '../../testing/index.ts'
import { contractAddress } from './accountBook.ts'
import { CONTRACTS, holdingSlot, TRANSFER_SELECTOR, wordOf } from './contracts.ts'
import { NATIVE_TOKEN } from './nativeToken.ts'

/** What was compared; `left` counts blocks that the native way has left to the EVM. */
export type TokenFuzzCount = { transfers: number; blocks: number; left: number; failed: number }

/** Under the first, the token's code is none that runs. */
const FORKS = [Fork.Paris, ...[1, 2, 3].flatMap(() => [Fork.Shanghai, Fork.Cancun])]
const BASE_FEE = 7n
const TOKEN = contractAddress('token')
const COINBASE = fromBareHex('cb'.repeat(20))
const machine = new Machine()
const recovery = new SenderRecovery({ kind: 'wasm', recover: () => new Uint8Array(64) })

type World = {
  readonly prng: Prng
  readonly count: number
  readonly nonces: bigint[]
  readonly holdings: Map<string, bigint>
}

/** Compares one block. @throws AssertionError */
export function compareTokenBlock(seed: number, counts: TokenFuzzCount): void {
  const prng = new Prng(seed)
  const count = prng.between(1, 8)
  const world: World = {
    ...{ prng, count, holdings: new Map() },
    nonces: Array.from({ length: count }, () => prng.bigint(20)),
  }
  const view = viewOf(world)
  const fork = prng.pick(FORKS)
  const sent = Array.from({ length: prng.between(1, 24) }, () => {
    const from = prng.below(count)
    return { transaction: randomTransaction(world, from), sender: addressAt(from) }
  })
  const block = blockOf(
    fork,
    sent.map(({ transaction }) => transaction),
  )
  const spec = singleForkSpec(fork)
  const context = {
    ...{ spec, rules: rulesAt(spec, 1, 1000n), view, machine, recovery },
    blockHash: () => assert.fail('no code asks for a hash'),
    senders: sent.map(({ sender }) => sender),
  }
  const native = executeTransfers(block, context, [NATIVE_TOKEN])
  const evm = executeBlock(block, context)
  counts.blocks++
  counts.transfers += sent.length
  const hasFailure = evm.receipts.some(({ outcome }) => outcome !== 1)
  if (hasFailure) counts.failed++
  if (native === undefined) {
    counts.left++
    return
  }
  assert.deepEqual(native, evm, `seed ${seed}`)
}

function addressAt(index: number): Uint8Array {
  return fromBareHex(`${'70'.repeat(18)}${index.toString(16).padStart(4, '0')}`)
}

/** Accounts with ether; some hold tokens: few, many, or nearly all that a word holds. */
function viewOf({ prng, count, nonces, holdings }: World): StateView {
  const accounts = new Map<string, ReturnType<StateView['account']>>()
  const slots = new Map<string, Uint8Array>()
  for (let index = 0; index < count; index++) {
    const address = addressAt(index)
    const account = { nonce: nonces[index]!, balance: 10n ** 20n, codeHash: EMPTY_CODE_HASH }
    accounts.set(hashKey(addressHashOf(address)), account)
    const held = prng.pick([0n, 1n, prng.bigint(8), 10n ** 24n, 10n ** 24n, U256_MAX])
    holdings.set(hashKey(address), held)
    const value = slotBytes(held)
    if (value !== undefined) slots.set(hashKey(slotHashOf(holdingSlot(address, 0n))), value)
  }
  const { codeHash } = NATIVE_TOKEN
  accounts.set(hashKey(addressHashOf(TOKEN)), { nonce: 1n, balance: 0n, codeHash })
  return {
    account: (addressHash) => accounts.get(hashKey(addressHash)),
    storage: (_, slotHash) => slots.get(hashKey(slotHash)),
    code: (hash) => {
      assert.deepEqual(hash, keccak256(CONTRACTS.token))
      return CONTRACTS.token
    },
    hasStorage: (addressHash) => hashKey(addressHash) === hashKey(addressHashOf(TOKEN)),
  }
}

function randomTransaction(world: World, from: number): Transaction {
  const { prng, count, nonces, holdings } = world
  const nonce = nonces[from]!
  nonces[from] = nonce + 1n
  // Beyond the accounts that are there lie new holders.
  const to = prng.oneIn(5) ? addressAt(from) : addressAt(prng.below(count + 3))
  const type = prng.below(3)
  const price = BASE_FEE + prng.bigint(5)
  const isToken = !prng.oneIn(4)
  const body = isToken
    ? tokenCall(prng, take(holdings, from, to, prng), to)
    : { to, value: prng.bigint(40), data: new Uint8Array(0), gasLimit: 21_000n }
  const accessList = type > 0 && prng.oneIn(3) ? randomAccessList(world, from, to) : []
  const listGas = accessList.reduce(
    (sum, { storageKeys }) => sum + 2400n + 1900n * BigInt(storageKeys.length),
    0n,
  )
  return sealTransaction({
    ...{ type, chainId: 1n, nonce, ...body, gasLimit: body.gasLimit + listGas },
    ...(type === 2 ? { maxFeePerGas: price, maxPriorityFeePerGas: 1n } : { gasPrice: price }),
    ...{ accessList, yParity: 0, r: 1n, s: 1n },
  } as TransactionFields)
}

/** An amount that is there, and mostly moves: nothing, a part, or all. Now and then one that may be missing. */
function take(holdings: Map<string, bigint>, from: number, to: Uint8Array, prng: Prng): bigint {
  if (prng.oneIn(100)) return prng.bigint(256)
  const source = hashKey(addressAt(from))
  const held = holdings.get(source)!
  const amount = prng.pick([0n, held, held / 2n, held === 0n ? 0n : 1n, held / 7n])
  holdings.set(source, held - amount)
  const destination = hashKey(to)
  holdings.set(destination, ((holdings.get(destination) ?? 0n) + amount) & U256_MAX)
  return amount
}

/** Few calls are of another kind, or short of gas or input. */
function tokenCall(prng: Prng, amount: bigint, to: Uint8Array) {
  const word = wordOf(to)
  // The code takes a whole word for the holder.
  if (prng.oneIn(50)) word[0] = 1
  const whole = new Uint8Array(68)
  whole.set(TRANSFER_SELECTOR)
  whole.set(word, 4)
  whole.set(slotBytes(amount) ?? ZERO_HASH, 36)
  if (prng.oneIn(300)) whole[prng.below(4)]! ^= 1
  const data = prng.oneIn(150) ? whole.subarray(0, prng.between(4, 67)) : whole
  const gasLimit = prng.oneIn(200) ? 22_000n + prng.bigint(16) : 100_000n
  return { to: TOKEN, value: prng.oneIn(10) ? prng.bigint(30) : 0n, data, gasLimit }
}

function randomAccessList(
  { prng, count }: World,
  from: number,
  to: Uint8Array,
): readonly AccessListEntry[] {
  const slotOf = () =>
    holdingSlot(prng.pick([addressAt(from), to, addressAt(prng.below(count))]), 0n)
  return Array.from({ length: prng.between(1, 3) }, () => ({
    address: prng.oneIn(4) ? addressAt(0) : TOKEN,
    storageKeys: Array.from({ length: prng.below(4) }, slotOf),
  }))
}

function blockOf(fork: Fork, transactions: readonly Transaction[]): Block {
  const header = sealHeader({
    ...{ parentHash: ZERO_HASH, uncleHash: ZERO_HASH, coinbase: COINBASE, stateRoot: ZERO_HASH },
    ...{ transactionsRoot: ZERO_HASH, receiptsRoot: ZERO_HASH, logsBloom: EMPTY_BLOOM, number: 1 },
    ...{ gasLimit: 30_000_000n, gasUsed: 0n, timestamp: 1000n, difficulty: 0n },
    ...{ extraData: new Uint8Array(0), mixHash: ZERO_HASH, nonce: new Uint8Array(8) },
    baseFeePerGas: BASE_FEE,
    ...(fork >= Fork.Shanghai ? { withdrawalsRoot: ZERO_HASH } : {}),
    ...(fork >= Fork.Cancun
      ? { blobGasUsed: 0n, excessBlobGas: 0n, parentBeaconBlockRoot: ZERO_HASH }
      : {}),
  })
  return { transactions, uncles: [], header }
}
