/**
 * A tree of blocks made again on branches: each block's transactions are executed on a branch that stands at its
 * parent, and must give that very block, hash and all. Branches begin at any kept state, fork and go in any order,
 * while the engine imports the same blocks, moves its head, writes, and lets old states go. Values, roots and diffs are
 * compared with full copies.
 */
import assert from 'node:assert/strict'
import { bytesEqual, Fork, fromHex, isVarveError, toHex } from '../../base/index.ts'
import type { Block } from '../../codec/index.ts'
import { encodeFlatAccount, encodeFlatSlot, type StateView } from '../../state/index.ts'
import { memoryStore } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { type Engine, openEngine } from '../engine.ts'
import { makeTree, type StateCopy, type TestTree } from '../tree/treeChain.suite.ts'
import type { Branch } from './branch.ts'

type Live = {
  readonly branch: Branch
  /** The chain's block that it began at. */
  readonly base: Place
  /** Where it was forked. */
  readonly origin: Place
  at: Place
}

/** A block of the tree and the state after it. */
type Place = { readonly hash: Uint8Array; readonly copy: StateCopy; readonly used: number }

const LIVE_COUNT_MAX = 40

export async function fuzzBranches(seed: number, stepCount: number): Promise<void> {
  const prng = new Prng(seed)
  const fork = prng.pick([Fork.London, Fork.Shanghai])
  const tree = await makeTree(prng, { fork, blockCount: 30, spread: 4, withCopies: true })
  await new BranchRun(tree, prng, seed).run(stepCount)
}

class BranchRun {
  private readonly tree: TestTree
  private readonly prng: Prng
  private readonly seed: number
  private readonly places = new Map<string, Place>()
  private readonly children = new Map<string, Block[]>()
  private readonly live: Live[] = []
  private engine!: Engine
  private where = ''

  constructor(tree: TestTree, prng: Prng, seed: number) {
    this.tree = tree
    this.prng = prng
    this.seed = seed
    for (const { block, copy } of tree.blocks) {
      if (copy === undefined) continue
      const { hash, parentHash } = block.header
      this.places.set(toHex(hash), { hash, copy, used: block.transactions.length })
      const siblings = this.children.get(toHex(parentHash)) ?? []
      this.children.set(toHex(parentHash), [...siblings, block])
    }
  }

  async run(stepCount: number): Promise<void> {
    const { tree, prng } = this
    const { genesis } = tree
    const historyBlocks = prng.between(2, 8)
    this.engine = await openEngine({ store: memoryStore(), genesis, historyBlocks })
    const { hash } = this.engine.head.header
    this.places.set(toHex(hash), { hash, copy: tree.genesisCopy, used: 0 })
    for (let step = 0; step < stepCount; step++) {
      this.where = `seed ${this.seed} step ${step}, ${historyBlocks} blocks kept`
      if (prng.oneIn(3)) this.moveChain()
      if (prng.oneIn(2)) this.begin()
      if (this.live.length > 0) this.use(prng.pick(this.live))
    }
    assert.equal(this.engine.branches.count, this.live.length, this.where)
    while (this.live.length > 0) this.release(this.live[0]!)
    assert.deepEqual(this.engine.branches, { count: 0, bytes: 0 }, this.where)
  }

  /** The chain goes on beneath the branches, as it likes. */
  private moveChain(): void {
    const { engine, prng, tree } = this
    const { block } = prng.pick(tree.blocks.filter(({ copy }) => copy !== undefined))
    try {
      if (prng.oneIn(3)) engine.setHead(block.header.hash)
      else engine.import(block)
    } catch (error) {
      if (!isVarveError(error)) throw error
      assert.ok(['BLOCK_PARENT_UNKNOWN', 'ENGINE_STATE_NOT_KEPT'].includes(error.code), this.where)
    }
    if (prng.oneIn(2)) engine.flush()
  }

  /** A new branch, at a block of the chain or on another branch. */
  private begin(): void {
    const { engine, prng, live } = this
    if (live.length >= LIVE_COUNT_MAX) this.release(prng.pick(live))
    if (live.length > 0 && prng.oneIn(2)) {
      const { branch, base, at } = prng.pick(live)
      if (this.isKept(base)) live.push({ branch: branch.fork(), base, origin: at, at })
      return
    }
    const base = this.places.get(toHex(engine.head.header.hash))!
    const at = prng.oneIn(2) ? base : prng.pick([...this.places.values()])
    if (this.isKept(at)) live.push({ branch: engine.at(at.hash).fork(), base: at, origin: at, at })
  }

  private use(each: Live): void {
    const { prng } = this
    if (!this.isKept(each.base)) {
      for (const ask of [() => each.branch.root(), () => each.branch.execute([])])
        assert.throws(ask, { code: 'ENGINE_STATE_NOT_KEPT' }, this.where)
      this.release(each)
      return
    }
    const next = this.children.get(toHex(each.at.hash)) ?? []
    if (next.length > 0 && !prng.oneIn(5)) this.execute(each, prng.pick(next))
    if (prng.oneIn(2)) this.compare(each)
    if (prng.oneIn(8)) this.release(each)
  }

  private execute(each: Live, block: Block): void {
    const { coinbase, timestamp, gasUsed } = block.header
    const [first] = block.transactions
    // The same twice has a nonce that was used, and a block with such a one leaves no trace.
    if (first !== undefined && this.prng.oneIn(4))
      assert.throws(() => each.branch.execute([first, first], { coinbase, timestamp }), this.where)
    const found = each.branch.execute(block.transactions, { coinbase, timestamp })
    assert.equal(found.gasUsed, gasUsed, this.where)
    assert.equal(found.receipts.length, block.transactions.length, this.where)
    each.at = this.places.get(toHex(block.header.hash))!
  }

  private compare({ branch, origin, at }: Live): void {
    if (this.prng.oneIn(2)) assert.equal(toHex(branch.header().hash), toHex(at.hash), this.where)
    const { stateRoot } = branch.header()
    assert.ok(bytesEqual(branch.root(), stateRoot), this.where)
    assert.deepEqual(diffRows(branch), differingRows(origin.copy, at.copy), this.where)
    for (const key of [...origin.copy.keys(), ...at.copy.keys()])
      if (this.prng.oneIn(4)) assert.equal(rowOf(branch.state, key), at.copy.get(key), this.where)
  }

  private release(each: Live): void {
    each.branch.release()
    assert.throws(() => each.branch.fork(), { code: 'STATE_LAYER_RELEASED' }, this.where)
    this.live.splice(this.live.indexOf(each), 1)
  }

  private isKept({ hash }: Place): boolean {
    try {
      this.engine.at(hash)
      return true
    } catch (error) {
      if (!isVarveError(error, 'ENGINE_STATE_NOT_KEPT')) throw error
      return false
    }
  }
}

/** Row of an account or slot by its key as text, or `undefined`. */
function rowOf(view: StateView, key: string): string | undefined {
  const bytes = fromHex(key)
  if (bytes.length === 32) {
    const account = view.account(bytes)
    return account === undefined ? undefined : toHex(encodeFlatAccount(account))
  }
  const value = view.storage(bytes.subarray(0, 32), bytes.subarray(32))
  return value === undefined ? undefined : toHex(encodeFlatSlot(value))
}

type RowChange = readonly [before: string | undefined, after: string | undefined]

function differingRows(before: StateCopy, after: StateCopy): Map<string, RowChange> {
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort()
  return new Map(
    keys
      .filter((key) => before.get(key) !== after.get(key))
      .map((key) => [key, [before.get(key), after.get(key)]]),
  )
}

/** The rows that a branch says it changed. */
function diffRows(branch: Branch): Map<string, RowChange> {
  const rows: [string, RowChange][] = []
  const add = (key: string, before: string | undefined, after: string | undefined) => {
    if (before !== after) rows.push([key, [before, after]])
  }
  for (const { addressHash, before, after, slots } of branch.diff().accounts) {
    const [old, young] = [before, after].map((account) =>
      account === undefined ? undefined : toHex(encodeFlatAccount(account)),
    )
    add(toHex(addressHash), old, young)
    for (const slot of slots) {
      const [from, to] = [slot.before, slot.after].map((value) =>
        value === undefined ? undefined : toHex(encodeFlatSlot(value)),
      )
      add(toHex(addressHash) + toHex(slot.slotHash).slice(2), from, to)
    }
  }
  return new Map(rows.sort(([a], [b]) => (a < b ? -1 : 1)))
}
