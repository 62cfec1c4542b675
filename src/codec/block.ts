/**
 * Blocks: rlp([header, transactions, uncles, withdrawals?]), and bodies, which are the same list without the
 * header. Whether the body fits the header (roots, uncle hash) is for `chain/` to check.
 */
import { bytesConcat, EMPTY_LIST_HASH } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { type Header, type HeaderFields, headerToRlp, readHeader } from './header.ts'
import { encodeRlp, type RlpInput } from './rlp.ts'
import { RlpReader } from './rlpReader.ts'
import {
  decodeTransaction,
  readTransaction,
  type Transaction,
  transactionToRlp,
} from './transaction.ts'
import { readWithdrawal, type Withdrawal, withdrawalToRlp } from './withdrawal.ts'

export type Body = {
  readonly transactions: readonly Transaction[]
  readonly uncles: readonly Header[]
  /** From Shanghai on (EIP-4895); `undefined` before. */
  readonly withdrawals?: readonly Withdrawal[]
}

export type Block = Body & { readonly header: Header }

/** Blocks whose fields are what their bytes say, since they came from bytes. Copies of them are not among them. */
const decodedBlocks = new WeakSet<Block>()

/** Lists of transactions that came from bytes as a whole. */
const decodedLists = new WeakSet<readonly Transaction[]>()

/** Whether every transaction of a list is what its bytes say, and the list will stay as it is. */
export function isDecodedList(transactions: readonly Transaction[]): boolean {
  return decodedLists.has(transactions)
}

/**
 * Decodes envelopes that a program has put together, so that a block can be made of them without doing so again. Their
 * bytes are copied into one buffer. @throws VarveError RLP_*, TRANSACTION_*
 */
export function decodeTransactions(envelopes: readonly Uint8Array[]): readonly Transaction[] {
  const bytes = bytesConcat(...envelopes)
  let offset = 0
  const transactions = envelopes.map(({ length }) => {
    offset += length
    return decodeTransaction(bytes.subarray(offset - length, offset))
  })
  decodedLists.add(transactions)
  return transactions
}

/** Joins a header and a body that were both decoded. */
export function joinDecoded(header: Header, body: Body): Block {
  const block = { header, ...body }
  decodedBlocks.add(block)
  return block
}

/** A block without its header. */
export function bodyOf({ transactions, uncles, withdrawals }: Block): Body {
  const lists = { transactions, uncles }
  return withdrawals === undefined ? lists : { ...lists, withdrawals }
}

/**
 * The block as its own encoding decodes: itself where it was decoded, else what anybody reads who gets its bytes. Of a
 * block that a program has put together hash, envelopes and widths are not to be believed.
 * Cost: nothing, or one encoding and decoding. @throws VarveError RLP_*, HEADER_*, TRANSACTION_*
 */
export function asDecoded(block: Block): Block {
  return decodedBlocks.has(block) ? block : decodeBlock(encodeBlock(block))
}

/** Decodes a block. Byte strings are views of `bytes`. @throws VarveError RLP_*, HEADER_*, TRANSACTION_* */
export function decodeBlock(bytes: Uint8Array): Block {
  const reader = new RlpReader(bytes)
  const outerEnd = reader.openList('block')
  const header = readHeader(reader)
  const body = readBodyFields(reader)
  reader.closeList(outerEnd, 'block')
  reader.finish('block')
  return joinDecoded(header, body)
}

/** Decodes a body. Byte strings are views of `bytes`. @throws VarveError RLP_*, HEADER_*, TRANSACTION_* */
export function decodeBody(bytes: Uint8Array): Body {
  const reader = new RlpReader(bytes)
  const outerEnd = reader.openList('body')
  const body = readBodyFields(reader)
  reader.closeList(outerEnd, 'body')
  reader.finish('body')
  return body
}

export function encodeBlock(block: Body & { readonly header: HeaderFields }): Uint8Array {
  return encodeRlp([headerToRlp(block.header), ...bodyToRlp(block)])
}

export function encodeBody(body: Body): Uint8Array {
  return encodeRlp(bodyToRlp(body))
}

/** keccak-256 of the RLP list of uncle headers: the header field `uncleHash`. */
export function uncleHashOf(uncles: readonly Header[]): Uint8Array {
  if (uncles.length === 0) return EMPTY_LIST_HASH
  return keccak256(encodeRlp(uncles.map(({ raw }) => ({ raw }))))
}

function readBodyFields(reader: RlpReader): Body {
  const transactions: Transaction[] = []
  const transactionsEnd = reader.openList('transactions')
  while (!reader.atEnd) transactions.push(readTransaction(reader))
  reader.closeList(transactionsEnd, 'transactions')
  decodedLists.add(transactions)
  const uncles: Header[] = []
  const unclesEnd = reader.openList('uncles')
  while (!reader.atEnd) uncles.push(readHeader(reader))
  reader.closeList(unclesEnd, 'uncles')
  if (reader.atEnd) return { transactions, uncles }
  const withdrawals: Withdrawal[] = []
  const withdrawalsEnd = reader.openList('withdrawals')
  while (!reader.atEnd) withdrawals.push(readWithdrawal(reader))
  reader.closeList(withdrawalsEnd, 'withdrawals')
  return { transactions, uncles, withdrawals }
}

function bodyToRlp(body: Body): RlpInput[] {
  const list: RlpInput[] = [
    body.transactions.map(transactionToRlp),
    body.uncles.map(({ raw }) => ({ raw })),
  ]
  if (body.withdrawals !== undefined) list.push(body.withdrawals.map(withdrawalToRlp))
  return list
}
