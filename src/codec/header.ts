/**
 * Block headers of every fork, Frontier to Amsterdam. A header is one RLP list; later forks appended fields, so
 * the number of fields says which are there:
 *
 *   15 Frontier … 16 London (base fee) … 17 Shanghai (withdrawals root) … 20 Cancun (blob gas used, excess blob
 *   gas, beacon root) … 21 Prague (requests hash) … 22 and 23 Amsterdam (block access list hash, slot number)
 *
 * Not here: whether the fields fit the fork, the parent, or the body; that is `chain/`.
 */
import { ADDRESS_BYTES, EMPTY_BYTES, HASH_BYTES, VarveError } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { encodeRlp, type RlpInput } from './rlp.ts'
import { RlpReader } from './rlpReader.ts'

/** Bytes of a logs bloom filter. */
export const BLOOM_BYTES = 256
/** Bytes of a proof-of-work nonce. */
export const NONCE_BYTES = 8
/** Bytes of extra data a header is decoded with. Consensus allows 32; what is longer is refused by `chain/`. */
const EXTRA_DATA_BYTES_MAX = 100 * 1024
/** Width of the integers that consensus holds in 64 bits. */
const UINT64_BYTES = 8
/** Width of the integers that have no narrower bound. */
const UINT256_BYTES = 32

/**
 * Fields of a header in the order of their encoding. Quantities that published chains fill beyond 2^53 (a gas limit
 * of 2^63-1, a time of 2^64-2) are bigints, so that nothing is rounded; only the block number is a number.
 */
export type HeaderFields = {
  readonly parentHash: Uint8Array
  /** Hash of the RLP list of uncle headers. */
  readonly uncleHash: Uint8Array
  /** Receiver of fees and reward, 20 bytes. */
  readonly coinbase: Uint8Array
  readonly stateRoot: Uint8Array
  readonly transactionsRoot: Uint8Array
  readonly receiptsRoot: Uint8Array
  /** 256 bytes. */
  readonly logsBloom: Uint8Array
  /** Up to 2^256-1; 0 since Paris. */
  readonly difficulty: bigint
  /** 0 to 2^53-1. */
  readonly number: number
  /** Below 2^64, as all quantities that follow. */
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  /** Seconds since 1970. */
  readonly timestamp: bigint
  readonly extraData: Uint8Array
  /** 32 bytes: the proof of work's mix, PREVRANDAO since Paris. */
  readonly mixHash: Uint8Array
  /** 8 bytes, zero since Paris. */
  readonly nonce: Uint8Array
  /** EIP-1559, up to 2^256-1. */
  readonly baseFeePerGas?: bigint
  /** EIP-4895. */
  readonly withdrawalsRoot?: Uint8Array
  /** EIP-4844. */
  readonly blobGasUsed?: bigint
  readonly excessBlobGas?: bigint
  /** EIP-4788. */
  readonly parentBeaconBlockRoot?: Uint8Array
  /** EIP-7685. */
  readonly requestsHash?: Uint8Array
  /** EIP-7928. */
  readonly blockAccessListHash?: Uint8Array
  /** EIP-7843. */
  readonly slotNumber?: bigint
}

/** A header with its exact encoding, and keccak-256 of that. Change one of its fields only through `sealHeader`. */
export type Header = HeaderFields & { readonly hash: Uint8Array; readonly raw: Uint8Array }

/**
 * Decodes a header. Its byte strings are views of `bytes`, which must not be written afterwards.
 * @throws VarveError RLP_*, HEADER_FIELD_COUNT, HEADER_EXTRA_DATA_LONG
 */
export function decodeHeader(bytes: Uint8Array): Header {
  const reader = new RlpReader(bytes)
  const header = readHeader(reader)
  reader.finish('header')
  return header
}

/** Reads a header at the reader's position. Throws as `decodeHeader`. */
export function readHeader(reader: RlpReader): Header {
  const start = reader.position
  const outerEnd = reader.openList('header')
  const header: MutableHeader = {
    parentHash: reader.readFixed(HASH_BYTES, 'parentHash'),
    uncleHash: reader.readFixed(HASH_BYTES, 'uncleHash'),
    coinbase: reader.readFixed(ADDRESS_BYTES, 'coinbase'),
    stateRoot: reader.readFixed(HASH_BYTES, 'stateRoot'),
    transactionsRoot: reader.readFixed(HASH_BYTES, 'transactionsRoot'),
    receiptsRoot: reader.readFixed(HASH_BYTES, 'receiptsRoot'),
    logsBloom: reader.readFixed(BLOOM_BYTES, 'logsBloom'),
    difficulty: reader.readBigint(UINT256_BYTES, 'difficulty'),
    number: reader.readUint('number'),
    gasLimit: reader.readBigint(UINT64_BYTES, 'gasLimit'),
    gasUsed: reader.readBigint(UINT64_BYTES, 'gasUsed'),
    timestamp: reader.readBigint(UINT64_BYTES, 'timestamp'),
    extraData: readExtraData(reader),
    mixHash: reader.readFixed(HASH_BYTES, 'mixHash'),
    nonce: reader.readFixed(NONCE_BYTES, 'nonce'),
    hash: EMPTY_BYTES,
    raw: EMPTY_BYTES,
  }
  if (!reader.atEnd) readLaterFields(reader, header)
  reader.closeList(outerEnd, 'header')
  header.raw = reader.bytes.subarray(start, reader.position)
  header.hash = keccak256(header.raw)
  return header
}

/** Encodes a header. Absent fields must be the last ones, as the field count is all that tells them apart. */
export function encodeHeader(header: HeaderFields): Uint8Array {
  return encodeRlp(headerToRlp(header))
}

/** Completes header fields with the hash of their encoding. Cost: one encoding and one keccak. */
export function sealHeader(fields: HeaderFields): Header {
  const raw = encodeHeader(fields)
  return { ...fields, hash: keccak256(raw), raw }
}

/** A header as RLP fields, for encoders that embed it. @throws VarveError HEADER_FIELD_COUNT on a gap */
export function headerToRlp(header: HeaderFields): RlpInput[] {
  const list: RlpInput[] = [
    header.parentHash,
    header.uncleHash,
    header.coinbase,
    header.stateRoot,
    header.transactionsRoot,
    header.receiptsRoot,
    header.logsBloom,
    header.difficulty,
    header.number,
    header.gasLimit,
    header.gasUsed,
    header.timestamp,
    header.extraData,
    header.mixHash,
    header.nonce,
  ]
  const later = [
    header.baseFeePerGas,
    header.withdrawalsRoot,
    header.blobGasUsed,
    header.excessBlobGas,
    header.parentBeaconBlockRoot,
    header.requestsHash,
    header.blockAccessListHash,
    header.slotNumber,
  ]
  const laterCount = later.findLastIndex((field) => field !== undefined) + 1
  for (let index = 0; index < laterCount; index++) {
    const field = later[index]
    if (field === undefined) throw countFault(15 + index, `${15 + laterCount} with a gap`)
    list.push(field)
  }
  if (laterCount === 3 || laterCount === 4) throw countFault(18, `${15 + laterCount}`)
  return list
}

type MutableHeader = { -readonly [Name in keyof Header]: Header[Name] }

/** Reads what London and its successors appended. Cancun's three fields come together or not at all. */
function readLaterFields(reader: RlpReader, header: MutableHeader): void {
  header.baseFeePerGas = reader.readBigint(UINT256_BYTES, 'baseFeePerGas')
  if (reader.atEnd) return
  header.withdrawalsRoot = reader.readFixed(HASH_BYTES, 'withdrawalsRoot')
  if (reader.atEnd) return
  header.blobGasUsed = reader.readBigint(UINT64_BYTES, 'blobGasUsed')
  if (reader.atEnd) throw countFault(18, '18')
  header.excessBlobGas = reader.readBigint(UINT64_BYTES, 'excessBlobGas')
  if (reader.atEnd) throw countFault(19, '19')
  header.parentBeaconBlockRoot = reader.readFixed(HASH_BYTES, 'parentBeaconBlockRoot')
  if (reader.atEnd) return
  header.requestsHash = reader.readFixed(HASH_BYTES, 'requestsHash')
  if (reader.atEnd) return
  header.blockAccessListHash = reader.readFixed(HASH_BYTES, 'blockAccessListHash')
  if (reader.atEnd) return
  header.slotNumber = reader.readBigint(UINT64_BYTES, 'slotNumber')
}

function readExtraData(reader: RlpReader): Uint8Array {
  const extraData = reader.readBytes('extraData')
  if (extraData.length > EXTRA_DATA_BYTES_MAX)
    throw new VarveError<HeaderErrorCode>(
      'HEADER_EXTRA_DATA_LONG',
      `header: expected at most ${EXTRA_DATA_BYTES_MAX} bytes of extra data, got ${extraData.length}`,
      { length: extraData.length },
    )
  return extraData
}

function countFault(fieldIndex: number, found: string): VarveError<HeaderErrorCode> {
  return new VarveError(
    'HEADER_FIELD_COUNT',
    `header: expected 15, 16, 17, 20, 21, 22 or 23 fields, got ${found}`,
    { fieldIndex },
  )
}

/** Error codes of this module, beside those of RLP. */
export type HeaderErrorCode =
  /** The number of fields is that of no fork, or an inner one is absent. */
  | 'HEADER_FIELD_COUNT'
  /** Extra data is longer than any that a decoder accepts. */
  | 'HEADER_EXTRA_DATA_LONG'
