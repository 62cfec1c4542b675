/**
 * Everything that changed in the state since the last write, as operations of one batch: trie nodes, accounts, slots,
 * codes. The rows of the flat state come from the pending deltas, the nodes from the summary, so both name the same
 * root.
 */
import { bytesAreZero } from '../base/index.ts'
import type { SummaryNodeSet } from '../commit/index.ts'
import { encodeFlatAccount, encodeFlatSlot, hashOfKey, type PendingState } from '../state/index.ts'
import {
  accountNodeKey,
  prefixEnd,
  storageKey,
  storageNodeKey,
  type WriteBatch,
} from '../store/index.ts'

/** Adds the rows of the flat state. */
export function putFlatState(batch: WriteBatch, pending: PendingState): void {
  for (const { addressHash, account, isStorageCleared, slots } of pending.changes()) {
    if (account === undefined) batch.delete('accounts', addressHash)
    else batch.put('accounts', addressHash, encodeFlatAccount(account))
    if (isStorageCleared) batch.deleteRange('storages', addressHash, prefixEnd(addressHash))
    for (const { slotHash, value } of slots.values()) {
      const key = storageKey(addressHash, slotHash)
      if (value !== undefined && !bytesAreZero(value))
        batch.put('storages', key, encodeFlatSlot(value))
      else if (!isStorageCleared) batch.delete('storages', key)
    }
  }
  for (const { codeHash, code } of pending.newCodes()) batch.put('codes', hashOfKey(codeHash), code)
}

/** Adds the nodes of the tries. */
export function putNodes(batch: WriteBatch, summary: SummaryNodeSet): void {
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
