import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isVarveError } from '../base/index.ts'
import { holesky, hoodi, mainnet, sepolia } from '../chain/index.ts'
import { decodeSpecRecord, encodeSpecRecord } from './specRecord.ts'
import { testGenesis } from './testChain.suite.ts'

test('the rules of every chain survive the way through their row', () => {
  for (const spec of [mainnet, sepolia, holesky, hoodi, testGenesis().spec])
    assert.deepEqual(decodeSpecRecord(encodeSpecRecord(spec)), spec)
})

test('a changed byte anywhere in the row is refused', () => {
  const record = encodeSpecRecord(mainnet)
  for (let at = 0; at < record.length; at++) {
    const changed = record.slice()
    changed[at]! ^= 1
    assert.throws(
      () => decodeSpecRecord(changed),
      (error) => isVarveError(error, 'ENGINE_RECORD_INVALID'),
      `byte ${at}`,
    )
  }
})
