/**
 * A block as the consensus layer hands it over: the execution payload and what the beacon block says beside it
 * (execution-apis, `engine_newPayload`; consensus-specs, `NewPayloadRequest`). The header's roots and hashes are not
 * part of it: they follow from the lists.
 */
import { bytesEqual, EMPTY_LIST_HASH, isVarveError, toHex, VarveError } from '../base/index.ts'
import { transactionsRootOf, withdrawalsRootOf } from '../chain/index.ts'
import {
  type Block,
  decodeTransaction,
  type Header,
  NONCE_BYTES,
  sealHeader,
  type Transaction,
  TransactionType,
  type Withdrawal,
} from '../codec/index.ts'
import { requestsHash } from '../execute/index.ts'
import { keccak256 } from '../kernels/index.ts'

/** A payload of Paris or later. Fields of later forks are there from their fork on. Quantities as in a header. */
export type ExecutionPayload = {
  readonly parentHash: Uint8Array
  readonly feeRecipient: Uint8Array
  readonly stateRoot: Uint8Array
  readonly receiptsRoot: Uint8Array
  readonly logsBloom: Uint8Array
  readonly prevRandao: Uint8Array
  readonly blockNumber: bigint
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  readonly timestamp: bigint
  readonly extraData: Uint8Array
  readonly baseFeePerGas: bigint
  readonly blockHash: Uint8Array
  /** Each as it is encoded in a block: RLP, or its type and RLP (EIP-2718). */
  readonly transactions: readonly Uint8Array[]
  /** EIP-4895. */
  readonly withdrawals?: readonly Withdrawal[]
  /** EIP-4844. */
  readonly blobGasUsed?: bigint
  readonly excessBlobGas?: bigint
  /** RLP (EIP-7928). */
  readonly blockAccessList?: Uint8Array
  /** EIP-7843. */
  readonly slotNumber?: bigint
}

/** What stands beside the payload, each from its fork on. */
export type PayloadExtras = {
  /** Blobs of the block's transactions, in their order (EIP-4844). */
  readonly versionedHashes?: readonly Uint8Array[]
  /** EIP-4788. */
  readonly parentBeaconBlockRoot?: Uint8Array
  /** Each a type byte and its data, none empty, types rising (EIP-7685). */
  readonly executionRequests?: readonly Uint8Array[]
}

/**
 * Rebuilds the block of a payload.
 * @throws VarveError PAYLOAD_HASH_MISMATCH, PAYLOAD_BLOBS_MISMATCH, PAYLOAD_REQUESTS_INVALID, PAYLOAD_INVALID where a
 *   transaction or number does not decode
 */
export function blockOfPayload(payload: ExecutionPayload, extras: PayloadExtras): Block {
  const transactions = payload.transactions.map(decodeItem)
  const { withdrawals } = payload
  const header = headerOf(payload, extras, transactions)
  if (!bytesEqual(header.hash, payload.blockHash))
    throw new VarveError<PayloadErrorCode>(
      'PAYLOAD_HASH_MISMATCH',
      `payload: block ${header.number}: expected hash ${toHex(payload.blockHash)}, got ${toHex(header.hash)}`,
      { number: header.number, expected: toHex(payload.blockHash), found: toHex(header.hash) },
    )
  checkBlobs(transactions, extras.versionedHashes ?? [])
  return { header, transactions, uncles: [], ...(withdrawals === undefined ? {} : { withdrawals }) }
}

function headerOf(
  payload: ExecutionPayload,
  extras: PayloadExtras,
  transactions: readonly Transaction[],
): Header {
  const { withdrawals, blobGasUsed, excessBlobGas, blockAccessList, slotNumber } = payload
  const { parentBeaconBlockRoot, executionRequests } = extras
  const number = Number(payload.blockNumber)
  if (!Number.isSafeInteger(number))
    throw invalid('block number', 'below 2^53', `${payload.blockNumber}`)
  if (executionRequests !== undefined) checkRequests(executionRequests)
  return sealHeader({
    parentHash: payload.parentHash,
    uncleHash: EMPTY_LIST_HASH,
    coinbase: payload.feeRecipient,
    stateRoot: payload.stateRoot,
    transactionsRoot: transactionsRootOf(transactions),
    receiptsRoot: payload.receiptsRoot,
    logsBloom: payload.logsBloom,
    difficulty: 0n,
    number,
    gasLimit: payload.gasLimit,
    gasUsed: payload.gasUsed,
    timestamp: payload.timestamp,
    extraData: payload.extraData,
    mixHash: payload.prevRandao,
    nonce: new Uint8Array(NONCE_BYTES),
    baseFeePerGas: payload.baseFeePerGas,
    ...(withdrawals === undefined ? {} : { withdrawalsRoot: withdrawalsRootOf(withdrawals) }),
    ...(blobGasUsed === undefined ? {} : { blobGasUsed }),
    ...(excessBlobGas === undefined ? {} : { excessBlobGas }),
    ...(parentBeaconBlockRoot === undefined ? {} : { parentBeaconBlockRoot }),
    ...(executionRequests === undefined ? {} : { requestsHash: requestsHash(executionRequests) }),
    ...(blockAccessList === undefined ? {} : { blockAccessListHash: keccak256(blockAccessList) }),
    ...(slotNumber === undefined ? {} : { slotNumber }),
  })
}

function decodeItem(bytes: Uint8Array, index: number): Transaction {
  try {
    return decodeTransaction(bytes)
  } catch (error) {
    if (!isVarveError(error)) throw error
    throw invalid(`transaction ${index}`, 'an encoded one', error.message)
  }
}

/** EIP-7685: types rise, and a type without data is left out. */
function checkRequests(requests: readonly Uint8Array[]): void {
  let typeBefore = -1
  for (const [index, request] of requests.entries()) {
    if (request.length < 2 || request[0]! <= typeBefore)
      throw new VarveError<PayloadErrorCode>(
        'PAYLOAD_REQUESTS_INVALID',
        `payload: request ${index}: expected a type above ${typeBefore} and data, got ${toHex(request.subarray(0, 1))} and ${Math.max(0, request.length - 1)} bytes`,
        { index },
      )
    typeBefore = request[0]!
  }
}

/** The consensus layer's list of blobs is that of the transactions (EIP-4844). */
function checkBlobs(transactions: readonly Transaction[], expected: readonly Uint8Array[]): void {
  const found = transactions.flatMap((transaction) =>
    transaction.type === TransactionType.Blob ? transaction.blobVersionedHashes : [],
  )
  if (
    found.length === expected.length &&
    found.every((hash, index) => bytesEqual(hash, expected[index]!))
  )
    return
  throw new VarveError<PayloadErrorCode>(
    'PAYLOAD_BLOBS_MISMATCH',
    `payload: expected the transactions to carry ${expected.length} blobs by their hashes, got ${found.length}`,
    { expected: expected.length, found: found.length },
  )
}

function invalid(place: string, expected: string, found: string): VarveError<PayloadErrorCode> {
  return new VarveError(
    'PAYLOAD_INVALID',
    `payload: ${place}: expected ${expected}, got ${found}`,
    { place, expected, found },
  )
}

/** Error codes of this module. */
export type PayloadErrorCode =
  /** A transaction or number of a payload does not decode. */
  | 'PAYLOAD_INVALID'
  /** The payload's fields make a block with another hash than it names. */
  | 'PAYLOAD_HASH_MISMATCH'
  /** The blobs named beside a payload are not those of its transactions. */
  | 'PAYLOAD_BLOBS_MISMATCH'
  /** Requests beside a payload are out of order, twice the same type, or empty. */
  | 'PAYLOAD_REQUESTS_INVALID'
