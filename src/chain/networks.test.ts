/** Schedules at each turning point, against independent tables of the networks' activations. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blobParametersAt, Fork, type ForkName, forkAt } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { isNetworkName, mainnet, NETWORK_NAMES, networkByName, sepolia } from './networks.ts'
import { rulesAt } from './spec.ts'

test('mainnet by block', () => {
  const table: readonly (readonly [number, ForkName, ForkName])[] = [
    [1_150_000, 'Frontier', 'Homestead'],
    [2_463_000, 'Homestead', 'TangerineWhistle'],
    [2_675_000, 'TangerineWhistle', 'SpuriousDragon'],
    [4_370_000, 'SpuriousDragon', 'Byzantium'],
    [7_280_000, 'Byzantium', 'Petersburg'],
    [9_069_000, 'Petersburg', 'Istanbul'],
    [9_200_000, 'Istanbul', 'MuirGlacier'],
    [12_244_000, 'MuirGlacier', 'Berlin'],
    [12_965_000, 'Berlin', 'London'],
    [13_773_000, 'London', 'ArrowGlacier'],
    [15_050_000, 'ArrowGlacier', 'GrayGlacier'],
    [15_537_394, 'GrayGlacier', 'Paris'],
  ]
  for (const [number, before, after] of table) {
    assert.equal(forkAt(mainnet.schedule, number - 1, 0), Fork[before], `${number - 1}`)
    assert.equal(forkAt(mainnet.schedule, number, 0), Fork[after], `${number}`)
  }
})

/**
 * Times by slot: each network's forks begin with an epoch of its beacon chain, so genesis time + epoch * 32 * 12
 * must give them. Epochs: consensus configurations of the networks.
 */
test('forks by time begin with their beacon epochs', () => {
  const table: Readonly<Record<string, readonly [number, readonly number[]]>> = {
    mainnet: [1_606_824_023, [194_048, 269_568, 364_032, 411_392, 412_672, 419_072]],
    sepolia: [1_655_733_600, [56_832, 132_608, 222_464, 272_640, 274_176, 275_712]],
    holesky: [1_695_902_400, [256, 29_696, 115_968, 165_120, 166_400, 167_936]],
    hoodi: [1_742_213_400, [2048, 50_688, 52_480, 54_016]],
  }
  for (const name of NETWORK_NAMES) {
    const [genesisTime, epochs] = table[name]!
    const { byTime, blobs } = networkByName(name).schedule
    const times = [...new Set([...byTime, ...blobs].map(({ at }) => at))].filter((at) => at > 0)
    assert.deepEqual(
      times.sort((a, b) => a - b),
      epochs.map((epoch) => genesisTime + epoch * 32 * 12),
      name,
    )
  }
})

test('blob limits step by step', () => {
  for (const name of NETWORK_NAMES) {
    const { schedule } = networkByName(name)
    const limits = schedule.blobs.map(({ at }) => blobParametersAt(schedule, at))
    assert.deepEqual(
      limits.map((blob) => [blob?.target, blob?.max, blob?.baseFeeUpdateFraction]),
      [
        [3, 6, 3_338_477n],
        [6, 9, 5_007_716n],
        [10, 15, 8_346_193n],
        [14, 21, 11_684_671n],
      ],
    )
    assert.equal(schedule.chainId, networkByName(name).chainId)
  }
  const osaka = rulesAt(mainnet, 24_000_000, 1_764_798_551n)
  assert.deepEqual([osaka.fork, osaka.blob?.max], [Fork.Osaka, 9])
  const before = rulesAt(mainnet, 19_000_000, 1_710_338_134n)
  assert.deepEqual([before.fork, before.blob], [Fork.Shanghai, undefined])
})

test('the update fractions keep a full block’s rise of the blob base fee near one eighth', () => {
  // EIP-7691: fraction such that e^((max - target) * 131072 / fraction) is the largest step.
  for (const { blob } of mainnet.schedule.blobs) {
    const rise = Math.exp(((blob.max - blob.target) * 131_072) / Number(blob.baseFeeUpdateFraction))
    assert.ok(rise > 1.08 && rise < 1.13, `${rise}`)
  }
})

test('the merge comes by number or by what the caller counted', () => {
  assert.equal(forkAt(sepolia.schedule, 1_450_408, 0), Fork.London)
  assert.equal(forkAt(sepolia.schedule, 1_450_409, 0), Fork.Paris)
  assert.equal(forkAt(sepolia.schedule, 1_450_409, 0, false), Fork.London)
  assert.equal(forkAt(sepolia.schedule, 7, 0, true), Fork.Paris)
  assert.equal(forkAt(mainnet.schedule, 15_537_394, 0, false), Fork.GrayGlacier)
  assert.equal(forkAt(mainnet.schedule, 16_000_000, 1_764_798_551, false), Fork.GrayGlacier)
})

test('networks by name', () => {
  assert.equal(networkByName('mainnet'), mainnet)
  assert.ok(isNetworkName('hoodi') && !isNetworkName('Hoodi') && !isNetworkName('toString'))
  assert.throws(() => networkByName('ropsten'), {
    code: 'CHAIN_UNKNOWN_NETWORK',
    message: /"ropsten" is none of mainnet, sepolia, holesky, hoodi/,
  })
})

/** EIP-55: the case of the published, mixed-case addresses is a check sum over their digits. */
test('deposit contracts have the published check sums', () => {
  const published = {
    mainnet: '00000000219ab540356cBB839Cbe05303d7705Fa',
    sepolia: '7f02C3E3c98b133055B8B348B2Ac625669Ed295D',
    holesky: '4242424242424242424242424242424242424242',
    hoodi: '00000000219ab540356cBB839Cbe05303d7705Fa',
  }
  for (const name of NETWORK_NAMES) {
    const digits = Buffer.from(networkByName(name).depositContract).toString('hex')
    const hash = Buffer.from(keccak256(new TextEncoder().encode(digits))).toString('hex')
    const mixed = [...digits].map((digit, index) =>
      Number.parseInt(hash[index]!, 16) >= 8 ? digit.toUpperCase() : digit,
    )
    assert.equal(mixed.join(''), published[name])
  }
})
