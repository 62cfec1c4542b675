/**
 * Whether a body is the one its header names: each list against its root or hash. Yellow Paper section 4.3.3,
 * EIP-4895 (withdrawals), EIP-7934 (size of a block in Osaka).
 * Not here: what the transactions do; whether each may be included (signature, nonce, gas).
 */
import { bytesEqual, EMPTY_TRIE_ROOT, Fork } from '../base/index.ts'
import {
  BLOOM_BYTES,
  type Body,
  encodeReceipt,
  encodeWithdrawal,
  type Header,
  mergeBloom,
  type Receipt,
  uncleHashOf,
} from '../codec/index.ts'
import { orderedRoot } from '../trie/index.ts'
import { blockFault } from './blockFault.ts'

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
  const transactionsRoot = listRoot(body.transactions, (transaction) => transaction.raw)
  if (!bytesEqual(transactionsRoot, header.transactionsRoot))
    throw blockFault<BodyRuleErrorCode>(
      'BLOCK_TRANSACTIONS_ROOT_INVALID',
      number,
      'transactions root of the body',
      header.transactionsRoot,
      transactionsRoot,
    )
  checkWithdrawals(header, body)
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
  const root = listRoot(withdrawals, encodeWithdrawal)
  if (!bytesEqual(root, header.withdrawalsRoot))
    throw blockFault<BodyRuleErrorCode>(
      'BLOCK_WITHDRAWALS_ROOT_INVALID',
      header.number,
      'withdrawals root of the body',
      header.withdrawalsRoot,
      root,
    )
}

/**
 * Checks what execution yields against the header: receipts root, bloom, gas used. The receipts' own blooms are
 * taken as they are: a receipt whose bloom does not fit its logs came from a faulty executor, not from a block.
 * @throws VarveError with a `BodyRuleErrorCode`
 */
export function validateReceipts(header: Header, receipts: readonly Receipt[]): void {
  const { number } = header
  const gasUsed = receipts.at(-1)?.cumulativeGasUsed ?? 0n
  if (gasUsed !== header.gasUsed)
    throw blockFault<BodyRuleErrorCode>(
      'BLOCK_GAS_USED_INVALID',
      number,
      'gas used of the receipts',
      header.gasUsed,
      gasUsed,
    )
  const bloom = receipts.length === 0 ? EMPTY_BLOOM : joinedBloom(receipts)
  if (!bytesEqual(bloom, header.logsBloom))
    throw blockFault<BodyRuleErrorCode>(
      'BLOCK_LOGS_BLOOM_INVALID',
      number,
      'bloom of the receipts',
      header.logsBloom,
      bloom,
    )
  const root = listRoot(receipts, encodeReceipt)
  if (!bytesEqual(root, header.receiptsRoot))
    throw blockFault<BodyRuleErrorCode>(
      'BLOCK_RECEIPTS_ROOT_INVALID',
      number,
      'receipts root',
      header.receiptsRoot,
      root,
    )
}

/** Shared: never written to. */
const EMPTY_BLOOM = new Uint8Array(BLOOM_BYTES)

function joinedBloom(receipts: readonly Receipt[]): Uint8Array {
  const bloom = new Uint8Array(BLOOM_BYTES)
  for (const receipt of receipts) mergeBloom(bloom, receipt.logsBloom)
  return bloom
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
  /** The receipts add up to another sum of gas. */
  | 'BLOCK_GAS_USED_INVALID'
  /** The receipts' blooms join to another bloom. */
  | 'BLOCK_LOGS_BLOOM_INVALID'
  /** The receipts are not those of the header. */
  | 'BLOCK_RECEIPTS_ROOT_INVALID'
