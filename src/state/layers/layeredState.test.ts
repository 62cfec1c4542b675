// Aim: versions over a persisted state answer as one state; rows A9, A10, A12 and A16 that ask more than the model's runs.
// Method: small cases, and a store whose rows are counted one by one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AssertionFault,
  bytesAreZero,
  EMPTY_CODE_HASH,
  isVarveError,
  VERIFY,
} from '../../base/index.ts'
import { memoryStore, prefixEnd, type Store, storageKey, WriteBatch } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { completeDelta, invertDelta, type StateDelta } from '../delta.ts'
import { encodeFlatAccount, encodeFlatSlot, FlatState } from '../flatState.ts'
import { FlatView } from '../flatView.ts'
import { hashKey, hashOfKey } from '../key.ts'
import { StableView } from '../stableView.ts'
import type { StateUsage } from '../usage.ts'
import type { LayeredState } from './layeredState.ts'
import {
  DeltaSource,
  ModelBase,
  type ModelState,
  modelApply,
  modelUsage,
  modelView,
} from './model.suite.ts'
import { StateLayers } from './stateLayers.ts'

const hasCode = (code: string) => (error: unknown) => isVarveError(error, code)

function writeDelta(store: Store, delta: StateDelta): void {
  const batch = new WriteBatch()
  for (const { addressHash, after, storageCleared, slots } of delta.accounts) {
    if (after === undefined) batch.delete('accounts', addressHash)
    else batch.put('accounts', addressHash, encodeFlatAccount(after))
    if (storageCleared || after === undefined)
      batch.deleteRange('storages', addressHash, prefixEnd(addressHash))
    for (const slot of slots) {
      const key = storageKey(addressHash, slot.slotHash)
      if (slot.after === undefined) batch.delete('storages', key)
      else batch.put('storages', key, encodeFlatSlot(slot.after))
    }
  }
  for (const { codeHash, code } of delta.codes) batch.put('codes', codeHash, code)
  store.write(batch)
}

function scanUsage(store: Store): StateUsage {
  let byteCount = 0
  const count = (table: 'accounts' | 'storages'): number => {
    let rows = 0
    for (const { key, value } of store.range(table, {})) {
      rows++
      byteCount += key.length + value.length
    }
    return rows
  }
  const accountCount = count('accounts')
  return { accountCount, slotCount: count('storages'), byteCount }
}

test('A10: usage equals a scan of the store after every write; a store over layers reads as the model', () => {
  const seed = 4
  const prng = new Prng(seed)
  const store = memoryStore()
  const source = new DeltaSource(prng, 'lastByte', 5)
  const layers = new StateLayers({ persisted: new FlatView(new FlatState(store)), version: 100 })
  let state = layers.open()
  let model: ModelState = new Map()
  for (let version = 101; version < 400; version++) {
    const delta = source.next(model)
    model = modelApply(model, delta)
    const next = state.apply(delta, version)
    state.release()
    state = next
    if (prng.oneIn(4)) {
      writeDelta(store, state.diffSincePersisted())
      layers.markPersisted(state)
      assert.deepEqual(scanUsage(store), state.usage, `seed ${seed} version ${version}`)
      assert.equal(layers.persistedVersion, version)
      assert.equal(
        layers.status.usedBytes > 0 && state.diffSincePersisted().accounts.length > 0,
        false,
      )
    }
    for (const addressHash of source.addresses) {
      const expected = model.get(hashKey(addressHash))
      assert.deepEqual(state.account(addressHash), expected?.account)
      assert.equal(state.hasStorage(addressHash), (expected?.slots.size ?? 0) > 0)
      if (expected?.account !== undefined) state.code(expected.account.codeHash)
      for (const { slotHash, value } of state.slots(addressHash)) {
        assert(!bytesAreZero(value))
        assert.deepEqual(value, expected!.slots.get(hashKey(slotHash)))
      }
    }
  }
})

/** A chain of versions, each with its model. */
function chain(count: number): {
  layers: StateLayers
  base: ModelBase
  states: LayeredState[]
  deltas: StateDelta[]
  models: ModelState[]
} {
  const base = new ModelBase()
  const layers = new StateLayers({ persisted: base })
  const source = new DeltaSource(new Prng(2), 'spread', 6)
  const states = [layers.open()]
  const models: ModelState[] = [new Map()]
  const deltas: StateDelta[] = []
  for (let version = 1; version <= count; version++) {
    deltas.push(completeDelta(source.next(models.at(-1)!), modelView(models.at(-1)!)))
    states.push(states.at(-1)!.apply(deltas.at(-1)!))
    models.push(modelApply(models.at(-1)!, deltas.at(-1)!))
  }
  return { layers, base, states, deltas, models }
}

test('A9: a delta of another version than the next is refused, and so is a persisted state out of order', () => {
  const { layers, base, states, deltas, models } = chain(3)
  for (const version of [0, 3, 5])
    assert.throws(() => states[3]!.apply(deltas[0]!, version), hasCode('STATE_VERSION_NOT_NEXT'))
  base.state = models[2]!
  layers.markPersisted(states[2]!)
  assert.throws(() => layers.markPersisted(states[1]!), hasCode('STATE_PERSIST_ORDER'))
  const beside = states[1]!.fork()
  assert.throws(() => beside.apply(deltas[1]!), hasCode('STATE_VIEW_OVERTAKEN'))
  layers.markPersisted(states[2]!)
  assert.equal(layers.persistedVersion, 2)
})

test('A12: reads go memory, layers, persisted state, and the first answer stands', () => {
  const { layers, base, states, models } = chain(4)
  const addressHash = [...models[4]!.keys()][0]!
  const key = Uint8Array.from(addressHash, (character) => character.charCodeAt(0))
  base.readCount = 0
  const written = states[4]!
  written.account(key)
  assert.equal(base.readCount, 0, 'what layers know, the persisted state is not asked')
  const unwritten = new Uint8Array(32).fill(0xee)
  const stable = new StableView(written)
  assert.equal(stable.account(unwritten), undefined)
  assert.equal(stable.storage(unwritten, key), undefined)
  assert.equal(stable.hasStorage(unwritten), false)
  assert.equal(base.readCount, 3)
  // Someone changes what lies beneath, as nobody may: the reads of this execution stay as they were.
  base.state = new Map([
    ...base.state,
    [
      hashKey(unwritten),
      { account: { nonce: 9n, balance: 9n, codeHash: key }, slots: new Map([[addressHash, key]]) },
    ],
  ])
  assert.equal(written.account(unwritten)!.nonce, 9n)
  assert.equal(stable.account(unwritten), undefined)
  assert.equal(stable.storage(unwritten, key), undefined)
  assert.equal(stable.hasStorage(unwritten), false)
  layers.close()
})

test('A16: the same delta applied twice, and on two forks in either order, gives equal versions', () => {
  const { states, deltas, models } = chain(3)
  const [, one, two] = states as [LayeredState, LayeredState, LayeredState]
  const sibling = one.apply(deltas[1]!)
  const both = [two.apply(deltas[2]!), sibling.apply(deltas[2]!)]
  const reversed = [sibling.apply(deltas[2]!), two.apply(deltas[2]!)].reverse()
  for (const state of [...both, ...reversed]) {
    assert.deepEqual(state.diffSincePersisted(), states[3]!.diffSincePersisted())
    assert.deepEqual(state.usage, states[3]!.usage)
    for (const [key, { account }] of models[3]!)
      assert.deepEqual(
        state.account(Uint8Array.from(key, (character) => character.charCodeAt(0))),
        account,
      )
  }
  const ids = new Set([...states, sibling, ...both, ...reversed].map(({ layerId }) => layerId))
  assert.equal(ids.size, states.length + 5)
})

test('A view that stands on the persisted version follows it and lets the older layers go', () => {
  const { layers, base, states, models } = chain(10)
  const head = states[10]!
  for (const state of states.slice(0, 10)) if (state !== states[7]) state.release()
  const before = layers.status.layerCount
  base.state = models[7]!
  layers.markPersisted(states[7]!)
  states[7]!.release()
  assert.equal(layers.status.layerCount, before, 'the open view still holds them')
  head.account(new Uint8Array(32))
  assert.equal(layers.status.layerCount, 3)
  assert.equal(head.version, 10)
})

test('A delta that says another value from before is found', {
  skip: !VERIFY && 'VARVE_VERIFY is off',
}, () => {
  const { states, deltas } = chain(3)
  const [change] = deltas[2]!.accounts
  const wrong = { ...change!, before: { nonce: 77n, balance: 0n, codeHash: EMPTY_CODE_HASH } }
  const { layerCount } = states[2]!.owner.status
  assert.throws(
    () => states[2]!.apply({ accounts: [wrong], codes: deltas[2]!.codes }),
    AssertionFault,
  )
  assert.equal(states[2]!.owner.status.layerCount, layerCount)
})

test('A state below the persisted one is a version made by inverted deltas, and may become the persisted one', () => {
  const { layers, base, states, models } = chain(6)
  const steps = states[6]!.deltasSincePersisted()
  base.state = models[5]!
  layers.markPersisted(states[5]!)
  // Back from 5 to 3, and onto another branch from there.
  let older = states[5]!.fork()
  for (const delta of [steps[4]!, steps[3]!]) {
    const next = older.apply(invertDelta(delta))
    older.release()
    older = next
  }
  const source = new DeltaSource(new Prng(77), 'spread', 6)
  const side = older.apply(source.next(models[3]!))
  for (const [state, expected] of [[older, models[3]!]] as const)
    for (const key of new Set([...models[5]!.keys(), ...expected.keys()])) {
      const addressHash = hashOfKey(key)
      assert.deepEqual(state.account(addressHash), expected.get(key)?.account)
      const slots = [...state.slots(addressHash)].map(({ slotHash }) => hashKey(slotHash))
      assert.deepEqual(slots.sort(), [...(expected.get(key)?.slots.keys() ?? [])].sort())
    }
  assert.deepEqual(older.usage, states[3]!.usage)
  base.state = modelApply(base.state, side.diffSincePersisted())
  layers.markPersisted(side)
  assert.deepEqual(side.usage, modelUsage(base.state))
  assert.throws(() => states[6]!.account(new Uint8Array(32)), hasCode('STATE_VIEW_OVERTAKEN'))
})
