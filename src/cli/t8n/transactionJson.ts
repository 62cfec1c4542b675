/**
 * Transactions as JSON, in the form of the RPC, with the fields that geth's tools add: `secretKey` signs where the
 * signature is all zero, `protected: false` leaves the chain id out of what is signed.
 */
import { Fork } from '../../base/index.ts'
import {
  type AccessListEntry,
  type Authorization,
  SECP256K1_ORDER,
  sealTransaction,
  signingHash,
  type Transaction,
  type TransactionFields,
  type UnsignedTransaction,
} from '../../codec/index.ts'
import { isPrivateKey, type Signature, sign } from './signing.ts'
import { T8nExit, T8nFault } from './t8nFault.ts'
import { Fields, readAddress, readHash, readHexBytes, readItems, readNumber } from './values.ts'

const INVALID_SIGNATURE = 'invalid transaction v, r, s values'
const TYPE_UNSUPPORTED = 'transaction type not supported'
/** The fork that brought each type. */
const TYPE_FORK = [Fork.Frontier, Fork.Berlin, Fork.London, Fork.Cancun, Fork.Prague] as const

/** @throws T8nFault Json */
export function readTransactions(
  value: unknown,
  rules: { readonly fork: Fork; readonly chainId: bigint },
): Transaction[] {
  return readItems(value, 'txs').map((item, index) => readTransaction(item, index, rules))
}

function readTransaction(
  value: unknown,
  index: number,
  { fork, chainId }: { readonly fork: Fork; readonly chainId: bigint },
): Transaction {
  const fields = new Fields(value, `txs.${index}`, 'in transaction')
  const unsigned = readUnsigned(fields)
  const [v, r, s] = (['v', 'r', 's'] as const).map((key) => fields.number(key) ?? 0n) as [
    bigint,
    bigint,
    bigint,
  ]
  const key = fields.optional('secretKey', readHash)
  if (key === undefined || v + r + s > 0n) return signed(fields, unsigned, v, r, s)
  if (!isPrivateKey(key)) throw json(`txs.${index}.secretKey: no key of secp256k1`)
  if (fork < TYPE_FORK[unsigned.type])
    throw json(`failed signing transactions: tx ${index}: failed to sign tx: ${TYPE_UNSUPPORTED}`)
  const isProtected = fields.optional('protected', (flag) => flag === true) ?? true
  const bound = withChainId(
    unsigned,
    isProtected && fork >= Fork.SpuriousDragon ? chainId : undefined,
  )
  return seal(bound, sign(signingHash(bound), key))
}

/** Binds a transaction to a chain; only type 0 can do without. */
function withChainId(
  transaction: UnsignedTransaction,
  chainId: bigint | undefined,
): UnsignedTransaction {
  if (transaction.type === 0) return { ...transaction, chainId }
  return transaction.chainId === 0n && chainId !== undefined
    ? { ...transaction, chainId }
    : transaction
}

function seal(transaction: UnsignedTransaction, signature: Signature): Transaction {
  return sealTransaction({ ...transaction, ...signature } as TransactionFields)
}

function signed(
  fields: Fields,
  transaction: UnsignedTransaction,
  v: bigint,
  r: bigint,
  s: bigint,
): Transaction {
  const yParity = fields.number('yParity')
  if (transaction.type !== 0) {
    const parity = yParity ?? v
    if (parity > 1n || !isScalar(r) || !isScalar(s)) throw json(INVALID_SIGNATURE)
    return seal(transaction, { yParity: parity === 0n ? 0 : 1, r, s })
  }
  const isPlain = v === 27n || v === 28n
  if ((!isPlain && v < 35n) || !isScalar(r) || !isScalar(s)) throw json(INVALID_SIGNATURE)
  const parity = isPlain ? v - 27n : (v - 35n) % 2n
  const chainId = isPlain ? undefined : (v - 35n) / 2n
  return seal({ ...transaction, chainId }, { yParity: parity === 0n ? 0 : 1, r, s })
}

function isScalar(value: bigint): boolean {
  return value > 0n && value < SECP256K1_ORDER
}

function readUnsigned(fields: Fields): UnsignedTransaction {
  const u64 = (value: unknown, path: string) => readNumber(value, path, 64)
  const u256 = (value: unknown, path: string) => readNumber(value, path)
  const type = Number(fields.number('type', 8) ?? 0n)
  const to = fields.optional('to', (value, path) =>
    value === '' || value === '0x' ? undefined : readAddress(value, path),
  )
  const common = {
    nonce: fields.required('nonce', u64),
    gasLimit: fields.required('gas', u64),
    to,
    value: fields.required('value', u256),
    data:
      fields.optional('input', readHexBytes) ??
      fields.optional('data', readHexBytes) ??
      fields.required('input', readHexBytes),
  }
  if (type === 0)
    return { type, ...common, chainId: undefined, gasPrice: fields.required('gasPrice', u256) }
  const chainId = fields.required('chainId', u256)
  const accessList = fields.optional('accessList', readAccessList) ?? []
  if (type === 1)
    return { type, ...common, chainId, gasPrice: fields.required('gasPrice', u256), accessList }
  if (type !== 2 && type !== 3 && type !== 4) throw json(TYPE_UNSUPPORTED)
  const dynamic = {
    ...common,
    chainId,
    accessList,
    maxPriorityFeePerGas: fields.required('maxPriorityFeePerGas', u256),
    maxFeePerGas: fields.required('maxFeePerGas', u256),
  }
  if (type === 2) return { type, ...dynamic }
  const receiver = to ?? fields.required('to', readAddress)
  if (type === 4) {
    const authorizationList = fields.required('authorizationList', readAuthorizations)
    return { type, ...dynamic, to: receiver, authorizationList }
  }
  return {
    type,
    ...dynamic,
    to: receiver,
    maxFeePerBlobGas: fields.required('maxFeePerBlobGas', u256),
    blobVersionedHashes: fields.required('blobVersionedHashes', (value, path) =>
      readItems(value, path).map((hash) => readHash(hash, path)),
    ),
  }
}

function readAccessList(value: unknown, path: string): AccessListEntry[] {
  return readItems(value, path).map((item, index) => {
    const fields = new Fields(item, `${path}.${index}`, 'in access list')
    return {
      address: fields.required('address', readAddress),
      storageKeys:
        fields.optional('storageKeys', (keys, place) =>
          readItems(keys, place).map((key) => readHash(key, place)),
        ) ?? [],
    }
  })
}

function readAuthorizations(value: unknown, path: string): Authorization[] {
  return readItems(value, path).map((item, index) => {
    const fields = new Fields(item, `${path}.${index}`, 'in authorization')
    const u64 = (field: unknown, place: string) => readNumber(field, place, 64)
    const u256 = (field: unknown, place: string) => readNumber(field, place)
    return {
      chainId: fields.required('chainId', u256),
      address: fields.required('address', readAddress),
      nonce: fields.required('nonce', u64),
      yParity: Number(fields.number('yParity', 8) ?? fields.number('v', 8) ?? 0n),
      r: fields.required('r', u256),
      s: fields.required('s', u256),
    }
  })
}

function json(message: string): T8nFault {
  return new T8nFault(T8nExit.Json, message)
}
