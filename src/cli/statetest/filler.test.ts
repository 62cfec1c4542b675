/**
 * Aim: the draft of EIP-2537 is chosen for the files that were filled under it, and for no others. Method: notes of
 * published suites, versions on both sides of the change, and the tests of the suite themselves.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixtureRecords, fixturesMissing } from '../../testing/index.ts'
import { amsterdamDraftOf, precompileSetOf } from '../testfiles/filler.ts'
import { StateTestRunner } from './runStateTest.ts'
import { readStateTest } from './stateTest.ts'

const DRAFT = 'eip2537-april-2024'
/** Files of ethereum/tests name the server that their tool asked; those of execution-spec-tests the tool. */
const server = (version: unknown) => precompileSetOf({ 'filling-rpc-server': version })
const tool = (version: unknown) => precompileSetOf({ 'filling-transition-tool': version })

test('builds of evm 1.14 had the draft', () => {
  assert.equal(server('evm version 1.14.0-unstable-a208e725-20240416'), DRAFT)
  assert.equal(server('evm version 1.14.4-unstable-3d8028a6-20240513'), DRAFT)
  assert.equal(server('evm version 1.14.13-unstable-00000000-20250101'), DRAFT)
  assert.equal(tool('evm version 1.14.12-stable-293a300d'), DRAFT)
  assert.equal(tool('evm version 1.14.8'), DRAFT)
})

test('all others have the final rules', () => {
  assert.equal(server('evm version 1.13.11-unstable-765f2904-20240124'), 'final')
  assert.equal(server('evm version 1.14.13-unstable-00000000-20250102'), 'final')
  assert.equal(tool('evm version 1.15.0-stable-756cca7c'), 'final')
  assert.equal(tool('evm version 1.16.4-stable'), 'final')
  assert.equal(tool('evm version 2.14.0'), 'final')
  assert.equal(tool('evm version 1.140.0'), 'final')
  assert.equal(tool('ethereum-spec-evm-resolver 0.0.5'), 'final')
  assert.equal(tool('2.18.0rc6'), 'final')
  assert.equal(tool('1.14.0'), 'final')
  assert.equal(tool(114), 'final')
  for (const info of [undefined, null, 'evm version 1.14.0', 7, [], {}])
    assert.equal(precompileSetOf(info), 'final')
})

test('the fillers of published suites for Prague are told apart', {
  skip: fixturesMissing('et-eip-state', 'github.com/ethereum/tests'),
}, async () => {
  type Record = { readonly tests: { readonly [name: string]: { readonly _info?: unknown } } }
  for (const [suite, expected] of [
    ['et-eip-state', DRAFT],
    ['eest-state', 'final'],
    ['eest-state-static', 'final'],
    ['fusaka-devnet5-state', 'final'],
  ] as const) {
    if (fixturesMissing(suite, '') !== false) continue
    const found = new Set<string>()
    for await (const { tests } of fixtureRecords<Record>(suite))
      for (const { _info } of Object.values(tests)) found.add(precompileSetOf(_info))
    assert.deepEqual([...found], [expected], suite)
  }
})

test('the tests of the draft pass as their files say, and fail under the final rules', {
  skip: fixturesMissing('et-eip-state', 'github.com/ethereum/tests'),
}, async () => {
  const runner = await StateTestRunner.open()
  type Record = { readonly path: string; readonly tests: { readonly [name: string]: unknown } }
  let testCount = 0
  let finalPassCount = 0
  let index = 0
  for await (const { tests } of fixtureRecords<Record>('et-eip-state')) {
    if (index++ % 8 !== 0) continue
    for (const [name, value] of Object.entries(tests)) {
      const read = readStateTest(name, value)
      for (const { pass, error } of runner.run(read)) assert(pass, `${name}: ${error}`)
      for (const { pass } of runner.run(read, { precompileSet: 'final' }))
        if (pass) finalPassCount++
      testCount++
    }
  }
  assert(testCount > 50, `only ${testCount} tests were run`)
  assert(finalPassCount < testCount / 2, `${finalPassCount} of ${testCount} pass under both`)
})

test('the draft of Amsterdam follows the release that a test is of', () => {
  const at = (tag: string): string =>
    `https://github.com/ethereum/execution-specs/blob/${tag}/tests/amsterdam/x.py#L1`
  assert.equal(amsterdamDraftOf({ url: at('tests-zkevm@v0.3.3') }), 'bal@v5.6')
  assert.equal(amsterdamDraftOf({ url: at('tests-bal@v5.6.1') }), 'bal@v5.6')
  assert.equal(amsterdamDraftOf({ url: at('tests-bal@v5.7.0') }), undefined)
  assert.equal(amsterdamDraftOf({ url: 3 }), undefined)
  assert.equal(amsterdamDraftOf(undefined), undefined)
})
