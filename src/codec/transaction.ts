/**
 * Transactions of types 0 to 4: what they hold, and the way in and out by type. The readers of each type are in
 * `transactionReaders.ts`, the rules of a fork in `transactionRules.ts`, the sender in `sender.ts`.
 *
 * Envelope (EIP-2718): type 0 is a plain RLP list, whose first byte is 0xc0 or above; every other type is one byte
 * (its number, below 0x80) and then an RLP list. In a block's body the latter stand wrapped as RLP byte strings.
 */
import { VarveError } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { encodeRlp, encodeRlpWithPrefix, type RlpInput } from './rlp.ts'
import { RlpReader } from './rlpReader.ts'
import { readTransactionFields } from './transactionReaders.ts'

/** Number of each type in the envelope. */
export const TransactionType = {
  Legacy: 0,
  /** EIP-2930. */
  AccessList: 1,
  /** EIP-1559. */
  DynamicFee: 2,
  /** EIP-4844. */
  Blob: 3,
  /** EIP-7702. */
  SetCode: 4,
} as const
export type TransactionType = (typeof TransactionType)[keyof typeof TransactionType]

/** Account and slots that a transaction announces (EIP-2930). */
export type AccessListEntry = {
  /** 20 bytes. */
  readonly address: Uint8Array
  /** 32 bytes each. */
  readonly storageKeys: readonly Uint8Array[]
}

/** Permission of an account to run the code of `address` (EIP-7702). Its signature is checked when it is applied. */
export type Authorization = {
  /** 0 for every chain; below 2^256. */
  readonly chainId: bigint
  readonly address: Uint8Array
  /** Below 2^64. */
  readonly nonce: bigint
  /** 0 to 255; only 0 and 1 can be valid. */
  readonly yParity: number
  /** Below 2^256; not checked against the curve. */
  readonly r: bigint
  readonly s: bigint
}

/** What every type has. Prices are in wei per gas. */
type TransactionCommon = {
  /** Below 2^64. */
  readonly nonce: bigint
  /** Below 2^64. */
  readonly gasLimit: bigint
  /** Receiver, 20 bytes; `undefined` where the transaction creates a contract. */
  readonly to: Uint8Array | undefined
  /** Wei, below 2^256. */
  readonly value: bigint
  readonly data: Uint8Array
  /** 0 or 1: which of the two points with abscissa r signed. */
  readonly yParity: 0 | 1
  /** 1 to n-1, with n the order of secp256k1. */
  readonly r: bigint
  readonly s: bigint
}

export type LegacyFields = TransactionCommon & {
  readonly type: 0
  /** From `v` by EIP-155; `undefined` where v is 27 or 28 and the signature holds on every chain. */
  readonly chainId: bigint | undefined
  readonly gasPrice: bigint
}

export type AccessListFields = TransactionCommon & {
  readonly type: 1
  readonly chainId: bigint
  readonly gasPrice: bigint
  readonly accessList: readonly AccessListEntry[]
}

/** Fields of EIP-1559 that later types share. */
type DynamicFeeCommon = TransactionCommon & {
  readonly chainId: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly maxFeePerGas: bigint
  readonly accessList: readonly AccessListEntry[]
}

export type DynamicFeeFields = DynamicFeeCommon & { readonly type: 2 }

export type BlobFields = DynamicFeeCommon & {
  readonly type: 3
  readonly to: Uint8Array
  readonly maxFeePerBlobGas: bigint
  /** 32 bytes each. */
  readonly blobVersionedHashes: readonly Uint8Array[]
}

export type SetCodeFields = DynamicFeeCommon & {
  readonly type: 4
  readonly to: Uint8Array
  readonly authorizationList: readonly Authorization[]
}

/** A signed transaction before it was encoded. */
export type TransactionFields =
  | LegacyFields
  | AccessListFields
  | DynamicFeeFields
  | BlobFields
  | SetCodeFields

/**
 * A signed transaction. `raw` is its envelope, as it lies in the transaction trie, and `hash` that envelope's
 * keccak-256. Byte strings are views of what was decoded.
 */
export type Transaction = TransactionFields & {
  readonly raw: Uint8Array
  readonly hash: Uint8Array
}

/** A transaction without signature, for signing. */
export type UnsignedTransaction = TransactionFields extends infer Fields
  ? Fields extends TransactionFields
    ? Omit<Fields, 'yParity' | 'r' | 's'>
    : never
  : never

/**
 * Decodes an envelope. Byte strings are views of `bytes`, which must not be written afterwards.
 * @throws VarveError RLP_*, TRANSACTION_TYPE_UNKNOWN, TRANSACTION_NETWORK_FORM, TRANSACTION_SIGNATURE
 */
export function decodeTransaction(bytes: Uint8Array): Transaction {
  const first = bytes[0]
  if (first === undefined)
    throw new VarveError<TransactionErrorCode>(
      'TRANSACTION_TYPE_UNKNOWN',
      'transaction: expected an envelope, got no bytes',
    )
  const isLegacy = first >= 0xc0
  if (!isLegacy && (first < 1 || first > 4))
    throw new VarveError<TransactionErrorCode>(
      'TRANSACTION_TYPE_UNKNOWN',
      `transaction: expected a list or a type of 1 to 4, got 0x${first.toString(16)}`,
      { type: first },
    )
  const reader = new RlpReader(bytes, isLegacy ? 0 : 1)
  const fields = readTransactionFields(reader, (isLegacy ? 0 : first) as TransactionType)
  reader.finish('transaction')
  return sealed(fields, bytes)
}

/** Reads a transaction as it stands in a block's body: a list, or an envelope in a byte string. */
export function readTransaction(reader: RlpReader): Transaction {
  if (reader.nextIsList) return decodeTransaction(reader.readRaw('transaction'))
  const offset = reader.position
  const bytes = reader.readBytes('transaction')
  // A list inside a byte string would be a second way to write a legacy transaction.
  if (bytes.length > 0 && bytes[0]! >= 0xc0)
    throw new VarveError<TransactionErrorCode>(
      'TRANSACTION_TYPE_UNKNOWN',
      `transaction at byte ${offset}: expected a type of 1 to 4, got a list wrapped in a byte string`,
      { offset },
    )
  return decodeTransaction(bytes)
}

/** Encodes a signed transaction as its envelope. */
export function encodeTransaction(fields: TransactionFields): Uint8Array {
  const list = unsignedList(fields)
  if (fields.type === TransactionType.Legacy) list.push(legacyV(fields), fields.r, fields.s)
  else list.push(fields.yParity, fields.r, fields.s)
  return envelope(fields.type, list)
}

/** A transaction as it stands in a block's body. */
export function transactionToRlp(transaction: Transaction): RlpInput {
  return transaction.type === TransactionType.Legacy ? { raw: transaction.raw } : transaction.raw
}

/** Completes signed fields with envelope and hash. */
export function sealTransaction(fields: TransactionFields): Transaction {
  return sealed({ ...fields }, encodeTransaction(fields))
}

/** @param fields an object of its own, which becomes the transaction */
function sealed(fields: TransactionFields, raw: Uint8Array): Transaction {
  return Object.assign(fields, { raw, hash: keccak256(raw) })
}

/** keccak-256 of what the sender signs (EIP-155 adds the chain id to type 0; the others sign their envelope). */
export function signingHash(fields: UnsignedTransaction): Uint8Array {
  const list = unsignedList(fields)
  if (fields.type === TransactionType.Legacy && fields.chainId !== undefined)
    list.push(fields.chainId, 0, 0)
  return keccak256(envelope(fields.type, list))
}

function legacyV(fields: LegacyFields): bigint {
  return fields.chainId === undefined
    ? 27n + BigInt(fields.yParity)
    : fields.chainId * 2n + 35n + BigInt(fields.yParity)
}

function envelope(type: TransactionType, list: readonly RlpInput[]): Uint8Array {
  return type === TransactionType.Legacy ? encodeRlp(list) : encodeRlpWithPrefix(list, type)
}

function unsignedList(fields: UnsignedTransaction): RlpInput[] {
  const to = fields.to ?? new Uint8Array(0)
  const { nonce, gasLimit, value, data } = fields
  switch (fields.type) {
    case 0:
      return [nonce, fields.gasPrice, gasLimit, to, value, data]
    case 1: {
      const accessList = accessListToRlp(fields.accessList)
      return [fields.chainId, nonce, fields.gasPrice, gasLimit, to, value, data, accessList]
    }
    default: {
      const list: RlpInput[] = [fields.chainId, nonce, fields.maxPriorityFeePerGas]
      list.push(fields.maxFeePerGas, gasLimit, to, value, data)
      list.push(accessListToRlp(fields.accessList))
      if (fields.type === 3) list.push(fields.maxFeePerBlobGas, fields.blobVersionedHashes)
      if (fields.type === 4) list.push(fields.authorizationList.map(authorizationToRlp))
      return list
    }
  }
}

function accessListToRlp(accessList: readonly AccessListEntry[]): RlpInput[] {
  return accessList.map((entry) => [entry.address, entry.storageKeys])
}

function authorizationToRlp(authorization: Authorization): RlpInput {
  const { chainId, address, nonce, yParity, r, s } = authorization
  return [chainId, address, nonce, yParity, r, s]
}

/** Error codes of decoding, beside those of RLP. */
export type TransactionErrorCode =
  /** The first byte is no type that exists, or there is none. */
  | 'TRANSACTION_TYPE_UNKNOWN'
  /** A blob transaction comes with its blobs, as between nodes; blocks hold it without. */
  | 'TRANSACTION_NETWORK_FORM'
  /** v, y parity, r or s lie outside what any fork accepts. */
  | 'TRANSACTION_SIGNATURE'
