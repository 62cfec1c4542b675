/**
 * The chain's rules as a row of the database, so that later commands need no genesis file. JSON, with what JSON lacks
 * marked: `{"$bigint":"1"}`, `{"$bytes":"0x…"}`.
 */
import { fromHex, toHex, VarveError } from '../base/index.ts'
import type { ChainSpec } from '../chain/index.ts'

/** Encodes the rules of a chain. */
export function encodeSpecRecord(spec: ChainSpec): Uint8Array {
  const text = JSON.stringify(spec, (_key, value: unknown) => {
    if (typeof value === 'bigint') return { $bigint: value.toString() }
    if (value instanceof Uint8Array) return { $bytes: toHex(value) }
    return value
  })
  return new TextEncoder().encode(text)
}

/** Decodes what `encodeSpecRecord` wrote. @throws VarveError ENGINE_RECORD_INVALID */
export function decodeSpecRecord(bytes: Uint8Array): ChainSpec {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const spec = JSON.parse(text, (_key, value: unknown) => {
      if (typeof value !== 'object' || value === null) return value
      const { $bigint, $bytes } = value as { $bigint?: string; $bytes?: string }
      if ($bigint !== undefined) return BigInt($bigint)
      return $bytes === undefined ? value : fromHex($bytes)
    }) as ChainSpec
    if (
      typeof spec.name !== 'string' ||
      typeof spec.chainId !== 'bigint' ||
      spec.schedule === undefined
    )
      throw new Error('not the rules of a chain')
    return spec
  } catch (cause) {
    throw new VarveError(
      'ENGINE_RECORD_INVALID',
      'the record "chain" does not decode',
      { record: 'chain' },
      { cause },
    )
  }
}
