/**
 * Aim: each rule of a fork draws its line where the specification does. Method: for each rule the nearest transaction
 * on either side; gas summed by hand. The published vectors (`transaction.test.ts`) cover Frontier to Cancun besides.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, isVarveError } from '../base/index.ts'
import { floorGas, intrinsicGas } from './intrinsicGas.ts'
import {
  ACCESS_LIST,
  BLOB,
  BLOB_HASH,
  DYNAMIC_FEE,
  HASH,
  LEGACY,
  SET_CODE,
  TRANSACTIONS,
} from './transaction.fuzz.ts'
import { sealTransaction, type TransactionFields } from './transaction.ts'
import { SECP256K1_ORDER } from './transactionReaders.ts'
import { validateTransaction } from './transactionRules.ts'

test('rules of forks, each by the nearest transaction on either side', () => {
  const check = (fields: TransactionFields, fork: Fork) =>
    validateTransaction(sealTransaction(fields), { fork, chainId: 1n })
  const refused = (fields: TransactionFields, fork: Fork, code: string) =>
    assert.throws(() => check(fields, fork), isFault(code), `${code} ${fork}`)
  const born = [Fork.SpuriousDragon, Fork.Berlin, Fork.London, Fork.Cancun, Fork.Prague]
  TRANSACTIONS.forEach((fields, type) => {
    check(fields, born[type] as Fork)
    if (type > 0) refused(fields, (born[type]! - 1) as Fork, 'TRANSACTION_TYPE_UNSUPPORTED')
    refused({ ...fields, chainId: 2n } as TransactionFields, Fork.Prague, 'TRANSACTION_CHAIN_ID')
    refused({ ...fields, nonce: 2n ** 64n - 1n }, Fork.Prague, 'TRANSACTION_NONCE_MAX')
    check({ ...fields, nonce: 2n ** 64n - 2n }, Fork.Prague)
    refused({ ...fields, gasLimit: 1n << 25n }, Fork.Osaka, 'TRANSACTION_GAS_LIMIT_MAX')
    check({ ...fields, gasLimit: 1n << 24n }, Fork.Osaka)
    check({ ...fields, gasLimit: 1n << 25n }, Fork.Prague)
  })
  refused(LEGACY, Fork.TangerineWhistle, 'TRANSACTION_CHAIN_ID')
  const highS = { ...LEGACY, chainId: undefined, s: (SECP256K1_ORDER >> 1n) + 1n }
  check(highS, Fork.Frontier)
  check({ ...highS, s: SECP256K1_ORDER >> 1n }, Fork.Homestead)
  refused(highS, Fork.Homestead, 'TRANSACTION_SIGNATURE_HIGH_S')
  refused({ ...DYNAMIC_FEE, maxPriorityFeePerGas: 7n }, Fork.London, 'TRANSACTION_PRIORITY_FEE')
  check({ ...DYNAMIC_FEE, maxPriorityFeePerGas: 6n }, Fork.London)
  refused({ ...ACCESS_LIST, gasPrice: 2n ** 255n }, Fork.London, 'TRANSACTION_FEE_OVERFLOW')
  refused({ ...BLOB, blobVersionedHashes: [] }, Fork.Cancun, 'TRANSACTION_BLOBS')
  refused({ ...BLOB, blobVersionedHashes: [HASH] }, Fork.Cancun, 'TRANSACTION_BLOBS')
  const seven = { ...BLOB, blobVersionedHashes: new Array<Uint8Array>(7).fill(BLOB_HASH) }
  check(seven, Fork.Prague)
  refused(seven, Fork.Osaka, 'TRANSACTION_BLOBS')
  refused({ ...SET_CODE, authorizationList: [] }, Fork.Prague, 'TRANSACTION_AUTHORIZATIONS_EMPTY')
  const create = { ...LEGACY, to: undefined, data: new Uint8Array(49_153), gasLimit: 10_000_000n }
  check(create, Fork.Paris)
  refused(create, Fork.Shanghai, 'TRANSACTION_INIT_CODE_LONG')
  check({ ...create, data: new Uint8Array(49_152) }, Fork.Shanghai)
  const exact = { ...LEGACY, gasLimit: BigInt(intrinsicGas(LEGACY, Fork.Istanbul)) }
  check(exact, Fork.Istanbul)
  refused({ ...exact, gasLimit: exact.gasLimit - 1n }, Fork.Istanbul, 'TRANSACTION_GAS_INTRINSIC')
  refused(exact, Fork.Prague, 'TRANSACTION_GAS_INTRINSIC')
})

test('intrinsic and floor gas by hand', () => {
  // Two zero bytes, two others.
  assert.equal(intrinsicGas(LEGACY, Fork.Frontier), 21_000 + 2 * 4 + 2 * 68)
  assert.equal(intrinsicGas(LEGACY, Fork.Istanbul), 21_000 + 2 * 4 + 2 * 16)
  const create = { ...LEGACY, to: undefined }
  assert.equal(intrinsicGas(create, Fork.Frontier), 21_000 + 2 * 4 + 2 * 68)
  assert.equal(intrinsicGas(create, Fork.Homestead), 53_000 + 2 * 4 + 2 * 68)
  assert.equal(intrinsicGas(create, Fork.Shanghai), 53_000 + 2 * 4 + 2 * 16 + 2)
  assert.equal(intrinsicGas(ACCESS_LIST, Fork.Berlin), 21_040 + 2_400 + 2 * 1_900)
  assert.equal(intrinsicGas(SET_CODE, Fork.Prague), 21_040 + 2_400 + 2 * 1_900 + 25_000)
  assert.equal(floorGas(LEGACY, Fork.Cancun), 0)
  assert.equal(floorGas(LEGACY, Fork.Prague), 21_000 + 10 * (2 + 2 * 4))
})

function isFault(code: string) {
  return (error: unknown) => isVarveError(error, code)
}
