/**
 * Aim: a summary that gives all nodes up before the store has them makes the roots of one that keeps them, and its rows
 * leave the nodes of the newest state in the store. Method: random changes of more storages than are kept open, some
 * cleared and filled anew; no memory for nodes; the store is written one to three collects late.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  bytesCompare,
  bytesConcat,
  EMPTY_CODE_HASH,
  EMPTY_TRIE_ROOT,
  toHex,
} from '../../base/index.ts'
import { StateSummary, storedNodes } from '../../commit/index.ts'
import {
  type AccountChange,
  addressHashOf,
  FlatState,
  FlatView,
  type LayeredState,
  type SlotChange,
  StateLayers,
  sealDelta,
  slotHashOf,
} from '../../state/index.ts'
import { memoryStore, type PackedBatch, WriteBatch } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { putLayers } from '../write/stateBatch.ts'
import { SummaryWork } from './summaryWork.ts'

/** More than the storage tries that a summary keeps open. */
const ADDRESSES = Array.from({ length: 1100 }, (_, index) =>
  Uint8Array.of(...new Uint8Array(18), index >> 8, index & 255),
)
const ACCOUNTS = ADDRESSES.map(addressHashOf)
const SLOTS = Array.from({ length: 4 }, (_, index) =>
  slotHashOf(new Uint8Array(32).fill(index)),
).sort(bytesCompare)

for (const seed of [1, 2])
  test(`a summary without memory for nodes, over a store that is late, seed ${seed}`, () => {
    const prng = new Prng(seed)
    const store = memoryStore()
    const work = new SummaryWork(store, EMPTY_TRIE_ROOT, 0)
    const model = new StateSummary(storedNodes(memoryStore()), EMPTY_TRIE_ROOT)
    const layers = new StateLayers({ persisted: new FlatView(new FlatState(memoryStore())) })
    let state = layers.open()
    let late: PackedBatch[] = []
    let persisted = state
    for (let round = 0; round < 12; round++) {
      const next = state.apply(randomDelta(prng, state, round === 0 ? 1 : 8))
      const delta = next.diffSince(state)
      if (prng.oneIn(2)) work.prefetch(bytesConcat(...ADDRESSES.filter(() => prng.oneIn(4))))
      assert.equal(
        toHex(work.advance(next.since(state).diffSource())),
        toHex(model.update(delta)),
        `seed ${seed} round ${round}`,
      )
      state = next
      late.push(work.collect())
      if (prng.oneIn(3) || round === 11) {
        const batch = new WriteBatch()
        for (const rows of late) batch.addPacked(rows)
        putLayers(batch, { state: state.since(persisted).diffSource(), deltas: [] })
        persisted = state
        store.write(batch)
        late = []
        work.markPersisted()
      }
    }
    const reopened = new StateSummary(storedNodes(store), model.root())
    for (const addressHash of ACCOUNTS)
      for (const slotHash of SLOTS)
        assert.deepEqual(
          reopened.slot(addressHash, slotHash),
          state.storage(addressHash, slotHash),
          `seed ${seed}`,
        )
  })

/** Changes one account in so many: its balance, some slots, or its whole storage. */
function randomDelta(prng: Prng, state: LayeredState, share: number) {
  const changes: AccountChange[] = []
  for (const addressHash of ACCOUNTS) {
    if (!prng.oneIn(share)) continue
    const before = state.account(addressHash)
    const storageCleared = before !== undefined && prng.oneIn(2)
    const slots: SlotChange[] = SLOTS.flatMap((slotHash) => {
      if (!prng.oneIn(2)) return []
      const value = prng.oneIn(4) ? undefined : prng.bytes(32)
      return [{ slotHash, before: state.storage(addressHash, slotHash), after: value }]
    })
    const after = { nonce: 1n, balance: prng.bigint(64), codeHash: EMPTY_CODE_HASH }
    changes.push({ addressHash, before, after, storageCleared, slots })
  }
  return sealDelta(changes)
}
