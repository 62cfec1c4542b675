/**
 * Gas a transaction pays before its first instruction, and the floor of EIP-7623. Frontier to Amsterdam.
 * Yellow Paper, section 6.2 (g0); EIP-2 (creation), 2028 (data), 2930 (access list), 3860 (init code), 7702;
 * EIP-7976 and EIP-7981 (dearer data), 8037 (growth of the state apart).
 */
import { ADDRESS_BYTES, type AmsterdamDraft, Fork, HASH_BYTES } from '../base/index.ts'
import type { UnsignedTransaction } from './transaction.ts'

const GAS_TRANSACTION = 21_000
const GAS_CREATE = 32_000
/** EIP-8037: the account itself is state gas. */
const GAS_CREATE_AMSTERDAM = 9_000
const GAS_DATA_ZERO = 4
const GAS_DATA_NON_ZERO_FRONTIER = 68
const GAS_DATA_NON_ZERO_ISTANBUL = 16
const GAS_INIT_CODE_WORD = 2
const GAS_ACCESS_LIST_ADDRESS = 2_400
const GAS_ACCESS_LIST_KEY = 1_900
/** EIP-7702: PER_EMPTY_ACCOUNT_COST; part of it is given back where the account exists. */
const GAS_AUTHORIZATION = 25_000
/** EIP-8037: account and delegation are state gas. */
const GAS_AUTHORIZATION_AMSTERDAM = 7_500
const GAS_FLOOR_TOKEN = 10
/** EIP-7976. */
const GAS_FLOOR_TOKEN_AMSTERDAM = 16
/** EIP-7623 counts a zero byte as one token and any other as four. */
const TOKENS_PER_NON_ZERO_BYTE = 4
/** EIP-8037, with the bytes that `evm/` counts for them. */
const ACCOUNT_STATE_BYTES = 112
const DELEGATION_STATE_BYTES = 23

/** Intrinsic gas under a fork, without that for growth of the state. Cost: one pass over the data. Far below 2^53 for anything that fits in memory. */
export function intrinsicGas(
  transaction: UnsignedTransaction,
  fork: Fork,
  draft?: AmsterdamDraft,
): number {
  const { data } = transaction
  const zeroCount = countZeros(data)
  const nonZeroCost =
    fork >= Fork.Istanbul ? GAS_DATA_NON_ZERO_ISTANBUL : GAS_DATA_NON_ZERO_FRONTIER
  let gas = GAS_TRANSACTION + zeroCount * GAS_DATA_ZERO + (data.length - zeroCount) * nonZeroCost
  if (transaction.to === undefined) {
    if (fork >= Fork.Homestead) gas += fork >= Fork.Amsterdam ? GAS_CREATE_AMSTERDAM : GAS_CREATE
    if (fork >= Fork.Shanghai) gas += Math.ceil(data.length / 32) * GAS_INIT_CODE_WORD
  }
  if (transaction.type !== 0)
    for (const entry of transaction.accessList)
      gas += GAS_ACCESS_LIST_ADDRESS + entry.storageKeys.length * GAS_ACCESS_LIST_KEY
  if (hasDearData(fork, draft)) gas += accessListTokens(transaction) * GAS_FLOOR_TOKEN_AMSTERDAM
  if (transaction.type === 4) {
    const price = fork >= Fork.Amsterdam ? GAS_AUTHORIZATION_AMSTERDAM : GAS_AUTHORIZATION
    gas += transaction.authorizationList.length * price
  }
  return gas
}

/**
 * Bytes of state that a transaction makes or may make before its first instruction (EIP-8037): an account for a
 * creation, an account and a delegation for each authorization. 0 before Amsterdam.
 */
export function intrinsicStateBytes(transaction: UnsignedTransaction, fork: Fork): number {
  if (fork < Fork.Amsterdam) return 0
  let bytes = transaction.to === undefined ? ACCOUNT_STATE_BYTES : 0
  if (transaction.type === 4)
    bytes += transaction.authorizationList.length * (ACCOUNT_STATE_BYTES + DELEGATION_STATE_BYTES)
  return bytes
}

/**
 * Least gas a transaction pays from Prague on, by its data alone (EIP-7623), from Amsterdam on also by its access list;
 * 0 before.
 */
export function floorGas(
  transaction: UnsignedTransaction,
  fork: Fork,
  draft?: AmsterdamDraft,
): number {
  if (fork < Fork.Prague) return 0
  const { data } = transaction
  if (hasDearData(fork, draft)) {
    // EIP-7976: each byte counts the same.
    const tokenCount = data.length * TOKENS_PER_NON_ZERO_BYTE + accessListTokens(transaction)
    return GAS_TRANSACTION + tokenCount * GAS_FLOOR_TOKEN_AMSTERDAM
  }
  const zeroCount = countZeros(data)
  const tokenCount = zeroCount + (data.length - zeroCount) * TOKENS_PER_NON_ZERO_BYTE
  return GAS_TRANSACTION + tokenCount * GAS_FLOOR_TOKEN
}

/** EIP-7976 and EIP-7981 came to Amsterdam with bal@v5.7. */
function hasDearData(fork: Fork, draft: AmsterdamDraft | undefined): boolean {
  return fork >= Fork.Amsterdam && draft !== 'bal@v5.6'
}

/** EIP-7981: the bytes of addresses and keys, each the same. */
function accessListTokens(transaction: UnsignedTransaction): number {
  if (transaction.type === 0) return 0
  let bytes = 0
  for (const { storageKeys } of transaction.accessList)
    bytes += ADDRESS_BYTES + storageKeys.length * HASH_BYTES
  return bytes * TOKENS_PER_NON_ZERO_BYTE
}

function countZeros(data: Uint8Array): number {
  let count = 0
  for (let index = 0; index < data.length; index++) if (data[index] === 0) count++
  return count
}
