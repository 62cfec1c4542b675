/**
 * Transactions in RLP, read field by field so that a fault gets the words that geth's decoder has for it. Integers
 * may be of any size: `t9n` says itself which are too large.
 */
import { ADDRESS_BYTES, bigintFromBytes } from '../../base/index.ts'

/** A fault in geth's words. */
export class RlpTextFault extends Error {
  override readonly name = 'RlpTextFault'
}

/** An item of RLP: its content, and whether it is a list. */
type Item = { readonly isList: boolean; readonly content: Uint8Array; readonly raw: Uint8Array }

type Kind =
  | 'uint64'
  | '*big.Int'
  | '*uint256.Int'
  | '*common.Address'
  | 'common.Address'
  | '[]uint8'
  | 'list'

type Layout = { readonly name: string; readonly fields: readonly (readonly [string, Kind])[] }

const SIGNATURE = (kind: Kind): [string, Kind][] => [
  ['V', kind],
  ['R', kind],
  ['S', kind],
]

/** Fields of types 2, 3 and 4 up to the access list. */
const dynamicFields = (integer: Kind, to: Kind): [string, Kind][] => [
  ['ChainID', integer],
  ['Nonce', 'uint64'],
  ['GasTipCap', integer],
  ['GasFeeCap', integer],
  ['Gas', 'uint64'],
  ['To', to],
  ['Value', integer],
  ['Data', '[]uint8'],
  ['AccessList', 'list'],
]

const LAYOUTS: readonly Layout[] = [
  {
    name: 'types.LegacyTx',
    fields: [
      ['Nonce', 'uint64'],
      ['GasPrice', '*big.Int'],
      ['Gas', 'uint64'],
      ['To', '*common.Address'],
      ['Value', '*big.Int'],
      ['Data', '[]uint8'],
      ...SIGNATURE('*big.Int'),
    ],
  },
  {
    name: 'types.AccessListTx',
    fields: [
      ['ChainID', '*big.Int'],
      ['Nonce', 'uint64'],
      ['GasPrice', '*big.Int'],
      ['Gas', 'uint64'],
      ['To', '*common.Address'],
      ['Value', '*big.Int'],
      ['Data', '[]uint8'],
      ['AccessList', 'list'],
      ...SIGNATURE('*big.Int'),
    ],
  },
  {
    name: 'types.DynamicFeeTx',
    fields: [...dynamicFields('*big.Int', '*common.Address'), ...SIGNATURE('*big.Int')],
  },
  {
    name: 'types.BlobTx',
    fields: [
      ...dynamicFields('*uint256.Int', 'common.Address'),
      ['BlobFeeCap', '*uint256.Int'],
      ['BlobHashes', 'list'],
      ...SIGNATURE('*uint256.Int'),
    ],
  },
  {
    name: 'types.SetCodeTx',
    fields: [
      ...dynamicFields('*uint256.Int', 'common.Address'),
      ['AuthList', 'list'],
      ...SIGNATURE('*uint256.Int'),
    ],
  },
]

/** What was read: integers and byte strings by geth's names for the fields. */
export type LooseTransaction = {
  readonly type: number
  /** The envelope. */
  readonly raw: Uint8Array
  integer(field: string): bigint
  bytes(field: string): Uint8Array
}

/** The items of a list of transactions, each as it stands there. @throws RlpTextFault */
export function listItems(bytes: Uint8Array): Uint8Array[] {
  const list = readItem(bytes, 0)
  if (list === undefined || !list.isList) throw new RlpTextFault('rlp: expected List')
  return itemsOf(list.content).map(({ raw }) => raw)
}

/** Reads a transaction as it stands in a list: a list itself, or an envelope in a byte string. @throws RlpTextFault */
export function readLooseTransaction(raw: Uint8Array): LooseTransaction {
  const item = readItem(raw, 0)
  if (item === undefined) throw new RlpTextFault('rlp: value size exceeds available input length')
  if (item.isList) return readFields(0, item, raw)
  const { content } = item
  if (content.length <= 1) throw new RlpTextFault('typed transaction too short')
  const type = content[0]!
  if (type === 0 || type >= LAYOUTS.length) throw new RlpTextFault('transaction type not supported')
  const inner = readItem(content, 1)
  if (inner === undefined) throw new RlpTextFault('rlp: value size exceeds available input length')
  if (!inner.isList) throw new RlpTextFault(`rlp: expected input list for ${LAYOUTS[type]!.name}`)
  if (1 + inner.raw.length !== content.length)
    throw new RlpTextFault('rlp: input contains more than one value')
  return readFields(type, inner, content)
}

function readFields(type: number, list: Item, raw: Uint8Array): LooseTransaction {
  const { name, fields } = LAYOUTS[type]!
  const items = itemsOf(list.content)
  const values = new Map<string, Uint8Array>()
  fields.forEach(([field, kind], index) => {
    const item = items[index]
    if (item === undefined) throw new RlpTextFault(`rlp: too few elements for ${name}`)
    const problem = problemOf(item, kind)
    if (problem !== undefined)
      throw new RlpTextFault(`rlp: ${problem}, decoding into (types.Transaction)(${name}).${field}`)
    values.set(field, item.content)
  })
  if (items.length > fields.length)
    throw new RlpTextFault(`rlp: input list has too many elements for ${name}`)
  const bytes = (field: string) => values.get(field)!
  return { type, raw, bytes, integer: (field) => bigintFromBytes(bytes(field)) }
}

/** Why an item is no value of its kind. */
function problemOf({ isList, content }: Item, kind: Kind): string | undefined {
  if (kind === 'list') return isList ? undefined : 'expected input list for types.AccessList'
  const name = kind.replace(/^\*(?=common)/, '')
  if (isList) return `expected input string or byte for ${name}`
  switch (kind) {
    case '[]uint8':
      return undefined
    case '*common.Address':
    case 'common.Address':
      if (content.length === 0 && kind === '*common.Address') return undefined
      if (content.length === ADDRESS_BYTES) return undefined
      return `input string too ${content.length < ADDRESS_BYTES ? 'short' : 'long'} for ${name}`
    default: {
      const most = kind === 'uint64' ? 8 : kind === '*uint256.Int' ? 32 : content.length
      if (content.length > most) return `input string too long for ${name}`
      return content[0] === 0 ? `non-canonical integer (leading zero bytes) for ${name}` : undefined
    }
  }
}

function itemsOf(content: Uint8Array): Item[] {
  const items: Item[] = []
  for (let at = 0; at < content.length; ) {
    const item = readItem(content, at)
    if (item === undefined) throw new RlpTextFault('rlp: value size exceeds available input length')
    items.push(item)
    at += item.raw.length
  }
  return items
}

/** The item at a position, or `undefined` where it is longer than what is there. */
function readItem(bytes: Uint8Array, at: number): Item | undefined {
  const first = bytes[at]
  if (first === undefined) return undefined
  if (first < 0x80) return itemAt(bytes, at, at, 1, false)
  const isList = first >= 0xc0
  const short = first - (isList ? 0xc0 : 0x80)
  if (short <= 55) {
    const item = itemAt(bytes, at, at + 1, short, isList)
    if (item !== undefined && !isList && short === 1 && item.content[0]! < 0x80)
      throw new RlpTextFault('rlp: non-canonical size information')
    return item
  }
  const sizeBytes = short - 55
  const size = bytes.subarray(at + 1, at + 1 + sizeBytes)
  if (size.length < sizeBytes) return undefined
  const length = bigintFromBytes(size)
  if (size[0] === 0 || length <= 55n) throw new RlpTextFault('rlp: non-canonical size information')
  if (length > BigInt(bytes.length)) return undefined
  return itemAt(bytes, at, at + 1 + sizeBytes, Number(length), isList)
}

function itemAt(
  bytes: Uint8Array,
  start: number,
  from: number,
  length: number,
  isList: boolean,
): Item | undefined {
  if (from + length > bytes.length) return undefined
  return {
    isList,
    content: bytes.subarray(from, from + length),
    raw: bytes.subarray(start, from + length),
  }
}
