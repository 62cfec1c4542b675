/** The genesis reader: every form of number and key, the schedule it builds, and the path in every refusal. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_BYTES, Fork, forkAt, isVarveError, toBareHex } from '../base/index.ts'
import { fixtureRecords, fixturesMissing, Prng } from '../testing/index.ts'
import { parseAllocJson, parseGenesisJson, readGenesisFile } from './genesisJson.ts'

const skip = fixturesMissing(
  'genesis files',
  'go-ethereum, eth/tracers/internal/tracetest/testdata',
)

const BLOCKS = {
  homesteadBlock: 0,
  eip150Block: 0,
  eip155Block: 0,
  eip158Block: 0,
  byzantiumBlock: 0,
  constantinopleBlock: 0,
  petersburgBlock: 0,
  istanbulBlock: 0,
  berlinBlock: 0,
  londonBlock: 0,
}

function text(config: object, fields: object = {}): string {
  return JSON.stringify({
    config: { chainId: 7, ...config },
    difficulty: '0x1',
    gasLimit: 30_000_000,
    alloc: {},
    ...fields,
  })
}

test('every form of a number', () => {
  const forms = ['255', '"255"', '"0xff"', '"0xFF"', '"0x00ff"', '"0Xff"', '2.55e2', '"0255"']
  for (const form of forms) {
    const source = text({}).replace('"0x1"', form)
    assert.equal(parseGenesisJson(source).fields.difficulty, 255n, form)
  }
  const large = text({ terminalTotalDifficulty: 'T' }).replace('"T"', '58750000000000000000001')
  const { schedule } = parseGenesisJson(large).spec
  assert.equal(schedule.terminalTotalDifficulty, 58_750_000_000_000_000_000_001n)
  for (const zero of ['""', '"0x"', '"0x0"', '0'])
    assert.equal(parseGenesisJson(text({}, { nonce: 'N' }).replace('"N"', zero)).fields.nonce, 0n)
})

test('keys of any case, absent ones, nulls, and unknown ones', () => {
  const genesis = parseGenesisJson(
    text(
      { chainID: 9, chainId: undefined, londonblock: null, clique: { period: 1 }, x: [1, [2]] },
      { mixhash: `0x${'ab'.repeat(32)}`, Coinbase: 'cd'.repeat(20), timestamp: null, y: 1.5 },
    ),
  )
  assert.equal(genesis.spec.chainId, 9n)
  assert.equal(genesis.fields.mixHash?.[0], 0xab)
  assert.equal(genesis.fields.coinbase?.[19], 0xcd)
  assert.equal(genesis.fields.timestamp, 0n)
  assert.equal(genesis.fields.extraData, EMPTY_BYTES)
  assert.equal(genesis.fields.baseFeePerGas, undefined)
  assert.equal(forkAt(genesis.spec.schedule, 1000, 0), Fork.Frontier)
})

test('the schedule of a chain with every key', () => {
  const { spec } = parseGenesisJson(
    text({
      ...BLOCKS,
      berlinBlock: '10',
      muirGlacierBlock: '0x5',
      londonBlock: 20,
      arrowGlacierBlock: 30,
      grayGlacierBlock: 40,
      mergeNetsplitBlock: 50,
      shanghaiTime: '100',
      cancunTime: 200,
      pragueTime: 300,
      osakaTime: 400,
      bpo1Time: 500,
      bpo2Time: 600,
      daoForkBlock: 3,
      daoForkSupport: true,
      terminalTotalDifficulty: '0xffff',
      depositContractAddress: `0x${'42'.repeat(20)}`,
      blobSchedule: {
        Cancun: { target: 1, max: 2, baseFeeUpdateFraction: 7 },
        BPO1: { target: '0x8', max: '12', baseFeeUpdateFraction: 70 },
        bpo2: { target: 9, max: 13, baseFeeUpdateFraction: 71 },
        bpo3: { target: 9, max: 13, baseFeeUpdateFraction: 71 },
      },
    }),
  )
  const { schedule } = spec
  const at = (number: number, time: number, isMerged: boolean) =>
    forkAt(schedule, number, time, isMerged)
  assert.equal(at(4, 0, false), Fork.Istanbul)
  assert.equal(at(5, 0, false), Fork.MuirGlacier)
  assert.equal(at(10, 0, false), Fork.Berlin)
  assert.equal(at(40, 9999, false), Fork.GrayGlacier)
  assert.equal(at(60, 99, true), Fork.Paris)
  assert.equal(at(60, 100, true), Fork.Shanghai)
  assert.equal(at(60, 600, true), Fork.Osaka)
  assert.deepEqual(
    schedule.blobs.map(({ name, at: from, blob }) => [name, from, blob.target, blob.max]),
    [
      ['cancun', 200, 1, 2],
      ['prague', 300, 6, 9],
      ['bpo1', 500, 8, 12],
      ['bpo2', 600, 9, 13],
    ],
  )
  assert.deepEqual(schedule.dao, { block: 3, support: true })
  assert.equal(toBareHex(spec.depositContract), '42'.repeat(20))
})

test('a terminal total difficulty that genesis meets puts Paris at block 0 or 1', () => {
  const parisOf = (config: object) =>
    parseGenesisJson(text({ ...BLOCKS, ...config })).spec.schedule.byBlock.find(
      ({ fork }) => fork === Fork.Paris,
    )?.at
  assert.equal(parisOf({ terminalTotalDifficulty: 0 }), 0)
  assert.equal(parisOf({ terminalTotalDifficultyPassed: true }), 0)
  assert.equal(parisOf({ terminalTotalDifficulty: 1 }), 1)
  assert.equal(parisOf({ terminalTotalDifficulty: 2 }), undefined)
  assert.equal(
    parisOf({ terminalTotalDifficulty: 2, terminalTotalDifficultyPassed: true }),
    undefined,
  )
  assert.equal(parisOf({}), undefined)
})

test('Petersburg comes with Constantinople, and a fork of the far future never', () => {
  const {
    petersburgBlock: _,
    istanbulBlock: __,
    berlinBlock: ___,
    londonBlock: ____,
    ...old
  } = BLOCKS
  const { schedule } = parseGenesisJson(text({ ...old, constantinopleBlock: 8 })).spec
  assert.equal(forkAt(schedule, 7, 0), Fork.Byzantium)
  assert.equal(forkAt(schedule, 8, 0), Fork.Petersburg)
  const far = '18446744073709551615'
  const never = parseGenesisJson(
    text({ ...BLOCKS, daoForkBlock: far, shanghaiTime: far, cancunTime: far, bpo1Time: far }),
  ).spec.schedule
  assert.equal(forkAt(never, 1, 2 ** 64, true), Fork.Paris)
  assert.deepEqual([never.byTime, never.blobs, never.dao], [[], [], undefined])
  assert.throws(() => parseGenesisJson(text({ ...BLOCKS, shanghaiTime: far, cancunTime: 5 })), {
    message: /cancunTime: expected at least Infinity, as shanghaiTime/,
  })
})

const ALLOC = `{
  "${'aa'.repeat(20)}": {"balance": 123456789012345678901234567890, "nonce": "0x5",
    "code": "0x6001", "storage": {"0x1": "0x2", "03": "0x${'ff'.repeat(32)}", "0x4": "0x0"}},
  "0x${'Bb'.repeat(20)}": {"balance": "1000000000000000000000"},
  "0x${'cc'.repeat(20)}": {"wei": "7", "secretKey": "0x00"},
  "0x${'dd'.repeat(20)}": "0x10",
  "0x${'ee'.repeat(20)}": ["0x1", "0x60", [["0x01", "0x02"]], "0x3"],
  "0x${'ff'.repeat(20)}": {}
}`

test('accounts in every form', () => {
  const accounts = parseAllocJson(ALLOC)
  assert.deepEqual(
    accounts.map(({ balance }) => balance),
    [123_456_789_012_345_678_901_234_567_890n, 10n ** 21n, 7n, 16n, 1n, 0n],
  )
  assert.deepEqual(
    accounts.map(({ nonce }) => nonce),
    [5n, 0n, 0n, 0n, 3n, 0n],
  )
  assert.deepEqual(
    accounts[0]!.storage.map(({ slot, value }) => [slot.length, slot[31], value[31]]),
    [
      [32, 1, 2],
      [32, 3, 255],
    ],
  )
  assert.deepEqual(
    accounts[4]!.storage.map(({ slot, value }) => [slot[31], value[31]]),
    [[1, 2]],
  )
  assert.deepEqual([...accounts[0]!.code], [0x60, 1])
  assert.equal(toBareHex(accounts[1]!.address), 'bb'.repeat(20))
})

test('a file is told apart from a bare allocation', () => {
  assert.equal(readGenesisFile(ALLOC).kind, 'alloc')
  assert.equal(readGenesisFile(text({})).kind, 'genesis')
  assert.throws(() => readGenesisFile('{}'), { code: 'GENESIS_FIELD_INVALID', message: /config/ })
})

const A = '11'.repeat(20)

test('refusals name the place', () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['[]', /top level: expected an object, found a list/],
    [text({}, { alloc: [] }), /genesis, alloc: expected an object, found a list/],
    [text({}, { difficulty: undefined }), /difficulty: expected an integer, found none/],
    [text({}, { gasLimit: '0x10000000000000000' }), /gasLimit: .*at most 64 bits/],
    [text({}, { gasLimit: -1 }), /gasLimit: .*found -1/],
    [text({}, { gasLimit: 1.5 }), /gasLimit: .*found 1.5/],
    [text({}, { gasLimit: '12x' }), /gasLimit: .*found "12x"/],
    [text({}, { number: 1 }), /number: expected 0/],
    [text({}, { mixHash: '0x12' }), /mixHash: expected 32 hexadecimal bytes/],
    [text({}, { extraData: '0xzz' }), /extraData: expected hexadecimal bytes/],
    [text({ chainId: undefined }), /config.chainId/],
    [text({ londonBlock: 5 }), /config.homesteadBlock: expected a value, as londonBlock has one/],
    [
      text({ ...BLOCKS, berlinBlock: 9 }),
      /config.londonBlock: expected at least 9, as berlinBlock/,
    ],
    [text({ ...BLOCKS, eip155Block: 3 }), /config.eip155Block: expected the block of eip158Block/],
    [text({ cancunTime: 5 }), /config.shanghaiTime: expected a value, as cancunTime has one/],
    [text({ shanghaiTime: 1, cancunTime: 2, bpo1Time: 3 }), /blobSchedule.bpo1/],
    [
      text({
        bpo1Time: 1,
        blobSchedule: { bpo1: { target: 1, max: 0, baseFeeUpdateFraction: 1 } },
      }),
      /blobSchedule.bpo1.max: expected at least 1/,
    ],
    [
      text({
        bpo1Time: 1,
        blobSchedule: { bpo1: { target: 3, max: 2, baseFeeUpdateFraction: 1 } },
      }),
      /blobSchedule.bpo1.target: expected at most max/,
    ],
    [
      text({ bpo1Time: 1, blobSchedule: { bpo1: { target: 1, max: 2 } } }),
      /blobSchedule.bpo1.baseFeeUpdateFraction: expected an integer/,
    ],
    [
      text({
        bpo1Time: 1,
        blobSchedule: { bpo1: { target: 1, max: 2, baseFeeUpdateFraction: 0 } },
      }),
      /baseFeeUpdateFraction: expected at least 1/,
    ],
    [text({ daoForkBlock: 1, daoForkSupport: 'yes' }), /config.daoForkSupport: expected true or/],
    [text({ mixHash: 1, MIXHASH: 2 }), /config.MIXHASH: expected one key/],
    [text({}, { alloc: { '0x12': {} } }), /alloc.0x12: expected an address/],
    [text({}, { alloc: { [A]: {}, [`0x${A}`]: {} } }), /alloc.0x1{40}: .*twice/],
    [text({}, { alloc: { [A]: true } }), /alloc.1{40}: expected an unsigned integer/],
    [text({}, { alloc: { [A]: { balance: `0x1${'0'.repeat(64)}` } } }), /1.balance: .*256 bits/],
    [text({}, { alloc: { [A]: { storage: [] } } }), /1.storage: expected an object/],
    [text({}, { alloc: { [A]: { storage: { '0x1': '0x1', '0x01': '0x2' } } } }), /0x01: .*twice/],
    [text({}, { alloc: { [A]: { storage: { [`0x${'1'.repeat(65)}`]: '0x1' } } } }), /32 hexadec/],
    [text({}, { alloc: { [A]: { storage: { '0x1': 5 } } } }), /storage.0x1: .*found 5/],
    [text({}, { alloc: { [A]: [1, '0x', [7]] } }), /\[2\]\[0\]: expected a pair/],
    [text({}, { alloc: { [A]: [1, '0x', 7] } }), /\[2\]: expected a list/],
    [text({}, { extraData: `0x${'z'.repeat(9999)}` }), /found "0xz{78}… \(10001 characters\)/],
  ]
  for (const [source, message] of refused)
    assert.throws(() => parseGenesisJson(source), { code: 'GENESIS_FIELD_INVALID', message })
})

test('a damaged file is read or refused with a code, never worse', () => {
  const base = text(BLOCKS, {
    alloc: JSON.parse(ALLOC.replace('123456789012345678901234567890', '1')),
  })
  const random = new Prng(5)
  for (let round = 0; round < 3000; round++) {
    const at = random.below(base.length)
    const inserted = random.pick(['', '"', '{', '0', '-', 'null', '[', '9e99', '\u0000', 'x'])
    const damaged = base.slice(0, at) + inserted + base.slice(at + random.below(4))
    try {
      readGenesisFile(damaged)
    } catch (error) {
      assert.ok(
        isVarveError(error, 'JSON_INVALID') || isVarveError(error, 'GENESIS_FIELD_INVALID'),
        `seed 5, round ${round}: ${error}`,
      )
    }
  }
})

test('genesis files of geth’s tracer tests: read whole, or refused for the order of forks', {
  skip,
}, async () => {
  type Record = { path: string; test: { genesis: object } }
  let readCount = 0
  const refused: string[] = []
  for await (const { path, test: record } of fixtureRecords<Record>('geth-tracers')) {
    // They start in the middle of a chain, so their numbers are not 0.
    const file = { ...record.genesis, number: 0 }
    try {
      assert.ok(parseGenesisJson(JSON.stringify(file)).accounts.length > 0, path)
      readCount++
    } catch (error) {
      assert.match(String(error), /config\.\w+: expected at least \d+, as/)
      refused.push(path.split('/').slice(-2).join('/'))
    }
  }
  assert.equal(readCount, 46)
  // Their forks run backwards; `geth init` refuses such files too, its tracer tests do not ask.
  assert.deepEqual(refused.sort(), [
    'call_tracer/revert_reason.json',
    'call_tracer_flat/big_slow.json',
    'call_tracer_flat/revert_reason.json',
    'call_tracer_legacy/revert_reason.json',
  ])
})
