/**
 * Aim: blockchain tests mean here what their authors meant, and none can pass by mistake. Method: a small chain made by
 * an engine and written down as a test, right and then wrong in each place that is checked; a sample of the published ones.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toHex } from '../../base/index.ts'
import { encodeBlock, type Header, sealHeader } from '../../codec/index.ts'
import { fixtureRecords, fixturesMissing } from '../../testing/index.ts'
import { fuzzBlockTests } from './blockTest.fuzz.ts'
import { type BlockTest, isBlockTest, readBlockTest } from './blockTest.ts'
import { CONTRACT, type Draft, MINER, makeDraft, RICH } from './draftTest.suite.ts'
import {
  type BlockTestResult,
  BlockTestRunner,
  type BlockTestRunOptions,
  type PipelineMode,
} from './runBlockTest.ts'
import './worstCaseBlocks.bench.ts'

const runner = await BlockTestRunner.open()
const { draft, block } = await makeDraft()

function read(value: unknown): BlockTest {
  return readBlockTest('draft', JSON.parse(JSON.stringify(value)), () => undefined)
}

function run(
  change: (copy: Draft) => void,
  options: BlockTestRunOptions = {},
): Promise<BlockTestResult> {
  // As text, so that states that share accounts part.
  const copy = JSON.parse(JSON.stringify(draft)) as Draft
  change(copy)
  return runner.run(read(copy), options)
}

/** The block with another header, as the test would hold it. */
function withHeader(changes: Partial<Header>): string {
  return toHex(encodeBlock({ ...block, header: sealHeader({ ...block.header, ...changes }) }))
}

test('a right test passes, and its row says where the chain ends', async () => {
  const result = await run(() => undefined)
  assert.deepEqual(result, {
    name: 'draft',
    pass: true,
    fork: 'Byzantium',
    stateRoot: toHex(block.header.stateRoot),
    lastBlockHash: toHex(block.header.hash),
  })
})

const faults: [name: string, message: RegExp, change: (copy: Draft) => void][] = [
  [
    'genesis hash',
    /^genesis: \[GENESIS_HASH/,
    (copy) => void (copy.genesisBlockHeader['timestamp'] = '0x1'),
  ],
  ['genesis bytes', /^expected genesis 0x/, (copy) => void (copy.genesisRLP = '0xc0')],
  ['pre state', /^genesis: /, (copy) => void (copy.pre = {})],
  ['head', /^expected head 0x/, (copy) => void (copy.lastblockhash = `0x${'00'.repeat(32)}`)],
  ['a block too few', /^expected head 0x/, (copy) => void copy.blocks.pop()],
  [
    'hash of a block',
    /^block 0: expected hash/,
    (copy) => void (copy.blocks[0]!['blockHeader'] = { hash: `0x${'00'.repeat(32)}` }),
  ],
  [
    'a valid block that must fail',
    /block 0: expected InvalidNumber, found the block was accepted/,
    (copy) => void (copy.blocks[0]!['expectExceptionALL'] = 'InvalidNumber'),
  ],
  [
    'a block that fails',
    /^block 0: refused: \[BLOCK_STATE_ROOT_MISMATCH\]/,
    (copy) => {
      const header = sealHeader({ ...block.header, stateRoot: new Uint8Array(32) })
      const blockHeader = { hash: toHex(header.hash) }
      copy.blocks = [{ rlp: toHex(encodeBlock({ ...block, header })), blockHeader }]
    },
  ],
  [
    'another reason',
    /^block 0: expected InvalidNumber, found \[BLOCK_STATE_ROOT_MISMATCH\]/,
    (copy) =>
      void copy.blocks.unshift({
        rlp: withHeader({ stateRoot: new Uint8Array(32) }),
        expectException: 'InvalidNumber',
      }),
  ],
  [
    'bytes that are no block',
    /^block 0: refused: \[RLP_/,
    (copy) => void (copy.blocks[0]!['rlp'] = '0xc0'),
  ],
  [
    'a balance',
    /^account 0x2{40}: balance/,
    (copy) => void (copy.postState![MINER]!['balance'] = '0x01'),
  ],
  [
    'a slot',
    /slot 0x0+1: expected/,
    (copy) => void (copy.postState![CONTRACT]!['storage'] = { '0x01': '0x03' }),
  ],
  [
    'a slot too many',
    /^storages: expected 0, found 1/,
    (copy) => void (copy.postState![CONTRACT]!['storage'] = {}),
  ],
  ['code', /: code: expected/, (copy) => void (copy.postState![CONTRACT]!['code'] = '0x01')],
  ['nonce', /: nonce: expected/, (copy) => void (copy.postState![RICH]!['nonce'] = '0x01')],
  [
    'an account too many',
    /^accounts: expected 2, found 3/,
    (copy) => void delete copy.postState![RICH],
  ],
  [
    'the hash of the state',
    /^expected state root/,
    (copy) => {
      delete copy.postState
      copy.postStateHash = `0x${'00'.repeat(32)}`
    },
  ],
]
const PIPELINES: readonly PipelineMode[] = [
  { kind: 'off' },
  { kind: 'on' },
  { kind: 'delayed', seed: 5 },
]

for (const [name, message, change] of faults)
  test(`a test that is wrong fails: ${name}`, async () => {
    for (const pipeline of PIPELINES) {
      const result = await run(change, { pipeline })
      assert.equal(result.pass, false, pipeline.kind)
      assert.match(result.error ?? '', message, pipeline.kind)
    }
  })

test('a refusal for the expected reason is none of the test’s, and the chain goes on', async () => {
  for (const pipeline of PIPELINES) {
    const result = await run(
      (copy) =>
        void copy.blocks.unshift(
          {
            rlp: withHeader({ number: 7 }),
            expectException: 'BlockException.INVALID_BLOCK_NUMBER',
          },
          { rlp: '0xc0', expectException: 'BlockException.RLP_STRUCTURES_ENCODING' },
        ),
      { pipeline },
    )
    assert.equal(result.error, undefined, pipeline.kind)
  }
})

test('the state may be given by its hash alone', async () => {
  const result = await run((copy) => {
    delete copy.postState
    copy.postStateHash = toHex(block.header.stateRoot)
  })
  assert.equal(result.error, undefined)
})

test('what is no test, names an unknown network or lacks a field is refused by name', () => {
  assert.equal(isBlockTest({ network: 'Cancun' }), false)
  assert.equal(isBlockTest(draft), true)
  const { lastblockhash: _, ...lacking } = draft
  assert.equal(isBlockTest(lacking), true, 'a part that is missing is a fault, not another kind')
  assert.throws(() => read(lacking), { code: 'TESTFILE_INVALID' })
  assert.throws(() => read({ ...draft, network: 'Nowhere' }), { code: 'TESTFILE_NETWORK_UNKNOWN' })
  assert.throws(() => read({ ...draft, lastblockhash: '0x00' }), { code: 'TESTFILE_INVALID' })
  const shared = { network: 'Osaka', lastblockhash: draft.lastblockhash, engineNewPayloads: [] }
  assert.throws(() => read({ ...shared, preHash: '0x01' }), { code: 'TESTFILE_PRESTATE_MISSING' })
})

test('broken tests are refused by name or run to a row', async () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  console.log(`seed ${seed}`)
  await fuzzBlockTests(seed, 150)
})

/** Suites of which every n-th file is run, so that `npm test` sees each kind of test in seconds. */
const SAMPLES: readonly (readonly [suite: string, oneIn: number])[] = [
  ['et-blockchain', 20],
  ['legacy-constantinople-blockchain-state', 60],
  ['eest-blockchain', 40],
]

for (const [suite, oneIn] of SAMPLES)
  test(`a sample of ${suite}`, {
    skip: fixturesMissing(
      suite,
      'github.com/ethereum/tests, github.com/ethereum/execution-spec-tests',
    ),
  }, async () => {
    let fileCount = 0
    let passCount = 0
    for await (const { tests } of fixtureRecords<{ tests: Record<string, unknown> }>(suite)) {
      if (fileCount++ % oneIn !== 0) continue
      for (const [name, value] of Object.entries(tests)) {
        const pipeline = PIPELINES[passCount++ % PIPELINES.length]!
        const { error } = await runner.run(
          readBlockTest(name, value, () => undefined),
          { pipeline },
        )
        assert.equal(error, undefined, `${name} ${JSON.stringify(pipeline)}`)
      }
    }
    assert.ok(passCount > 0)
  })
