/** Aim: witnesses go to JSON and back, and JSON of any other form is refused by code. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isVarveError } from '../../base/index.ts'
import { witnessFromJson, witnessToJson } from './witness.ts'

const json = { state: ['0x', '0xc0ff'], codes: ['0x60'], headers: [] }

test('a witness comes back from its JSON; further fields are not read', () => {
  const witness = witnessFromJson({ ...json, keys: 'anything' })
  assert.deepEqual(witness.state, [new Uint8Array(0), Uint8Array.of(0xc0, 0xff)])
  assert.deepEqual(witnessToJson(witness), json)
})

test('other JSON is refused, with its place', () => {
  const cases: [unknown, string][] = [
    [null, 'witness'],
    ['0x', 'witness'],
    [[], 'state'],
    [{ ...json, codes: undefined }, 'codes'],
    [{ ...json, headers: { length: 0 } }, 'headers'],
    [{ ...json, state: ['0x', 5] }, 'state[1]'],
    [{ ...json, state: ['0x0'] }, 'state[0]'],
    [{ ...json, codes: ['60'] }, 'codes[0]'],
    [{ ...json, codes: ['0xzz'] }, 'codes[0]'],
  ]
  for (const [value, place] of cases)
    assert.throws(
      () => witnessFromJson(value),
      (error) => isVarveError(error, 'WITNESS_JSON_INVALID') && error.data['place'] === place,
      place,
    )
})
