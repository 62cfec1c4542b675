/**
 * Aim: headers are believed only as a chain that ends at the block's parent.
 * Method: a good chain, and every way to spoil one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isVarveError } from '../../base/index.ts'
import { headerAfter } from '../../chain/index.ts'
import { type Header, sealHeader } from '../../codec/index.ts'
import { memoryStore } from '../../store/index.ts'
import { openEngine } from '../engine.ts'
import { addressOf, testGenesis } from '../testChain.suite.ts'
import { AncestorChain } from './ancestorChain.ts'

const genesis = testGenesis(2)
const headers: Header[] = [(await openEngine({ store: memoryStore(), genesis })).head.header]
for (let number = 1; number <= 260; number++) {
  const parent = headers[number - 1]!
  const choices = { coinbase: addressOf(1), timestamp: parent.timestamp + 13n }
  headers.push(sealHeader(headerAfter(parent, genesis.spec, choices)))
}
const raw = (from: number, to: number) => headers.slice(from, to + 1).map((header) => header.raw)

test('hashes are served back to the oldest header; what is before is missing by number', () => {
  const chain = AncestorChain.link(raw(4, 9), headers[10]!)
  assert.deepEqual(chain.parent, headers[9])
  for (let number = 4; number <= 9; number++)
    assert.deepEqual(chain.hashOf(BigInt(number)), headers[number]!.hash)
  assert.throws(
    () => chain.hashOf(3n),
    (error) => isVarveError(error, 'WITNESS_HEADER_MISSING') && error.data['number'] === 3,
  )
})

test('256 headers are taken, one more is not', () => {
  assert.deepEqual(AncestorChain.link(raw(4, 259), headers[260]!).hashOf(4n), headers[4]!.hash)
  refused('WITNESS_HEADERS_TOO_MANY', raw(3, 259), 260)
})

test('what is no chain to the parent is refused by code', () => {
  refused('WITNESS_HEADER_MISSING', [], 10)
  refused('WITNESS_HEADERS_UNLINKED', raw(4, 8), 10)
  refused('WITNESS_HEADERS_UNLINKED', raw(4, 10), 10)
  refused('WITNESS_HEADERS_UNLINKED', raw(4, 9).reverse(), 10)
  refused('WITNESS_HEADERS_UNLINKED', [...raw(4, 6), ...raw(8, 9)], 10)
  refused('WITNESS_HEADERS_UNLINKED', [...raw(9, 9), ...raw(9, 9)], 10)
  refused('WITNESS_HEADER_INVALID', [Uint8Array.of(0xff), ...raw(9, 9)], 10)
  refused('WITNESS_HEADER_INVALID', [headers[9]!.raw.subarray(1)], 10)
  const changed = sealHeader({ ...headers[8]!, gasUsed: 1n })
  refused('WITNESS_HEADERS_UNLINKED', [changed.raw, ...raw(9, 9)], 10)
})

function refused(code: string, encodings: readonly Uint8Array[], number: number): void {
  assert.throws(
    () => AncestorChain.link(encodings, headers[number]!),
    (error) => isVarveError(error, code),
  )
}
