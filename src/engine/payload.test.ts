/** Aim: a payload makes the block that it names, and nothing else is taken for it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, isVarveError } from '../base/index.ts'
import { headerAfter, parseGenesisJson, singleForkSpec } from '../chain/index.ts'
import { sealHeader } from '../codec/index.ts'
import { requestsHash } from '../execute/index.ts'
import { memoryStore } from '../store/index.ts'
import { openEngine } from './engine.ts'
import { blockOfPayload, type ExecutionPayload, type PayloadExtras } from './payload.ts'
import { addressOf } from './testChain.suite.ts'

const file = { config: { chainId: 1 }, difficulty: '0x0', gasLimit: '0x1c9c380', alloc: {} }
const genesis = { ...parseGenesisJson(JSON.stringify(file)), spec: singleForkSpec(Fork.Prague) }
const parent = (await openEngine({ store: memoryStore(), genesis })).head.header
const requests = [Uint8Array.of(0, 1, 2), Uint8Array.of(1, 3)]
const fields = headerAfter(parent, genesis.spec, { coinbase: addressOf(7), timestamp: 12n })
const header = sealHeader({ ...fields, requestsHash: requestsHash(requests) })

const payload: ExecutionPayload = {
  ...header,
  feeRecipient: header.coinbase,
  prevRandao: header.mixHash,
  blockNumber: BigInt(header.number),
  baseFeePerGas: header.baseFeePerGas!,
  blockHash: header.hash,
  transactions: [],
  withdrawals: [],
}
const extras: PayloadExtras = {
  versionedHashes: [],
  parentBeaconBlockRoot: header.parentBeaconBlockRoot!,
  executionRequests: requests,
}

test('the block has the header that the payload names', () => {
  const block = blockOfPayload(payload, extras)
  assert.deepEqual(block.header, header)
  assert.deepEqual(block.withdrawals, [])
})

test('what does not fit together is refused by code', () => {
  const cases: [string, Partial<ExecutionPayload>, Partial<PayloadExtras>][] = [
    ['PAYLOAD_HASH_MISMATCH', { gasUsed: 1n }, {}],
    ['PAYLOAD_HASH_MISMATCH', {}, { parentBeaconBlockRoot: addressOf(0).slice(0, 0) }],
    ['PAYLOAD_HASH_MISMATCH', {}, { executionRequests: [] }],
    ['PAYLOAD_REQUESTS_INVALID', {}, { executionRequests: [...requests].reverse() }],
    ['PAYLOAD_REQUESTS_INVALID', {}, { executionRequests: [Uint8Array.of(0)] }],
    ['PAYLOAD_REQUESTS_INVALID', {}, { executionRequests: [requests[0]!, requests[0]!] }],
    ['PAYLOAD_BLOBS_MISMATCH', {}, { versionedHashes: [header.hash] }],
    ['PAYLOAD_INVALID', { transactions: [Uint8Array.of(0xff)] }, {}],
    ['PAYLOAD_INVALID', { blockNumber: 2n ** 60n }, {}],
  ]
  for (const [code, change, beside] of cases)
    assert.throws(
      () => blockOfPayload({ ...payload, ...change }, { ...extras, ...beside }),
      (error) => isVarveError(error, code),
      code,
    )
})
