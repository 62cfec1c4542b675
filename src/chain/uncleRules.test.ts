/**
 * Uncles on a made chain of ten blocks: every depth that is allowed, and each rule broken. Real chains with 2,683
 * uncles are in `chains.test.ts`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AssertionFault, EMPTY_LIST_HASH, Fork, isVarveError, ZERO_HASH } from '../base/index.ts'
import { type Header, sealHeader, uncleHashOf } from '../codec/index.ts'
import { makeChild, makeFirst } from './headerMaker.suite.ts'
import { singleForkSpec } from './spec.ts'
import {
  ANCESTOR_COUNT,
  type AncestorBlock,
  AncestorWindow,
  type UncleRuleErrorCode,
  validateUncles,
  validateUnclesAlone,
} from './uncleRules.ts'

const spec = singleForkSpec(Fork.Byzantium)

/** Blocks 0 to 9. */
function makeChain(): Header[] {
  const chain = [makeFirst(Fork.Byzantium)]
  for (let number = 1; number < 10; number++) chain.push(makeChild(chain.at(-1)!, spec))
  return chain
}

const chain = makeChain()
const blocks: AncestorBlock[] = chain.map((header) => ({ header, uncleHashes: [] }))
const block = makeChild(chain.at(-1)!, spec)

/** A block beside the chain's block of that number. */
function sibling(number: number, mark = 1): Header {
  return makeChild(chain[number - 1]!, spec, { extraData: Uint8Array.of(mark) })
}

function check(uncles: readonly Header[], window = new AncestorWindow(blocks)): void {
  validateUncles(block, uncles, spec, window)
}

function refuses(
  code: UncleRuleErrorCode,
  uncles: readonly Header[],
  window?: AncestorWindow,
): void {
  assert.throws(() => check(uncles, window), { code, message: /^block 10: uncle/ })
}

test('uncles of depth one to six are allowed, and two of them', () => {
  for (let depth = 1; depth <= 6; depth++) check([sibling(10 - depth)])
  check([sibling(9), sibling(4)])
  check([sibling(7, 1), sibling(7, 2)])
  check([])
})

test('an uncle of depth seven is too old', () => {
  refuses('UNCLE_PARENT_NOT_ANCESTOR', [sibling(3)])
})

test('a brother is no uncle', () => {
  refuses('UNCLE_IS_BROTHER', [sibling(10)])
})

test('three uncles are too many', () => {
  refuses('UNCLE_COUNT_TOO_MANY', [sibling(9), sibling(8), sibling(7)])
})

test('an ancestor is no uncle', () => {
  for (const number of [9, 8, 3]) refuses('UNCLE_IS_ANCESTOR', [chain[number]!])
})

test('an uncle is named once: in one block, and among the ancestors', () => {
  refuses('UNCLE_ALREADY_INCLUDED', [sibling(8), sibling(8)])
  for (const inNumber of [9, 8, 7]) {
    const named = blocks.map((known) =>
      known.header.number === inNumber ? { ...known, uncleHashes: [sibling(6).hash] } : known,
    )
    refuses('UNCLE_ALREADY_INCLUDED', [sibling(6)], new AncestorWindow(named))
  }
})

test('a stranger is no uncle', () => {
  refuses('UNCLE_PARENT_NOT_ANCESTOR', [sealHeader({ ...sibling(9), parentHash: ZERO_HASH })])
})

test('an uncle keeps the header rules against its own parent', () => {
  const wrong = sealHeader({ ...sibling(8), difficulty: 5n })
  assert.throws(
    () => check([wrong]),
    (error: Error & { code: string }) =>
      error.code === 'UNCLE_HEADER_INVALID' &&
      (error.cause as { code: string }).code === 'BLOCK_DIFFICULTY_INVALID' &&
      /expected a valid one, found block 8: difficulty/.test(error.message),
  )
})

test('near genesis the window is short', () => {
  const early = makeChild(chain[2]!, spec)
  const window = new AncestorWindow(blocks.slice(0, 3))
  validateUncles(early, [sibling(1), sibling(2)], spec, window)
  assert.throws(() => validateUncles(early, [chain[0]!], spec, window), {
    code: 'UNCLE_IS_ANCESTOR',
  })
})

test('the window keeps seven blocks of one line of descent', () => {
  const window = new AncestorWindow(blocks)
  const numbers = (hash: Uint8Array) => window.ancestorsOf(hash).map(({ header }) => header.number)
  assert.deepEqual(numbers(chain[9]!.hash), [9, 8, 7, 6, 5, 4, 3])
  assert.equal(numbers(chain[9]!.hash).length, ANCESTOR_COUNT)
  assert.deepEqual(numbers(chain[5]!.hash), [])
  assert.deepEqual(numbers(chain[1]!.hash), [])
  window.push({ header: sibling(9), uncleHashes: [] })
  assert.deepEqual(numbers(chain[9]!.hash), [])
  assert.deepEqual(numbers(sibling(9).hash), [9])
})

test('a window that was not filled is a bug, not a verdict', () => {
  for (const known of [[], blocks.slice(4)])
    assert.throws(() => check([sibling(8)], new AncestorWindow(known)), AssertionFault)
})

test('a block with uncles raises its child’s difficulty from Byzantium on', () => {
  const withUncles = makeChild(chain[9]!, spec, { uncleHash: uncleHashOf([sibling(9)]) })
  const without = makeChild(chain[9]!, spec, { uncleHash: EMPTY_LIST_HASH })
  assert.ok(makeChild(withUncles, spec).difficulty > makeChild(without, spec).difficulty)
})

test('without ancestors: count, repetition and depth of uncles are still looked at', () => {
  validateUnclesAlone(block, [])
  validateUnclesAlone(block, [sibling(9), sibling(4)])
  const cases: [UncleRuleErrorCode, Header[]][] = [
    ['UNCLE_COUNT_TOO_MANY', [sibling(7), sibling(8), sibling(9)]],
    ['UNCLE_ALREADY_INCLUDED', [sibling(8), sibling(8)]],
    ['UNCLE_PARENT_NOT_ANCESTOR', [sibling(3)]],
    ['UNCLE_PARENT_NOT_ANCESTOR', [block]],
  ]
  for (const [code, uncles] of cases)
    assert.throws(
      () => validateUnclesAlone(block, uncles),
      (error) => isVarveError(error, code),
      code,
    )
})
