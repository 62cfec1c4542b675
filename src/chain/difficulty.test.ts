/**
 * Difficulty against the published vectors of every proof-of-work fork, and the double path against the bigint one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, forkByName } from '../base/index.ts'
import { fixtureRecords, fixturesMissing, Prng } from '../testing/index.ts'
import {
  bombDelay,
  bombExponent,
  DIFFICULTY_MIN,
  difficultyAt,
  difficultyExact,
  difficultyStep,
} from './difficulty.ts'

const skip = fixturesMissing('difficulty vectors', 'github.com/ethereum/tests, DifficultyTests')

type Vector = {
  parentTimestamp: string
  parentDifficulty: string
  parentUncles?: string
  currentTimestamp: string
  currentBlockNumber: string
  currentDifficulty: string
}

const EMPTY_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'

function checkVector(name: string, fork: Fork, vector: Vector): void {
  const uncles = vector.parentUncles ?? '0x00'
  const found = difficultyAt(fork, {
    number: Number(vector.currentBlockNumber),
    secondsSinceParent: Number(BigInt(vector.currentTimestamp) - BigInt(vector.parentTimestamp)),
    parentDifficulty: BigInt(vector.parentDifficulty),
    parentHasUncles: uncles.length > 10 ? uncles !== EMPTY_UNCLES : Number(uncles) > 0,
  })
  assert.equal(found, BigInt(vector.currentDifficulty), name)
}

test('all published difficulty vectors', { skip }, async () => {
  let fileCount = 0
  let vectorCount = 0
  const forks = new Set<string>()
  for await (const { path, tests } of fixtureRecords<{
    path: string
    tests: Record<string, Record<string, Record<string, Vector>>>
  }>('et-difficulty')) {
    fileCount++
    for (const groups of Object.values(tests))
      for (const [forkName, vectors] of Object.entries(groups)) {
        if (forkName === '_info') continue
        forks.add(forkName)
        for (const [name, vector] of Object.entries(vectors)) {
          checkVector(`${path} ${forkName} ${name}`, forkByName(forkName), vector)
          vectorCount++
        }
      }
  }
  assert.equal(fileCount, 17)
  assert.ok(vectorCount > 10_000, `${vectorCount} vectors`)
  assert.deepEqual([...forks].sort(), [
    'ArrowGlacier',
    'Berlin',
    'Byzantium',
    'Constantinople',
    'Frontier',
    'GrayGlacier',
    'Homestead',
  ])
})

/** Forks of mainnet and Ropsten as the older suite numbers them. */
const OLD_SUITES: readonly (readonly [string, (number: number) => Fork])[] = [
  ['BasicTests/difficulty.json', mainnetFork],
  ['BasicTests/difficultyCustomHomestead.json', () => Fork.Homestead],
  ['BasicTests/difficultyCustomMainNetwork.json', mainnetFork],
  ['BasicTests/difficultyMainNetwork.json', mainnetFork],
  ['BasicTests/difficultyRopsten.json', ropstenFork],
]

function mainnetFork(number: number): Fork {
  if (number < 1_150_000) return Fork.Frontier
  return number < 4_370_000 ? Fork.Homestead : Fork.Byzantium
}

function ropstenFork(number: number): Fork {
  if (number < 1_700_000) return Fork.Homestead
  return number < 4_230_000 ? Fork.Byzantium : Fork.Constantinople
}

test('the older difficulty vectors', { skip }, async () => {
  let vectorCount = 0
  let skippedCount = 0
  for await (const { path, tests } of fixtureRecords<{
    path: string
    tests: Record<string, Vector>
  }>('et-basic')) {
    const forkOf = OLD_SUITES.find(([name]) => name === path)?.[1]
    if (forkOf === undefined) continue
    for (const [name, vector] of Object.entries(tests)) {
      // Parents below the least difficulty: these files take it after the bomb, where clients and the newer vectors
      // take it before. No chain has such a parent.
      if (BigInt(vector.parentDifficulty) < DIFFICULTY_MIN) {
        skippedCount++
        continue
      }
      checkVector(`${path} ${name}`, forkOf(Number(vector.currentBlockNumber)), vector)
      vectorCount++
    }
  }
  assert.ok(vectorCount > 4_000, `${vectorCount} vectors`)
  assert.equal(skippedCount, 360)
})

test('the double path equals the bigint path, at its edges too', () => {
  const random = new Prng(7)
  const edges = [0n, 1n, 2047n, 2048n, 131_071n, 131_072n, 2n ** 52n, 2n ** 53n, 2n ** 64n]
  for (let round = 0; round < 20_000; round++) {
    const fork = random.pick([Fork.Frontier, Fork.Homestead, Fork.Byzantium, Fork.GrayGlacier])
    const number = random.below(18_000_000)
    const seconds = random.between(1, random.oneIn(4) ? 2000 : 40)
    const parentDifficulty = random.oneIn(5)
      ? random.pick(edges) + BigInt(random.below(3))
      : random.bigint(66)
    const parentHasUncles = random.oneIn(2)
    const step = difficultyStep(fork, seconds, parentHasUncles)
    const exact = difficultyExact(parentDifficulty, step, bombExponent(fork, number))
    const input = { number, secondsSinceParent: seconds, parentDifficulty, parentHasUncles }
    assert.equal(difficultyAt(fork, input), exact, `seed 7, round ${round}`)
  }
})

test('steps and bomb at their turning points', () => {
  assert.equal(difficultyStep(Fork.Frontier, 12, true), 1)
  assert.equal(difficultyStep(Fork.Frontier, 13, true), -1)
  assert.equal(difficultyStep(Fork.Homestead, 9, true), 1)
  assert.equal(difficultyStep(Fork.Homestead, 10, true), 0)
  assert.equal(difficultyStep(Fork.Homestead, 100_000, false), -99)
  assert.equal(difficultyStep(Fork.Byzantium, 8, false), 1)
  assert.equal(difficultyStep(Fork.Byzantium, 8, true), 2)
  assert.equal(difficultyStep(Fork.Byzantium, 9, true), 1)
  assert.equal(difficultyStep(Fork.Byzantium, 2 ** 60, true), -99)
  assert.equal(bombExponent(Fork.Frontier, 199_999), -1)
  assert.equal(bombExponent(Fork.Frontier, 200_000), 0)
  assert.equal(bombExponent(Fork.Byzantium, 3_200_000), 0)
  assert.deepEqual(
    [Fork.Petersburg, Fork.Istanbul, Fork.MuirGlacier, Fork.Berlin, Fork.London].map(bombDelay),
    [5_000_000, 5_000_000, 9_000_000, 9_000_000, 9_700_000],
  )
})

test('a step never goes below the least difficulty', () => {
  const input = {
    number: 10,
    secondsSinceParent: 10_000,
    parentDifficulty: 131_073n,
    parentHasUncles: false,
  }
  assert.equal(difficultyAt(Fork.Homestead, input), BigInt(DIFFICULTY_MIN))
})

test('difficulty is not computed after the merge', () => {
  const input = {
    number: 1,
    secondsSinceParent: 1,
    parentDifficulty: 0n,
    parentHasUncles: false,
  }
  assert.throws(() => difficultyAt(Fork.Paris, input), /proof of work only/)
})
