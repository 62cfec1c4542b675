// Aim: block 0 with the state root that its allocation makes. Method: the published genesis vectors, byte for byte.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toBareHex } from '../base/index.ts'
import { NETWORK_NAMES, namedGenesis, namedStateRoot, parseGenesisJson } from '../chain/index.ts'
import { encodeBlock } from '../codec/index.ts'
import { memoryStore } from '../store/index.ts'
import { fixtureRecords, fixturesMissing } from '../testing/index.ts'
import { openEngine } from './engine.ts'

const skip = fixturesMissing('BasicTests and GenesisTests', 'ethereum/tests')

test('published genesis files with code and storage give the published blocks', {
  skip,
}, async () => {
  type File = { path: string; tests: Record<string, Record<string, unknown> & { result: string }> }
  let count = 0
  for await (const { path, tests } of fixtureRecords<File>('et-basic')) {
    if (path !== 'GenesisTests/basic_genesis_tests.json') continue
    for (const [name, { result, ...file }] of Object.entries(tests)) {
      const genesis = parseGenesisJson(JSON.stringify({ ...file, config: { chainId: 1 } }))
      const { header } = (await openEngine({ store: memoryStore(), genesis })).head
      const block = encodeBlock({ header, transactions: [], uncles: [] })
      assert.equal(toBareHex(block), result, name)
      count++
    }
  }
  assert.equal(count, 3)
})

test('the allocations of the public networks make their state roots and genesis hashes', async () => {
  for (const name of NETWORK_NAMES) {
    const genesis = await namedGenesis(name)
    const { header } = (await openEngine({ store: memoryStore(), genesis })).head
    assert.equal(toBareHex(header.stateRoot), toBareHex(namedStateRoot(name)), name)
    assert.equal(toBareHex(header.hash), toBareHex(genesis.spec.genesisHash!), name)
  }
})
