/**
 * Aim: what an engine with the whole state says of a block, its witness says too, and no damaged witness says more.
 * Method: the fuzzer with fixed seeds; a real block whose witness is damaged many times.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromHex, isVarveError } from '../../base/index.ts'
import { mainnet } from '../../chain/index.ts'
import { decodeBlock } from '../../codec/index.ts'
import { fixtureRecords, fixturesMissing, Prng } from '../../testing/index.ts'
import { damage, fuzzStateless, isRefusal } from './stateless.fuzz.ts'
import { StatelessExecutor } from './statelessExecutor.ts'
import { type BlockWitness, type WitnessJson, witnessFromJson } from './witness.ts'

for (const seed of [1, 2, 3, 4, 5])
  test(`random chains by witness, seed ${seed}`, async () => {
    const counts = await fuzzStateless(seed, 12)
    for (const [name, count] of Object.entries(counts)) assert.ok(count > 0, `${name} is exercised`)
  })

type RealBlock = { readonly id: string; readonly block: string; readonly witness: WitnessJson }

/** One real block with 8 transactions, and its witness. */
async function realBlock(): Promise<{
  block: ReturnType<typeof decodeBlock>
  witness: BlockWitness
}> {
  for await (const record of fixtureRecords<RealBlock>('real-witness-blocks'))
    if (record.id === 'mainnet-21688509')
      return { block: decodeBlock(fromHex(record.block)), witness: witnessFromJson(record.witness) }
  throw new Error('the suite has lost its block')
}

test('a real block: each damaged witness is refused by code, or plays no part', {
  skip: fixturesMissing('real witnesses', 'kkrt-labs/keth'),
}, async () => {
  const { block, witness } = await realBlock()
  const executor = await StatelessExecutor.open({ spec: mainnet })
  const expected = executor.execute(block, witness)
  const prng = new Prng(5)
  let refusedCount = 0
  for (let round = 0; round < 60; round++) {
    const damaged = damage(witness, prng)
    if (damaged === undefined) continue
    try {
      assert.deepEqual(executor.execute(block, damaged), expected)
    } catch (error) {
      assert.ok(isVarveError(error) && isRefusal(error.code), String(error))
      refusedCount++
    }
  }
  assert.ok(refusedCount > 10)
})
