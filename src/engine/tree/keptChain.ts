/**
 * Everything that is kept of a chain: its blocks on the store and those that wait for the next write, the tree of the
 * newest ones with their states, and the moves between them.
 *
 *     check(parent) ─▶ extend ──────────────▶ head moves by one
 *                 └──▶ branch ─▶ switchTo ──▶ back along the deltas to the common block, forward along the branch
 *                                    └─▶ write: one batch with rows, nodes, flat state, index, deltas, head record
 *
 * Not here: what makes a block valid and which branch is the chain; when to write. Those are the engine's.
 */
import { assert, EMPTY_TRIE_ROOT } from '../../base/index.ts'
import { ANCESTOR_COUNT, type AncestorBlock, type Genesis } from '../../chain/index.ts'
import type { Header } from '../../codec/index.ts'
import { type BlockRoots, StateSummary, storedNodes, type TrieWatch } from '../../commit/index.ts'
import type { BlockHashReader } from '../../execute/index.ts'
import {
  type CodeChange,
  EMPTY_USAGE,
  invertDelta,
  type LayeredMap,
  type LayeredState,
  type ListingView,
  type StateDelta,
  type StateUsage,
  usageAfter,
} from '../../state/index.ts'
import { type Store, WriteBatch } from '../../store/index.ts'
import {
  type BlockRecord,
  type ChainIdentity,
  emptyBody,
  putFloor,
  putHead,
  putIdentity,
  putJournalSequence,
  putUsage,
  readHead,
  readJournalSequence,
  readUsage,
} from '../chainRecords.ts'
import { buildGenesis } from '../genesisState.ts'
import { type LayerRows, putCodes, putNodes, writeState } from '../write/stateBatch.ts'
import { BlockRows } from './blockRows.ts'
import { type BlockNode, BlockTree } from './blockTree.ts'
import { CanonicalIndex } from './canonicalIndex.ts'
import { ChainState, type StateMemory, type StateStatus } from './chainState.ts'
import { DeltaKeeper } from './deltaKeeper.ts'
import { KeptState } from './keptState.ts'
import { readTree } from './readTree.ts'
import { Summaries } from './summaries.ts'

/** How the head moved: headers that left the canonical chain, newest first, and those that joined it, oldest first. */
export type HeadMove = { readonly dropped: readonly Header[]; readonly added: readonly Header[] }

/** What one write holds. */
export type WritePlan = LayerRows & {
  /** Rows of blocks, codes, the index and the head record; the rest is to be added. */
  readonly batch: WriteBatch
}

/** What a chain starts with: the oldest kept block in memory, over a store that may be empty. */
type Start = {
  readonly tree: BlockTree
  readonly deltas: DeltaKeeper
  readonly states: ChainState
  readonly storedRoot: Uint8Array
  readonly storedTop: number
  readonly summary?: StateSummary
  readonly watch: TrieWatch | undefined
}

export class KeptChain {
  readonly tree: BlockTree
  readonly rows: BlockRows
  readonly canonical: CanonicalIndex
  private readonly store: Store
  private batch = new WriteBatch()
  private readonly deltas: DeltaKeeper
  private readonly states: ChainState
  private readonly summaries: Summaries
  private identityUnwritten: ChainIdentity | undefined
  /** Blocks that came since the last write. */
  private unwrittenCount = 0
  private isChanged = false
  /** The journal's record of the newest change, and whether that is on record in the store. */
  private journalSequence = 0
  /** The head that the write under way has. */
  private writing: Header | undefined
  private writingSequence = 0

  private constructor(store: Store, start: Start) {
    const { tree, deltas, states, storedTop } = start
    this.store = store
    this.tree = tree
    this.deltas = deltas
    this.states = states
    this.rows = new BlockRows(store, this.batch)
    this.canonical = new CanonicalIndex(store, storedTop)
    this.summaries = new Summaries(store, start)
  }

  /** Opens the chain in a store. @throws VarveError ENGINE_RECORD_INVALID, ENGINE_BLOCK_MISSING, ENGINE_BLOCK_INVALID */
  static open(store: Store, memory: StateMemory, watch?: TrieWatch): KeptChain {
    const { number, stateRoot } = readHead(store)
    return new KeptChain(store, {
      ...readTree(store),
      states: new ChainState(store, number, readUsage(store), memory),
      storedRoot: stateRoot,
      storedTop: number,
      watch,
    })
  }

  /** Starts a chain with block 0, in memory until the first write. */
  static begin(store: Store, genesis: Genesis, memory: StateMemory, watch?: TrieWatch): KeptChain {
    const states = new ChainState(store, -1, EMPTY_USAGE, memory)
    const summary = new StateSummary(storedNodes(store), EMPTY_TRIE_ROOT, { watch })
    const { header, delta } = buildGenesis(genesis, summary)
    const block = { header, totalDifficulty: header.difficulty }
    const tree = new BlockTree(block)
    states.extend(tree.head, states.head.apply(delta))
    states.addCodes(delta.codes)
    const chain = new KeptChain(store, {
      tree,
      deltas: new DeltaKeeper(store),
      states,
      storedRoot: EMPTY_TRIE_ROOT,
      storedTop: -1,
      summary,
      watch,
    })
    chain.putRows({ ...block, body: emptyBody(header), receipts: [] }, true)
    chain.canonical.push(header.hash)
    chain.identityUnwritten = { genesisHash: header.hash, spec: genesis.spec }
    return chain
  }

  get head(): BlockNode {
    return this.tree.head
  }

  /** Blocks that wait for the next write. */
  get waitingCount(): number {
    return this.unwrittenCount
  }

  /** Bytes that wait for the next write, but state. */
  get waitingBytes(): number {
    return this.batch.byteCount
  }

  /** Values of a kept state, wherever the head moves. */
  stateOf(node: BlockNode): KeptState {
    const { tree, deltas, states } = this
    return new KeptState(node, { tree, deltas, states })
  }

  /** What a kept state holds. Cost: nothing, or the deltas from the head to it where the store has passed it. */
  usageOf(node: BlockNode): StateUsage {
    const own = node === this.head ? this.states.head : this.states.stateOf(node)
    return own?.usage ?? this.deltasTo(node).reduce(usageAfter, this.states.head.usage)
  }

  /** Hashes of a kept state; see `Summaries.at`. */
  summaryOf(node: BlockNode): StateSummary {
    return this.summaries.at(node)
  }

  /** Nodes of a kept state's tries. */
  nodesOf(node: BlockNode, state: KeptState) {
    return this.summaries.nodesAt(node, () => state.checkKept())
  }

  /** What the states take, and what of the reads had to go to the store so far. */
  get stateStatus(): StateStatus {
    return this.states.status
  }

  /** The state that a block on top of `parent` runs over. Good until the head moves. */
  viewOf(parent: BlockNode): ListingView {
    return parent === this.head ? this.states.head : this.stateOf(parent)
  }

  /** Hashes of a block's ancestors, from its parent back to block 0. */
  blockHashBefore(parent: BlockNode): BlockHashReader {
    return (wanted) => {
      const number = Number(wanted)
      assert(number <= parent.header.number, 'block hashes: only of ancestors')
      let node = parent
      while (!node.isCanonical && node.header.number > number) node = node.parent!
      if (node.header.number === number) return node.header.hash
      return this.canonical.hash(number)!
    }
  }

  /** Ancestors of a block on top of a kept one, for the uncle rules. */
  ancestorsOf(parentHash: Uint8Array): readonly AncestorBlock[] {
    let node = this.tree.get(parentHash)
    assert(node !== undefined, 'ancestors: of a block on a kept one')
    let { header }: { header: Header } = node
    const blocks: AncestorBlock[] = []
    for (;;) {
      const hashes = node?.uncleHashes ?? this.rows.body(header).uncles.map(({ hash }) => hash)
      blocks.push({ header, uncleHashes: hashes })
      if (blocks.length === ANCESTOR_COUNT || header.number === 0) return blocks
      const { number, parentHash: hash }: Header = header
      node = node?.parent
      header = node?.header ?? this.rows.header(number - 1, hash).header
    }
  }

  /**
   * Runs the check of a block on top of `parent`; where it throws, nothing has changed.
   * What it returns goes to `extend` where the parent is the head, and to `branch` where it is not, before any other call.
   */
  check<Result>(parent: BlockNode, work: (roots: BlockRoots) => Result): Result {
    return this.summaries.check(parent, this.viewOf(parent), work)
  }

  /** Appends a block that was checked on top of the head. */
  extend(block: BlockRecord, delta: StateDelta): HeadMove {
    return this.extendTo(block, delta.codes, this.states.head.apply(delta))
  }

  /**
   * As `extend`, where the state after the block is there already.
   * @param codes that came with the block
   * @param state made from the head's by the block's delta; taken over
   */
  extendTo(block: BlockRecord, codes: readonly CodeChange[], state: LayeredState): HeadMove {
    const ancestor = this.head
    const node = this.addNode(block, ancestor, state.since(this.states.head))
    this.states.extend(node, state)
    this.states.addCodes(codes)
    this.putRows(block, true)
    this.canonical.push(block.header.hash)
    this.tree.moveHead({ back: [], ancestor, forward: [node] })
    return { dropped: [], added: [block.header] }
  }

  /** Adds a block that was checked on top of another one than the head. */
  branch(block: BlockRecord, delta: StateDelta, parent: BlockNode): BlockNode {
    const before = this.states.branchPoint(parent, () => this.deltasTo(parent))
    const state = before.apply(delta)
    const node = this.addNode(block, parent, state.since(before))
    before.release()
    this.states.add(node, state)
    this.states.addCodes(delta.codes)
    this.putRows(block, false)
    this.summaries.settle(node)
    return node
  }

  /**
   * Makes a kept block the head.
   * @throws VarveError of a damaged store; the head is then where it was
   */
  switchTo(node: BlockNode): HeadMove {
    const path = this.tree.path(this.head, node)
    const { back, ancestor, forward } = path
    const deltas = this.deltasTo(node)
    this.summaries.moveHead(deltas)
    this.states.moveTo(node, () => deltas)
    for (const { header } of back) this.rows.move(header, false)
    for (const { header } of forward) this.rows.move(header, true)
    this.canonical.cutTo(ancestor.header.number)
    for (const { header } of forward) this.canonical.push(header.hash)
    this.tree.moveHead(path)
    this.isChanged = true
    return {
      dropped: back.map(({ header }) => header),
      added: forward.map(({ header }) => header),
    }
  }

  /** Gives up states that lie more than `blockCount` behind the head, and the side branches that start there. */
  keepNewest(blockCount: number): void {
    const { tree } = this
    const dropped = tree.raiseFloor(tree.head.header.number - blockCount)
    if (dropped.length === 0) return
    for (const node of dropped) this.forget(node)
    // The state of the floor is kept, the way to the one before is not.
    this.deltas.drop(tree.floor, this.batch)
  }

  /** Whether a side block more leaves at most `count`, giving up others that came earlier. */
  hasRoom(parent: BlockNode, count: number): boolean {
    return this.tree.sideCount < count || this.tree.oldestSideTip(parent) !== undefined
  }

  /** Gives up the side blocks that came first until there are at most `count`; `newest` stays. */
  limitSide(newest: BlockNode, count: number): void {
    while (this.tree.sideCount > count) {
      const tip = this.tree.oldestSideTip(newest)
      if (tip === undefined) return
      this.tree.removeTip(tip)
      this.forget(tip)
    }
  }

  /** Number of the newest journal record that the store has the effect of, 0 for none. */
  storedJournalSequence(): number {
    return readJournalSequence(this.store)
  }

  /** Whether the store knows which chain it is of. */
  get isOnRecord(): boolean {
    return this.identityUnwritten === undefined
  }

  /** Tells which record of the journal holds the newest change. */
  noteJournaled(sequence: number): void {
    this.journalSequence = sequence
    this.isChanged = true
  }

  /** Whether a write is due for the memory's sake. */
  get isWriteDue(): boolean {
    return this.states.isWriteDue
  }

  /** Whether there may be no memory for the state of another block. */
  get isFull(): boolean {
    return this.states.isFull
  }

  /** The newest state. Borrowed; good until the head moves. */
  get headState(): LayeredState {
    return this.states.head
  }

  /**
   * Writes all changes in one transaction; nothing where there are none.
   * @param onWritten told how many bytes it was
   * @returns number of the newest journal record among them
   * @throws VarveError ENGINE_WRITE_MISMATCH, STORE_*; the chain is then to be opened anew
   */
  write(onWritten?: (bytes: number) => void): number | undefined {
    const plan = this.beginWrite()
    if (plan === undefined) return undefined
    const { batch, ...layers } = plan
    try {
      putNodes(batch, this.summaries.collect())
      writeState(this.store, batch, layers)
    } catch (error) {
      this.cancelWrite()
      throw error
    }
    const sequence = this.finishWrite()
    onWritten?.(batch.byteCount)
    return sequence
  }

  /**
   * Fixes what a write of all changes holds; blocks may come on top while it runs. The caller adds the nodes, hands all
   * of it to `writeState`, and calls `finishWrite`.
   * @returns `undefined` where nothing has changed
   * @throws VarveError STORE_*, of codes that go ahead
   */
  beginWrite(): WritePlan | undefined {
    if (!this.isChanged) return undefined
    const { batch, tree } = this
    putCodes(batch, this.states.newCodes(), this.store)
    this.canonical.writeTo(batch)
    if (this.identityUnwritten !== undefined) putIdentity(batch, this.identityUnwritten)
    putFloor(batch, tree.floor.header.number)
    putUsage(batch, this.states.head.usage)
    if (this.journalSequence > 0) putJournalSequence(batch, this.journalSequence)
    putHead(batch, tree.head.header)
    this.batch = new WriteBatch()
    this.rows.beginWrite(this.batch)
    this.writing = tree.head.header
    this.writingSequence = this.journalSequence
    this.identityUnwritten = undefined
    this.unwrittenCount = 0
    this.isChanged = false
    const state = this.states.beginWrite(this.writing.stateRoot).diffSource()
    return { batch, state, deltas: this.deltas.beginWrite() }
  }

  /**
   * Tells that the store has what `beginWrite` gave.
   * @returns number of the newest journal record among it
   */
  finishWrite(): number {
    const { number, stateRoot } = this.writing!
    // Another thread may have written, and what is read now is not in the layers any more.
    this.store.refresh()
    this.states.finishWrite()
    this.rows.finishWrite()
    this.canonical.markWritten(number)
    this.deltas.finishWrite()
    this.summaries.markWritten(stateRoot)
    this.writing = undefined
    return this.writingSequence
  }

  /** See `Summaries.lend`. */
  lendSummary(): void {
    this.summaries.lend()
  }

  /** Ends `lendSummary`. */
  takeSummaryBack(): void {
    this.summaries.takeBack()
  }

  /** Tells that the write failed. The chain is then to be opened anew. */
  cancelWrite(): void {
    this.states.cancelWrite()
  }

  /** Deltas from the head's state to that of a kept block. */
  private deltasTo(node: BlockNode): StateDelta[] {
    const { back, forward } = this.tree.path(this.head, node)
    return [
      ...back.map((each) => invertDelta(this.deltas.get(each))),
      ...forward.map((each) => this.deltas.get(each)),
    ]
  }

  private addNode(block: BlockRecord, parent: BlockNode, layer: LayeredMap): BlockNode {
    const uncleHashes = block.body.uncles.map(({ hash }) => hash)
    const { header, totalDifficulty } = block
    const node = this.tree.add({ header, totalDifficulty }, parent, uncleHashes)
    this.deltas.add(node, layer)
    return node
  }

  private putRows(block: BlockRecord, isCanonical: boolean): void {
    this.rows.put(block, isCanonical)
    this.unwrittenCount++
    this.isChanged = true
  }

  /** Drops what was kept of a node that left the tree; a canonical block itself stays. */
  private forget(node: BlockNode): void {
    this.deltas.drop(node, this.batch)
    this.states.drop(node)
    if (!node.isCanonical) this.rows.delete(node.header)
    this.isChanged = true
  }
}
