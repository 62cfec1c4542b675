/**
 * Readers of the RLP lists of transaction types 0 to 4. Every integer is without leading zeros, every hash and
 * address has its exact length, and no list has a field too many. What depends on a fork is not checked here.
 */
import { ADDRESS_BYTES, HASH_BYTES, VarveError } from '../base/index.ts'
import type { RlpReader } from './rlpReader.ts'
import type {
  AccessListEntry,
  AccessListFields,
  Authorization,
  BlobFields,
  DynamicFeeFields,
  LegacyFields,
  SetCodeFields,
  TransactionErrorCode,
  TransactionFields,
  TransactionType,
} from './transaction.ts'

/** Order of secp256k1's group. */
export const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Reads the list of one type at the reader's position, which is just past the type byte. */
export function readTransactionFields(reader: RlpReader, type: TransactionType): TransactionFields {
  const outerEnd = reader.openList('transaction')
  const fields = readByType(reader, type)
  reader.closeList(outerEnd, 'transaction')
  return fields
}

function readByType(reader: RlpReader, type: TransactionType): TransactionFields {
  switch (type) {
    case 0:
      return readLegacy(reader)
    case 1:
      return readAccessListTransaction(reader)
    case 2:
      return readDynamicFee(reader)
    case 3:
      return readBlob(reader)
    case 4:
      return readSetCode(reader)
  }
}

function readLegacy(reader: RlpReader): LegacyFields {
  const nonce = reader.readBigint(8, 'nonce')
  const gasPrice = reader.readBigint(32, 'gasPrice')
  const gasLimit = reader.readBigint(8, 'gasLimit')
  const to = reader.readFixedOrEmpty(ADDRESS_BYTES, 'to')
  const value = reader.readBigint(32, 'value')
  const data = reader.readBytes('data')
  const v = reader.readBigint(32, 'v')
  const r = readScalar(reader, 'r')
  const s = readScalar(reader, 's')
  // EIP-155: 27 and 28 are the old form; from 35 on, v holds the chain id.
  if (v < 35n && v !== 27n && v !== 28n)
    throw signatureFault(`expected v of 27, 28, or 35 and above, got ${v}`)
  const chainId = v < 35n ? undefined : (v - 35n) >> 1n
  const yParity = ((v < 35n ? v - 27n : v - 35n) & 1n) === 0n ? 0 : 1
  return { type: 0, chainId, nonce, gasPrice, gasLimit, to, value, data, yParity, r, s }
}

// A literal's fields are evaluated in their order, which is that of the wire. None is copied from another object: what
// `...` makes is slow to make, and slow to read for whoever comes after.

function readAccessListTransaction(reader: RlpReader): AccessListFields {
  return {
    type: 1,
    chainId: reader.readBigint(32, 'chainId'),
    nonce: reader.readBigint(8, 'nonce'),
    gasPrice: reader.readBigint(32, 'gasPrice'),
    gasLimit: reader.readBigint(8, 'gasLimit'),
    to: reader.readFixedOrEmpty(ADDRESS_BYTES, 'to'),
    value: reader.readBigint(32, 'value'),
    data: reader.readBytes('data'),
    accessList: readAccessList(reader),
    yParity: readYParity(reader),
    r: readScalar(reader, 'r'),
    s: readScalar(reader, 's'),
  }
}

function readDynamicFee(reader: RlpReader): DynamicFeeFields {
  return {
    type: 2,
    chainId: reader.readBigint(32, 'chainId'),
    nonce: reader.readBigint(8, 'nonce'),
    maxPriorityFeePerGas: reader.readBigint(32, 'maxPriorityFeePerGas'),
    maxFeePerGas: reader.readBigint(32, 'maxFeePerGas'),
    gasLimit: reader.readBigint(8, 'gasLimit'),
    to: reader.readFixedOrEmpty(ADDRESS_BYTES, 'to'),
    value: reader.readBigint(32, 'value'),
    data: reader.readBytes('data'),
    accessList: readAccessList(reader),
    yParity: readYParity(reader),
    r: readScalar(reader, 'r'),
    s: readScalar(reader, 's'),
  }
}

function readBlob(reader: RlpReader): BlobFields {
  if (reader.nextIsList)
    throw new VarveError<TransactionErrorCode>(
      'TRANSACTION_NETWORK_FORM',
      'blob transaction: expected the form without blobs, got the one with blobs, commitments and proofs',
      { offset: reader.position },
    )
  return {
    type: 3,
    chainId: reader.readBigint(32, 'chainId'),
    nonce: reader.readBigint(8, 'nonce'),
    maxPriorityFeePerGas: reader.readBigint(32, 'maxPriorityFeePerGas'),
    maxFeePerGas: reader.readBigint(32, 'maxFeePerGas'),
    gasLimit: reader.readBigint(8, 'gasLimit'),
    to: reader.readFixed(ADDRESS_BYTES, 'to'),
    value: reader.readBigint(32, 'value'),
    data: reader.readBytes('data'),
    accessList: readAccessList(reader),
    maxFeePerBlobGas: reader.readBigint(32, 'maxFeePerBlobGas'),
    blobVersionedHashes: readHashes(reader, 'blobVersionedHashes'),
    yParity: readYParity(reader),
    r: readScalar(reader, 'r'),
    s: readScalar(reader, 's'),
  }
}

function readSetCode(reader: RlpReader): SetCodeFields {
  return {
    type: 4,
    chainId: reader.readBigint(32, 'chainId'),
    nonce: reader.readBigint(8, 'nonce'),
    maxPriorityFeePerGas: reader.readBigint(32, 'maxPriorityFeePerGas'),
    maxFeePerGas: reader.readBigint(32, 'maxFeePerGas'),
    gasLimit: reader.readBigint(8, 'gasLimit'),
    to: reader.readFixed(ADDRESS_BYTES, 'to'),
    value: reader.readBigint(32, 'value'),
    data: reader.readBytes('data'),
    accessList: readAccessList(reader),
    authorizationList: readAuthorizations(reader),
    yParity: readYParity(reader),
    r: readScalar(reader, 'r'),
    s: readScalar(reader, 's'),
  }
}

function readAccessList(reader: RlpReader): AccessListEntry[] {
  const entries: AccessListEntry[] = []
  const outerEnd = reader.openList('accessList')
  while (!reader.atEnd) {
    const listEnd = reader.openList('accessList entry')
    const address = reader.readFixed(ADDRESS_BYTES, 'accessList.address')
    entries.push({ address, storageKeys: readHashes(reader, 'accessList.storageKeys') })
    reader.closeList(listEnd, 'accessList entry')
  }
  reader.closeList(outerEnd, 'accessList')
  return entries
}

function readHashes(reader: RlpReader, what: string): Uint8Array[] {
  const hashes: Uint8Array[] = []
  const outerEnd = reader.openList(what)
  while (!reader.atEnd) hashes.push(reader.readFixed(HASH_BYTES, what))
  reader.closeList(outerEnd, what)
  return hashes
}

function readAuthorizations(reader: RlpReader): Authorization[] {
  const list: Authorization[] = []
  const outerEnd = reader.openList('authorizationList')
  while (!reader.atEnd) list.push(readAuthorization(reader))
  reader.closeList(outerEnd, 'authorizationList')
  return list
}

/** EIP-7702 bounds the numbers by width only: a tuple with a wrong signature is skipped, not refused. */
function readAuthorization(reader: RlpReader): Authorization {
  const outerEnd = reader.openList('authorization')
  const authorization = {
    chainId: reader.readBigint(32, 'authorization.chainId'),
    address: reader.readFixed(ADDRESS_BYTES, 'authorization.address'),
    nonce: reader.readBigint(8, 'authorization.nonce'),
    yParity: Number(reader.readBigint(1, 'authorization.yParity')),
    r: reader.readBigint(32, 'authorization.r'),
    s: reader.readBigint(32, 'authorization.s'),
  }
  reader.closeList(outerEnd, 'authorization')
  return authorization
}

function readYParity(reader: RlpReader): 0 | 1 {
  const yParity = reader.readBigint(32, 'yParity')
  if (yParity > 1n) throw signatureFault(`expected a y parity of 0 or 1, got ${yParity}`)
  return yParity === 0n ? 0 : 1
}

/** Half of a signature: 1 to n-1. */
function readScalar(reader: RlpReader, name: 'r' | 's'): bigint {
  const scalar = reader.readBigint(32, name)
  if (scalar === 0n || scalar >= SECP256K1_ORDER)
    throw signatureFault(`expected 0 < ${name} < n, got ${scalar}`)
  return scalar
}

function signatureFault(problem: string): VarveError<TransactionErrorCode> {
  return new VarveError('TRANSACTION_SIGNATURE', `transaction signature: ${problem}`)
}
