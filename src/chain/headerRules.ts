/**
 * Whether a header may follow its parent. Yellow Paper section 4.3.4, with EIP-779 (DAO), EIP-1559, EIP-3675,
 * EIP-4399, EIP-4788, EIP-4844, EIP-4895, EIP-7685, EIP-7691, EIP-7918.
 *
 *   form      which fields the fork has, and the widths of extra data and gas
 *   parent    hash, number, time, gas limit
 *   price     base fee, blob gas
 *   consensus difficulty, or the constants that replace it from Paris on
 *
 * Not here: the proof-of-work seal (mix hash and nonce are not checked against Ethash) and the wall clock (a header
 * of the future passes); the roots, which need the body or its execution; uncles (`uncleRules.ts`).
 */
import { bytesAreZero, bytesEqual, EMPTY_LIST_HASH, Fork, type VarveError } from '../base/index.ts'
import type { Header } from '../codec/index.ts'
import { blockFault } from './blockFault.ts'
import { difficultyAt } from './difficulty.ts'
import {
  BLOB_GAS_PER_BLOB,
  GAS_LIMIT_BOUND_DIVISOR,
  GAS_LIMIT_MAX,
  GAS_LIMIT_MIN,
  gasLimitReference,
  nextBaseFee,
  nextExcessBlobGas,
} from './gasRules.ts'
import type { BlockRules, ChainSpec } from './spec.ts'
import { rulesAt } from './spec.ts'

/** Bytes of extra data a block may carry. */
export const EXTRA_DATA_BYTES_MAX = 32
/** Blocks from the DAO fork on that carry its mark (EIP-779). */
const DAO_MARKED_BLOCK_COUNT = 10
/** `dao-hard-fork` in ASCII. */
export const DAO_EXTRA_DATA = new TextEncoder().encode('dao-hard-fork')

/** What the check of a header may be told beside its parent. */
export type HeaderContext = {
  /**
   * Whether the parent's total difficulty reached the terminal one (EIP-3675). Needed on chains whose merge is given
   * by total difficulty alone; elsewhere the schedule's Paris block decides.
   */
  readonly isMerged?: boolean
}

/**
 * Checks a header against its parent, which must itself have passed.
 * @returns the rules of the header's block, for the checks that follow
 * @throws VarveError with a `HeaderRuleErrorCode`; the first broken rule is reported
 */
export function validateHeader(
  header: Header,
  parent: Header,
  spec: ChainSpec,
  context: HeaderContext = {},
): BlockRules {
  const rules = rulesAt(spec, header.number, header.timestamp, context.isMerged)
  checkParent(header, parent)
  checkFields(header, rules.fork)
  checkGas(header, parent, rules.fork)
  if (rules.fork >= Fork.Paris) checkMerged(header)
  else checkProofOfWork(header, parent, spec, rules.fork)
  if (rules.blob !== undefined) checkBlobGas(header, parent, rules.fork, rules.blob)
  return rules
}

function checkParent(header: Header, parent: Header): void {
  const { number } = header
  if (!bytesEqual(header.parentHash, parent.hash))
    throw fault('BLOCK_PARENT_UNKNOWN', number, 'parent hash', parent.hash, header.parentHash)
  if (number !== parent.number + 1)
    throw fault('BLOCK_NUMBER_INVALID', number, 'number', parent.number + 1, number)
  if (header.timestamp <= parent.timestamp)
    throw fault(
      'BLOCK_TIMESTAMP_NOT_AFTER_PARENT',
      number,
      'timestamp',
      `more than ${parent.timestamp}`,
      header.timestamp,
    )
  if (header.extraData.length > EXTRA_DATA_BYTES_MAX)
    throw fault(
      'BLOCK_EXTRA_DATA_TOO_LONG',
      number,
      'extra data',
      `at most ${EXTRA_DATA_BYTES_MAX} bytes`,
      header.extraData,
    )
}

/**
 * Each optional field, in the order of the encoding, stands from its fork on and not before. The names are spelled
 * out so that each is a plain read of a property.
 */
function checkFields(header: Header, fork: Fork): void {
  const { number } = header
  checkField(number, 'baseFeePerGas', header.baseFeePerGas, fork >= Fork.London)
  checkField(number, 'withdrawalsRoot', header.withdrawalsRoot, fork >= Fork.Shanghai)
  const isCancun = fork >= Fork.Cancun
  checkField(number, 'blobGasUsed', header.blobGasUsed, isCancun)
  checkField(number, 'excessBlobGas', header.excessBlobGas, isCancun)
  checkField(number, 'parentBeaconBlockRoot', header.parentBeaconBlockRoot, isCancun)
  checkField(number, 'requestsHash', header.requestsHash, fork >= Fork.Prague)
  checkField(number, 'blockAccessListHash', header.blockAccessListHash, fork >= Fork.Amsterdam)
  checkField(number, 'slotNumber', header.slotNumber, fork >= Fork.Amsterdam)
}

function checkField(number: number, name: string, value: unknown, isExpected: boolean): void {
  if ((value !== undefined) === isExpected) return
  if (isExpected) throw fault('BLOCK_FIELD_MISSING', number, name, 'one at this fork', undefined)
  throw fault('BLOCK_FIELD_UNEXPECTED', number, name, 'none at this fork', 'one')
}

function checkGas(header: Header, parent: Header, fork: Fork): void {
  const { number, gasLimit } = header
  if (gasLimit > GAS_LIMIT_MAX)
    throw fault(
      'BLOCK_GAS_LIMIT_TOO_BIG',
      number,
      'gas limit',
      `at most ${GAS_LIMIT_MAX}`,
      gasLimit,
    )
  if (header.gasUsed > gasLimit)
    throw fault(
      'BLOCK_GAS_USED_OVER_LIMIT',
      number,
      'gas used',
      `at most ${gasLimit}`,
      header.gasUsed,
    )
  const reference = gasLimitReference(parent, fork)
  const bound = reference / GAS_LIMIT_BOUND_DIVISOR
  const moved = gasLimit > reference ? gasLimit - reference : reference - gasLimit
  if (moved >= bound)
    throw fault(
      'BLOCK_GAS_LIMIT_INVALID',
      number,
      'gas limit',
      `less than ${bound} away from ${reference}`,
      gasLimit,
    )
  if (gasLimit < GAS_LIMIT_MIN)
    throw fault(
      'BLOCK_GAS_LIMIT_INVALID',
      number,
      'gas limit',
      `at least ${GAS_LIMIT_MIN}`,
      gasLimit,
    )
  if (fork < Fork.London) return
  const baseFee = nextBaseFee(parent)
  if (header.baseFeePerGas !== baseFee)
    throw fault('BLOCK_BASE_FEE_INVALID', number, 'base fee', baseFee, header.baseFeePerGas)
}

function checkProofOfWork(header: Header, parent: Header, spec: ChainSpec, fork: Fork): void {
  const difficulty = difficultyAt(fork, {
    number: header.number,
    secondsSinceParent: Number(header.timestamp - parent.timestamp),
    parentDifficulty: parent.difficulty,
    parentHasUncles: !bytesEqual(parent.uncleHash, EMPTY_LIST_HASH),
  })
  if (header.difficulty !== difficulty)
    throw fault(
      'BLOCK_DIFFICULTY_INVALID',
      header.number,
      'difficulty',
      difficulty,
      header.difficulty,
    )
  checkDaoMark(header, spec)
}

function checkDaoMark(header: Header, spec: ChainSpec): void {
  const { dao } = spec.schedule
  if (dao === undefined) return
  const offset = header.number - dao.block
  if (offset < 0 || offset >= DAO_MARKED_BLOCK_COUNT) return
  if (bytesEqual(header.extraData, DAO_EXTRA_DATA) === dao.support) return
  throw fault(
    'BLOCK_EXTRA_DATA_DAO_INVALID',
    header.number,
    'extra data',
    dao.support ? DAO_EXTRA_DATA : 'anything but the mark of the DAO fork',
    header.extraData,
  )
}

/** EIP-3675: what proof of stake leaves of the proof-of-work fields. The mix hash carries PREVRANDAO (EIP-4399). */
function checkMerged(header: Header): void {
  const { number } = header
  if (header.difficulty !== 0n)
    throw fault('BLOCK_DIFFICULTY_AFTER_MERGE', number, 'difficulty', 0, header.difficulty)
  if (!bytesAreZero(header.nonce))
    throw fault('BLOCK_NONCE_AFTER_MERGE', number, 'nonce', new Uint8Array(8), header.nonce)
  if (!bytesEqual(header.uncleHash, EMPTY_LIST_HASH))
    throw fault('BLOCK_UNCLES_AFTER_MERGE', number, 'uncle hash', EMPTY_LIST_HASH, header.uncleHash)
}

function checkBlobGas(
  header: Header,
  parent: Header,
  fork: Fork,
  blob: NonNullable<BlockRules['blob']>,
): void {
  const { number } = header
  const used = header.blobGasUsed ?? 0n
  const usedMax = BigInt(blob.max) * BLOB_GAS_PER_BLOB
  if (used > usedMax)
    throw fault('BLOCK_BLOB_GAS_OVER_LIMIT', number, 'blob gas used', `at most ${usedMax}`, used)
  if (used % BLOB_GAS_PER_BLOB !== 0n)
    throw fault(
      'BLOCK_BLOB_GAS_NOT_WHOLE_BLOBS',
      number,
      'blob gas used',
      `a multiple of ${BLOB_GAS_PER_BLOB}`,
      used,
    )
  const excess = nextExcessBlobGas(parent, fork, blob)
  if (header.excessBlobGas !== excess)
    throw fault(
      'BLOCK_EXCESS_BLOB_GAS_INVALID',
      number,
      'excess blob gas',
      excess,
      header.excessBlobGas,
    )
}

const fault: (
  code: HeaderRuleErrorCode,
  blockNumber: number,
  subject: string,
  expected: Parameters<typeof blockFault>[3],
  found: Parameters<typeof blockFault>[4],
) => VarveError<HeaderRuleErrorCode> = blockFault

/** Error codes of this module: the rule that a header breaks. */
export type HeaderRuleErrorCode =
  /** The parent hash is not that of the block before. */
  | 'BLOCK_PARENT_UNKNOWN'
  /** The number is not the parent's plus one. */
  | 'BLOCK_NUMBER_INVALID'
  /** The time is not after the parent's. */
  | 'BLOCK_TIMESTAMP_NOT_AFTER_PARENT'
  /** Extra data has more than 32 bytes. */
  | 'BLOCK_EXTRA_DATA_TOO_LONG'
  /** One of ten blocks at the DAO fork lacks its mark, or carries it on a chain that refused the fork. */
  | 'BLOCK_EXTRA_DATA_DAO_INVALID'
  /** A field that a later fork brought is present. */
  | 'BLOCK_FIELD_UNEXPECTED'
  /** A field of the fork is absent. */
  | 'BLOCK_FIELD_MISSING'
  /** The gas limit exceeds 2^63-1. */
  | 'BLOCK_GAS_LIMIT_TOO_BIG'
  /** The gas limit is below 5000 or too far from the parent's. */
  | 'BLOCK_GAS_LIMIT_INVALID'
  /** More gas was used than the limit. */
  | 'BLOCK_GAS_USED_OVER_LIMIT'
  /** The base fee does not follow from the parent. */
  | 'BLOCK_BASE_FEE_INVALID'
  /** The difficulty does not follow from the parent. */
  | 'BLOCK_DIFFICULTY_INVALID'
  /** From Paris on the difficulty is 0. */
  | 'BLOCK_DIFFICULTY_AFTER_MERGE'
  /** From Paris on the nonce is zero. */
  | 'BLOCK_NONCE_AFTER_MERGE'
  /** From Paris on there are no uncles. */
  | 'BLOCK_UNCLES_AFTER_MERGE'
  /** More blob gas was used than the fork allows. */
  | 'BLOCK_BLOB_GAS_OVER_LIMIT'
  /** The blob gas used is not that of whole blobs. */
  | 'BLOCK_BLOB_GAS_NOT_WHOLE_BLOBS'
  /** The excess blob gas does not follow from the parent. */
  | 'BLOCK_EXCESS_BLOB_GAS_INVALID'
