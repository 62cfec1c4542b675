/**
 * The tree of kept blocks as it lies in a store: the canonical chain from the floor to the head, and a side block for
 * every other row of the table `deltas`.
 */
import { bytesEqual, readUint64BE, toHex } from '../../base/index.ts'
import { BLOCK_KEY_BYTES, BLOCK_NUMBER_BYTES, numberKey, type Store } from '../../store/index.ts'
import {
  blockMissing,
  type HeadRecord,
  readCanonicalHash,
  readFloor,
  readHead,
  readStoredHeader,
  recordFault,
  type StoredHeader,
} from '../chainRecords.ts'
import { BlockTree } from './blockTree.ts'
import { DeltaKeeper } from './deltaKeeper.ts'

/** @throws VarveError ENGINE_RECORD_INVALID, ENGINE_BLOCK_MISSING, ENGINE_BLOCK_INVALID */
export function readTree(store: Store): { tree: BlockTree; deltas: DeltaKeeper } {
  const head = readHead(store)
  const floor = readFloor(store)
  if (floor > head.number) throw recordFault('floor', `is ${floor}, above the head ${head.number}`)
  const tree = new BlockTree(readCanonical(store, floor))
  const deltas = new DeltaKeeper(store)
  for (let number = floor + 1; number <= head.number; number++) {
    const block = readCanonical(store, number)
    const ancestor = tree.head
    if (!bytesEqual(block.header.parentHash, ancestor.header.hash))
      throw recordFault(
        'floor',
        `leads to block ${number} with another parent than the block before`,
      )
    const node = tree.add(block, ancestor, undefined)
    tree.moveHead({ back: [], ancestor, forward: [node] })
    deltas.addWritten(node)
  }
  checkHead(head, tree.head)
  readSideBlocks(store, tree, deltas)
  return { tree, deltas }
}

function readCanonical(store: Store, number: number): StoredHeader {
  const hash = readCanonicalHash(store, number)
  if (hash === undefined) throw blockMissing('canonical hash', number)
  return readStoredHeader(store, number, hash)
}

function checkHead(head: HeadRecord, { header }: StoredHeader): void {
  if (!bytesEqual(header.hash, head.hash))
    throw recordFault('head', `says ${toHex(head.hash)}, the chain ends with ${toHex(header.hash)}`)
  if (!bytesEqual(header.stateRoot, head.stateRoot))
    throw recordFault(
      'head',
      `says state root ${toHex(head.stateRoot)}, the header of block ${head.number} ${toHex(header.stateRoot)}`,
    )
}

/** Rows come in the order of numbers, so parents come first. */
function readSideBlocks(store: Store, tree: BlockTree, deltas: DeltaKeeper): void {
  const floor = tree.floor.header.number
  for (const { key } of store.range('deltas', { gte: numberKey(floor) })) {
    if (key.length !== BLOCK_KEY_BYTES) throw recordFault('deltas', `has a key ${toHex(key)}`)
    const number = readUint64BE(key, 0)
    const hash = key.subarray(BLOCK_NUMBER_BYTES)
    if (tree.get(hash) !== undefined) continue
    const block = readStoredHeader(store, number, hash)
    const parent = tree.get(block.header.parentHash)
    if (parent === undefined) throw blockMissing('kept parent', number, hash)
    deltas.addWritten(tree.add(block, parent, undefined))
  }
}
