/**
 * Aim: however many contracts' storage changes at once, roots and nodes are the same on this thread, on one of its own,
 * whole or account by account, and whatever the order of the changes (N10c). Method: blocks that change 2, 3, 4 and 100
 * contracts in every way, set, cleared and ended, on top of each other, through each of the stages.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, toHex } from '../../base/index.ts'
import { StateSummary, storedNodes } from '../../commit/index.ts'
import {
  type AccountChange,
  FlatState,
  FlatView,
  type LayeredState,
  StateLayers,
  sealDelta,
} from '../../state/index.ts'
import { memoryStore, openLmdbStore } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { openStages } from './stages.ts'

const folder = mkdtempSync(join(tmpdir(), 'varve-storage-roots-'))
after(() => rmSync(folder, { recursive: true }))

/** Every contract is changed; a third is cleared first, some end. Slots are in order. */
function blockOf(prng: Prng, state: LayeredState, contracts: readonly Uint8Array[]) {
  const changes = contracts.map((addressHash): AccountChange => {
    const before = state.account(addressHash)
    const ends = before !== undefined && prng.oneIn(8)
    const storageCleared = before !== undefined && (ends || prng.oneIn(3))
    const account = { nonce: 1n, balance: prng.bigint(64), codeHash: EMPTY_CODE_HASH }
    const slots = Array.from({ length: ends ? 0 : prng.between(1, 20) }, (_, index) => {
      const slotHash = new Uint8Array(32).fill(17 * prng.below(15), 1)
      slotHash[0] = index
      const was = state.storage(addressHash, slotHash)
      return { slotHash, before: was, after: prng.oneIn(4) ? undefined : prng.bytes(32) }
    })
    return { addressHash, before, after: ends ? undefined : account, storageCleared, slots }
  })
  return sealDelta(changes)
}

for (const contractCount of [2, 3, 4, 100])
  test(`N10c: ${contractCount} contracts at once: one root and one set of nodes in every stage and order`, async () => {
    const prng = new Prng(contractCount)
    const contracts = Array.from({ length: contractCount }, () => prng.bytes(32))
    const store = openLmdbStore(join(folder, `db${contractCount}`), { sync: 'os' })
    const options = { nodeBytesMax: 1 << 24 }
    const inline = openStages(memoryStore(), EMPTY_TRIE_ROOT, { ...options, isThreaded: false })
    const threaded = openStages(store, EMPTY_TRIE_ROOT, { ...options, isThreaded: true })
    assert.notEqual(inline.summary.constructor, threaded.summary.constructor)
    const shuffled = new StateSummary(storedNodes(memoryStore()), EMPTY_TRIE_ROOT)
    const layers = new StateLayers({ persisted: new FlatView(new FlatState(memoryStore())) })
    let state = layers.open()
    for (let block = 0; block < 4; block++) {
      const next = state.apply(blockOf(prng, state, contracts))
      const span = next.since(state)
      const root = toHex(await inline.summary.advance(span.diffSource()))
      const where = `block ${block}`
      assert.equal(toHex(await threaded.summary.advance(span.diffSource())), root, where)
      const { accounts } = next.diffSince(state)
      const places = accounts.map((change) => ({ change, place: prng.uint32() }))
      const order = places.sort((a, b) => a.place - b.place).map(({ change }) => change)
      assert.equal(toHex(shuffled.update({ accounts: order })), root, `${where}, shuffled`)
      const nodes = await inline.summary.collect()
      assert.ok(nodes.slab.length > 32 * contractCount, where)
      assert.deepEqual(await threaded.summary.collect(), nodes, where)
      state = next
    }
    await Promise.all(
      [inline, threaded].flatMap((stages) => [stages.summary.close(), stages.commit.close()]),
    )
    store.close()
  })
