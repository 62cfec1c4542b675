/**
 * Aim: with real threads every mode tells the same, and a commit that fails, is cancelled, or loses its thread changes
 * nothing and waits for nobody. Method: a sink that writes down what it is told, and throws or ends its thread where the
 * test says.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { NodeArena } from '../../arena/index.ts'
import {
  bytesCompare,
  EMPTY_CODE_HASH,
  EMPTY_TRIE_ROOT,
  isVarveError,
  toBareHex,
} from '../../base/index.ts'
import { Prng } from '../../testing/index.ts'
import { workerUrl } from '../../threads/index.ts'
import { ROOT_SHAPES, shapedChanges } from '../../trie/commitModes.suite.ts'
import { NO_READER, Trie, type TrieChange } from '../../trie/index.ts'
import type { StateNodes } from '../nodeReaders.ts'
import { StateSummary } from '../stateSummary.ts'
import type { SinkSource } from './changeSink.ts'
import { COMMIT_MODES, type CommitMode } from './modeChooser.ts'
import { openSink, type TestSinkOptions, type TestSinkResult } from './testSink.suite.ts'
import { type CommitToOptions, TrieCrew } from './trieCrew.ts'

type Change = { readonly before: readonly TrieChange[]; readonly after: readonly TrieChange[] }

const sinkOf = (options: TestSinkOptions): SinkSource<TestSinkOptions, string, TestSinkResult> => ({
  module: workerUrl(import.meta.url, './testSink.suite'),
  open: openSink,
  options,
})

/** An arena and a crew that is forced to one mode. */
class Bench {
  readonly arena = new NodeArena({ bytesMax: 2 ** 28 })
  readonly crew: TrieCrew

  constructor(mode: CommitMode) {
    this.crew = new TrieCrew(this.arena, mode)
  }

  trie({ before, after: changes }: Change): Trie {
    const trie = new Trie({ arena: this.arena, helpers: this.crew })
    trie.update(before)
    trie.commit()
    trie.update(changes)
    return trie
  }

  commit(
    trie: Trie,
    options: TestSinkOptions = {},
    commitOptions: CommitToOptions = {},
  ): Promise<TestSinkResult> {
    const parts = [{ trie, tag: 'one' }]
    return this.crew.commitTo(parts, sinkOf(options), { leaves: true, ...commitOptions })
  }

  async close(): Promise<void> {
    await this.crew.close()
    assert.equal(this.arena.usedBytes, 0)
  }
}

const benches = new Map(COMMIT_MODES.map((mode) => [mode, new Bench(mode)]))
after(async () => {
  for (const bench of benches.values()) await bench.close()
})

test('G3 G4 G8: the same calls of the sink in every mode, over every root shape and sizes around the thresholds', async () => {
  for (const [index, shape] of ROOT_SHAPES.entries())
    for (const count of [1, 99, 100, 101, 255, 256, 1500]) {
      let expected: readonly string[] | undefined
      for (const [mode, bench] of benches) {
        const trie = bench.trie(shapedChanges(shape, new Prng(1000 * index + count), count))
        const { lines, bytes } = await bench.commit(trie)
        assert.equal(bytes.length, 64)
        expected ??= lines
        assert.deepEqual(lines, expected, `${shape}, ${count}, ${mode}`)
        assert.equal(trie.isChanged, false)
        trie.dispose()
      }
    }
})

test('G4: several tries in one commit, in their order, also where some have no change', async () => {
  let expected: readonly string[] | undefined
  for (const [mode, { arena, crew }] of benches) {
    const tries = [0, 300, 3000, 5].map((count) => {
      const trie = new Trie({ arena, helpers: crew })
      trie.update(shapedChanges('empty to branch', new Prng(count), count).after.slice(0, count))
      return trie
    })
    const parts = tries.map((trie, index) => ({ trie, tag: `trie ${index}` }))
    const { lines } = await crew.commitTo(parts, sinkOf({}), { previous: false })
    expected ??= lines
    assert.deepEqual(lines, expected, mode)
    assert.equal(lines.filter((line) => line.startsWith('trie')).length, 4)
    for (const trie of tries) trie.dispose()
  }
})

test('G5: a sink that throws, wherever it does, fails the commit alone; the next one tells the whole', async () => {
  const change = shapedChanges('branch', new Prng(5), 2000)
  for (const [mode, bench] of benches) {
    const whole = bench.trie(change)
    const { lines: expected } = await bench.commit(whole)
    whole.dispose()
    const trie = bench.trie(change)
    const { changeCount } = trie
    const faults: TestSinkOptions[] = [
      ...[0, 1, 700, 1500, expected.length - 2].map((throwAt) => ({ throwAt })),
      { throwInFinish: true },
      { throwInOpen: true },
    ]
    for (const fault of faults) {
      await assert.rejects(bench.commit(trie, fault), (error) => isVarveError(error, 'TEST_SINK'))
      assert.equal(trie.changeCount, changeCount, mode)
      assert.equal(trie.isChanged, true)
      // It is open again.
      trie.root()
    }
    assert.deepEqual((await bench.commit(trie)).lines, expected, mode)
    trie.dispose()
  }
})

test('G5: a commit that is cancelled, before, meanwhile, changes nothing', async () => {
  const change = shapedChanges('branch', new Prng(6), 3000)
  for (const [mode, bench] of benches) {
    const trie = bench.trie(change)
    const early = AbortSignal.abort(new Error('not now'))
    await assert.rejects(bench.commit(trie, {}, { signal: early }), /not now/)
    if (mode === 'worker') {
      const controller = new AbortController()
      const pending = bench.commit(trie, {}, { signal: controller.signal })
      assert.throws(() => trie.get(new Uint8Array(32)), { code: 'TRIE_BUSY' })
      controller.abort(new Error('too late'))
      await assert.rejects(pending, /too late/)
    }
    assert.equal(trie.isChanged, true)
    assert.ok((await bench.commit(trie)).lines.length > 3000, mode)
    trie.dispose()
  }
})

test('G5: a helper that dies in the middle of a commit fails it; the trie is whole, and goes on alone', async () => {
  const change = shapedChanges('branch', new Prng(7), 3000)
  const inline = benches.get('inline')!
  const other = inline.trie(change)
  const { lines: expected } = await inline.commit(other)
  other.dispose()
  for (const dieAt of [0, 1000, expected.length - 2]) {
    const bench = new Bench('worker')
    const trie = bench.trie(change)
    await assert.rejects(bench.commit(trie, { dieAt }), (error) => {
      assert(isVarveError(error, 'THREAD_DIED'))
      assert.equal(error.data['exitCode'], 9)
      return true
    })
    assert.equal(trie.isChanged, true)
    assert.deepEqual((await bench.commit(trie)).lines, expected)
    trie.dispose()
    await bench.close()
  }
})

test('G8: hash and node set of 5,000 random keys shared with a thread are those made alone', async () => {
  const prng = new Prng(8)
  const changes = Array.from({ length: 5000 }, () => ({
    key: prng.bytes(32),
    value: prng.bytes(32),
  }))
  const alone = new Trie({ arena: new NodeArena() })
  const { arena, crew } = benches.get('parallel')!
  const shared = new Trie({ arena, helpers: crew })
  for (let round = 0; round < 8; round++) {
    const some = changes.map(({ key, value }) => ({
      key,
      value: prng.oneIn(9) ? undefined : prng.oneIn(2) ? value : prng.bytes(prng.between(1, 40)),
    }))
    alone.update(some)
    shared.update(some)
    assert.equal(toBareHex(shared.root()), toBareHex(alone.root()))
    const expected = alone.commit({ leaves: true })
    const set = shared.commit({ leaves: true })
    assert.deepEqual(set.nodes, expected.nodes)
    assert.deepEqual(set.deletions, expected.deletions)
    assert.deepEqual(set.leaves, expected.leaves)
  }
  alone.dispose()
  shared.dispose()
})

test('G8: a summary with a helper, one huge storage trie in it, has the roots and nodes of one without', async () => {
  const prng = new Prng(9)
  const nothing: StateNodes = {
    accounts: NO_READER,
    storage: () => NO_READER,
  }
  let crew: TrieCrew | undefined
  const helped = new StateSummary(nothing, EMPTY_TRIE_ROOT, {
    helpers: (arena) => {
      crew = new TrieCrew(arena, 'parallel')
      return crew
    },
  })
  const alone = new StateSummary(nothing, EMPTY_TRIE_ROOT)
  const huge = prng.bytes(32)
  const account = { nonce: 1n, balance: 5n, codeHash: EMPTY_CODE_HASH }
  for (let block = 0; block < 6; block++) {
    const accounts = [huge, ...Array.from({ length: 300 }, () => prng.bytes(32))]
      .sort(bytesCompare)
      .map((addressHash) => ({
        addressHash,
        after: { ...account, balance: BigInt(prng.below(1e9)) },
        storageCleared: block === 4 && addressHash === huge,
        slots: addressHash !== huge ? [] : newSlots(prng, 3000),
      }))
    assert.equal(toBareHex(helped.update({ accounts })), toBareHex(alone.update({ accounts })))
    if (block % 2 === 0) continue
    const [set, expected] = [helped.collect(), alone.collect()]
    assert.deepEqual(set.accountNodes.nodes, expected.accountNodes.nodes)
    assert.deepEqual(
      set.storageNodes.map(({ nodes }) => nodes.nodes),
      expected.storageNodes.map(({ nodes }) => nodes.nodes),
    )
  }
  await crew?.close()
})

function newSlots(
  prng: Prng,
  count: number,
): { readonly slotHash: Uint8Array; readonly after: Uint8Array }[] {
  return Array.from({ length: count }, () => {
    const after = prng.bytes(32)
    after[31]! |= 1
    return { slotHash: prng.bytes(32), after }
  }).sort((a, b) => bytesCompare(a.slotHash, b.slotHash))
}
