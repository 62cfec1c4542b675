/**
 * The chain's rules as a row of the database, so that later commands need no genesis file. JSON, with what JSON lacks
 * marked: `{"$bigint":"1"}`, `{"$bytes":"0x…"}`. Nothing else in the database follows from the rules, so the row guards
 * itself:
 *
 *     keccak-256 of the text (32) ‖ text
 */
import {
  bytesConcat,
  bytesEqual,
  fromHex,
  HASH_BYTES,
  isVarveError,
  toHex,
  VarveError,
} from '../base/index.ts'
import type { ChainSpec } from '../chain/index.ts'
import { keccak256 } from '../kernels/index.ts'

/** Encodes the rules of a chain. */
export function encodeSpecRecord(spec: ChainSpec): Uint8Array {
  const text = JSON.stringify(spec, (_key, value: unknown) => {
    if (typeof value === 'bigint') return { $bigint: value.toString() }
    if (value instanceof Uint8Array) return { $bytes: toHex(value) }
    return value
  })
  const bytes = new TextEncoder().encode(text)
  return bytesConcat(keccak256(bytes), bytes)
}

/** Decodes what `encodeSpecRecord` wrote. @throws VarveError ENGINE_RECORD_INVALID */
export function decodeSpecRecord(record: Uint8Array): ChainSpec {
  const bytes = record.subarray(HASH_BYTES)
  if (!bytesEqual(keccak256(bytes), record.subarray(0, HASH_BYTES))) throw fault('its hash differs')
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const spec = JSON.parse(text, revive) as ChainSpec
    const { byBlock, byTime, blobs } = spec.schedule
    if (![byBlock, byTime, blobs].every(Array.isArray)) throw fault('it lacks a schedule')
    return spec
  } catch (cause) {
    if (isVarveError(cause)) throw cause
    throw fault('it does not decode', cause)
  }
}

function revive(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { $bigint, $bytes } = value as { $bigint?: string; $bytes?: string }
  if ($bigint !== undefined) return BigInt($bigint)
  return $bytes === undefined ? value : fromHex($bytes)
}

function fault(problem: string, cause?: unknown): VarveError {
  const options = cause === undefined ? undefined : { cause }
  return new VarveError(
    'ENGINE_RECORD_INVALID',
    `the record "chain": ${problem}`,
    { record: 'chain' },
    options,
  )
}
