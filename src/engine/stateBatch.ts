/**
 * Everything that changed in the state since the last write, as operations of one batch: trie nodes, accounts, slots,
 * codes. The rows of the flat state come from the pending deltas, the nodes from the summary, so both name the same
 * root.
 */
import type { SummaryNodeSet } from '../commit/index.ts'
import {
  type AccountChange,
  accountsEqual,
  DeltaEncoder,
  type DiffSource,
  eachAccountChange,
  encodeFlatAccount,
  encodeFlatSlot,
  type HashKey,
  hashOfKey,
} from '../state/index.ts'
import {
  accountNodeKey,
  blockKey,
  prefixEnd,
  type Store,
  storageKey,
  storageNodeKey,
  type Table,
  WriteBatch,
} from '../store/index.ts'
import type { DeltaRow } from './tree/deltaKeeper.ts'

/** Adds the rows of the flat state that an account's part of a complete difference changes. */
function putFlatAccount(batch: WriteBatch, change: AccountChange): void {
  const { addressHash, before, after, storageCleared, slots } = change
  if (!accountsEqual(before, after)) {
    if (after === undefined) batch.delete('accounts', addressHash)
    else batch.put('accounts', addressHash, encodeFlatAccount(after))
  }
  // What did not exist before has no rows.
  if (storageCleared) batch.deleteRange('storages', addressHash, prefixEnd(addressHash))
  for (const { slotHash, before: old, after: value } of slots) {
    const key = storageKey(addressHash, slotHash)
    if (value !== undefined) batch.put('storages', key, encodeFlatSlot(value))
    else if (old !== undefined && !storageCleared) batch.delete('storages', key)
  }
}

/** Rows that are made from layers, on any thread. */
export type LayerRows = {
  /** From the stored state to the head's. */
  readonly state: DiffSource
  readonly deltas: readonly DeltaRow[]
}

/** Adds the flat state and the deltas of blocks. */
export function putLayers(batch: WriteBatch, { state, deltas }: LayerRows): void {
  eachAccountChange(state, (change) => putFlatAccount(batch, change))
  for (const { number, hash, source } of deltas) {
    const encoder = new DeltaEncoder()
    eachAccountChange(source, (change) => encoder.add(change))
    batch.put('deltas', blockKey(number, hash), encoder.finish())
  }
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

/** What takes rows of nodes: a batch, or whoever keeps them until it is written. */
export type NodeRows = {
  put(table: Table, key: Uint8Array, value: Uint8Array): unknown
  delete(table: Table, key: Uint8Array): void
  deleteRange(table: Table, gte: Uint8Array, lt: Uint8Array | undefined): void
}

/** Adds the nodes of the tries. */
export function putNodes(batch: NodeRows, summary: SummaryNodeSet): void {
  for (const { path, bytes } of summary.accountNodes.nodes)
    batch.put('accountNodes', accountNodeKey(path, path.length), bytes)
  for (const { path } of summary.accountNodes.deletions)
    batch.delete('accountNodes', accountNodeKey(path, path.length))
  for (const { addressHash, isCleared, nodes } of summary.storageNodes) {
    if (isCleared) batch.deleteRange('storageNodes', addressHash, prefixEnd(addressHash))
    for (const { path, bytes } of nodes.nodes)
      batch.put('storageNodes', storageNodeKey(addressHash, path, path.length), bytes)
    if (isCleared) continue
    for (const { path } of nodes.deletions)
      batch.delete('storageNodes', storageNodeKey(addressHash, path, path.length))
  }
}
