/**
 * Any order of import against the canonical one. A tree of valid and invalid blocks comes in at random, children before
 * parents too; between blocks the engine writes, is opened again, is asked about old states and is told to move its
 * head. What it says is compared with full copies, and at the end the store with that of an import in order, row by row.
 */
import assert from 'node:assert/strict'
import {
  ADDRESS_BYTES,
  bytesEqual,
  Fork,
  fromHex,
  HASH_BYTES,
  isVarveError,
  toHex,
} from '../../base/index.ts'
import type { Block, Header } from '../../codec/index.ts'
import { verifyAccountProof } from '../../commit/index.ts'
import { encodeFlatAccount, encodeFlatSlot } from '../../state/index.ts'
import { memoryStore, type Store } from '../../store/index.ts'
import { Prng } from '../../testing/index.ts'
import { type Engine, openEngine } from '../engine.ts'
import { addressOf, dumpStore } from '../testChain.suite.ts'
import { verifyStore } from '../verify/verifyStore.ts'
import {
  copyOf,
  makeTree,
  type StateCopy,
  type TestTree,
  type TreeBlock,
} from './treeChain.suite.ts'

/** Proof of work: the heaviest branch wins, whatever came first. */
export async function fuzzImportOrder(seed: number, stepCount: number): Promise<void> {
  const prng = new Prng(seed)
  const blockCount = 10 + (stepCount % 30)
  const tree = await makeTree(prng, { fork: Fork.London, blockCount, spread: 6, withCopies: true })
  const inOrder = await importAll(tree, tree.blocks, new Prng(seed), `seed ${seed} in order`)
  for (let round = 0; round < 3; round++) {
    const shuffled = shuffle(prng, tree.blocks)
    const where = `seed ${seed} round ${round}`
    const { engine, store } = await importAll(tree, shuffled, prng, where)
    assert.equal(toHex(engine.head.header.hash), toHex(inOrder.engine.head.header.hash), where)
    assert.equal(dumpStore(store), dumpStore(inOrder.store), where)
  }
}

/** Proof of stake: the head goes where it is told, as far as states are kept. */
export async function fuzzSetHead(seed: number, stepCount: number): Promise<void> {
  const prng = new Prng(seed)
  const tree = await makeTree(prng, {
    fork: Fork.Shanghai,
    blockCount: 40,
    spread: 5,
    withCopies: true,
  })
  const blocks = tree.blocks.filter(({ copy }) => copy !== undefined)
  const store = memoryStore()
  const options = { store, genesis: tree.genesis }
  const historyBlocks = prng.between(1, 9)
  let engine = await openEngine({ ...options, historyBlocks })
  const model = new KeptModel(engine.head.header, historyBlocks)
  for (let step = 0; step < stepCount; step++) {
    const where = `seed ${seed} step ${step}, ${historyBlocks} blocks kept`
    // Mostly a block that can come next, else the chain hardly grows.
    const next = blocks.filter(({ block }) => model.lacks(block.header))
    const target = prng.pick(prng.oneIn(3) || next.length === 0 ? blocks : next)
    if (prng.oneIn(4)) checkSetHead(engine, model, target, where)
    else checkImport(engine, model, target, where)
    assert.equal(toHex(engine.head.header.hash), toHex(model.head.hash), where)
    for (const { block } of [target, prng.pick(blocks)])
      assert.equal(stateIsKept(engine, block), model.keeps(block.header), where)
    checkState(engine, prng.pick(blocks), prng, where)
    if (prng.oneIn(5)) checkReceipts(engine, blocks, where)
    if (prng.oneIn(5)) engine.flush()
    if (prng.oneIn(15)) {
      engine.flush()
      assert.deepEqual([...verifyStore(store)], [], where)
      engine = await openEngine({ store, historyBlocks, batchBlockCount: prng.between(1, 9) })
    }
  }
  engine.flush()
  const copyOfHead = blocks.find(({ block }) =>
    bytesEqual(block.header.hash, model.head.hash),
  )?.copy
  assert.deepEqual(copyOf(store), copyOfHead ?? tree.genesisCopy)
  checkReceipts(engine, blocks, `seed ${seed}`)
}

function checkImport(engine: Engine, model: KeptModel, { block }: TreeBlock, where: string): void {
  const expected = model.import(block.header)
  try {
    assert.equal(engine.import(block).status, expected, where)
  } catch (error) {
    if (!isVarveError(error)) throw error
    assert.equal(error.code, expected, where)
  }
}

function checkSetHead(engine: Engine, model: KeptModel, { block }: TreeBlock, where: string): void {
  const head = engine.head.header.hash
  const expected = model.setHead(block.header)
  try {
    const { status, dropped, added } = engine.setHead(block.header.hash)
    assert.equal(status, expected, where)
    checkMove(head, dropped, added)
  } catch (error) {
    if (!isVarveError(error)) throw error
    assert.equal(error.code, expected, where)
  }
}

function stateIsKept(engine: Engine, { header }: Block): boolean {
  try {
    engine.at(header.hash)
    return true
  } catch (error) {
    if (!isVarveError(error, 'ENGINE_STATE_NOT_KEPT')) throw error
    return false
  }
}

/** Which blocks are kept, worked out anew after every move by climbing from each block to the chain. */
class KeptModel {
  head: Header
  private floor = 0
  private readonly historyBlocks: number
  /** Every block whose rows are there, by hash. */
  private readonly known = new Map<string, Header>()

  constructor(genesis: Header, historyBlocks: number) {
    this.head = genesis
    this.historyBlocks = historyBlocks
    this.known.set(toHex(genesis.hash), genesis)
  }

  keeps(header: Header): boolean {
    if (!this.known.has(toHex(header.hash))) return false
    const canonical = this.canonical()
    let at: Header | undefined = header
    while (at !== undefined && !canonical.has(toHex(at.hash)))
      at = this.known.get(toHex(at.parentHash))
    return at !== undefined && at.number >= this.floor
  }

  /** Whether a block can be imported and was not. */
  lacks({ hash, parentHash }: Header): boolean {
    const parent = this.known.get(toHex(parentHash))
    return !this.known.has(toHex(hash)) && parent !== undefined && this.keeps(parent)
  }

  import(header: Header): string {
    if (this.known.has(toHex(header.hash))) return 'known'
    const parent = this.known.get(toHex(header.parentHash))
    if (parent === undefined) return 'BLOCK_PARENT_UNKNOWN'
    if (!this.keeps(parent)) return 'ENGINE_STATE_NOT_KEPT'
    this.known.set(toHex(header.hash), header)
    if (parent !== this.head) return 'side'
    this.moveTo(header)
    return 'head'
  }

  setHead(header: Header): string {
    if (!this.keeps(header)) return 'ENGINE_STATE_NOT_KEPT'
    if (bytesEqual(header.hash, this.head.hash)) return 'known'
    const before = this.head
    this.moveTo(header)
    return this.canonical().has(toHex(before.hash)) ? 'head' : 'reorg'
  }

  private moveTo(header: Header): void {
    this.head = this.known.get(toHex(header.hash))!
    this.floor = Math.max(this.floor, this.head.number - this.historyBlocks)
    const canonical = this.canonical()
    const kept = [...this.known.values()].filter((each) => this.keeps(each))
    const gone = [...this.known.keys()].filter(
      (hash) => !canonical.has(hash) && !kept.some((each) => toHex(each.hash) === hash),
    )
    for (const hash of gone) this.known.delete(hash)
  }

  private canonical(): Set<string> {
    const hashes = new Set<string>()
    for (let at: Header | undefined = this.head; at !== undefined; )
      at = hashes.add(toHex(at.hash)) && this.known.get(toHex(at.parentHash))
    return hashes
  }
}

type Run = { readonly engine: Engine; readonly store: Store }

/** Imports everything that can be imported, in the order given, coming back to what had no parent. */
async function importAll(
  tree: TestTree,
  order: readonly TreeBlock[],
  prng: Prng,
  where: string,
): Promise<Run> {
  const store = memoryStore()
  let engine = await openEngine({
    store,
    genesis: tree.genesis,
    batchBlockCount: prng.between(1, 20),
  })
  let waiting = [...order]
  for (let isMoving = true; isMoving; ) {
    isMoving = false
    const later: TreeBlock[] = []
    for (const each of waiting) {
      const before = prng.oneIn(12) ? dumpStore(store) : undefined
      const outcome = importOne(engine, each, where)
      if (outcome === 'parent unknown') later.push(each)
      else isMoving = true
      if (outcome !== 'accepted' && before !== undefined)
        assert.equal(dumpStore(store), before, `${where}: a refused block left a trace`)
      if (prng.oneIn(6)) engine.flush()
      if (prng.oneIn(12)) {
        engine.flush()
        engine = await openEngine({ store, batchBlockCount: prng.between(1, 20) })
      }
      if (prng.oneIn(6)) checkState(engine, prng.pick(tree.blocks), prng, where)
    }
    waiting = later
  }
  assert.ok(
    waiting.every(({ copy }) => copy === undefined),
    `${where}: a valid block was left over`,
  )
  engine.flush()
  assert.deepEqual([...verifyStore(store)], [], where)
  for (const each of tree.blocks) checkState(engine, each, prng, where)
  checkReceipts(engine, tree.blocks, where)
  return { engine, store }
}

function importOne(
  engine: Engine,
  { block, copy }: TreeBlock,
  where: string,
): 'accepted' | 'refused' | 'parent unknown' {
  const head = engine.head
  try {
    const { status, dropped, added } = engine.import(block)
    assert.ok(copy !== undefined, `${where}: an invalid block was accepted`)
    if (status === 'side' || status === 'known') assert.equal(engine.head, head)
    else assert.equal(toHex(engine.head.header.hash), toHex(block.header.hash))
    checkMove(head.header.hash, dropped, added)
    return 'accepted'
  } catch (error) {
    if (!isVarveError(error)) throw error
    assert.equal(engine.head, head, where)
    if (error.code === 'BLOCK_PARENT_UNKNOWN') return 'parent unknown'
    assert.equal(copy, undefined, `${where}: a valid block was refused: ${error.message}`)
    return 'refused'
  }
}

/** What left the chain and what joined it must hang together. */
function checkMove(head: Uint8Array, dropped: readonly Header[], added: readonly Header[]): void {
  let at = head
  for (const { hash, parentHash } of dropped) {
    assert.equal(toHex(hash), toHex(at))
    at = parentHash
  }
  for (const { hash, parentHash } of added) {
    assert.equal(toHex(parentHash), toHex(at))
    at = hash
  }
}

/** Compares a block's state with its copy: every row of the copy, some that are not there, and proofs. */
function checkState(engine: Engine, { block, copy }: TreeBlock, prng: Prng, where: string): void {
  const { hash, stateRoot } = block.header
  let view: ReturnType<Engine['at']>
  try {
    view = engine.at(hash)
  } catch (error) {
    if (!isVarveError(error, 'ENGINE_STATE_NOT_KEPT')) throw error
    return
  }
  assert.ok(copy !== undefined, `${where}: an invalid block has a state`)
  assert.deepEqual(view.root(), stateRoot)
  compareWithCopy(view, copy, where)
  for (let count = 0; count < 2; count++) {
    const address = addressOf(prng.pick([0xcc, 0xd1, 0xd2, 0xd3, 0xfa, 0x41, 0x99]))
    assert.equal(address.length, ADDRESS_BYTES)
    const slots = [0, 1, 3, 7].map((slot) => new Uint8Array(HASH_BYTES).fill(slot, 31))
    const { account, values } = verifyAccountProof(stateRoot, view.proof(address, slots))
    assert.deepEqual(account, view.account(address), where)
    assert.deepEqual(
      values,
      slots.map((slot) => view.storage(address, slot)),
      where,
    )
  }
  if (prng.oneIn(3)) assert.deepEqual(view.summary().root(), stateRoot, where)
}

function compareWithCopy(view: ReturnType<Engine['at']>, copy: StateCopy, where: string): void {
  const slotCounts = new Map<string, number>()
  for (const [key, row] of copy) {
    const bytes = fromHex(key)
    const addressHash = bytes.slice(0, HASH_BYTES)
    if (bytes.length === HASH_BYTES) {
      const account = view.state.account(addressHash)
      assert.equal(account && toHex(encodeFlatAccount(account)), row, `${where}: account ${key}`)
      slotCounts.set(key, slotCounts.get(key) ?? 0)
      if (account !== undefined) view.state.code(account.codeHash)
    } else {
      const value = view.state.storage(addressHash, bytes.slice(HASH_BYTES))
      assert.equal(value && toHex(encodeFlatSlot(value)), row, `${where}: slot ${key}`)
      slotCounts.set(toHex(addressHash), 1)
    }
  }
  for (const [key, count] of slotCounts)
    assert.equal(view.state.hasStorage(fromHex(key)), count > 0, `${where}: storage of ${key}`)
}

/** Receipts of the canonical chain, and of no other block. */
function checkReceipts(engine: Engine, blocks: readonly TreeBlock[], where: string): void {
  for (const { block } of blocks) {
    const { number, hash } = block.header
    const canonical = engine.canonicalHash(number)
    const isCanonical = canonical !== undefined && bytesEqual(canonical, hash)
    const receipts = engine.receipts(hash)
    assert.equal(receipts?.length, isCanonical ? block.transactions.length : undefined, where)
    if (!isCanonical) continue
    assert.deepEqual(engine.receipts(number), receipts)
    assert.deepEqual(engine.block(number)?.header.hash, hash)
    assert.equal(engine.block(hash)?.transactions.length, block.transactions.length)
  }
}

function shuffle<Item>(prng: Prng, items: readonly Item[]): Item[] {
  const shuffled = [...items]
  for (let index = shuffled.length - 1; index > 0; index--) {
    const other = prng.below(index + 1)
    const item = shuffled[index]!
    shuffled[index] = shuffled[other]!
    shuffled[other] = item
  }
  return shuffled
}
