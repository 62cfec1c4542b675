/** Base fee and blob gas against the formulas of the EIPs written out in bigints, and at their turning points. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, U256_MAX } from '../base/index.ts'
import { Prng } from '../testing/index.ts'
import { blobBaseFee, fakeExponential, nextBaseFee, nextExcessBlobGas } from './gasRules.ts'
import { BPO2_BLOB, CANCUN_BLOB, PRAGUE_BLOB } from './spec.ts'

const BLOB = 131_072n

test('base fee by the specification of EIP-1559', () => {
  // Published vectors of the EIP's own test: base fee, limit, used, next.
  const table: readonly (readonly [bigint, bigint, bigint, bigint])[] = [
    [1_000_000_000n, 20_000_000n, 10_000_000n, 1_000_000_000n],
    [1_000_000_000n, 20_000_000n, 9_000_000n, 987_500_000n],
    [1_000_000_000n, 20_000_000n, 11_000_000n, 1_012_500_000n],
    [1n, 20_000_000n, 10_000_001n, 2n],
    [7n, 20_000_000n, 0n, 7n],
    [8n, 20_000_000n, 0n, 7n],
    [0n, 20_000_000n, 20_000_000n, 1n],
  ]
  for (const [baseFeePerGas, gasLimit, gasUsed, next] of table)
    assert.equal(nextBaseFee({ baseFeePerGas, gasLimit, gasUsed }), next)
  assert.equal(nextBaseFee({ gasLimit: 30_000_000n, gasUsed: 1n }), 1_000_000_000n)
  assert.equal(nextBaseFee({ baseFeePerGas: 9n, gasLimit: 1n, gasUsed: 1n }), 9n)
})

/** EIP-4844's function as it is printed there. */
function fakeExponentialModel(numerator: bigint, denominator: bigint): bigint {
  let index = 1n
  let output = 0n
  let accumulated = denominator
  while (accumulated > 0n) {
    output += accumulated
    accumulated = (accumulated * numerator) / (denominator * index)
    index++
  }
  return output / denominator
}

test('the blob base fee equals the printed function', () => {
  const random = new Prng(3)
  const edges = [0n, 1n, 2_314_057n, 2_314_058n, 10n * 1024n * 1024n, 148_099_578n]
  for (let round = 0; round < 300; round++) {
    const excess = random.oneIn(3) ? random.pick(edges) : random.bigint(29)
    const model = fakeExponentialModel(excess, CANCUN_BLOB.baseFeeUpdateFraction)
    assert.equal(blobBaseFee(excess, CANCUN_BLOB), model, `excess ${excess}`)
    const limit = random.bigint(100)
    const limited = fakeExponential(excess, CANCUN_BLOB.baseFeeUpdateFraction, limit)
    assert.equal(limited <= limit, model <= limit, `excess ${excess}, limit ${limit}`)
    if (model <= limit) assert.equal(limited, model)
  }
  assert.equal(blobBaseFee(0n, CANCUN_BLOB), 1n)
  assert.equal(blobBaseFee(2_314_057n, CANCUN_BLOB), 1n)
  assert.equal(blobBaseFee(2_314_058n, CANCUN_BLOB), 2n)
  assert.equal(blobBaseFee(10n * 1024n * 1024n, CANCUN_BLOB), 23n)
})

test('a hostile excess costs little and saturates', () => {
  assert.equal(blobBaseFee((1n << 64n) - 1n, CANCUN_BLOB), U256_MAX)
  const parent = { baseFeePerGas: U256_MAX, excessBlobGas: (1n << 64n) - 1n, blobGasUsed: 0n }
  const next = nextExcessBlobGas(parent, Fork.Osaka, PRAGUE_BLOB)
  // Eight doublings of 2^10^12 stay above any base fee, so the reserve price is not in force.
  assert.equal(next, parent.excessBlobGas - 6n * BLOB)
})

test('excess blob gas before Osaka', () => {
  const next = (excessBlobGas: bigint, blobGasUsed: bigint) =>
    nextExcessBlobGas({ excessBlobGas, blobGasUsed }, Fork.Cancun, CANCUN_BLOB)
  assert.equal(next(0n, 2n * BLOB), 0n)
  assert.equal(next(0n, 3n * BLOB), 0n)
  assert.equal(next(0n, 4n * BLOB), BLOB)
  assert.equal(next(3n * BLOB - 1n, 0n), 0n)
  assert.equal(next(3n * BLOB + 5n, 0n), 5n)
  assert.equal(nextExcessBlobGas({}, Fork.Cancun, CANCUN_BLOB), 0n)
})

test('the reserve price of EIP-7918 begins above 16 base fees a blob base fee', () => {
  const next = (baseFeePerGas: bigint) =>
    nextExcessBlobGas(
      { baseFeePerGas, excessBlobGas: 14n * BLOB, blobGasUsed: 21n * BLOB },
      Fork.Osaka,
      BPO2_BLOB,
    )
  // Blob base fee here is 1 wei: 8192 * 16 = 131072 * 1 is not more, 17 is.
  assert.equal(next(16n), 21n * BLOB)
  assert.equal(next(17n), 14n * BLOB + (21n * BLOB * 7n) / 21n)
  assert.equal(next(0n), 21n * BLOB)
})
