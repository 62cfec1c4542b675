/**
 * `db verify`: every row of a database against the rest of it. One changed byte in any row is found, and the first
 * contradiction is named. Reads only.
 *
 *     meta ─▶ blocks from genesis to head, side blocks ─▶ state below the head's root ─▶ deltas to all kept states
 */
import { bytesEqual } from '../../base/index.ts'
import { META, type Store, WriteBatch } from '../../store/index.ts'
import { putUsage } from '../chainRecords.ts'
import { type Difference, difference } from './difference.ts'
import { verifyChain, verifyMeta } from './verifyChain.ts'
import { verifyHistory } from './verifyHistory.ts'
import { type StateProgress, verifyState } from './verifyState.ts'

/** How far a check is. */
export type VerifyProgress = StateProgress & { blockCount: number }

/**
 * Checks a database; yields what is wrong, in the order it is found. Whoever wants only the first fault stops there.
 * Cost: one keccak for each node, header and code; memory independent of the database's size.
 * @param progress counted up while the check runs
 * @param onProgress called after each block and account
 */
export function* verifyStore(
  store: Store,
  progress: VerifyProgress = { blockCount: 0, accountCount: 0, slotCount: 0, nodeCount: 0 },
  onProgress: () => void = () => {},
): Generator<Difference> {
  const facts = yield* verifyMeta(store)
  if (facts === undefined) return
  const tree = yield* verifyChain(store, facts, (number) => {
    progress.blockCount = number + 1
    onProgress()
  })
  let isStateWhole = true
  for (const found of verifyState(store, facts.head.stateRoot, progress, onProgress)) {
    isStateWhole = false
    yield found
  }
  if (isStateWhole) yield* verifyUsage(store)
  // Deltas lead on from the head's state: on a damaged one they say nothing.
  if (isStateWhole && tree !== undefined) yield* verifyHistory(store, tree, onProgress)
}

/** Compares the usage record with what there is. */
function* verifyUsage(store: Store): Generator<Difference> {
  const found = { accountCount: 0, slotCount: 0, byteCount: 0 }
  for (const { key, value } of store.range('accounts')) {
    found.accountCount++
    found.byteCount += key.length + value.length
  }
  for (const { key, value } of store.range('storages')) {
    found.slotCount++
    found.byteCount += key.length + value.length
  }
  const batch = new WriteBatch()
  putUsage(batch, found)
  const [expected, record] = [batch.valueAt(0)!, store.get('meta', META.usage)]
  if (record === undefined || !bytesEqual(record, expected))
    yield difference('meta', META.usage, 'the usage record', expected, record)
}
