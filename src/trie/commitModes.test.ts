/**
 * Aim: a commit gives the same changes in the same order, however it is made. Method: the same change is committed alone,
 * in pieces that another participant encodes, and shared with helpers; what a sink is told is compared line by line.
 * Participants are no threads here but take turns as a seed decides, and helpers leave tasks in the middle.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NodeArena } from '../arena/index.ts'
import { toBareHex } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { Prng } from '../testing/index.ts'
import type { TrieChange } from './batch.ts'
import {
  Participant,
  ROOT_SHAPES,
  SinkLog,
  shapedChanges,
  VirtualConsumer,
  VirtualHelpers,
} from './commitModes.suite.ts'
import { gethAccounts } from './gethAccounts.suite.ts'
import { naiveTree } from './naiveTrie.suite.ts'
import { Trie, type TrieOptions } from './trie.ts'

const arena = new NodeArena({ bytesMax: 2 ** 28 })
const participants = [new Participant(arena), new Participant(arena)]
const idleBytes = arena.usedBytes

type Change = { readonly before: readonly TrieChange[]; readonly after: readonly TrieChange[] }

/** A trie with `before` committed and `after` waiting, hashed or not. */
function prepared(options: TrieOptions, { before, after }: Change, isHashed: boolean): Trie {
  const trie = new Trie(options)
  trie.update(before)
  trie.commit()
  trie.update(after)
  if (isHashed) trie.root()
  return trie
}

type Told = { readonly lines: readonly string[]; readonly root: string }

function commitAlone(change: Change): Told {
  const trie = prepared({ arena }, change, false)
  const log = new SinkLog()
  const set = trie.commit({ leaves: true })
  set.tell(log)
  const told = { lines: log.lines, root: toBareHex(set.root) }
  trie.dispose()
  assert.equal(arena.usedBytes, idleBytes)
  return told
}

function commitInPieces(change: Change, prng: Prng): Told {
  const trie = prepared({ arena }, change, prng.oneIn(2))
  const log = new SinkLog()
  const consumer = new VirtualConsumer(participants[0]!, prng, log)
  const open = trie.commitInPieces((piece) => consumer.take(piece), { leaves: true })
  assert.throws(() => trie.root(), { code: 'TRIE_BUSY' })
  consumer.finish()
  open.finish()
  return finished(trie, log, open.root)
}

function commitShared(change: Change, prng: Prng): Told & { readonly counts: object } {
  const helpers = new VirtualHelpers(participants, prng)
  const trie = prepared({ arena, helpers }, change, prng.oneIn(2))
  const log = new SinkLog()
  const set = trie.commit({ leaves: true })
  set.tell(log)
  return { ...finished(trie, log, set.root), counts: helpers.counts }
}

/** The trie is clean now, goes on working, and gives all its memory back. */
function finished(trie: Trie, log: SinkLog, root: Uint8Array): Told {
  assert.deepEqual(trie.root(), root)
  assert.equal(trie.isChanged, false)
  const key = new Uint8Array(32).fill(5)
  trie.put(key, Uint8Array.of(1))
  trie.rollback()
  assert.deepEqual(trie.root(), root)
  trie.dispose()
  assert.equal(arena.usedBytes, idleBytes)
  return { lines: log.lines, root: toBareHex(root) }
}

test('G3 G4 G8: 1,000 schedules over every root shape: one sequence of changes, whoever makes it', () => {
  let sharedCount = 0
  for (let seed = 0; seed < 1000; seed++) {
    const prng = new Prng(seed)
    const shape = ROOT_SHAPES[seed % ROOT_SHAPES.length]!
    const change = shapedChanges(shape, prng, prng.pick([1, 2, 17, 60, 300]))
    const where = `seed ${seed}, ${shape}`
    const alone = commitAlone(change)
    const values = new Map<string, Uint8Array>()
    for (const { key, value } of [...change.before, ...change.after])
      if (value === undefined) values.delete(toBareHex(key))
      else values.set(toBareHex(key), value)
    assert.equal(alone.root, toBareHex(naiveTree(values).root), where)
    const pieces = commitInPieces(change, prng)
    assert.deepEqual(pieces, alone, where)
    const { counts, ...shared } = commitShared(change, prng)
    assert.deepEqual(shared, alone, where)
    if ((counts as { byOthers: number }).byOthers > 0) sharedCount++
  }
  assert.ok(sharedCount > 500, 'helpers took part')
})

test('G8: 5,000 random keys: the node set is the same alone, in pieces and shared', () => {
  const prng = new Prng(5000)
  const puts = (count: number): TrieChange[] =>
    Array.from({ length: count }, () => ({ key: prng.bytes(32), value: prng.bytes(32) }))
  const before = puts(5000)
  const gone = before.filter(() => prng.oneIn(5)).map(({ key }) => ({ key, value: undefined }))
  for (const change of [
    { before: [], after: before },
    { before, after: [...puts(5000), ...gone] },
  ]) {
    const alone = commitAlone(change)
    assert.ok(alone.lines.length > 5000)
    assert.deepEqual(commitInPieces(change, prng), alone)
    const { counts: _, ...shared } = commitShared(change, prng)
    assert.deepEqual(shared, alone)
  }
})

/** Kept from the first run of the inline commit; they change only where the trie's order or bytes change. */
const SEQUENCE_DIGESTS: ReadonlyMap<number, string> = new Map([
  [20, '41ad8507032067b01bbb2af505c850573939c3b30b2ee82cc3fc44f5ded9ac58'],
  [200, '870180ec9eb93357080bf9f558d765ccfdd03ab8484b66ebd90a18851d9b7241'],
  [2000, 'f2e70dbae58bb3e08af4bf4e6689c4681ba9035955169d13700fe4f05462fa43'],
])

for (const [count, digest] of SEQUENCE_DIGESTS)
  test(`G3: the digest of all writes and leaves of ${count} accounts is the same in every mode`, () => {
    const change = { before: [], after: gethAccounts(count) }
    const digestOf = ({ lines }: Told): string =>
      toBareHex(keccak256(new TextEncoder().encode(lines.join('\n'))))
    const prng = new Prng(count)
    const alone = commitAlone(change)
    // The naive tree is built from the leaves up too, and each of these accounts is a node of its own.
    const naive = naiveTree(new Map(change.after.map(({ key, value }) => [toBareHex(key), value!])))
    const puts = alone.lines.filter((line) => line.startsWith('put')).map((line) => line.split(' '))
    assert.deepEqual(
      puts.map(([, path, bytes]) => [path, bytes]),
      [...naive.nodes].map(([path, bytes]) => [path, toBareHex(bytes)]),
    )
    assert.equal(digestOf(alone), digest)
    assert.equal(digestOf(commitInPieces(change, prng)), digest)
    assert.equal(digestOf(commitShared(change, prng)), digest)
  })

test('G5: a commit in pieces that fails anywhere changes nothing, and the next one gives the whole', () => {
  const prng = new Prng(5)
  const change = shapedChanges('branch', prng, 2000)
  const expected = commitAlone(change)
  const trie = prepared({ arena }, change, false)
  const { changeCount } = trie
  // The n-th piece cannot be handed over.
  for (let failing = 0; failing < 8; failing++) {
    let count = 0
    const take = (): void => {
      if (count++ === failing) throw new Error('refused')
    }
    assert.throws(() => trie.commitInPieces(take), /refused/)
    assert.equal(trie.isChanged, true)
    assert.equal(trie.changeCount, changeCount)
  }
  // All were handed over, and the consumer failed.
  const open = trie.commitInPieces(() => {}, { leaves: true })
  for (const use of [
    () => trie.get(new Uint8Array(32)),
    () => trie.put(new Uint8Array(32), Uint8Array.of(1)),
    () => trie.commit(),
    () => trie.rollback(),
    () => trie.dispose(),
    () => trie.commitInPieces(() => {}),
  ])
    assert.throws(use, { code: 'TRIE_BUSY' })
  open.cancel()
  assert.throws(() => open.finish(), /ends once/)
  const log = new SinkLog()
  const set = trie.commit({ leaves: true })
  set.tell(log)
  assert.deepEqual({ lines: log.lines, root: toBareHex(set.root) }, expected)
  trie.dispose()
  assert.equal(arena.usedBytes, idleBytes)
})

test('G6: an unchanged trie gives no pieces, and one that is back where it was none either', () => {
  const helpers = new VirtualHelpers(participants, new Prng(6))
  const trie = prepared({ arena, helpers }, { before: gethAccounts(200), after: [] }, false)
  const refuse = (): void => assert.fail('there is nothing to hand out')
  trie.commitInPieces(refuse).finish()
  assert.deepEqual(trie.commit().nodes, [])
  const [first] = gethAccounts(200)
  trie.put(first!.key, Uint8Array.of(9))
  trie.root()
  trie.update(gethAccounts(200))
  trie.commitInPieces(refuse).finish()
  assert.equal(trie.isChanged, false)
  trie.dispose()
})

test('values over 128 KiB keep a trie to its own thread', () => {
  const helpers = new VirtualHelpers(participants, new Prng(7))
  const trie = prepared({ arena, helpers }, { before: [], after: gethAccounts(100) }, false)
  assert.equal(trie.fitsHelpers, true)
  trie.put(new Uint8Array(32), new Uint8Array(128 * 1024 + 1).fill(1))
  assert.equal(trie.fitsHelpers, false)
  const { shared } = helpers.counts
  trie.commit()
  assert.equal(helpers.counts.shared, shared)
  trie.dispose()
  assert.equal(arena.usedBytes, idleBytes)
})

test('a window is given back whole', () => {
  for (const participant of participants) participant.close()
  assert.equal(arena.usedBytes, 0)
})
