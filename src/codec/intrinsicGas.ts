/**
 * Gas a transaction pays before its first instruction, and the floor of EIP-7623. Frontier to Osaka.
 * Yellow Paper, section 6.2 (g0); EIP-2 (creation), 2028 (data), 2930 (access list), 3860 (init code), 7702.
 */
import { Fork } from '../base/index.ts'
import type { UnsignedTransaction } from './transaction.ts'

const GAS_TRANSACTION = 21_000
const GAS_CREATE = 32_000
const GAS_DATA_ZERO = 4
const GAS_DATA_NON_ZERO_FRONTIER = 68
const GAS_DATA_NON_ZERO_ISTANBUL = 16
const GAS_INIT_CODE_WORD = 2
const GAS_ACCESS_LIST_ADDRESS = 2_400
const GAS_ACCESS_LIST_KEY = 1_900
/** EIP-7702: PER_EMPTY_ACCOUNT_COST; part of it is given back where the account exists. */
const GAS_AUTHORIZATION = 25_000
const GAS_FLOOR_TOKEN = 10
/** EIP-7623 counts a zero byte as one token and any other as four. */
const TOKENS_PER_NON_ZERO_BYTE = 4

/** Intrinsic gas under a fork. Cost: one pass over the data. Far below 2^53 for anything that fits in memory. */
export function intrinsicGas(transaction: UnsignedTransaction, fork: Fork): number {
  const { data } = transaction
  const zeroCount = countZeros(data)
  const nonZeroCost =
    fork >= Fork.Istanbul ? GAS_DATA_NON_ZERO_ISTANBUL : GAS_DATA_NON_ZERO_FRONTIER
  let gas = GAS_TRANSACTION + zeroCount * GAS_DATA_ZERO + (data.length - zeroCount) * nonZeroCost
  if (transaction.to === undefined) {
    if (fork >= Fork.Homestead) gas += GAS_CREATE
    if (fork >= Fork.Shanghai) gas += Math.ceil(data.length / 32) * GAS_INIT_CODE_WORD
  }
  if (transaction.type !== 0)
    for (const entry of transaction.accessList)
      gas += GAS_ACCESS_LIST_ADDRESS + entry.storageKeys.length * GAS_ACCESS_LIST_KEY
  if (transaction.type === 4) gas += transaction.authorizationList.length * GAS_AUTHORIZATION
  return gas
}

/** Least gas a transaction pays from Prague on, by its data alone (EIP-7623); 0 before. */
export function floorGas(data: Uint8Array, fork: Fork): number {
  if (fork < Fork.Prague) return 0
  const zeroCount = countZeros(data)
  const tokenCount = zeroCount + (data.length - zeroCount) * TOKENS_PER_NON_ZERO_BYTE
  return GAS_TRANSACTION + tokenCount * GAS_FLOOR_TOKEN
}

function countZeros(data: Uint8Array): number {
  let count = 0
  for (let index = 0; index < data.length; index++) if (data[index] === 0) count++
  return count
}
