/**
 * Each header rule is met by a header that keeps it and broken by one that misses it by the least amount. Whole
 * chains of the published fixtures are in `chains.test.ts`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_TRIE_ROOT, FORK_NAMES, Fork, ZERO_HASH } from '../base/index.ts'
import { type Header, type HeaderFields, sealHeader } from '../codec/index.ts'
import { GAS_LIMIT_MAX } from './gasRules.ts'
import { makeChild, makeFirst } from './headerMaker.suite.ts'
import { DAO_EXTRA_DATA, type HeaderRuleErrorCode, validateHeader } from './headerRules.ts'
import { type ChainSpec, singleForkSpec } from './spec.ts'

const BLOB = 131_072n

test('a made header passes under every fork', () => {
  for (const name of FORK_NAMES) {
    const spec = singleForkSpec(Fork[name])
    const parent = makeFirst(Fork[name])
    const child = makeChild(parent, spec)
    assert.equal(validateHeader(child, parent, spec).fork, Fork[name], name)
    assert.equal(validateHeader(makeChild(child, spec), child, spec).fork, Fork[name], name)
  }
})

type Case = {
  rule: string
  fork: Fork
  /** Changes against a valid child; undefined removes a field. */
  broken: { [Name in keyof HeaderFields]?: HeaderFields[Name] | undefined }
  code: HeaderRuleErrorCode
  /** The nearest header that passes. */
  kept?: Partial<HeaderFields>
  parent?: Partial<HeaderFields>
}

const CASES: readonly Case[] = [
  {
    rule: 'parent hash',
    fork: Fork.Frontier,
    broken: { parentHash: ZERO_HASH },
    code: 'BLOCK_PARENT_UNKNOWN',
  },
  { rule: 'number', fork: Fork.London, broken: { number: 2 }, code: 'BLOCK_NUMBER_INVALID' },
  {
    rule: 'time',
    fork: Fork.Homestead,
    broken: { timestamp: 1_000_000n },
    kept: { timestamp: 1_000_001n },
    code: 'BLOCK_TIMESTAMP_NOT_AFTER_PARENT',
  },
  {
    rule: 'extra data',
    fork: Fork.Prague,
    broken: { extraData: new Uint8Array(33) },
    kept: { extraData: new Uint8Array(32) },
    code: 'BLOCK_EXTRA_DATA_TOO_LONG',
  },
  {
    rule: 'gas limit risen',
    fork: Fork.Berlin,
    parent: { gasLimit: 1_024_000n },
    broken: { gasLimit: 1_025_000n },
    kept: { gasLimit: 1_024_999n },
    code: 'BLOCK_GAS_LIMIT_INVALID',
  },
  {
    rule: 'gas limit fallen',
    fork: Fork.Berlin,
    parent: { gasLimit: 1_024_000n },
    broken: { gasLimit: 1_023_000n },
    kept: { gasLimit: 1_023_001n },
    code: 'BLOCK_GAS_LIMIT_INVALID',
  },
  {
    rule: 'least gas limit',
    fork: Fork.Berlin,
    parent: { gasLimit: 5002n },
    broken: { gasLimit: 4999n },
    kept: { gasLimit: 5000n },
    code: 'BLOCK_GAS_LIMIT_INVALID',
  },
  {
    rule: 'greatest gas limit',
    fork: Fork.London,
    parent: { gasLimit: GAS_LIMIT_MAX },
    broken: { gasLimit: GAS_LIMIT_MAX + 1n },
    kept: { gasLimit: GAS_LIMIT_MAX },
    code: 'BLOCK_GAS_LIMIT_TOO_BIG',
  },
  {
    rule: 'gas used',
    fork: Fork.Osaka,
    broken: { gasUsed: 30_000_001n },
    kept: { gasUsed: 30_000_000n },
    code: 'BLOCK_GAS_USED_OVER_LIMIT',
  },
  {
    rule: 'base fee',
    fork: Fork.London,
    broken: { baseFeePerGas: 875_000_001n },
    kept: { baseFeePerGas: 875_000_000n },
    code: 'BLOCK_BASE_FEE_INVALID',
  },
  {
    rule: 'difficulty',
    fork: Fork.Byzantium,
    broken: { difficulty: 1_000_001n },
    code: 'BLOCK_DIFFICULTY_INVALID',
  },
  {
    rule: 'difficulty after the merge',
    fork: Fork.Paris,
    broken: { difficulty: 1n },
    code: 'BLOCK_DIFFICULTY_AFTER_MERGE',
  },
  {
    rule: 'nonce after the merge',
    fork: Fork.Paris,
    broken: { nonce: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1) },
    code: 'BLOCK_NONCE_AFTER_MERGE',
  },
  {
    rule: 'uncles after the merge',
    fork: Fork.Shanghai,
    broken: { uncleHash: ZERO_HASH },
    code: 'BLOCK_UNCLES_AFTER_MERGE',
  },
  {
    rule: 'blob gas in whole blobs',
    fork: Fork.Cancun,
    broken: { blobGasUsed: BLOB + 1n },
    kept: { blobGasUsed: BLOB },
    code: 'BLOCK_BLOB_GAS_NOT_WHOLE_BLOBS',
  },
  {
    rule: 'blob gas of Cancun',
    fork: Fork.Cancun,
    broken: { blobGasUsed: 7n * BLOB },
    kept: { blobGasUsed: 6n * BLOB },
    code: 'BLOCK_BLOB_GAS_OVER_LIMIT',
  },
  {
    rule: 'blob gas of Prague',
    fork: Fork.Prague,
    broken: { blobGasUsed: 10n * BLOB },
    kept: { blobGasUsed: 9n * BLOB },
    code: 'BLOCK_BLOB_GAS_OVER_LIMIT',
  },
  {
    rule: 'excess blob gas',
    fork: Fork.Cancun,
    parent: { excessBlobGas: BLOB, blobGasUsed: 6n * BLOB },
    broken: { excessBlobGas: 5n * BLOB },
    kept: { excessBlobGas: 4n * BLOB },
    code: 'BLOCK_EXCESS_BLOB_GAS_INVALID',
  },
  ...fieldCases(),
]

/** For each optional field: absent at its fork, and present one fork earlier. */
function fieldCases(): Case[] {
  const samples: readonly (readonly [keyof HeaderFields, Fork, Partial<HeaderFields>])[] = [
    ['baseFeePerGas', Fork.London, { baseFeePerGas: 1n }],
    ['withdrawalsRoot', Fork.Shanghai, { withdrawalsRoot: EMPTY_TRIE_ROOT }],
    ['requestsHash', Fork.Prague, { requestsHash: ZERO_HASH }],
  ]
  const cancun: Partial<HeaderFields> = {
    blobGasUsed: 0n,
    excessBlobGas: 0n,
    parentBeaconBlockRoot: ZERO_HASH,
  }
  return [...samples, ['parentBeaconBlockRoot' as const, Fork.Cancun, cancun] as const].flatMap(
    ([name, fork, present]): Case[] => [
      {
        rule: `${name} before its fork`,
        fork: (fork - 1) as Fork,
        broken: present,
        code: 'BLOCK_FIELD_UNEXPECTED',
      },
      {
        rule: `${name} at its fork`,
        fork,
        broken: Object.fromEntries(Object.keys(present).map((key) => [key, undefined])),
        code: 'BLOCK_FIELD_MISSING',
      },
    ],
  )
}

/** Applies changes to a header and seals it again. */
function changed(header: Header, changes: Case['broken']): Header {
  const fields = { ...header, ...changes }
  return sealHeader(fields as HeaderFields)
}

for (const { rule, fork, broken, code, kept, parent: parentChanges } of CASES)
  test(`rule: ${rule}`, () => {
    const spec = singleForkSpec(fork)
    const parent = makeFirst(fork, parentChanges)
    const child = makeChild(parent, spec, kept)
    validateHeader(child, parent, spec)
    const fault = { code, message: /^block \d+: .+: expected .+, found .+/ }
    assert.throws(() => validateHeader(changed(child, broken), parent, spec), fault)
  })

test('each single field of Cancun is asked for', () => {
  const spec = singleForkSpec(Fork.Cancun)
  const parent = makeFirst(Fork.Cancun)
  const child = makeChild(parent, spec)
  for (const name of ['blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot'] as const) {
    const { [name]: _, ...rest } = child
    assert.throws(() => validateHeader(rest as Header, parent, spec), {
      code: 'BLOCK_FIELD_MISSING',
      message: new RegExp(name),
    })
  }
})

/** A chain that changes from one fork to the next at block 1. */
function transition(from: Fork, to: Fork): ChainSpec {
  const spec = singleForkSpec(to)
  const { byBlock } = spec.schedule
  const before = byBlock[0]!.fork
  assert.equal(before, to)
  return {
    ...spec,
    schedule: {
      ...spec.schedule,
      byBlock: [
        { fork: from, at: 0 },
        { fork: to, at: 1 },
      ],
    },
  }
}

test('London doubles the gas limit once and starts the base fee', () => {
  const spec = transition(Fork.Berlin, Fork.London)
  const parent = makeFirst(Fork.Berlin, { gasLimit: 10_000_000n })
  const child = makeChild(parent, spec)
  assert.equal(child.gasLimit, 20_000_000n)
  assert.equal(child.baseFeePerGas, 1_000_000_000n)
  validateHeader(child, parent, spec)
  const undoubled = changed(child, { gasLimit: 10_000_000n })
  assert.throws(() => validateHeader(undoubled, parent, spec), { code: 'BLOCK_GAS_LIMIT_INVALID' })
  const next = makeChild(child, spec)
  assert.equal(next.gasLimit, 20_000_000n)
  validateHeader(next, child, spec)
})

test('the merge by total difficulty follows what the caller counted', () => {
  const plain = singleForkSpec(Fork.London)
  const spec = {
    ...plain,
    schedule: { ...plain.schedule, terminalTotalDifficulty: 5_000_000n },
  }
  const parent = makeFirst(Fork.London)
  const mined = makeChild(parent, spec)
  const staked = changed(mined, { difficulty: 0n })
  validateHeader(mined, parent, spec, { isMerged: false })
  validateHeader(staked, parent, spec, { isMerged: true })
  assert.throws(() => validateHeader(mined, parent, spec, { isMerged: true }), {
    code: 'BLOCK_DIFFICULTY_AFTER_MERGE',
  })
  assert.throws(() => validateHeader(staked, parent, spec, { isMerged: false }), {
    code: 'BLOCK_DIFFICULTY_INVALID',
  })
})

test('ten blocks from the DAO fork on carry its mark, or must not', () => {
  for (const support of [true, false]) {
    const plain = singleForkSpec(Fork.Homestead)
    const spec = { ...plain, schedule: { ...plain.schedule, dao: { block: 3, support } } }
    let parent = makeFirst(Fork.Homestead)
    for (let number = 1; number <= 15; number++) {
      const marked = makeChild(parent, spec, { extraData: DAO_EXTRA_DATA })
      const unmarked = makeChild(parent, spec)
      const isBound = number >= 3 && number < 13
      for (const header of [marked, unmarked]) {
        const check = () => validateHeader(header, parent, spec)
        if (isBound && (header === marked) !== support)
          assert.throws(check, { code: 'BLOCK_EXTRA_DATA_DAO_INVALID' })
        else check()
      }
      parent = support ? marked : unmarked
    }
  }
})

test('a long hostile field is cut in the message', () => {
  const spec = singleForkSpec(Fork.Frontier)
  const parent = makeFirst(Fork.Frontier)
  const child = makeChild(parent, spec, { extraData: new Uint8Array(50_000) })
  assert.throws(
    () => validateHeader(child, parent, spec),
    (error: Error) => error.message.length < 400,
  )
})
