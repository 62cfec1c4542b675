/** A header made by `headerAfter` passes the rules under every fork, with and without uncles. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FORK_NAMES, Fork, ZERO_HASH } from '../base/index.ts'
import { sealHeader } from '../codec/index.ts'
import { validateBody } from './bodyRules.ts'
import { makeFirst } from './headerMaker.suite.ts'
import { validateHeader } from './headerRules.ts'
import { headerAfter } from './nextHeader.ts'
import { singleForkSpec } from './spec.ts'
import { AncestorWindow, validateUncles } from './uncleRules.ts'

const coinbase = new Uint8Array(20).fill(7)

for (const name of FORK_NAMES.slice(0, Fork.Osaka + 1))
  test(`three blocks of ${name}`, () => {
    const fork = Fork[name]
    const spec = singleForkSpec(fork)
    let parent = makeFirst(fork)
    for (let number = 1; number <= 3; number++) {
      const timestamp = parent.timestamp + 10n
      const child = sealHeader(headerAfter(parent, spec, { coinbase, timestamp }))
      assert.equal(validateHeader(child, parent, spec).fork, fork)
      const body = { transactions: [], uncles: [] }
      validateBody(child, fork >= Fork.Shanghai ? { ...body, withdrawals: [] } : body, fork, 500)
      parent = child
    }
  })

test('a block that names an uncle, and its child’s difficulty', () => {
  const spec = singleForkSpec(Fork.Byzantium)
  const first = makeFirst(Fork.Byzantium)
  const make = (parent: typeof first, mark: number, uncles: (typeof first)[] = []) =>
    sealHeader(
      headerAfter(parent, spec, {
        coinbase,
        timestamp: parent.timestamp + 5n,
        extraData: Uint8Array.of(mark),
        uncles,
      }),
    )
  const main = make(first, 1)
  const uncle = make(first, 2)
  const nephew = make(main, 3, [uncle])
  const window = new AncestorWindow([first, main].map((header) => ({ header, uncleHashes: [] })))
  validateHeader(nephew, main, spec)
  validateUncles(nephew, [uncle], spec, window)
  validateBody(nephew, { transactions: [], uncles: [uncle] }, Fork.Byzantium)
  validateHeader(make(nephew, 4), nephew, spec)
})

test('the merge as the caller counted it', () => {
  const plain = singleForkSpec(Fork.London)
  const spec = { ...plain, schedule: { ...plain.schedule, terminalTotalDifficulty: 5n } }
  const parent = makeFirst(Fork.London)
  const timestamp = parent.timestamp + 1n
  const header = sealHeader(
    headerAfter(parent, spec, { coinbase, timestamp, isMerged: true, mixHash: ZERO_HASH }),
  )
  assert.equal(header.difficulty, 0n)
  validateHeader(header, parent, spec, { isMerged: true })
})
