/**
 * Whether a body is the one its header names: each list against its root or hash. Yellow Paper section 4.3.3,
 * EIP-4844 (blob gas), EIP-4895 (withdrawals), EIP-7685 (requests), EIP-7934 (size of a block in Osaka).
 * Not here: what the transactions do; whether each may be included (signature, nonce, gas).
 */
import { bytesEqual, EMPTY_TRIE_ROOT, Fork } from '../base/index.ts'
import {
  BLOOM_BYTES,
  type Body,
  EMPTY_BLOOM,
  encodeEnvelopes,
  encodeWithdrawal,
  type Header,
  isDecodedList,
  mergeBloom,
  type Receipt,
  type Transaction,
  TransactionType,
  uncleHashOf,
  type Withdrawal,
} from '../codec/index.ts'
import { orderedRoot } from '../trie/index.ts'
import { blockFault } from './blockFault.ts'
import { BLOB_GAS_PER_BLOB } from './gasRules.ts'

/** EIP-7934: 10 MiB less 2 MiB for the beacon block around it. */
export const BLOCK_BYTES_MAX = 10 * 1024 * 1024 - 2 * 1024 * 1024

/**
 * Checks a body against its header, which must have passed under `fork`. Cost: a trie over the transactions and one
 * over the withdrawals; nothing but four comparisons where the body is empty.
 * @param blockBytes length of the whole block's RLP, where the caller has it; checked from Osaka on
 * @throws VarveError with a `BodyRuleErrorCode`
 */
export function validateBody(header: Header, body: Body, fork: Fork, blockBytes?: number): void {
  const { number } = header
  if (fork >= Fork.Osaka && blockBytes !== undefined && blockBytes > BLOCK_BYTES_MAX)
    throw blockFault<BodyRuleErrorCode>(
      'BLOCK_SIZE_OVER_LIMIT',
      number,
      'RLP size',
      `at most ${BLOCK_BYTES_MAX} bytes`,
      blockBytes,
    )
  const uncleHash = uncleHashOf(body.uncles)
  if (!bytesEqual(uncleHash, header.uncleHash))
    throw blockFault<BodyRuleErrorCode>(
      'BLOCK_UNCLE_HASH_INVALID',
      number,
      'uncle hash of the body',
      header.uncleHash,
      uncleHash,
    )
  const transactionsRoot = transactionsRootOf(body.transactions)
  if (!bytesEqual(transactionsRoot, header.transactionsRoot))
    throw blockFault<BodyRuleErrorCode>(
      'BLOCK_TRANSACTIONS_ROOT_INVALID',
      number,
      'transactions root of the body',
      header.transactionsRoot,
      transactionsRoot,
    )
  checkWithdrawals(header, body)
  checkBlobs(header, body)
}

/** The blobs are counted in the header (EIP-4844). */
function checkBlobs(header: Header, { transactions }: Body): void {
  if (header.blobGasUsed === undefined) return
  const used = blobGasOf(transactions)
  if (used !== header.blobGasUsed)
    throw blockFault<BodyRuleErrorCode>(
      'BLOCK_BLOB_GAS_USED_INVALID',
      header.number,
      'blob gas of the transactions',
      header.blobGasUsed,
      used,
    )
}

function checkWithdrawals(header: Header, body: Body): void {
  const { withdrawals } = body
  if (withdrawals === undefined && header.withdrawalsRoot === undefined) return
  if (withdrawals === undefined || header.withdrawalsRoot === undefined)
    throw blockFault<BodyRuleErrorCode>(
      'BLOCK_WITHDRAWALS_PRESENCE',
      header.number,
      'withdrawals in the body',
      withdrawals === undefined ? 'a list' : 'none',
      withdrawals === undefined ? 'none' : 'a list',
    )
  const root = withdrawalsRootOf(withdrawals)
  if (!bytesEqual(root, header.withdrawalsRoot))
    throw blockFault<BodyRuleErrorCode>(
      'BLOCK_WITHDRAWALS_ROOT_INVALID',
      header.number,
      'withdrawals root of the body',
      header.withdrawalsRoot,
      root,
    )
}

/** Header fields that follow from the receipts of a block; from Amsterdam on not the gas used. */
export type ReceiptFields = Pick<Header, 'gasUsed' | 'logsBloom' | 'receiptsRoot'>

/** Cost: a trie over the receipts. */
export function receiptFields(receipts: readonly Receipt[]): ReceiptFields {
  return {
    gasUsed: receipts.at(-1)?.cumulativeGasUsed ?? 0n,
    logsBloom: receipts.length === 0 ? EMPTY_BLOOM : joinedBloom(receipts),
    receiptsRoot: orderedRoot(encodeEnvelopes(receipts)),
  }
}

/**
 * Checks what execution yields against the header: receipts root, bloom, gas used. The receipts' own blooms are
 * taken as they are: a receipt whose bloom does not fit its logs came from a faulty executor, not from a block.
 * @param blockGasUsed what execution counted. Where the receipts alone are at hand, their sum stands in for it, and from
 *   Amsterdam on, whose receipts have another sum (EIP-7778), gas is not looked at.
 * @throws VarveError with a `BodyRuleErrorCode`
 */
export function validateReceipts(
  header: Header,
  receipts: readonly Receipt[],
  blockGasUsed?: bigint,
): void {
  const { number } = header
  const { gasUsed: gasPaid, logsBloom, receiptsRoot } = receiptFields(receipts)
  const isPaidByBlock = header.blockAccessListHash === undefined
  const gasUsed = blockGasUsed ?? (isPaidByBlock ? gasPaid : header.gasUsed)
  if (gasUsed !== header.gasUsed)
    throw blockFault<BodyRuleErrorCode>(
      'BLOCK_GAS_USED_INVALID',
      number,
      'gas used',
      header.gasUsed,
      gasUsed,
    )
  if (!bytesEqual(logsBloom, header.logsBloom))
    throw blockFault<BodyRuleErrorCode>(
      'BLOCK_LOGS_BLOOM_INVALID',
      number,
      'bloom of the receipts',
      header.logsBloom,
      logsBloom,
    )
  if (!bytesEqual(receiptsRoot, header.receiptsRoot))
    throw blockFault<BodyRuleErrorCode>(
      'BLOCK_RECEIPTS_ROOT_INVALID',
      number,
      'receipts root',
      header.receiptsRoot,
      receiptsRoot,
    )
}

/**
 * Checks the hash of the requests that execution yields (EIP-7685).
 * @param requestsHash `undefined` before Prague
 * @throws VarveError BLOCK_REQUESTS_HASH_INVALID
 */
export function validateRequests(header: Header, requestsHash: Uint8Array | undefined): void {
  const expected = header.requestsHash
  if (expected === requestsHash) return
  if (expected !== undefined && requestsHash !== undefined && bytesEqual(expected, requestsHash))
    return
  throw blockFault<BodyRuleErrorCode>(
    'BLOCK_REQUESTS_HASH_INVALID',
    header.number,
    'hash of the requests',
    expected,
    requestsHash,
  )
}

/** Shared: never written to. */
function joinedBloom(receipts: readonly Receipt[]): Uint8Array {
  const bloom = new Uint8Array(BLOOM_BYTES)
  for (const { logsBloom } of receipts) if (logsBloom !== EMPTY_BLOOM) mergeBloom(bloom, logsBloom)
  return bloom
}

/** Roots of lists that came from bytes and stay as they are: whoever makes a block asks, and whoever checks it. */
const decodedRoots = new WeakMap<readonly Transaction[], Uint8Array>()

/** The header field `transactionsRoot`. Cost: a trie over the transactions, once a decoded list. */
export function transactionsRootOf(transactions: readonly Transaction[]): Uint8Array {
  const known = decodedRoots.get(transactions)
  if (known !== undefined) return known
  const root = listRoot(transactions, ({ raw }) => raw)
  if (isDecodedList(transactions)) decodedRoots.set(transactions, root)
  return root
}

/** The header field `withdrawalsRoot`. */
export function withdrawalsRootOf(withdrawals: readonly Withdrawal[]): Uint8Array {
  return listRoot(withdrawals, encodeWithdrawal)
}

/** The header field `blobGasUsed`. */
export function blobGasOf(transactions: readonly Transaction[]): bigint {
  let count = 0
  for (const transaction of transactions)
    if (transaction.type === TransactionType.Blob) count += transaction.blobVersionedHashes.length
  return BigInt(count) * BLOB_GAS_PER_BLOB
}

function listRoot<Item>(items: readonly Item[], encode: (item: Item) => Uint8Array): Uint8Array {
  return items.length === 0 ? EMPTY_TRIE_ROOT : orderedRoot(items.map(encode))
}

/** Error codes of this module: the part of a block that is not what its header names. */
export type BodyRuleErrorCode =
  /** From Osaka on the block's RLP is longer than EIP-7934 allows. */
  | 'BLOCK_SIZE_OVER_LIMIT'
  /** The uncles are not those of the header. */
  | 'BLOCK_UNCLE_HASH_INVALID'
  /** The transactions are not those of the header. */
  | 'BLOCK_TRANSACTIONS_ROOT_INVALID'
  /** The body has withdrawals and the header no root of them, or the reverse. */
  | 'BLOCK_WITHDRAWALS_PRESENCE'
  /** The withdrawals are not those of the header. */
  | 'BLOCK_WITHDRAWALS_ROOT_INVALID'
  /** The blobs of the transactions are not as many as the header's blob gas says. */
  | 'BLOCK_BLOB_GAS_USED_INVALID'
  /** The receipts add up to another sum of gas. */
  | 'BLOCK_GAS_USED_INVALID'
  /** The receipts' blooms join to another bloom. */
  | 'BLOCK_LOGS_BLOOM_INVALID'
  /** The receipts are not those of the header. */
  | 'BLOCK_RECEIPTS_ROOT_INVALID'
  /** The requests to the consensus layer are not those of the header. */
  | 'BLOCK_REQUESTS_HASH_INVALID'
