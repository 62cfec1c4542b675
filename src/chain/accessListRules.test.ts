/** The two rules of a block's access list (EIP-7928), each broken. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, isVarveError } from '../base/index.ts'
import { type AccountAccesses, blockAccessListHash, sealHeader } from '../codec/index.ts'
import { validateAccessList } from './accessListRules.ts'
import { makeChild, makeFirst } from './headerMaker.suite.ts'
import { singleForkSpec } from './spec.ts'

const ACCOUNT: AccountAccesses = {
  address: new Uint8Array(20),
  slotChanges: [{ slot: 1n, changes: [{ step: 0, value: 1n }] }],
  slotReads: [2n],
  balanceChanges: [],
  nonceChanges: [],
  codeChanges: [],
}

test('a list is the one that the header names, and no longer than its gas limit allows', () => {
  const spec = singleForkSpec(Fork.Amsterdam)
  const base = makeChild(makeFirst(Fork.Amsterdam), spec)
  const list = [ACCOUNT]
  const header = { ...base, blockAccessListHash: blockAccessListHash(list) }
  validateAccessList(sealHeader(header), list)
  assert.throws(
    () => validateAccessList(sealHeader(header), [{ ...ACCOUNT, slotReads: [] }]),
    (error) => isVarveError(error, 'BLOCK_ACCESS_LIST_HASH_INVALID'),
  )
  // One account and two slots: three times 2,000 gas.
  validateAccessList(sealHeader({ ...header, gasLimit: 6000n }), list)
  assert.throws(
    () => validateAccessList(sealHeader({ ...header, gasLimit: 5999n }), list),
    (error) => isVarveError(error, 'BLOCK_ACCESS_LIST_TOO_LONG'),
  )
})
