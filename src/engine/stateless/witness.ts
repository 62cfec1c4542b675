/**
 * The witness of a block: what somebody who keeps no state needs to execute it. Its form in JSON is that of
 * `debug_executionWitness` and of EIP-8025's fixtures.
 *
 *     { "state": ["0x…", …], "codes": ["0x…", …], "headers": ["0x…", …] }
 *       trie nodes, RLP       byte codes            ancestors, RLP, oldest first, the parent last
 */
import {
  fromHex,
  isVarveError,
  toHex,
  VarveError,
  WITNESS_BYTES_MAX,
  WITNESS_ITEM_COUNT_MAX,
} from '../../base/index.ts'
import type { WitnessPreimages } from '../../commit/index.ts'

/** What a block needs beside itself. Order plays a part in `headers` only. */
export type BlockWitness = WitnessPreimages & {
  /** Ancestors as RLP, oldest first; the block's parent is the last. At most 256. */
  readonly headers: readonly Uint8Array[]
}

/** A witness as JSON. Other fields, such as `keys`, may stand beside these and are not read. */
export type WitnessJson = {
  readonly state: readonly string[]
  readonly codes: readonly string[]
  readonly headers: readonly string[]
}

/**
 * Reads a witness from parsed JSON. Says nothing yet about its content, which may be anything.
 * @throws VarveError WITNESS_JSON_INVALID where a list is missing, an item is no hex text, or there is too much of it
 */
export function witnessFromJson(json: unknown): BlockWitness {
  if (typeof json !== 'object' || json === null)
    throw jsonFault('witness', 'an object', json === null ? 'null' : typeof json)
  const budget = { bytes: WITNESS_BYTES_MAX }
  const fields = json as Record<string, unknown>
  return {
    state: readList(fields, 'state', budget),
    codes: readList(fields, 'codes', budget),
    headers: readList(fields, 'headers', budget),
  }
}

/** The witness as plain data for `JSON.stringify`. */
export function witnessToJson({ state, codes, headers }: BlockWitness): WitnessJson {
  return { state: state.map(toHex), codes: codes.map(toHex), headers: headers.map(toHex) }
}

function readList(
  fields: Record<string, unknown>,
  name: keyof WitnessJson,
  budget: { bytes: number },
): Uint8Array[] {
  const list = fields[name]
  if (!Array.isArray(list)) throw jsonFault(name, 'a list', typeof list)
  if (list.length > WITNESS_ITEM_COUNT_MAX)
    throw jsonFault(name, `at most ${WITNESS_ITEM_COUNT_MAX} items`, `${list.length}`)
  return list.map((item: unknown, index) => {
    const place = `${name}[${index}]`
    if (typeof item !== 'string') throw jsonFault(place, 'hex text', typeof item)
    budget.bytes -= item.length / 2
    if (budget.bytes < 0)
      throw jsonFault(place, `at most ${WITNESS_BYTES_MAX} bytes in all`, 'more')
    return readHex(item, place)
  })
}

function readHex(text: string, place: string): Uint8Array {
  try {
    return fromHex(text)
  } catch (error) {
    throw isVarveError(error) ? jsonFault(place, 'hex text', error.message) : error
  }
}

function jsonFault(place: string, expected: string, found: string): VarveError<WitnessErrorCode> {
  return new VarveError(
    'WITNESS_JSON_INVALID',
    `witness: ${place}: expected ${expected}, got ${found}`,
    { place, expected, found },
  )
}

/** Error codes of this module. */
export type WitnessErrorCode =
  /** The JSON of a witness has another form, or is too large. */
  'WITNESS_JSON_INVALID'
