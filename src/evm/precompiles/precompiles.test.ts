/**
 * Aim: every published vector of go-ethereum, in output, gas, and wording of refusals, with the WebAssembly libraries
 * and without them. Method: the JSON files name a precompile and a fork; failing ones say the error.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, fromBareHex, toBareHex } from '../../base/index.ts'
import { fixtureRecords, fixturesMissing } from '../../testing/index.ts'
import { preparePrecompiles } from './engines.ts'
import { precompileAt } from './registry.ts'

type VectorFile = {
  readonly path: string
  readonly items: readonly {
    readonly Input: string
    readonly Name: string
    readonly Expected?: string
    readonly ExpectedError?: string
    readonly Gas?: number
  }[]
}

/** Address and fork of each file. Single multiplications of BLS are sums of one term since EIP-2537 is final. */
const FILES: Readonly<Record<string, readonly [number, Fork]>> = {
  ecRecover: [0x01, Fork.Frontier],
  modexp: [0x05, Fork.Byzantium],
  modexp_eip2565: [0x05, Fork.Berlin],
  modexp_eip7883: [0x05, Fork.Osaka],
  bn256Add: [0x06, Fork.Istanbul],
  bn256ScalarMul: [0x07, Fork.Istanbul],
  bn256Pairing: [0x08, Fork.Istanbul],
  blake2F: [0x09, Fork.Istanbul],
  blake2f: [0x09, Fork.Istanbul],
  pointEvaluation: [0x0a, Fork.Cancun],
  blsG1Add: [0x0b, Fork.Prague],
  blsG1Mul: [0x0c, Fork.Prague],
  blsG1MultiExp: [0x0c, Fork.Prague],
  blsG2Add: [0x0d, Fork.Prague],
  blsG2Mul: [0x0e, Fork.Prague],
  blsG2MultiExp: [0x0e, Fork.Prague],
  blsPairing: [0x0f, Fork.Prague],
  blsMapG1: [0x10, Fork.Prague],
  blsMapG2: [0x11, Fork.Prague],
  p256Verify: [0x100, Fork.Osaka],
}

const skip = fixturesMissing('geth precompiles', 'go-ethereum core/vm/testdata/precompiles')

test('vectors of go-ethereum', { skip }, async () => {
  await preparePrecompiles()
  let vectorCount = 0
  for await (const { path, items } of fixtureRecords<VectorFile>('geth-precompiles')) {
    const file = path.slice(path.lastIndexOf('/') + 1, -'.json'.length)
    const place = FILES[file.replace('fail-', '')]
    assert.ok(place !== undefined, `no precompile is known for ${path}`)
    const precompile = precompileAt(...place)!
    for (const { Input, Name, Expected, ExpectedError, Gas } of items) {
      const input = fromBareHex(Input)
      const result = precompile.run(input, 1n << 40n)
      if (ExpectedError !== undefined)
        assert.deepEqual(result, { kind: 'failure', reason: ExpectedError }, `${file} ${Name}`)
      else {
        assert.ok(result.kind === 'success', `${file} ${Name}: ${result.kind}`)
        assert.equal(toBareHex(result.output), Expected, `${file} ${Name}`)
        if (Gas !== undefined) {
          assert.equal(result.gasUsed, BigInt(Gas), `${file} ${Name}: gas`)
          assert.deepEqual(precompile.run(input, BigInt(Gas) - 1n), { kind: 'outOfGas' })
        }
      }
      vectorCount++
    }
  }
  assert.ok(vectorCount > 900, `only ${vectorCount} vectors were run`)
})
