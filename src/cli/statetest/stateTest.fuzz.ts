/**
 * Broken state tests: one that is right, with values replaced at random places of its JSON. Each must be refused with
 * TESTFILE_INVALID, or run to a row; nothing else may be thrown, and the right one must pass in between.
 */
import assert from 'node:assert/strict'
import { isVarveError } from '../../base/index.ts'
import { Prng } from '../../testing/index.ts'
import { breakOne, type Json } from '../testfiles/brokenJson.suite.ts'
import { StateTestRunner as Runner, type StateTestRunner } from './runStateTest.ts'
import { isStateTest, readStateTest } from './stateTest.ts'

/** Runs `stepCount` broken tests. @param seed names the run */
export async function fuzzStateTests(seed: number, stepCount: number): Promise<void> {
  const prng = new Prng(seed)
  const runner = await Runner.open()
  const right = rightTest()
  setRoot(right, rowsOf(runner, right)[0]!)
  for (let step = 0; step < stepCount; step++) {
    const broken = structuredClone(right)
    for (let count = prng.between(1, 3); count > 0; count--) breakOne(prng, broken)
    // As a file would hold it: a list has no holes there.
    const parsed = JSON.parse(JSON.stringify(broken)) as Json
    if (isStateTest(parsed)) rowsOf(runner, parsed)
    if (step % 50 !== 0) continue
    const results = runner.run(readStateTest('right', right))
    assert.equal(results[0]!.pass, true, `seed ${seed} step ${step}: ${results[0]!.error}`)
  }
}

/** Roots of a test's rows; none where it was refused as it should be. */
function rowsOf(runner: StateTestRunner, value: Json): string[] {
  try {
    return runner.run(readStateTest('broken', value)).map(({ stateRoot }) => stateRoot)
  } catch (error) {
    if (isVarveError(error, 'TESTFILE_INVALID')) return []
    throw new Error(`broken test ${JSON.stringify(value)}`, { cause: error })
  }
}

function setRoot(test: { post: { Prague: { hash: string }[] } }, root: string): void {
  test.post.Prague[0]!.hash = root
}

/** A transaction of type 4 with an access list, which has every kind of field but blobs. */
function rightTest() {
  const sender = '0xa94f5374fce5edbc8e2a8697c15331677e6ebf0b'
  const target = '0x00000000000000000000000000000000000000aa'
  return {
    env: {
      currentCoinbase: '0x2adc25665018aa1fe0e6bc666dac8fc2697ff9ba',
      currentRandom: '0x00',
      currentDifficulty: '0x00',
      currentGasLimit: '0x0f4240',
      currentNumber: '0x01',
      currentTimestamp: '0x03e8',
      currentBaseFee: '0x07',
      currentExcessBlobGas: '0x00',
    },
    pre: {
      [sender]: { balance: '0x0de0b6b3a7640000', nonce: '0x00', code: '0x', storage: {} },
      [target]: {
        balance: '0x00',
        nonce: '0x01',
        code: '0x6001600055',
        storage: { '0x01': '0x02' },
      },
    },
    transaction: {
      data: ['0x00'],
      gasLimit: ['0x0186a0'],
      value: ['0x00'],
      maxFeePerGas: '0x0a',
      maxPriorityFeePerGas: '0x01',
      accessLists: [[{ address: target, storageKeys: [`0x${'00'.repeat(32)}`] }]],
      authorizationList: [
        { chainId: '0x00', address: target, nonce: '0x00', v: '0x00', r: '0x01', s: '0x01' },
      ],
      nonce: '0x00',
      sender,
      to: target,
    },
    post: {
      Prague: [
        {
          indexes: { data: 0, gas: 0, value: 0 },
          hash: `0x${'00'.repeat(32)}`,
          logs: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
        },
      ],
    },
    config: {
      chainid: '0x01',
      blobSchedule: { Prague: { target: '0x06', max: '0x09', baseFeeUpdateFraction: '0x4c6964' } },
    },
  }
}
