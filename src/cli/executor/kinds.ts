/** The kinds of transactions: whom each goes to, with what, and how much gas it may take. Names are the seed benchmark's. */
import { bigintToBytes, bytesConcat } from '../../base/index.ts'
import { contractAddress } from './accountBook.ts'
import { type ContractName, TRANSFER_SELECTOR, wordOf } from './contracts.ts'

export const TRANSACTION_KINDS = [
  'native-transfer',
  'account-generation',
  'erc20-transfer',
  'hot-slot',
  'no-op',
  'storage-write-32',
  'storage-write-1k',
  'storage-write-10k',
  'cpu-loop',
  'amm-swap',
  'batch-transfer',
] as const
export type TransactionKind = (typeof TRANSACTION_KINDS)[number]

/** Kinds that the native executor has written out. */
export const NATIVE_KINDS: readonly TransactionKind[] = [
  'native-transfer',
  'account-generation',
  'erc20-transfer',
]
/** Kinds from one account to another that is there. */
export const CONNECTED_KINDS: readonly TransactionKind[] = ['native-transfer', 'erc20-transfer']
/** Kinds whose senders must hold tokens, which only accounts with keys do. */
export const TOKEN_KINDS: readonly TransactionKind[] = ['erc20-transfer', 'amm-swap']

/** What a transaction is made from. */
export type KindInput = {
  /** An address of the destination pool. */
  receiver(): Uint8Array
  /** An address that nobody has had before. */
  newcomer(): Uint8Array
  /** Which copy of a contract is called. */
  moduleCopy(): number
  /** 0 to `bound` - 1. */
  random(bound: number): number
}

export type TransactionBody = {
  readonly to: Uint8Array
  /** Wei. */
  readonly value: bigint
  readonly data: Uint8Array
  readonly gasLimit: bigint
}

/** Wei, or tokens, that a transfer moves. */
const AMOUNT = 1000n
const BATCH_RECEIVER_COUNT = 10n
const CPU_ROUND_COUNT = 10_000n
/** Bounds of the gas of one slot that is written for the first time, and of all that is beside it. */
const GAS_NEW_SLOT = 22_400n
const GAS_BASE = 60_000n
const SWAP_AMOUNT_MAX = 1_000_000
const NO_DATA = new Uint8Array(0)

/** Makes the body of one transaction. */
export function transactionBody(kind: TransactionKind, input: KindInput): TransactionBody {
  switch (kind) {
    case 'native-transfer':
      return { to: input.receiver(), value: AMOUNT, data: NO_DATA, gasLimit: 21_000n }
    case 'account-generation':
      return { to: input.newcomer(), value: AMOUNT, data: NO_DATA, gasLimit: 21_000n }
    case 'erc20-transfer': {
      const data = bytesConcat(TRANSFER_SELECTOR, wordOf(input.receiver()), number(AMOUNT))
      return callOf('token', data, GAS_BASE + 2n * GAS_NEW_SLOT, input)
    }
    case 'hot-slot':
      return callOf('counter', NO_DATA, GAS_BASE, input)
    case 'no-op':
      return callOf('noOp', NO_DATA, GAS_BASE, input)
    case 'storage-write-32':
      return storageWrite(1n, input)
    case 'storage-write-1k':
      return storageWrite(32n, input)
    case 'storage-write-10k':
      return storageWrite(320n, input)
    case 'cpu-loop':
      return callOf('cpuLoop', number(CPU_ROUND_COUNT), GAS_BASE + 60n * CPU_ROUND_COUNT, input)
    case 'amm-swap': {
      const amount = BigInt(1 + input.random(SWAP_AMOUNT_MAX))
      const data = bytesConcat(number(amount), number(BigInt(input.random(2))))
      return callOf('amm', data, GAS_BASE + 4n * GAS_NEW_SLOT, input)
    }
    case 'batch-transfer': {
      const receivers = Array.from({ length: Number(BATCH_RECEIVER_COUNT) }, () =>
        wordOf(input.receiver()),
      )
      const gasLimit = GAS_BASE + 40_000n * BATCH_RECEIVER_COUNT
      const call = callOf('batchTransfer', bytesConcat(...receivers), gasLimit, input)
      return { ...call, value: BATCH_RECEIVER_COUNT * AMOUNT }
    }
  }
}

function storageWrite(slotCount: bigint, input: KindInput): TransactionBody {
  // The highest bit is set, so that every word has its 32 bytes.
  const value = (1n << 255n) | BigInt(input.random(2 ** 32))
  const data = bytesConcat(number(value), number(slotCount))
  return callOf('storageWriter', data, GAS_BASE + slotCount * GAS_NEW_SLOT, input)
}

function callOf(
  name: ContractName,
  data: Uint8Array,
  gasLimit: bigint,
  input: KindInput,
): TransactionBody {
  return { to: contractAddress(name, input.moduleCopy()), value: 0n, data, gasLimit }
}

function number(value: bigint): Uint8Array {
  return bigintToBytes(value, 32)
}
