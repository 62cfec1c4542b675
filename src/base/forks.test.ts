import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isVarveError } from './errors.ts'
import {
  blobParametersAt,
  FORK_NAMES,
  Fork,
  type ForkSchedule,
  forkAt,
  forkByName,
} from './forks.ts'

const schedule: ForkSchedule = {
  chainId: 7n,
  byBlock: [
    { fork: Fork.Homestead, at: 10 },
    { fork: Fork.London, at: 20 },
  ],
  byTime: [
    { fork: Fork.Shanghai, at: 1000 },
    { fork: Fork.Cancun, at: 2000 },
  ],
  blobs: [
    { name: 'cancun', at: 2000, blob: { target: 3, max: 6, baseFeeUpdateFraction: 1n } },
    { name: 'bpo1', at: 3000, blob: { target: 5, max: 8, baseFeeUpdateFraction: 2n } },
  ],
}

test('the fork of a block: by number, by the merge, by time, and the boundaries belong to the later fork', () => {
  assert.equal(forkAt(schedule, 9, 0), Fork.Frontier)
  assert.equal(forkAt(schedule, 10, 0), Fork.Homestead)
  assert.equal(forkAt(schedule, 20, 0), Fork.London)
  assert.equal(forkAt(schedule, 20, 0, true), Fork.Paris)
  assert.equal(forkAt(schedule, 30, 999, true), Fork.Paris)
  assert.equal(forkAt(schedule, 30, 1000, true), Fork.Shanghai)
  assert.equal(forkAt(schedule, 30, 2000, true), Fork.Cancun)
  // A timed fork waits for London: old blocks of a chain with times in the past stay under their own rules.
  assert.equal(forkAt(schedule, 10, 5000), Fork.Homestead)
})

test('blob parameters change apart from forks', () => {
  assert.equal(blobParametersAt(schedule, 1999), undefined)
  assert.equal(blobParametersAt(schedule, 2000)?.max, 6)
  assert.equal(blobParametersAt(schedule, 3000)?.max, 8)
})

test('names and ranks agree', () => {
  for (const name of FORK_NAMES) assert.equal(FORK_NAMES[forkByName(name.toUpperCase())], name)
  assert.throws(
    () => forkByName('Atlantis'),
    (error) => isVarveError(error, 'FORK_UNKNOWN'),
  )
})
