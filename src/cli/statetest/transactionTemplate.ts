/**
 * The transaction of a state test: alternatives for data, gas and value, of which a sub-case picks one each. Its type
 * follows from the fields that are there, as in go-ethereum.
 */
import { createECDH } from 'node:crypto'
import { ADDRESS_BYTES, HASH_BYTES } from '../../base/index.ts'
import {
  type AccessListEntry,
  type Authorization,
  addressOfPublicKey,
  type UnsignedTransaction,
} from '../../codec/index.ts'
import {
  invalid,
  type JsonRecord,
  readBytes,
  readFixed,
  readInteger,
  readList,
  readObject,
} from '../testfiles/jsonValue.ts'

export type TransactionTemplate = {
  /** 20 bytes: `sender`, or whose key `secretKey` is. */
  readonly sender: Uint8Array
  readonly to: Uint8Array | undefined
  readonly nonce: bigint
  readonly data: readonly Uint8Array[]
  readonly gasLimits: readonly bigint[]
  readonly values: readonly bigint[]
  /** `undefined` where the transaction has another way to name its price. */
  readonly gasPrice: bigint | undefined
  readonly maxFeePerGas: bigint | undefined
  readonly maxPriorityFeePerGas: bigint | undefined
  readonly maxFeePerBlobGas: bigint | undefined
  /** One for each data; `undefined` where the transaction then has none. */
  readonly accessLists: readonly (readonly AccessListEntry[] | undefined)[]
  readonly blobVersionedHashes: readonly Uint8Array[] | undefined
  readonly authorizationList: readonly Authorization[] | undefined
}

/** Which alternatives a sub-case takes. */
export type TransactionChoice = {
  readonly dataIndex: number
  readonly gasIndex: number
  readonly valueIndex: number
}

/** @throws VarveError TESTFILE_INVALID */
export function readTransactionTemplate(value: unknown, path: string): TransactionTemplate {
  const fields = readObject(value, path)
  const optional = <Item>(key: string, read: (value: unknown, path: string) => Item) => {
    const field = fields[key]
    return field === undefined || field === null ? undefined : read(field, `${path}.${key}`)
  }
  const list = <Item>(key: string, read: (value: unknown, path: string) => Item) =>
    readList(fields[key], `${path}.${key}`).map((item, index) =>
      read(item, `${path}.${key}.${index}`),
    )
  const to = fields['to']
  return {
    sender: readSender(fields, path),
    to:
      to === undefined || to === null || to === '' || to === '0x'
        ? undefined
        : readFixed(to, ADDRESS_BYTES, `${path}.to`),
    nonce: readInteger(fields['nonce'] ?? '0x', `${path}.nonce`),
    data: list('data', readBytes),
    gasLimits: list('gasLimit', readInteger),
    values: list('value', readInteger),
    gasPrice: optional('gasPrice', readInteger),
    maxFeePerGas: optional('maxFeePerGas', readInteger),
    maxPriorityFeePerGas: optional('maxPriorityFeePerGas', readInteger),
    maxFeePerBlobGas: optional('maxFeePerBlobGas', readInteger),
    accessLists:
      optional('accessLists', (lists, place) => readList(lists, place).map(readAccessList)) ?? [],
    blobVersionedHashes: optional('blobVersionedHashes', (hashes, place) =>
      readList(hashes, place).map((hash) => readFixed(hash, HASH_BYTES, place)),
    ),
    authorizationList: optional('authorizationList', (entries, place) =>
      readList(entries, place).map((entry) => readAuthorization(readObject(entry, place), place)),
    ),
  }
}

/** The transaction of a sub-case, without signature. @throws VarveError TESTFILE_INVALID */
export function chooseTransaction(
  template: TransactionTemplate,
  choice: TransactionChoice,
  chainId: bigint,
): UnsignedTransaction {
  const data = pick(template.data, choice.dataIndex, 'data')
  const common = {
    nonce: template.nonce,
    gasLimit: pick(template.gasLimits, choice.gasIndex, 'gas'),
    to: template.to,
    value: pick(template.values, choice.valueIndex, 'value'),
    data,
  }
  const { gasPrice, maxFeePerGas, blobVersionedHashes, authorizationList } = template
  const accessList = template.accessLists[choice.dataIndex]
  if (
    maxFeePerGas === undefined &&
    blobVersionedHashes === undefined &&
    authorizationList === undefined
  ) {
    if (gasPrice === undefined) throw invalid('transaction', 'gasPrice or maxFeePerGas', undefined)
    return accessList === undefined
      ? { type: 0, ...common, chainId: undefined, gasPrice }
      : { type: 1, ...common, chainId, gasPrice, accessList }
  }
  const fees = {
    chainId,
    maxFeePerGas: maxFeePerGas ?? gasPrice ?? 0n,
    maxPriorityFeePerGas: template.maxPriorityFeePerGas ?? maxFeePerGas ?? gasPrice ?? 0n,
    accessList: accessList ?? [],
  }
  // A receiver may be missing where none is allowed to be; the check of the transaction finds that.
  const to = template.to as Uint8Array
  if (authorizationList !== undefined) return { type: 4, ...common, to, ...fees, authorizationList }
  if (blobVersionedHashes === undefined) return { type: 2, ...common, ...fees }
  const maxFeePerBlobGas = template.maxFeePerBlobGas ?? 0n
  return { type: 3, ...common, to, ...fees, maxFeePerBlobGas, blobVersionedHashes }
}

function pick<Item>(list: readonly Item[], index: number, name: string): Item {
  const item = list[index]
  if (item === undefined) throw invalid(`indexes.${name}`, `an index below ${list.length}`, index)
  return item
}

function readSender(fields: JsonRecord, path: string): Uint8Array {
  const sender = fields['sender']
  if (sender !== undefined) return readFixed(sender, ADDRESS_BYTES, `${path}.sender`)
  const key = readFixed(fields['secretKey'], HASH_BYTES, `${path}.secretKey`)
  const curve = createECDH('secp256k1')
  try {
    curve.setPrivateKey(key)
  } catch {
    throw invalid(`${path}.secretKey`, 'a key of secp256k1', fields['secretKey'])
  }
  // The first byte says that both coordinates follow.
  return addressOfPublicKey(new Uint8Array(curve.getPublicKey().subarray(1)))
}

function readAccessList(value: unknown, index: number): readonly AccessListEntry[] | undefined {
  if (value === null) return undefined
  const path = `accessLists.${index}`
  return readList(value, path).map((item) => {
    const entry = readObject(item, path)
    return {
      address: readFixed(entry['address'], ADDRESS_BYTES, `${path}.address`),
      storageKeys: readList(entry['storageKeys'], `${path}.storageKeys`).map((key) =>
        readFixed(key, HASH_BYTES, `${path}.storageKeys`),
      ),
    }
  })
}

function readAuthorization(entry: JsonRecord, path: string): Authorization {
  const number = (key: string) => readInteger(entry[key], `${path}.${key}`)
  const parity = number(entry['yParity'] === undefined ? 'v' : 'yParity')
  return {
    chainId: number('chainId'),
    address: readFixed(entry['address'], ADDRESS_BYTES, `${path}.address`),
    nonce: number('nonce'),
    // Anything above a byte is as wrong as 256.
    yParity: parity > 255n ? 256 : Number(parity),
    r: number('r'),
    s: number('s'),
  }
}
