// Aim: real blocks meet the real roots. Method: mainnet's first 8,192 blocks with the named genesis, all 8,191 roots.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toHex } from '../base/index.ts'
import { namedGenesis, parseAllocJson } from '../chain/index.ts'
import { memoryStore } from '../store/index.ts'
import { fixtureFile, fixturePath, fixturesMissing } from '../testing/index.ts'
import { openEngine } from './engine.ts'
import { networkOfAccounts } from './genesisState.ts'
import { importChain } from './importChain.ts'
import { openBlockSource } from './openBlockSource.ts'
import { verifyStore } from './verify/verifyStore.ts'

const skip = fixturesMissing(
  'mainnet blocks 0 to 8191',
  'era1 archives, mainnet-00000-5ec1ffb8.era1',
)

test('mainnet 1 to 8191: every root, the last hash, and a store that verifies', {
  skip,
}, async () => {
  const store = memoryStore()
  const engine = await openEngine({ store, genesis: await namedGenesis('mainnet') })
  const source = openBlockSource(fixturePath('era1/mainnet-00000-5ec1ffb8.era1'))
  const { blockCount } = await importChain(engine, source)
  source.close()
  assert.equal(blockCount, 8191)
  const { header } = engine.head
  assert.equal(header.number, 8191)
  assert.equal(
    toHex(header.hash),
    '0xa6860fefa339c963e1bb622526cc8dd4344eedd2a9b969e74de5cccc445fbed4',
  )
  assert.equal(toHex(engine.at('latest').root()), toHex(header.stateRoot))
  assert.deepEqual([...verifyStore(store)], [])
})

test('an allocation alone is known by its state root', { skip }, async () => {
  const accounts = parseAllocJson(
    new TextDecoder().decode(fixtureFile('era1/mainnet-genesis-alloc.json')),
  )
  assert.equal(networkOfAccounts(accounts), 'mainnet')
  assert.equal(networkOfAccounts(accounts.slice(1)), undefined)
})
