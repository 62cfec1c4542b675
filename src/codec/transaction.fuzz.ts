/** Fuzzing of transactions: random ones of every type survive a round trip, mutated ones do or are refused. */
import assert from 'node:assert/strict'
import { isVarveError, toHex } from '../base/index.ts'

import { Prng } from '../testing/index.ts'
import { mutate } from './rlp.fuzz.ts'
import {
  type AccessListEntry,
  type AccessListFields,
  type Authorization,
  type BlobFields,
  type DynamicFeeFields,
  decodeTransaction,
  encodeTransaction,
  type LegacyFields,
  type SetCodeFields,
  type TransactionFields,
  type UnsignedTransaction,
} from './transaction.ts'
import { SECP256K1_ORDER } from './transactionReaders.ts'

export const ADDRESS = new Uint8Array(20).fill(0xaa)
export const HASH = new Uint8Array(32).fill(0xbb)
/** Hash of a blob's commitment, version 1. */
export const BLOB_HASH = Uint8Array.from([1, ...HASH.slice(1)])

const COMMON = {
  nonce: 1n,
  gasLimit: 1_000_000n,
  to: ADDRESS,
  value: 2n,
  data: Uint8Array.from([0, 1, 0, 2]),
  chainId: 1n,
  yParity: 1 as const,
  r: 3n,
  s: 4n,
}
const FEES = {
  maxPriorityFeePerGas: 5n,
  maxFeePerGas: 6n,
  accessList: [{ address: ADDRESS, storageKeys: [HASH, HASH] }],
}

/** One transaction of each type, valid under Prague but for its made-up signature. */
export const LEGACY: LegacyFields = { type: 0, ...COMMON, gasPrice: 7n }
export const ACCESS_LIST: AccessListFields = {
  type: 1,
  ...COMMON,
  gasPrice: 7n,
  accessList: FEES.accessList,
}
export const DYNAMIC_FEE: DynamicFeeFields = { type: 2, ...COMMON, ...FEES }
export const BLOB: BlobFields = {
  ...{ type: 3, ...COMMON, ...FEES },
  maxFeePerBlobGas: 8n,
  blobVersionedHashes: [BLOB_HASH],
}
export const SET_CODE: SetCodeFields = {
  ...{ type: 4, ...COMMON, ...FEES },
  authorizationList: [{ chainId: 0n, address: ADDRESS, nonce: 0n, yParity: 0, r: 1n, s: 1n }],
}
export const TRANSACTIONS: readonly TransactionFields[] = [
  LEGACY,
  ACCESS_LIST,
  DYNAMIC_FEE,
  BLOB,
  SET_CODE,
]

/** @param seed printed with any failure */
export function fuzzTransactions(seed: number, stepCount: number): void {
  const random = new Prng(seed)
  for (let step = 0; step < stepCount; step++) {
    const where = `seed ${seed} step ${step}`
    const fields = randomSigned(random)
    const raw = encodeTransaction(fields)
    const { hash, raw: rawAgain, ...decoded } = decodeTransaction(raw)
    assert.deepEqual(decoded, fields, where)
    const mutant = mutate(random, raw)
    try {
      assert.equal(toHex(encodeTransaction(decodeTransaction(mutant))), toHex(mutant), where)
    } catch (error) {
      assert.ok(isVarveError(error), `${where}: ${error}`)
    }
  }
}

/** A transaction of any type with numbers of every width, signed at random. */
export function randomSigned(random: Prng): TransactionFields {
  const part = () => 1n + (random.bigint(256) % (SECP256K1_ORDER - 1n))
  const yParity = random.below(2) as 0 | 1
  return { ...randomUnsigned(random), yParity, r: part(), s: part() }
}

/** A transaction of any type with numbers of every width. */
export function randomUnsigned(random: Prng): UnsignedTransaction {
  const to = random.bytes(20)
  const common = {
    nonce: random.bigint(64),
    gasLimit: random.bigint(64),
    value: random.bigint(256),
    data: random.bytes(random.pick([0, 0, 1, 31, 55, 56, 300])),
  }
  const chainId = random.bigint(64)
  const fees = { maxPriorityFeePerGas: random.bigint(256), maxFeePerGas: random.bigint(256) }
  const accessList = randomAccessList(random)
  const toOrCreate = random.oneIn(3) ? undefined : to
  switch (random.below(5)) {
    case 0: {
      const legacyChainId = random.oneIn(2) ? undefined : chainId
      return {
        type: 0,
        ...common,
        to: toOrCreate,
        chainId: legacyChainId,
        gasPrice: random.bigint(256),
      }
    }
    case 1:
      return {
        type: 1,
        ...common,
        to: toOrCreate,
        chainId,
        gasPrice: random.bigint(256),
        accessList,
      }
    case 2:
      return { type: 2, ...common, to: toOrCreate, chainId, ...fees, accessList }
    case 3: {
      const blobVersionedHashes = times(random.below(4), () => random.bytes(32))
      const maxFeePerBlobGas = random.bigint(256)
      const blob = { maxFeePerBlobGas, blobVersionedHashes }
      return { type: 3, ...common, to, chainId, ...fees, accessList, ...blob }
    }
    default: {
      const authorizationList = times(random.below(3), () => randomAuthorization(random))
      return { type: 4, ...common, to, chainId, ...fees, accessList, authorizationList }
    }
  }
}

function randomAccessList(random: Prng): AccessListEntry[] {
  return times(random.below(3), () => ({
    address: random.bytes(20),
    storageKeys: times(random.below(3), () => random.bytes(32)),
  }))
}

function randomAuthorization(random: Prng): Authorization {
  return {
    chainId: random.bigint(256),
    address: random.bytes(20),
    nonce: random.bigint(64),
    yParity: random.below(256),
    r: random.bigint(256),
    s: random.bigint(256),
  }
}

function times<Item>(count: number, make: () => Item): Item[] {
  return Array.from({ length: count }, make)
}
