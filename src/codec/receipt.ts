/**
 * Receipts of all eras in their consensus encoding, which is also what an era1 file holds:
 *
 *   rlp([status or post-state root, cumulative gas used, bloom, logs]), behind the type byte for types 1 and up
 *
 * Frontier to Spurious Dragon put the state root after the transaction first; from Byzantium on (EIP-658) it is
 * the status, 0 or 1.
 *
 * The slim form of eth/69 (EIP-7642) leaves the bloom out, which follows from the logs, and has the type as a field:
 *
 *   rlp([type, status or root, cumulative gas used, logs])
 */
import { ADDRESS_BYTES, HASH_BYTES, VarveError } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { BLOOM_BYTES } from './header.ts'
import {
  encodeRlp,
  type RlpInput,
  rlpBytesLength,
  rlpHeaderBytes,
  rlpIntegerLength,
  writeRlpBytes,
  writeRlpInteger,
  writeRlpListHeader,
} from './rlp.ts'
import { RlpReader, rlpFault } from './rlpReader.ts'
import type { TransactionType } from './transaction.ts'

/** Topics a log may have: LOG0 to LOG4. */
const LOG_TOPIC_COUNT_MAX = 4
/** A bloom and what RLP puts in front of 256 bytes. */
const BLOOM_FIELD_BYTES = 3 + BLOOM_BYTES

/** The bloom filter of nothing. Shared: nobody writes to it. */
export const EMPTY_BLOOM = new Uint8Array(BLOOM_BYTES)

export type Log = {
  /** 20 bytes. */
  readonly address: Uint8Array
  /** Up to four of 32 bytes. */
  readonly topics: readonly Uint8Array[]
  readonly data: Uint8Array
}

export type Receipt = {
  readonly type: TransactionType
  /** 0 failed, 1 succeeded, or the 32 bytes of the state root before Byzantium. */
  readonly outcome: 0 | 1 | Uint8Array
  /** Gas used by the block up to and with this transaction, below 2^64. */
  readonly cumulativeGasUsed: bigint
  /** 256 bytes. */
  readonly logsBloom: Uint8Array
  readonly logs: readonly Log[]
}

/** Decodes an envelope. Byte strings are views of `bytes`. @throws VarveError RLP_*, RECEIPT_INVALID */
export function decodeReceipt(bytes: Uint8Array): Receipt {
  const first = bytes[0] ?? -1
  const isLegacy = first >= 0xc0
  if (!isLegacy && (first < 1 || first > 4))
    throw receiptFault(`expected a list or a type of 1 to 4, got ${first < 0 ? 'no bytes' : first}`)
  const reader = new RlpReader(bytes, isLegacy ? 0 : 1)
  const receipt = readFields(reader, (isLegacy ? 0 : first) as TransactionType)
  reader.finish('receipt')
  return receipt
}

/** Reads a receipt as it stands in a list of receipts: a list, or an envelope in a byte string. */
export function readReceipt(reader: RlpReader): Receipt {
  if (reader.nextIsList) return decodeReceipt(reader.readRaw('receipt'))
  const bytes = reader.readBytes('receipt')
  if (bytes.length > 0 && bytes[0]! >= 0xc0)
    throw receiptFault('expected a type of 1 to 4, got a list wrapped in a byte string')
  return decodeReceipt(bytes)
}

/** Decodes the list of a block's receipts. @throws VarveError RLP_*, RECEIPT_INVALID */
export function decodeReceipts(bytes: Uint8Array): Receipt[] {
  const reader = new RlpReader(bytes)
  const receipts: Receipt[] = []
  const outerEnd = reader.openList('receipts')
  while (!reader.atEnd) receipts.push(readReceipt(reader))
  reader.closeList(outerEnd, 'receipts')
  reader.finish('receipts')
  return receipts
}

/**
 * Decodes a list of receipts in the slim form of eth/69 and computes their blooms.
 * Cost: one keccak for each address and topic. @throws VarveError RLP_*, RECEIPT_INVALID
 */
export function decodeSlimReceipts(bytes: Uint8Array): Receipt[] {
  const reader = new RlpReader(bytes)
  const receipts: Receipt[] = []
  const outerEnd = reader.openList('receipts')
  while (!reader.atEnd) {
    const receiptEnd = reader.openList('receipt')
    const type = reader.readUint('type')
    if (type > 4) throw receiptFault(`expected a type of 0 to 4, got ${type}`)
    const outcome = readOutcome(reader)
    const cumulativeGasUsed = reader.readBigint(8, 'cumulativeGasUsed')
    const logs = readLogs(reader)
    reader.closeList(receiptEnd, 'receipt')
    const logsBloom = bloomOfLogs(logs)
    receipts.push({ type: type as TransactionType, outcome, cumulativeGasUsed, logsBloom, logs })
  }
  reader.closeList(outerEnd, 'receipts')
  reader.finish('receipts')
  return receipts
}

/** Encodes a block's receipts in the slim form of eth/69. */
export function encodeSlimReceipts(receipts: readonly Receipt[]): Uint8Array {
  return encodeRlp(
    receipts.map(({ type, outcome, cumulativeGasUsed, logs }) => [
      type,
      outcome,
      cumulativeGasUsed,
      logs.map(logToRlp),
    ]),
  )
}

/** Encodes the envelope: the value that the receipts trie holds. */
export function encodeReceipt(receipt: Receipt): Uint8Array {
  return encodeEnvelopes([receipt])[0]!
}

/** Encodes the envelopes of a block's receipts, in their order: views of one buffer. */
export function encodeEnvelopes(receipts: readonly Receipt[]): Uint8Array[] {
  const plans = receipts.map(planOf)
  const buffer = new Uint8Array(plans.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  return plans.map((plan) => {
    writeEnvelope(buffer, at, plan)
    at += plan.length
    return buffer.subarray(at - plan.length, at)
  })
}

/** What is known of an envelope before it is written. Written out because its shape is fixed and every transaction has one. */
type EnvelopePlan = {
  readonly receipt: Receipt
  readonly outcome: Uint8Array
  readonly logs: Uint8Array
  readonly payloadBytes: number
  readonly length: number
}

const NO_LOGS = encodeRlp([])
const STATUSES = [new Uint8Array(0), Uint8Array.of(1)] as const

function planOf(receipt: Receipt): EnvelopePlan {
  const { type, cumulativeGasUsed, logs: list } = receipt
  const outcome = typeof receipt.outcome === 'number' ? STATUSES[receipt.outcome] : receipt.outcome
  const logs = list.length === 0 ? NO_LOGS : encodeRlp(logsToRlp(list))
  const payloadBytes =
    rlpBytesLength(outcome) + rlpIntegerLength(cumulativeGasUsed) + BLOOM_FIELD_BYTES + logs.length
  const length = (type === 0 ? 0 : 1) + rlpHeaderBytes(payloadBytes) + payloadBytes
  return { receipt, outcome, logs, payloadBytes, length }
}

function writeEnvelope(target: Uint8Array, offset: number, plan: EnvelopePlan): void {
  const { receipt, outcome, logs, payloadBytes } = plan
  let at = offset
  if (receipt.type !== 0) target[at++] = receipt.type
  at = writeRlpListHeader(target, at, payloadBytes)
  at = writeRlpBytes(target, at, outcome)
  at = writeRlpInteger(target, at, receipt.cumulativeGasUsed)
  at = writeRlpBytes(target, at, receipt.logsBloom)
  target.set(logs, at)
}

/** Encodes a block's receipts as one list. */
export function encodeReceipts(receipts: readonly Receipt[]): Uint8Array {
  const envelopes = encodeEnvelopes(receipts)
  return encodeRlp(envelopes.map((raw, index) => (receipts[index]!.type === 0 ? { raw } : raw)))
}

/** Logs as RLP: `keccak256(encodeRlp(logsToRlp(logs)))` is the log hash of the state tests. */
export function logsToRlp(logs: readonly Log[]): RlpInput {
  return logs.map(logToRlp)
}

/** The bloom filter of logs: address and topics of each (Yellow Paper, section 4.3.1). `EMPTY_BLOOM` where there are none. */
export function bloomOfLogs(logs: readonly Log[]): Uint8Array {
  if (logs.length === 0) return EMPTY_BLOOM
  const bloom = new Uint8Array(BLOOM_BYTES)
  for (const log of logs) addLogToBloom(bloom, log)
  return bloom
}

/** Adds one log to a filter. */
export function addLogToBloom(bloom: Uint8Array, log: Log): void {
  addToBloom(bloom, log.address)
  for (const topic of log.topics) addToBloom(bloom, topic)
}

/** Sets in `bloom` what is set in `other`: the filter of a block is the union of its receipts'. */
export function mergeBloom(bloom: Uint8Array, other: Uint8Array): void {
  for (let index = 0; index < BLOOM_BYTES; index++) bloom[index]! |= other[index]!
}

/** Sets three bits, each by eleven bits of the hash. */
function addToBloom(bloom: Uint8Array, value: Uint8Array): void {
  const hash = keccak256(value)
  for (let pair = 0; pair < 6; pair += 2) {
    const bit = ((hash[pair]! << 8) | hash[pair + 1]!) & 2047
    bloom[BLOOM_BYTES - 1 - (bit >> 3)]! |= 1 << (bit & 7)
  }
}

function readFields(reader: RlpReader, type: TransactionType): Receipt {
  const outerEnd = reader.openList('receipt')
  const outcome = readOutcome(reader)
  const cumulativeGasUsed = reader.readBigint(8, 'cumulativeGasUsed')
  const logsBloom = reader.readFixed(BLOOM_BYTES, 'logsBloom')
  const logs = readLogs(reader)
  reader.closeList(outerEnd, 'receipt')
  return { type, outcome, cumulativeGasUsed, logsBloom, logs }
}

function readOutcome(reader: RlpReader): Receipt['outcome'] {
  const offset = reader.position
  const outcome = reader.readBytes('outcome')
  if (outcome.length === HASH_BYTES) return outcome
  if (outcome.length === 0) return 0
  if (outcome.length === 1 && outcome[0] === 1) return 1
  throw rlpFault('RLP_LENGTH', offset, 'outcome', 'a status or 32 bytes', `${outcome.length} bytes`)
}

function readLogs(reader: RlpReader): Log[] {
  const logs: Log[] = []
  const outerEnd = reader.openList('logs')
  while (!reader.atEnd) logs.push(readLog(reader))
  reader.closeList(outerEnd, 'logs')
  return logs
}

function readLog(reader: RlpReader): Log {
  const outerEnd = reader.openList('log')
  const address = reader.readFixed(ADDRESS_BYTES, 'log.address')
  const topics: Uint8Array[] = []
  const topicsEnd = reader.openList('log.topics')
  while (!reader.atEnd) topics.push(reader.readFixed(HASH_BYTES, 'log.topic'))
  reader.closeList(topicsEnd, 'log.topics')
  if (topics.length > LOG_TOPIC_COUNT_MAX)
    throw receiptFault(`expected at most ${LOG_TOPIC_COUNT_MAX} topics, got ${topics.length}`)
  const data = reader.readBytes('log.data')
  reader.closeList(outerEnd, 'log')
  return { address, topics, data }
}

function logToRlp(log: Log): RlpInput {
  return [log.address, log.topics, log.data]
}

function receiptFault(problem: string): VarveError<ReceiptErrorCode> {
  return new VarveError('RECEIPT_INVALID', `receipt: ${problem}`)
}

/** Error codes of this module, beside those of RLP. */
export type ReceiptErrorCode =
  /** The type is unknown or a log has more than four topics. */
  'RECEIPT_INVALID'
