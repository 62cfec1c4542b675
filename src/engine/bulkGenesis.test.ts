/**
 * Aim: a chain that is started in bulk is the one that the engine starts. Method: the same accounts both ways, among
 * them contracts with codes and slots, and the two stores row for row.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesCompare, Fork, isVarveError } from '../base/index.ts'
import { type Genesis, type GenesisAccount, singleForkSpec } from '../chain/index.ts'
import { addressHashOf, slotHashOf } from '../state/index.ts'
import { memoryStore } from '../store/index.ts'
import { Prng } from '../testing/index.ts'
import { type BulkAccount, writeGenesis } from './bulkGenesis.ts'
import { openEngine } from './engine.ts'
import { dumpStore } from './testChain.suite.ts'
import { verifyStore } from './verify/verifyStore.ts'

function randomAccounts(prng: Prng, count: number): GenesisAccount[] {
  return Array.from({ length: count }, () => ({
    address: prng.bytes(20),
    nonce: prng.bigint(64),
    balance: prng.bigint(200),
    code: prng.oneIn(4) ? prng.bytes(1 + prng.below(60)) : new Uint8Array(0),
    storage: Array.from({ length: prng.oneIn(4) ? prng.between(1, 40) : 0 }, () => ({
      slot: prng.bytes(32),
      value: Uint8Array.from({ length: 32 }, (_, at) => (at === 31 || prng.oneIn(9) ? 7 : 0)),
    })),
  }))
}

function sorted(accounts: readonly GenesisAccount[]): BulkAccount[] {
  return accounts
    .map(({ address, storage, ...rest }) => ({
      ...rest,
      addressHash: addressHashOf(address),
      slots: storage
        .map(({ slot, value }) => ({ slotHash: slotHashOf(slot), value }))
        .sort((a, b) => bytesCompare(a.slotHash, b.slotHash)),
    }))
    .sort((a, b) => bytesCompare(a.addressHash, b.addressHash))
}

function genesisOf(accounts: readonly GenesisAccount[], fork: Fork): Genesis {
  const fields = {
    ...{ parentHash: undefined, coinbase: undefined, difficulty: 0n, gasLimit: 30_000_000n },
    ...{ gasUsed: 0n, timestamp: 1n, extraData: new Uint8Array(3), mixHash: undefined, nonce: 0n },
    ...{ baseFeePerGas: 7n, excessBlobGas: undefined, blobGasUsed: undefined },
    slotNumber: undefined,
  }
  return { spec: singleForkSpec(fork), fields, accounts }
}

test('a chain started in bulk is row for row the one that the engine starts, and whole', async () => {
  for (const [seed, count] of [0, 1, 2, 17, 700].entries()) {
    const accounts = randomAccounts(new Prng(seed), count)
    for (const fork of [Fork.London, Fork.Cancun]) {
      const genesis = genesisOf(accounts, fork)
      const expected = memoryStore()
      const engine = await openEngine({ store: expected, genesis })
      engine.flush()
      const store = memoryStore()
      let seen = 0
      const header = writeGenesis(store, genesis, sorted(accounts), (done) => {
        seen = done
      })
      assert.equal(seen, count)
      assert.deepEqual(header.hash, engine.head.header.hash)
      assert.equal(dumpStore(store), dumpStore(expected))
      const progress = { blockCount: 0, accountCount: 0, slotCount: 0, nodeCount: 0 }
      assert.deepEqual([...verifyStore(store, progress)], [])
      assert.equal(progress.accountCount, count)
    }
  }
})

test('a store with anything in it, and accounts out of order, are refused', () => {
  const accounts = randomAccounts(new Prng(9), 5)
  const genesis = genesisOf(accounts, Fork.Cancun)
  const store = memoryStore()
  writeGenesis(store, genesis, sorted(accounts))
  assert.throws(
    () => writeGenesis(store, genesis, sorted(accounts)),
    (error) => isVarveError(error, 'ENGINE_STORE_NOT_EMPTY'),
  )
  assert.throws(
    () => writeGenesis(memoryStore(), genesis, sorted(accounts).reverse()),
    (error) => isVarveError(error, 'TRIE_KEY_ORDER'),
  )
})
