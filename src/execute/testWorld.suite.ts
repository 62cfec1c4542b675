/** A small world for tests: accounts in memory, one machine, transactions without signatures. */
import {
  type BlobParameters,
  bytesEqual,
  EMPTY_CODE_HASH,
  Fork,
  fromBareHex,
} from '../base/index.ts'
import { type Secp256k1, SenderRecovery, type UnsignedTransaction } from '../codec/index.ts'
import { Machine } from '../evm/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { addressHashOf, hashKey, type StateView, slotHashOf } from '../state/index.ts'
import type { TransactionContext } from './transaction.ts'
import { type ExecutionBlock, emptyBlockSpace } from './transactionCheck.ts'
import { ViewHost } from './viewHost.ts'

export const SENDER = fromBareHex('a94f5374fce5edbc8e2a8697c15331677e6ebf0b')
export const TARGET = fromBareHex('00000000000000000000000000000000000000aa')
export const COINBASE = fromBareHex('2adc25665018aa1fe0e6bc666dac8fc2697ff9ba')
export const ETHER = 10n ** 18n
export const BASE_FEE = 7n

export type TestAccount = {
  readonly address: Uint8Array
  readonly nonce?: bigint
  readonly balance?: bigint
  readonly code?: Uint8Array
  readonly storage?: readonly (readonly [slot: Uint8Array, value: Uint8Array])[]
}

/** Signatures are not looked at: every authorization comes from the key that is 64 times this byte. */
export const AUTHORITY_KEY = new Uint8Array(64).fill(7)
const curve: Secp256k1 = { kind: 'wasm', recover: () => AUTHORITY_KEY }
export const AUTHORITY = keccak256(AUTHORITY_KEY).slice(12)

export function viewOf(accounts: readonly TestAccount[]): StateView {
  const byHash = new Map(accounts.map((each) => [hashKey(addressHashOf(each.address)), each]))
  const codes = new Map(
    accounts.flatMap(({ code }) =>
      code === undefined ? [] : [[hashKey(keccak256(code)), code] as const],
    ),
  )
  const slotsOf = (addressHash: Uint8Array) => byHash.get(hashKey(addressHash))?.storage ?? []
  return {
    account(addressHash) {
      const found = byHash.get(hashKey(addressHash))
      if (found === undefined) return undefined
      const { nonce = 0n, balance = 0n, code } = found
      return { nonce, balance, codeHash: code === undefined ? EMPTY_CODE_HASH : keccak256(code) }
    },
    storage: (addressHash, slotHash) =>
      slotsOf(addressHash).find(([slot]) => bytesEqual(slotHashOf(slot), slotHash))?.[1],
    code: (codeHash) => codes.get(hashKey(codeHash))!,
    hasStorage: (addressHash) => slotsOf(addressHash).length > 0,
  }
}

/** A machine that has begun a block of `fork`; the sender has one ether. */
export function world(
  fork: Fork,
  accounts: readonly TestAccount[] = [],
  change: Partial<ExecutionBlock> = {},
): TransactionContext {
  const machine = new Machine()
  const blob: BlobParameters = { target: 3, max: 6, baseFeeUpdateFraction: 3338477n }
  const block: ExecutionBlock = {
    fork,
    blob: fork >= Fork.Cancun ? blob : undefined,
    chainId: 1n,
    coinbase: COINBASE,
    number: 1n,
    timestamp: 1000n,
    gasLimit: 30_000_000n,
    random: 0n,
    baseFee: fork >= Fork.London ? BASE_FEE : 0n,
    blobBaseFee: fork >= Fork.Cancun ? 1n : 0n,
    ...change,
  }
  const hasSender = accounts.some(({ address }) => address === SENDER)
  const all = hasSender ? accounts : [{ address: SENDER, balance: ETHER }, ...accounts]
  machine.beginBlock(block, new ViewHost(viewOf(all), () => new Uint8Array(32)))
  return { machine, block, space: emptyBlockSpace(block), recovery: new SenderRecovery(curve) }
}

/** A call of `TARGET` with 100,000 gas at 10 wei. */
export function legacy(change: Partial<UnsignedTransaction> = {}): UnsignedTransaction {
  return {
    type: 0,
    chainId: undefined,
    nonce: 0n,
    gasLimit: 100_000n,
    gasPrice: 10n,
    to: TARGET,
    value: 0n,
    data: new Uint8Array(0),
    ...change,
  } as UnsignedTransaction
}

/** The same as a transaction of a later type. */
export function typed(
  type: 1 | 2 | 3 | 4,
  change: Record<string, unknown> = {},
): UnsignedTransaction {
  return {
    ...legacy(),
    type,
    chainId: 1n,
    maxFeePerGas: 10n,
    maxPriorityFeePerGas: 1n,
    accessList: [],
    ...(type === 3
      ? { maxFeePerBlobGas: 1n, blobVersionedHashes: [new Uint8Array(32).fill(1)] }
      : {}),
    ...(type === 4 ? { authorizationList: [authorization()] } : {}),
    ...change,
  } as unknown as UnsignedTransaction
}

export function authorization(change: Record<string, unknown> = {}) {
  return { chainId: 0n, address: TARGET, nonce: 0n, yParity: 0, r: 1n, s: 1n, ...change }
}
