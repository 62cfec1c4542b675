/**
 * Aim (A17): a write whose rows would not make the state that it names is refused, and the store is as it was. Method:
 * faults put in between the root of a block and its write. Pipeline off: one value of a delta is another one once the
 * root is there. Pipeline on: each bit of a layer's memory that makes other rows, each node and record, one at a time.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { AssertionFault, EMPTY_CODE_HASH, isVarveError, toHex } from '../../base/index.ts'
import {
  type AccountChange,
  accountsEqual,
  type DiffSource,
  diffAccounts,
  encodeDelta,
} from '../../state/index.ts'
import { META, memoryStore, openLmdbStore, type Store, WriteBatch } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { emptyBody, putUsage, readUsage } from '../chainRecords.ts'
import { stateMemory } from '../memory.ts'
import { writeWork } from '../pipeline/inlineCommit.ts'
import { copyStore } from '../pipeline/lateStore.suite.ts'
import { type CommitWork, openStages } from '../pipeline/stages.ts'
import { WorkflowModel } from '../pipeline/workflowModel.suite.ts'
import { dumpStore } from '../testChain.suite.ts'
import { KeptChain } from '../tree/keptChain.ts'
import { copyOf } from '../tree/treeChain.suite.ts'
import { verifyStore } from '../verify/verifyStore.ts'

const MEMORY = stateMemory(64 * 2 ** 20)
const isRefused = (error: unknown) => isVarveError(error, 'ENGINE_WRITE_MISMATCH')

/** A chain of the model's with some blocks written, and one more that is executed and whose root is confirmed. */
function chainBefore(store: Store, seed: number) {
  const model = new WorkflowModel(new Prng(seed), 'spread')
  const chain = KeptChain.begin(store, model.genesis, MEMORY.states)
  chain.write()
  let version = model.start(chain.head.header)
  for (let count = 0; count < 4; count++) {
    version = model.next(version, false)
    extend(chain, version, version.delta)
  }
  chain.write()
  return { chain, model, next: model.next(version, false) }
}

type Version = ReturnType<WorkflowModel['next']>

/** Takes a block in: its root is made from its own delta, its state from `delta`. */
function extend(chain: KeptChain, { header, delta: own }: Version, delta: Version['delta']): void {
  const root = chain.check(chain.head, (roots) => roots.rootAfter(own))
  assert.deepEqual(root, header.stateRoot)
  const record = { header, totalDifficulty: 0n, body: emptyBody(header), receipts: [] }
  chain.extend(record, delta)
}

/** The ways in which one account of a delta can come to be another one. */
const FLIPS: Record<string, (change: AccountChange) => AccountChange | undefined> = {
  balance: ({ after, ...rest }) =>
    after && { ...rest, after: { ...after, balance: after.balance ^ 1n } },
  nonce: ({ after, ...rest }) => after && { ...rest, after: { ...after, nonce: after.nonce ^ 1n } },
  code: ({ after, ...rest }) =>
    after && { ...rest, after: { ...after, codeHash: after.codeHash.map((byte) => byte ^ 1) } },
  // One that is only made would be left out, and no row tells of that.
  'end of the account': ({ before, after, ...rest }) =>
    before && after && { ...rest, before, after: undefined, slots: [] },
  'a slot': (change) =>
    flipSlot(change, (value) => value?.map((byte, index) => (index === 31 ? byte ^ 0x80 : byte))),
  'a slot that is zero': (change) => flipSlot(change, () => undefined),
}

function flipSlot(
  change: AccountChange,
  flip: (value: Uint8Array | undefined) => Uint8Array | undefined,
): AccountChange | undefined {
  const index = change.slots.findIndex(({ after }) => after !== undefined)
  if (index < 0) return undefined
  const slots = change.slots.map((slot, at) =>
    at === index ? { ...slot, after: flip(slot.after) } : slot,
  )
  return { ...change, slots }
}

test('A17: pipeline off, a value of the delta that is flipped after the root refuses the write', () => {
  const counts: Record<string, number> = {}
  for (let seed = 1; seed <= 6; seed++)
    for (const [name, flip] of Object.entries(FLIPS)) {
      const store = memoryStore()
      const { chain, next } = chainBefore(store, seed)
      const { accounts, codes } = next.delta
      const index = accounts.findIndex((change) => flip(change) !== undefined)
      if (index < 0) continue
      const flipped = accounts.map((change, at) => (at === index ? flip(change)! : change))
      const before = dumpStore(store)
      extend(chain, next, { accounts: flipped, codes })
      assert.throws(() => chain.write(), isRefused, `seed ${seed}, ${name}`)
      assert.equal(dumpStore(store), before, `seed ${seed}, ${name}: nothing is written`)
      assert.deepEqual([...verifyStore(store)], [])
      counts[name] = (counts[name] ?? 0) + 1
    }
  for (const name of Object.keys(FLIPS)) assert(counts[name]! >= 2, `${name} was tried`)
})

/** Everything of one write of the pipeline, with rows and nodes as the stages give them. */
async function pipelineWork(store: Store, seed: number) {
  const { chain, next } = chainBefore(store, seed)
  const { stateRoot } = chain.head.header
  const stages = openStages(store, stateRoot, { nodeBytesMax: 0, isThreaded: true })
  chain.lendSummary()
  const before = chain.headState
  const state = before.apply(next.delta)
  const span = state.since(before)
  assert.deepEqual(await stages.summary.advance(span.diffSource()), next.root)
  const { header } = next
  const record = { header, totalDifficulty: 0n, body: emptyBody(header), receipts: [] }
  chain.extendTo(record, next.delta.codes, state)
  const nodes = await stages.summary.collect()
  const { batch, ...layers } = chain.beginWrite()!
  const work: CommitWork = { rows: batch.pack(), nodes, ...layers }
  return { chain, stages, work }
}

const SOME_ACCOUNT = { nonce: 1n << 40n, balance: 0n, codeHash: EMPTY_CODE_HASH }
const SOME_VALUE = new Uint8Array(32).fill(0xfe)

/** What a difference says of the state after it, whatever it says was before. */
function saidAfter(source: DiffSource): string {
  const accounts = diffAccounts(source).map((change) => ({
    ...change,
    before: SOME_ACCOUNT,
    slots: change.slots.map((slot) => ({ ...slot, before: SOME_VALUE })),
  }))
  return Buffer.from(encodeDelta({ accounts, codes: [] })).toString('hex')
}

/** The accounts whose rows a difference changes. */
function accountsChanged(source: DiffSource): string[] {
  return diffAccounts(source)
    .filter(({ before, after }) => !accountsEqual(before, after))
    .map(({ addressHash }) => toHex(addressHash))
}

/** Goes through single bits of a source's memory that make it say another state; each is there for one step alone. */
function* flips(source: DiffSource, prng: Prng): Generator<void> {
  const right = saidAfter(source)
  const changed = accountsChanged(source)
  const saysOther = (): boolean => {
    try {
      if (saidAfter(source) === right) return false
      // That an account is left out shows in the usage at most.
      const found = new Set(accountsChanged(source))
      return changed.every((address) => found.has(address))
    } catch {
      // A link that leads nowhere, or a length that cannot be: such a fault shows itself.
      return false
    }
  }
  for (const words of source.segments)
    for (const [word, value] of words.entries()) {
      // Where nothing was ever written, nothing is read.
      if (value === 0 && !prng.oneIn(64)) continue
      words[word]! ^= 1 << prng.below(32)
      if (saysOther()) yield
      words[word] = value
    }
}

test('A17: pipeline on, each bit of a layer that says another state refuses the write', async () => {
  let refusedCount = 0
  for (const seed of [1, 2]) {
    const store = memoryStore()
    const { chain, work } = await pipelineWork(store, seed)
    const before = dumpStore(store)
    const right = copyStore(store)
    writeWork(right, work)
    for (const _ of flips(work.state, new Prng(seed)))
      try {
        const other = copyStore(store)
        writeWork(other, work)
        // As where a row is put once more, and is what it was.
        assert.deepEqual(copyOf(other), copyOf(right), `seed ${seed}: another state was written`)
      } catch (error) {
        // A value that no row may have is found by whoever encodes it.
        if (!isRefused(error) && !(error instanceof AssertionFault && isOfEncoder(error)))
          throw error
        refusedCount++
      }
    assert.throws(() => writeWork(store, { ...work, nodes: new WriteBatch().pack() }), isRefused)
    assert.equal(dumpStore(store), before, `seed ${seed}: nothing is written`)
    writeWork(store, work)
    chain.finishWrite()
    assert.deepEqual([...verifyStore(store)], [], `seed ${seed}`)
  }
  assert(refusedCount > 200, `${refusedCount} refused`)
})

const isOfEncoder = ({ message }: AssertionFault) => message.startsWith('a stored slot')

/** The same source over memory of its own, with one bit that makes it say another state. */
function flippedCopy(source: DiffSource): DiffSource {
  const segments = source.segments.map((words) => {
    const copy = new Uint32Array(new SharedArrayBuffer(words.byteLength))
    copy.set(words)
    return copy
  })
  const copy = { ...source, segments }
  // Left as it is in the midst of it.
  flips(copy, new Prng(9)).next()
  return copy
}

/** A batch with more operations behind those of another. */
function withMore(work: CommitWork, add: (batch: WriteBatch) => void): CommitWork {
  const batch = new WriteBatch()
  batch.addPacked(work.nodes)
  add(batch)
  return { ...work, nodes: batch.pack() }
}

test('A17: pipeline on, on threads: a node, a record or a layer that is not right refuses the write', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'varve-write-check-'))
  const store = openLmdbStore(folder, { sync: 'os' })
  const { chain, stages, work } = await pipelineWork(store, 3)
  // The stage on its own thread takes what it is given over, so each try gets a copy.
  const write = (tried: CommitWork) =>
    stages.commit.write({
      ...tried,
      rows: structuredClone(tried.rows),
      nodes: structuredClone(tried.nodes),
    })
  const before = dumpStore(store)
  const flipped = flippedCopy(work.state)
  const usage = readUsage(store)
  const faults: Record<string, CommitWork> = {
    'no nodes': { ...work, nodes: new WriteBatch().pack() },
    'another root node': withMore(work, (batch) =>
      batch.put('accountNodes', Uint8Array.of(0), Uint8Array.of(0xc2, 0x20, 1)),
    ),
    'no root node': withMore(work, (batch) => batch.delete('accountNodes', Uint8Array.of(0))),
    'a record of accounts': withMore(work, (batch) =>
      putUsage(batch, { ...usage, accountCount: usage.accountCount + 77 }),
    ),
    'a record of bytes': withMore(work, (batch) =>
      putUsage(batch, { ...usage, byteCount: usage.byteCount + 7777 }),
    ),
    'no record': withMore(work, (batch) => batch.delete('meta', META.usage)),
    'a layer': { ...work, state: flipped },
  }
  for (const [name, fault] of Object.entries(faults))
    await assert.rejects(
      write(fault),
      (error) => isRefused(error) || isVarveError(error, 'ENGINE_RECORD_INVALID'),
      name,
    )
  store.refresh()
  assert.equal(dumpStore(store), before)
  await write(work)
  chain.finishWrite()
  assert.deepEqual([...verifyStore(store)], [])
  await Promise.all([stages.summary.close(), stages.commit.close()])
  store.close()
  rmSync(folder, { recursive: true, force: true })
})
