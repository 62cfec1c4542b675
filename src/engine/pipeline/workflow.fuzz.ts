/**
 * Aim: execution over layers, state summary and commit, each on its own thread, do together what a naive model does:
 * contents, usage, roots, and after every write the rows of the store. Method: random blocks of hand-made changes in
 * random chunks; the summary is led by whole chunks, the commit by whatever has come together; blocks with a wrong root
 * are taken back with all on them; older versions are read while the store moves beneath them; now and then all is
 * dropped and opened anew from the store.
 *
 *     version n (model) ─▶ LayeredState.apply ─▶ chunk (a, b] ─▶ SummaryThread ─▶ root == b's? ─▶ KeptChain.extendTo
 *                                                                     └─▶ WriteBehind ─▶ CommitThread ─▶ rows == model's
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesEqual, isVarveError, toHex } from '../../base/index.ts'
import {
  accountsEqual,
  type HashKey,
  hashKey,
  type LayeredMap,
  type LayeredState,
  slotsEqual,
} from '../../state/index.ts'
import { KEY_SHAPES, modelUsage } from '../../state/layers/model.suite.ts'
import { memoryStore, openLmdbStore, type Store } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { emptyBody, readFloor, readHead, readUsage } from '../chainRecords.ts'
import { stateMemory } from '../memory.ts'
import { KeptChain } from '../tree/keptChain.ts'
import { verifyStore } from '../verify/verifyStore.ts'
import { openStages, type Stages } from './stages.ts'
import { StepOrder } from './stepOrder.ts'
import {
  modelRows,
  standsOn,
  stateRows,
  type Version,
  WorkflowModel,
} from './workflowModel.suite.ts'
import { WriteBehind } from './writeBehind.ts'

const CHUNKS_MAX = 8
const HELD_MAX = 6
const MEMORY = stateMemory(64 * 2 ** 20)

/** Runs so many blocks; throws at the first difference. Returns counts that show what was exercised. */
export async function fuzzWorkflow(
  seed: number,
  stepCount: number,
): Promise<Readonly<Record<string, number>>> {
  // One in four runs has its stages on this thread.
  const isThreaded = seed % 4 !== 0
  const folder = isThreaded ? mkdtempSync(join(tmpdir(), 'varve-workflow-')) : undefined
  const store = folder === undefined ? memoryStore() : openLmdbStore(folder, { sync: 'os' })
  const workflow = new Workflow(seed, store, isThreaded)
  try {
    return await workflow.run(stepCount)
  } finally {
    await workflow.close()
    store.close()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
}

/** Blocks whose root was asked for together. */
type Chunk = {
  readonly blocks: readonly { readonly version: Version; readonly state: LayeredState }[]
  readonly span: LayeredMap
}

class Workflow {
  readonly counts: Record<string, number> = {}
  private readonly prng: Prng
  private readonly where: string
  private readonly model: WorkflowModel
  private readonly store: Store
  private readonly isThreaded: boolean
  private readonly historyBlocks: number
  private readonly nodeBytesMax: number
  /** Every version that a block of the chain may be, by hash. */
  private readonly versions = new Map<HashKey, Version>()
  private readonly held: { readonly version: Version; readonly state: LayeredState }[] = []
  private chunks: Chunk[] = []
  private chain: KeptChain
  private stages!: Stages
  private order!: StepOrder
  private writer!: WriteBehind
  /** The version that the store holds or is being brought to. */
  private line: Version
  private failure: unknown
  private wakers: (() => void)[] = []

  constructor(seed: number, store: Store, isThreaded: boolean) {
    const prng = new Prng(seed)
    const shape = prng.pick(KEY_SHAPES)
    this.prng = prng
    this.historyBlocks = prng.between(0, 12)
    this.nodeBytesMax = prng.oneIn(2) ? 0 : 2 ** 20
    this.where = `seed ${seed}, keys ${shape}, history ${this.historyBlocks}`
    this.model = new WorkflowModel(prng, shape)
    this.store = store
    this.isThreaded = isThreaded
    this.chain = KeptChain.begin(store, this.model.genesis, MEMORY.states)
    this.chain.write()
    this.line = this.model.start(this.chain.head.header)
    this.versions.set(hashKey(this.line.header.hash), this.line)
    this.openStages()
  }

  async run(blockCount: number): Promise<Readonly<Record<string, number>>> {
    const { prng } = this
    for (let left = blockCount; left > 0; ) {
      const count = Math.min(left, prng.between(1, 4))
      left -= count
      await this.until(() => this.chunks.length < CHUNKS_MAX && !this.isHeldUp)
      this.execute(count)
      if (prng.oneIn(2)) this.beginWrite()
      if (prng.oneIn(3)) this.readHeld()
      if (prng.oneIn(2)) await turn()
      if (prng.oneIn(40)) await this.until(() => this.chunks.length === 0)
      if (prng.oneIn(250)) await this.reopen()
    }
    await this.writeAll()
    assert.deepEqual([...verifyStore(this.store)], [], this.where)
    return this.counts
  }

  async close(): Promise<void> {
    this.failure ??= new Error('the workflow was closed')
    await this.writer.settled().catch(() => undefined)
    await Promise.all([this.stages.summary.close(), this.stages.commit.close()])
  }

  /** The version that the next block stands on, and its state. */
  private get tip(): { readonly version: Version; readonly state: LayeredState } {
    const waiting = this.chunks.at(-1)?.blocks.at(-1)
    return waiting ?? { version: this.headVersion, state: this.chain.headState }
  }

  private get headVersion(): Version {
    return this.versions.get(hashKey(this.chain.head.header.hash))!
  }

  /** Executes blocks on the tip, and asks for the root after the last of them. */
  private execute(count: number): void {
    const { prng, where } = this
    const base = this.tip
    const isWrong = prng.oneIn(25)
    const blocks: Chunk['blocks'][number][] = []
    for (let index = 1; index <= count; index++) {
      const before = blocks.at(-1) ?? base
      const version = this.model.next(before.version, isWrong && index === count)
      const state = before.state.apply(version.delta, version.header.number)
      assert.deepEqual(state.usage, modelUsage(version.state), `${where}, block ${state.version}`)
      blocks.push({ version, state })
      if (prng.oneIn(4)) this.compareContents(version, state)
      if (prng.oneIn(12)) this.hold(version, state)
    }
    const last = blocks.at(-1)!
    const chunk: Chunk = { blocks, span: last.state.since(base.state) }
    this.chunks.push(chunk)
    this.order.reach('executed', last.version.header.number)
    this.count(count > 1 ? 'chunksOfMany' : 'chunksOfOne')
    const { stages } = this
    stages.summary.advance(chunk.span.diffSource()).then(
      (root) => {
        if (stages === this.stages) this.guard(() => this.confirm(chunk, root))
      },
      (error: unknown) => this.fail(error),
    )
  }

  /** Takes the root of the oldest chunk. */
  private confirm(chunk: Chunk, root: Uint8Array): void {
    const { header, root: expected } = chunk.blocks.at(-1)!.version
    assert.equal(toHex(root), toHex(expected), `${this.where}, root of block ${header.number}`)
    // What stood on a refused block is not there any more.
    if (this.chunks[0] !== chunk) return
    if (!bytesEqual(root, header.stateRoot)) {
      this.refuse()
      return
    }
    this.chunks.shift()
    this.order.reach('rooted', header.number)
    chunk.span.close()
    for (const { version, state } of chunk.blocks) {
      const block = { header: version.header, body: emptyBody(version.header), receipts: [] }
      this.chain.extendTo({ ...block, totalDifficulty: 0n }, version.delta.codes, state)
      this.chain.keepNewest(this.historyBlocks)
      this.versions.set(hashKey(version.header.hash), version)
      this.order.reach('accepted', version.header.number)
    }
  }

  /** Takes back the oldest chunk and all on it, the newest first. */
  private refuse(): void {
    this.count(this.chunks.length > 1 ? 'refusedMany' : 'refused')
    for (const { blocks, span } of this.chunks.splice(0).reverse()) {
      for (const { state } of blocks) state.release()
      this.stages.summary.retreat(span.diffSource()).then(
        () => span.close(),
        (error: unknown) => this.fail(error),
      )
    }
    this.order.withdrawAbove(this.chain.head.header.number)
  }

  private get isHeldUp(): boolean {
    return this.writer.isWriting && this.writer.isHolding
  }

  private beginWrite(): void {
    if (this.writer.isWriting) return
    this.writer
      .begin(this.tip.version.header.number)
      .catch((error: unknown) => this.fail(error))
      .finally(() => this.wake())
  }

  /** Right after a write: the store is the model at the version that was the head when it began, row for row. */
  private compareRows(): void {
    const { number, hash } = readHead(this.store)
    const version = this.versions.get(hashKey(hash))!
    const where = `${this.where}, write of block ${number}`
    const floor = readFloor(this.store)
    assert.equal(floor, Math.max(0, number - this.historyBlocks), where)
    const expected = modelRows(version, floor)
    const rows = stateRows(this.store)
    for (const [row, value] of expected) assert.equal(rows.get(row), value, `${where}: ${row}`)
    for (const row of rows.keys()) assert(expected.has(row), `${where}: ${row} is too much`)
    assert.deepEqual(readUsage(this.store), modelUsage(version.state), where)
    this.line = version
    this.count(this.chunks.length > 0 ? 'writesBehind' : 'writes')
    // Reads of the head go through what the write has changed: the base of its layers, the cache, the store.
    this.compareContents(this.headVersion, this.chain.headState)
  }

  private compareContents(version: Version, state: LayeredState): void {
    const where = `${this.where}, block ${version.header.number}`
    for (const addressHash of this.model.source.addresses) {
      const expected = version.state.get(hashKey(addressHash))
      const account = state.account(addressHash)
      assert(accountsEqual(account, expected?.account), `${where}: ${toHex(addressHash)}`)
      const hasStorage = (expected?.slots.size ?? 0) > 0
      assert.equal(state.hasStorage(addressHash), hasStorage, where)
      for (const slotHash of this.model.source.slots)
        assert(
          slotsEqual(state.storage(addressHash, slotHash), expected?.slots.get(hashKey(slotHash))),
          `${where}: ${toHex(addressHash)} ${toHex(slotHash)}`,
        )
    }
  }

  /** Keeps a version open for later, on whatever fork it comes to stand. */
  private hold(version: Version, state: LayeredState): void {
    if (this.held.length === HELD_MAX)
      this.held.splice(this.prng.below(HELD_MAX), 1)[0]!.state.release()
    this.held.push({ version, state: state.fork() })
  }

  /** A version that is still open reads as ever, or says that the store has overtaken it. */
  private readHeld(): void {
    if (this.held.length === 0) return
    const { version, state } = this.prng.pick(this.held)
    try {
      this.compareContents(version, state)
      this.count('readHeld')
    } catch (error) {
      if (!isVarveError(error, 'STATE_VIEW_OVERTAKEN')) throw error
      const isWriting = this.writer.isWriting
      assert(isWriting || !standsOn(version, this.line), `${this.where}: overtaken for no reason`)
      this.count('overtaken')
    }
  }

  private async writeAll(): Promise<void> {
    await this.until(() => this.chunks.length === 0 && !this.writer.isWriting)
    this.beginWrite()
    await this.until(() => !this.writer.isWriting)
    assert.equal(this.line, this.headVersion, this.where)
  }

  /** Drops everything, as the end of a process would, and goes on from what the store has. */
  private async reopen(): Promise<void> {
    if (this.prng.oneIn(2)) await this.writeAll()
    await this.until(() => !this.writer.isWriting)
    const { summary, commit } = this.stages
    this.chunks = []
    this.held.length = 0
    this.chain = KeptChain.open(this.store, MEMORY.states)
    assert.equal(this.headVersion, this.line, this.where)
    this.compareContents(this.headVersion, this.chain.headState)
    this.openStages()
    await Promise.all([summary.close(), commit.close()])
    this.count('reopened')
  }

  private openStages(): void {
    const { chain, store, nodeBytesMax, isThreaded } = this
    const { stateRoot, number } = chain.head.header
    this.stages = openStages(store, stateRoot, { nodeBytesMax, isThreaded })
    this.order = new StepOrder(number)
    chain.lendSummary()
    const { stages, order } = this
    const onWritten = () => this.guard(() => this.compareRows())
    this.writer = new WriteBehind({ chain, stages, order, onWritten })
  }

  private async until(condition: () => boolean): Promise<void> {
    while (this.failure === undefined && !condition())
      await new Promise<void>((resume) => this.wakers.push(resume))
    if (this.failure !== undefined) throw this.failure
  }

  private wake(): void {
    for (const resume of this.wakers.splice(0)) resume()
  }

  private guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.fail(error)
    }
    this.wake()
  }

  private fail(error: unknown): void {
    this.failure ??= error
    this.wake()
  }

  private count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1
  }
}

/** One turn of the event loop, in which answers of the stages come in. */
function turn(): Promise<void> {
  return new Promise((resume) => setImmediate(resume))
}
