import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_CODE_HASH } from '../base/index.ts'
import { memoryStore, WriteBatch } from '../store/index.ts'
import { encodeFlatAccount, FlatState } from './flatState.ts'
import { addressHashOf } from './key.ts'
import { PendingState } from './pendingState.ts'
import { WorldState } from './worldState.ts'

const rich = new Uint8Array(20).fill(1)
const nobody = new Uint8Array(20).fill(2)

function stateWithOneAccount(): PendingState {
  const store = memoryStore()
  const batch = new WriteBatch()
  const account = { nonce: 0n, balance: 5n, codeHash: EMPTY_CODE_HASH }
  batch.put('accounts', addressHashOf(rich), encodeFlatAccount(account))
  store.write(batch)
  return new PendingState(new FlatState(store))
}

test('credits add up, create accounts, and keep the values from before', () => {
  const state = new WorldState(stateWithOneAccount())
  state.addBalance(rich, 2n)
  state.addBalance(nobody, 0n)
  state.addBalance(rich, 3n)
  const { accounts } = state.delta()
  const change = accounts.find(({ before }) => before !== undefined)
  assert.equal(change?.before?.balance, 5n)
  assert.equal(change?.after?.balance, 10n)
  const created = accounts.find(({ before }) => before === undefined)
  assert.deepEqual(created?.after, { nonce: 0n, balance: 0n, codeHash: EMPTY_CODE_HASH })
})

test('an account that ends as it began is not in the delta, an empty touched one is removed', () => {
  const state = new WorldState(stateWithOneAccount())
  const account = state.account(rich)
  state.addBalance(rich, 2n)
  state.setAccount(rich, account)
  state.addBalance(nobody, 0n)
  state.removeIfEmpty(nobody)
  state.removeIfEmpty(rich)
  assert.deepEqual(state.delta().accounts, [])
})

test('dropping the world state undoes the block: the view below never changes', () => {
  const view = stateWithOneAccount()
  new WorldState(view).addBalance(rich, 100n)
  assert.equal(view.account(addressHashOf(rich))?.balance, 5n)
})
