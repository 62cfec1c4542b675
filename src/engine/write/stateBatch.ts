/**
 * Everything that changed in the state since the last write, as operations of one batch: trie nodes, accounts, slots,
 * codes. The rows of the flat state come from the pending deltas, the nodes from the summary, so both name the same
 * root.
 */
import type { SummaryNodeSet } from '../../commit/index.ts'
import {
  type AccountChange,
  accountsEqual,
  addUsage,
  DeltaEncoder,
  type DiffSource,
  EMPTY_USAGE,
  eachAccountChange,
  encodeFlatAccount,
  encodeFlatSlot,
  type HashKey,
  hashOfKey,
  type UsageSum,
} from '../../state/index.ts'
import { blockKey, prefixEnd, type Store, storageKey, WriteBatch } from '../../store/index.ts'
import { NodeShape } from '../../trie/index.ts'
import type { DeltaRow } from '../tree/deltaKeeper.ts'
import { checkWrite, type RowEffect } from './writeCheck.ts'

/**
 * Adds the rows of the flat state that an account's part of a complete difference changes.
 * @returns how many rows go, of those that were there
 */
function putFlatAccount(batch: WriteBatch, change: AccountChange): number {
  const { addressHash, before, after, storageCleared, slots } = change
  let removedCount = 0
  if (!accountsEqual(before, after)) {
    if (after === undefined) {
      batch.delete('accounts', addressHash)
      removedCount++
    } else batch.put('accounts', addressHash, encodeFlatAccount(after))
  }
  // What did not exist before has no rows.
  if (storageCleared) batch.deleteRange('storages', addressHash, prefixEnd(addressHash))
  for (const { slotHash, before: old, after: value } of slots) {
    const key = storageKey(addressHash, slotHash)
    if (value !== undefined) batch.put('storages', key, encodeFlatSlot(value))
    else if (old !== undefined && !storageCleared) batch.delete('storages', key)
    if (old !== undefined && (storageCleared || value === undefined)) removedCount++
  }
  return removedCount
}

/** Rows that are made from layers, on any thread. */
export type LayerRows = {
  /** From the stored state to the head's. */
  readonly state: DiffSource
  readonly deltas: readonly DeltaRow[]
}

/**
 * Adds the flat state and the deltas of blocks to a batch that has all the rest, and writes it.
 * @throws VarveError ENGINE_WRITE_MISMATCH where that would not leave the state that the batch names, STORE_*; the store
 *   is then as it was
 */
export function writeState(store: Store, batch: WriteBatch, layers: LayerRows): void {
  checkWrite(store, batch, putLayers(batch, layers))
  store.write(batch)
}

/** Adds the flat state and the deltas of blocks. */
export function putLayers(batch: WriteBatch, { state, deltas }: LayerRows): RowEffect {
  const growth: UsageSum = { ...EMPTY_USAGE }
  let removedCount = 0
  eachAccountChange(state, (change) => {
    removedCount += putFlatAccount(batch, change)
    addUsage(growth, change)
  })
  for (const { number, hash, source } of deltas) {
    const encoder = new DeltaEncoder()
    eachAccountChange(source, (change) => encoder.add(change))
    batch.put('deltas', blockKey(number, hash), encoder.finish())
  }
  return { growth, removedCount }
}

/** Bytes of codes that go with all the rest in one batch. A block of an attacker's, or of a test's, may have more. */
const CODE_BYTES_IN_BATCH = 8 * 1024 * 1024

/**
 * Adds the codes. Very many go ahead to the store in batches of their own, so that none holds more than a batch may:
 * until the batch that follows nothing names them, and a process that dies in between leaves codes without an account.
 * @throws VarveError STORE_*
 */
export function putCodes(
  batch: WriteBatch,
  codes: readonly { readonly codeHash: HashKey; readonly code: Uint8Array }[],
  store: Store,
): void {
  let byteCount = 0
  for (const { code } of codes) byteCount += code.length
  const isLarge = byteCount > CODE_BYTES_IN_BATCH
  const target = isLarge ? new WriteBatch() : batch
  for (const { codeHash, code } of codes) {
    target.put('codes', hashOfKey(codeHash), code)
    if (isLarge && target.byteCount > CODE_BYTES_IN_BATCH) {
      store.write(target)
      target.clear()
    }
  }
  if (isLarge) store.write(target)
}

const NO_PREFIX = new Uint8Array(0)

/**
 * Adds the nodes of the tries as rows. Leaves of the account trie have none (`commit/nodeReaders.ts`): where one comes to
 * the place of another node, that one's row goes.
 */
export function putNodes(batch: WriteBatch, { accountNodes, storageNodes }: SummaryNodeSet): void {
  batch.reserve(accountNodes.byteCount)
  accountNodes.walk((entry) => {
    if (entry.shape === NodeShape.Inner) batch.putNode('accountNodes', NO_PREFIX, entry)
    else if (entry.formerShape === NodeShape.Inner)
      batch.deleteNode('accountNodes', NO_PREFIX, entry)
  })
  for (const { addressHash, isCleared, nodes } of storageNodes) {
    if (isCleared) batch.deleteRange('storageNodes', addressHash, prefixEnd(addressHash))
    nodes.walk((entry) => {
      if (entry.shape !== NodeShape.None) batch.putNode('storageNodes', addressHash, entry)
      else if (!isCleared) batch.deleteNode('storageNodes', addressHash, entry)
    })
  }
}
