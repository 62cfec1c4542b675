/**
 * Whether the accounts' rows after a batch are those that its nodes commit to. Leaves of the account trie have no rows
 * (`commit/nodeReaders.ts`); their hashes stand in the branches. What is changed in an account changes all nodes above
 * it, so the batch has them.
 *
 *     account's row put, or root of its storage changed ─▶ its leaf ─▶ hash == the child of the deepest node on its way
 *     account's row removed ─▶ no child there, or the leaf of another account
 *
 * Not here: rows that are left out although their accounts have changed: no row tells of them. `db verify` does.
 */
import { EMPTY_TRIE_ROOT, HASH_BYTES } from '../../base/index.ts'
import { leafOfRow, storageRootOf } from '../../commit/index.ts'
import { keccak256Into } from '../../kernels/index.ts'
import { accountNodeKey, type WriteBatch } from '../../store/index.ts'
import { lentLeaf, type NodeStep, stepDown, unpackNibbles } from '../../trie/index.ts'
import type { RowFault, RowsAfter } from './rowsAfter.ts'

const NO_PATH = new Uint8Array(0)
const ROOT_KEY = accountNodeKey(NO_PATH, 0)

/**
 * Looks for an account whose row is not the one that the nodes commit to; the first one.
 * Cost: about 1 us an account, a third of it the hash of its leaf.
 */
export function findAccountFault(rows: RowsAfter, stateRoot: Uint8Array): RowFault | undefined {
  return new LeafHashes(rows, stateRoot).find()
}

class LeafHashes {
  private readonly rows: RowsAfter
  private readonly batch: WriteBatch
  private readonly stateRoot: Uint8Array
  private readonly order: Uint32Array
  private readonly step: NodeStep = { depth: 0, hashStart: -1 }
  /** Where the next node of each depth is looked for: accounts come in their order, and so do the nodes of a depth. */
  private places: Uint32Array
  private readonly ends: Uint32Array

  constructor(rows: RowsAfter, stateRoot: Uint8Array) {
    const { batch } = rows
    this.rows = rows
    this.batch = batch
    this.stateRoot = stateRoot
    this.order = batch.operationsSorted()
    const [start, end] = batch.spanOf('accountNodes')
    this.places = new Uint32Array(2 * HASH_BYTES + 2).fill(start)
    this.ends = new Uint32Array(2 * HASH_BYTES + 2).fill(start)
    let depth = -1
    for (let place = start; place < end; place++) {
      const at = batch.bytes[batch.keyOffsetAt(this.order[place]!)]!
      if (at !== depth) this.places[at] = place
      this.ends[at] = place + 1
      depth = at
    }
  }

  find(): RowFault | undefined {
    const { batch, order } = this
    const firsts = this.places.slice()
    const [start, end] = batch.spanOf('accounts')
    for (let place = start; place < end; place++) {
      const operation = order[place]!
      const key = batch.keyAt(operation)
      const row = batch.valueAt(operation)
      if (row === undefined ? !this.isGone(key) : !this.isRight(key, row)) return fault(key)
    }
    this.places = firsts
    const [nodeStart, nodeEnd] = batch.spanOf('storageNodes')
    for (let place = nodeStart; place < nodeEnd; place++) {
      const operation = order[place]!
      const keyOffset = batch.keyOffsetAt(operation)
      // The root of a storage trie, at depth 0.
      if (batch.keyEndAt(operation) - keyOffset !== HASH_BYTES + 1) continue
      const key = batch.bytes.subarray(keyOffset, keyOffset + HASH_BYTES)
      if (batch.outcomeOf('accounts', key) !== undefined) continue
      const row = this.rows.get('accounts', key)
      if (row === undefined ? batch.valueEndAt(operation) >= 0 : !this.isRight(key, row))
        return fault(key)
    }
    return this.findRootFault()
  }

  /** Where the root is a leaf, the batch may have left it alone. */
  private findRootFault(): RowFault | undefined {
    if (this.rows.get('accountNodes', ROOT_KEY) !== undefined) return undefined
    const only = this.rows.accountBelow(NO_PATH, 0)
    return only === undefined || this.isRight(only.key, only.value) ? undefined : fault(only.key)
  }

  private isRight(key: Uint8Array, row: Uint8Array): boolean {
    const { step } = this
    const hasParent = this.findParent(key)
    if (hasParent && step.hashStart < 0) return false
    const { depth } = step
    const bytes = hasParent ? this.batch.bytes : this.stateRoot
    const hashStart = hasParent ? step.hashStart : 0
    // Most accounts have no storage, and to know it for certain takes a read.
    return (
      isLeafHash(key, depth, row, EMPTY_TRIE_ROOT, bytes, hashStart) ||
      isLeafHash(key, depth, row, storageRootOf(this.rows, key), bytes, hashStart) ||
      this.isRightInStore(key, row)
    )
  }

  /** The same where nodes on the way may lie in the store: of an account that is as it was, with nodes put once more. */
  private isRightInStore(key: Uint8Array, row: Uint8Array): boolean {
    const { step, rows } = this
    const nibbles = unpackNibbles(key, 0, 2 * key.length)
    let bytes = this.stateRoot
    let hashStart = 0
    step.depth = 0
    for (;;) {
      const node = rows.get('accountNodes', accountNodeKey(nibbles, step.depth))
      if (node === undefined) break
      stepDown(node, 0, node.length, key, step)
      if (step.hashStart < 0) return false
      bytes = node
      hashStart = step.hashStart
    }
    return isLeafHash(key, step.depth, row, storageRootOf(this.rows, key), bytes, hashStart)
  }

  /** Whether there is no leaf of a key: nothing at its place, or the leaf of another one. */
  private isGone(key: Uint8Array): boolean {
    const { step } = this
    if (!this.findParent(key) || step.hashStart < 0) return true
    const places = this.places.slice()
    const other = this.rows.accountBelow(key, step.depth)
    const isGone = other !== undefined && this.isRight(other.key, other.value)
    this.places = places
    return isGone
  }

  /** Goes down to the key's leaf, where `step` is then; false where that is the root. */
  private findParent(key: Uint8Array): boolean {
    const { batch, step } = this
    step.depth = 0
    step.hashStart = -1
    let place = this.nodeAt(0, key)
    if (place < 0) return false
    while (place >= 0) {
      const operation = this.order[place]!
      stepDown(batch.bytes, batch.keyEndAt(operation), batch.valueEndAt(operation), key, step)
      if (step.hashStart < 0) return true
      place = this.nodeAt(step.depth, key)
    }
    return true
  }

  /** Place of the node put at the key's first nibbles, or -1. */
  private nodeAt(depth: number, key: Uint8Array): number {
    const end = this.ends[depth]!
    let place = this.places[depth]!
    let side = -1
    while (place < end) {
      side = this.compare(place, depth, key)
      if (side >= 0) break
      place++
    }
    this.places[depth] = place
    return place < end && side === 0 && this.batch.valueEndAt(this.order[place]!) >= 0 ? place : -1
  }

  private compare(place: number, depth: number, key: Uint8Array): number {
    const { bytes } = this.batch
    const at = this.batch.keyOffsetAt(this.order[place]!) + 1
    const whole = depth >> 1
    for (let index = 0; index < whole; index++) {
      const difference = bytes[at + index]! - key[index]!
      if (difference !== 0) return difference
    }
    return (depth & 1) === 0 ? 0 : bytes[at + whole]! - (key[whole]! & 0xf0)
  }
}

const hash = new Uint8Array(HASH_BYTES)

/** Whether an account's leaf at a depth has the hash that lies in `bytes` at `hashStart`. */
function isLeafHash(
  key: Uint8Array,
  depth: number,
  row: Uint8Array,
  storageRoot: Uint8Array,
  bytes: Uint8Array,
  hashStart: number,
): boolean {
  const leaf = leafOfRow({ bytes: row, start: 0, end: row.length }, storageRoot)
  keccak256Into(lentLeaf(key, depth, leaf), hash, 0)
  for (let index = 0; index < HASH_BYTES; index++)
    if (hash[index] !== bytes[hashStart + index]) return false
  return true
}

function fault(key: Uint8Array): RowFault {
  return { table: 'accounts', key: key.slice(), problem: 'its leaf has another hash' }
}
