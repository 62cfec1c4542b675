/**
 * Checks the rows of blocks: from genesis to the head and on every side branch, each header, body, receipt list and
 * index row, and that there are no others. Each byte is covered: headers by their hash, bodies and receipts by the header's roots, the rest by
 * recomputing it.
 */
import { bytesEqual, HASH_BYTES, isVarveError, toHex } from '../../base/index.ts'
import {
  type ChainSpec,
  isMergedAfter,
  rulesAt,
  totalDifficulty,
  validateBody,
  validateReceipts,
} from '../../chain/index.ts'
import { decodeSlimReceipts, type Header } from '../../codec/index.ts'
import { blockKey, META, numberKey, type Store, type Table } from '../../store/index.ts'
import {
  decodeStoredBody,
  decodeStoredHeader,
  emptyBody,
  type HeadRecord,
  hasEmptyBody,
  readHead,
  readIdentity,
  type StoredHeader,
} from '../chainRecords.ts'
import type { BlockTree } from '../tree/blockTree.ts'
import { readTree } from '../tree/readTree.ts'
import { type Difference, difference } from './difference.ts'

/** What the check of the meta records found out, for the checks that follow. */
export type ChainFacts = {
  readonly head: HeadRecord
  readonly spec: ChainSpec
  readonly genesisHash: Uint8Array
}

/** Checks the table `meta`. Returns its content, or `undefined` for an empty database. */
export function* verifyMeta(store: Store): Generator<Difference, ChainFacts | undefined> {
  const known = Object.values(META)
  for (const { key, value } of store.range('meta'))
    if (!known.some((name) => bytesEqual(name, key)))
      yield difference('meta', key, 'a record', 'no record of this name', value)
  try {
    const identity = readIdentity(store)
    if (identity === undefined) return undefined
    return { head: readHead(store), ...identity }
  } catch (error) {
    if (!isVarveError(error)) throw error
    yield difference('meta', META.head, 'the records', 'records that decode', error.message)
    return undefined
  }
}

/** Rows that a table must have. */
type RowCounts = { bodies: number; receipts: number; sideReceipts: number }

/**
 * Checks all blocks. Returns the tree of kept ones, or `undefined` where it could not be read.
 * @param onBlock told after each canonical block, for progress
 */
export function* verifyChain(
  store: Store,
  facts: ChainFacts,
  onBlock: (number: number) => void,
): Generator<Difference, BlockTree | undefined> {
  const counts: RowCounts = { bodies: 0, receipts: 0, sideReceipts: 0 }
  const head = yield* verifyCanonical(store, facts, counts, onBlock)
  // Without this block nothing after it can be told right from wrong.
  if (head === undefined) return undefined
  const { hash, stateRoot } = facts.head
  if (!bytesEqual(head.hash, hash))
    yield difference('meta', META.head, 'the head record: hash', head.hash, hash)
  if (!bytesEqual(head.stateRoot, stateRoot))
    yield difference('meta', META.head, 'the head record: state root', head.stateRoot, stateRoot)
  let tree: BlockTree
  try {
    tree = readTree(store).tree
  } catch (error) {
    if (!isVarveError(error)) throw error
    yield difference('deltas', META.floor, 'the kept blocks', 'a tree of blocks', error.message)
    return undefined
  }
  for (const node of tree.nodes()) {
    if (node.isCanonical) continue
    const checker = new BlockChecker(store, facts, node.header.number, node.parent, 'sideReceipts')
    yield* checker.run(node.header.hash)
    checker.count(counts)
  }
  yield* verifyRowCounts(store, tree, counts)
  return tree
}

/** Checks the canonical chain. Returns the header of its head, or `undefined` where a block before it is missing. */
function* verifyCanonical(
  store: Store,
  facts: ChainFacts,
  counts: RowCounts,
  onBlock: (number: number) => void,
): Generator<Difference, Header | undefined> {
  let parent: StoredHeader | undefined
  for (let number = 0; number <= facts.head.number; number++) {
    const hash = store.get('canonical', numberKey(number))
    if (hash?.length !== HASH_BYTES) {
      yield difference('canonical', numberKey(number), `block ${number}`, 'its hash', hash)
      return undefined
    }
    const checker = new BlockChecker(store, facts, number, parent, 'receipts')
    parent = yield* checker.run(hash)
    if (parent === undefined) return undefined
    checker.count(counts)
    onBlock(number)
  }
  return parent?.header
}

class BlockChecker {
  private hasBody = false
  private hasReceipts = false
  private readonly store: Store
  private readonly facts: ChainFacts
  private readonly number: number
  private readonly parent: StoredHeader | undefined
  private readonly receiptsTable: 'receipts' | 'sideReceipts'
  private readonly subject: string

  /** @param receiptsTable where the block's receipts belong, by the side it is on */
  constructor(
    store: Store,
    facts: ChainFacts,
    number: number,
    parent: StoredHeader | undefined,
    receiptsTable: 'receipts' | 'sideReceipts',
  ) {
    this.store = store
    this.receiptsTable = receiptsTable
    this.facts = facts
    this.number = number
    this.parent = parent
    this.subject = `${receiptsTable === 'receipts' ? '' : 'side '}block ${number}`
  }

  /** Yields the faults of one block and returns its header, or `undefined` where there is none to go on with. */
  *run(hash: Uint8Array): Generator<Difference, StoredHeader | undefined> {
    const { store, number, subject } = this
    const key = blockKey(number, hash)
    const row = store.get('headers', key)
    if (row === undefined) {
      yield difference('headers', key, subject, 'a header', undefined)
      return undefined
    }
    let stored: StoredHeader
    try {
      stored = decodeStoredHeader(row, number, hash)
    } catch (error) {
      if (!isVarveError(error)) throw error
      yield difference('headers', key, subject, `a header with hash ${toHex(hash)}`, error.message)
      return undefined
    }
    yield* this.verifyLinks(key, stored)
    yield* this.verifyBody(key, stored.header)
    return stored
  }

  /** Adds the rows that the block has. */
  count(counts: RowCounts): void {
    if (this.hasBody) counts.bodies++
    if (this.hasReceipts) counts[this.receiptsTable]++
  }

  private *verifyLinks(
    key: Uint8Array,
    { header, totalDifficulty: total }: StoredHeader,
  ): Generator<Difference> {
    const { store, number, subject, parent, facts } = this
    const parentHash = parent?.header.hash
    if (parentHash === undefined && !bytesEqual(header.hash, facts.genesisHash))
      yield difference(
        'meta',
        META.genesisHash,
        'the genesis record',
        header.hash,
        facts.genesisHash,
      )
    if (parentHash !== undefined && !bytesEqual(header.parentHash, parentHash))
      yield difference(
        'canonical',
        numberKey(number),
        `${subject}: parent`,
        parentHash,
        header.parentHash,
      )
    const expected = totalDifficulty(parent?.totalDifficulty ?? 0n, header.difficulty)
    if (total !== expected)
      yield difference('headers', key, `${subject}: total difficulty`, `${expected}`, `${total}`)
    const numberRow = store.get('numbers', header.hash)
    if (numberRow === undefined || !bytesEqual(numberRow, numberKey(number)))
      yield difference('numbers', header.hash, subject, numberKey(number), numberRow)
  }

  private *verifyBody(key: Uint8Array, header: Header): Generator<Difference> {
    const { store, number, subject, parent, facts } = this
    const row = store.get('bodies', key)
    this.hasBody = !hasEmptyBody(header)
    if ((row !== undefined) !== this.hasBody) {
      const expected = this.hasBody ? 'a body' : 'none, as the header says that it is empty'
      yield difference('bodies', key, subject, expected, row)
      return
    }
    try {
      const body = row === undefined ? emptyBody(header) : decodeStoredBody(row, number)
      const isMerged = isMergedAfter(facts.spec.schedule, parent?.totalDifficulty ?? 0n)
      validateBody(header, body, rulesAt(facts.spec, number, header.timestamp, isMerged).fork)
      this.hasReceipts = body.transactions.length > 0
    } catch (error) {
      if (!isVarveError(error)) throw error
      yield difference('bodies', key, subject, 'the body of its header', error.message)
      return
    }
    yield* this.verifyReceipts(key, header)
  }

  private *verifyReceipts(key: Uint8Array, header: Header): Generator<Difference> {
    const { store, subject, receiptsTable: table } = this
    const row = store.get(table, key)
    if ((row !== undefined) !== this.hasReceipts) {
      const expected = this.hasReceipts ? 'receipts' : 'none, as the block has no transactions'
      yield difference(table, key, subject, expected, row)
      return
    }
    if (row === undefined) return
    try {
      validateReceipts(header, decodeSlimReceipts(row))
    } catch (error) {
      if (!isVarveError(error)) throw error
      yield difference(table, key, subject, 'the receipts of its header', error.message)
    }
  }
}

/** What is left over once every expected row was seen. */
function* verifyRowCounts(store: Store, tree: BlockTree, counts: RowCounts): Generator<Difference> {
  const { head, floor, sideCount } = tree
  const blockCount = head.header.number + 1
  const expected: Partial<Record<Table, number>> = {
    ...counts,
    headers: blockCount + sideCount,
    numbers: blockCount + sideCount,
    canonical: blockCount,
    deltas: head.header.number - floor.header.number + sideCount,
  }
  for (const { table, entryCount } of store.tableStats()) {
    const count = expected[table]
    if (count === undefined || count === entryCount) continue
    yield difference(table, new Uint8Array(0), 'number of rows', `${count}`, `${entryCount}`)
  }
}
