/** A block as `eth_getBlockByNumber` answers with full transactions, read back to what was encoded and signed. */
import {
  type Authorization,
  type Block,
  type Header,
  sealHeader,
  sealTransaction,
  type Transaction,
  type Withdrawal,
} from 'varve/codec'
import { bytesOf, integerOf } from './fixtures.ts'

/** Hexadecimal quantities and data, and lists of such. */
export type RpcObject = { readonly [field: string]: unknown }
export type RpcBlock = RpcObject & {
  readonly hash: string
  readonly uncles?: readonly string[]
  readonly transactions: readonly RpcTransaction[]
}
export type RpcTransaction = RpcObject & { readonly from: string; readonly hash: string }

type AccessList = readonly { readonly address: string; readonly storageKeys: readonly string[] }[]

export function readRpcBlock(json: RpcBlock): Block {
  const transactions = json.transactions.map(readTransaction)
  const withdrawals = json['withdrawals'] as readonly RpcObject[] | undefined
  const lists = { transactions, uncles: [] }
  const header = readHeader(json)
  return withdrawals === undefined
    ? { header, ...lists }
    : { header, ...lists, withdrawals: withdrawals.map(readWithdrawal) }
}

function readHeader(json: RpcObject): Header {
  const [bytes, integer] = readers(json)
  const has = (name: string) => json[name] !== undefined && json[name] !== null
  return sealHeader({
    parentHash: bytes('parentHash'),
    uncleHash: bytes('sha3Uncles'),
    coinbase: bytes('miner'),
    stateRoot: bytes('stateRoot'),
    transactionsRoot: bytes('transactionsRoot'),
    receiptsRoot: bytes('receiptsRoot'),
    logsBloom: bytes('logsBloom'),
    difficulty: integer('difficulty'),
    number: Number(integer('number')),
    gasLimit: integer('gasLimit'),
    gasUsed: integer('gasUsed'),
    timestamp: integer('timestamp'),
    extraData: bytes('extraData'),
    mixHash: bytes('mixHash'),
    nonce: bytes('nonce'),
    ...(has('baseFeePerGas') ? { baseFeePerGas: integer('baseFeePerGas') } : {}),
    ...(has('withdrawalsRoot') ? { withdrawalsRoot: bytes('withdrawalsRoot') } : {}),
    ...(has('blobGasUsed') ? { blobGasUsed: integer('blobGasUsed') } : {}),
    ...(has('excessBlobGas') ? { excessBlobGas: integer('excessBlobGas') } : {}),
    ...(has('parentBeaconBlockRoot')
      ? { parentBeaconBlockRoot: bytes('parentBeaconBlockRoot') }
      : {}),
    ...(has('requestsHash') ? { requestsHash: bytes('requestsHash') } : {}),
  })
}

function readTransaction(json: RpcTransaction): Transaction {
  const [bytes, integer] = readers(json)
  const to = json['to']
  const common = {
    nonce: integer('nonce'),
    gasLimit: integer('gas'),
    to: typeof to === 'string' ? bytesOf(to) : undefined,
    value: integer('value'),
    data: bytes('input'),
    r: integer('r'),
    s: integer('s'),
  }
  const v = integer('v')
  const type = Number(integerOf((json['type'] as string | undefined) ?? '0x0'))
  if (type === 0) {
    const chainId = v >= 35n ? (v - 35n) / 2n : undefined
    return sealTransaction({
      ...{ ...common, type, chainId, gasPrice: integer('gasPrice') },
      yParity: parityOf(chainId === undefined ? v - 27n : (v - 35n) % 2n),
    })
  }
  const typed = {
    ...common,
    chainId: integer('chainId'),
    accessList: ((json['accessList'] as AccessList | undefined) ?? []).map((entry) => ({
      address: bytesOf(entry.address),
      storageKeys: entry.storageKeys.map(bytesOf),
    })),
    yParity: parityOf(v),
  }
  if (type === 1) return sealTransaction({ ...typed, type, gasPrice: integer('gasPrice') })
  const dynamic = {
    ...typed,
    maxPriorityFeePerGas: integer('maxPriorityFeePerGas'),
    maxFeePerGas: integer('maxFeePerGas'),
  }
  if (type === 2) return sealTransaction({ ...dynamic, type })
  if (common.to === undefined) throw new Error(`a transaction of type ${type} without receiver`)
  if (type === 3)
    return sealTransaction({
      ...{ ...dynamic, type, to: common.to },
      maxFeePerBlobGas: integer('maxFeePerBlobGas'),
      blobVersionedHashes: (json['blobVersionedHashes'] as readonly string[]).map(bytesOf),
    })
  if (type !== 4) throw new Error(`a transaction of type ${type}`)
  const authorizationList = (json['authorizationList'] as readonly RpcObject[]).map(
    readAuthorization,
  )
  return sealTransaction({ ...dynamic, type, to: common.to, authorizationList })
}

function readAuthorization(json: RpcObject): Authorization {
  const [bytes, integer] = readers(json)
  return {
    chainId: integer('chainId'),
    address: bytes('address'),
    nonce: integer('nonce'),
    yParity: Number(integer(json['yParity'] === undefined ? 'v' : 'yParity')),
    r: integer('r'),
    s: integer('s'),
  }
}

function readWithdrawal(json: RpcObject): Withdrawal {
  const [bytes, integer] = readers(json)
  return {
    index: integer('index'),
    validatorIndex: integer('validatorIndex'),
    address: bytes('address'),
    amount: integer('amount'),
  }
}

function readers(
  json: RpcObject,
): [bytes: (name: string) => Uint8Array, integer: (name: string) => bigint] {
  const text = (name: string): string => {
    const value = json[name]
    if (typeof value !== 'string') throw new Error(`${name}: expected text, found ${typeof value}`)
    return value
  }
  return [(name) => bytesOf(text(name)), (name) => integerOf(text(name))]
}

function parityOf(parity: bigint): 0 | 1 {
  if (parity !== 0n && parity !== 1n) throw new Error(`a signature with parity ${parity}`)
  return parity === 0n ? 0 : 1
}
