/**
 * The last look at a batch before it is written: the state that it would leave in the store must be the one that its own
 * records name. Root and usage were confirmed block by block, from other sources than the rows: the root from the
 * summary, the usage from each block's delta. A fault in between, in memory or in this program, ends here.
 *
 *     root of the account trie, after the batch    hashes to the state root of the head record
 *     usage record of the store, and what the batch adds    is the usage record of the batch
 *     accounts that it changes                     have the leaves whose hashes its nodes hold (`leafHashes.ts`)
 *     leaves of slots among its nodes              say what the flat rows say after it (`leafRows.ts`)
 *     rows that it removes, as far as they are there    are as many as the layers say
 *
 * Cost: about 1 us an account, a fifth of that a slot, 2 us a row that goes; and the sort of the batch, which the store uses again.
 *
 * Not here: the whole store against itself, which is `verify/`.
 */
import { bytesEqual, EMPTY_TRIE_ROOT, toHex, VarveError } from '../../base/index.ts'
import { keccak256 } from '../../kernels/index.ts'
import { EMPTY_USAGE, type StateUsage } from '../../state/index.ts'
import { accountNodeKey, META, type Store, type WriteBatch } from '../../store/index.ts'
import { decodeHead, decodeUsage } from '../chainRecords.ts'
import { findAccountFault } from './leafHashes.ts'
import { findSlotFault } from './leafRows.ts'
import { RowsAfter } from './rowsAfter.ts'

const ROOT_KEY = accountNodeKey(new Uint8Array(0), 0)

/** What the layers say of a batch's flat rows. */
export type RowEffect = {
  /** By how much they make the state grow. */
  readonly growth: StateUsage
  /** Rows that are there and go; those of a storage that is cleared all count, though some may be put again. */
  readonly removedCount: number
}

/**
 * Checks a batch that is whole, with head record and usage record.
 * @throws VarveError ENGINE_WRITE_MISMATCH
 */
export function checkWrite(store: Store, batch: WriteBatch, effect: RowEffect): void {
  // Another thread may have written since this one last read.
  store.refresh()
  const rows = new RowsAfter(store, batch)
  const { number, stateRoot } = decodeHead(rows.get('meta', META.head))
  const usage = decodeUsage(rows.get('meta', META.usage))
  const before = store.get('meta', META.usage)
  const expected = sum(before === undefined ? EMPTY_USAGE : decodeUsage(before), effect.growth)
  for (const name of Object.keys(EMPTY_USAGE) as (keyof StateUsage)[])
    if (usage[name] !== expected[name])
      throw mismatch(number, `usage, ${name}`, `${usage[name]}`, `${expected[name]}`)
  const removedCount = rows.removedCount()
  if (removedCount !== effect.removedCount)
    throw mismatch(number, 'rows that go', `${effect.removedCount}`, `${removedCount}`)
  const rootNode = rows.get('accountNodes', ROOT_KEY)
  // The root of a single account is its leaf, and has no row.
  if (rootNode !== undefined || usage.accountCount !== 1) {
    const root = rootNode === undefined ? EMPTY_TRIE_ROOT : keccak256(rootNode)
    if (!bytesEqual(root, stateRoot))
      throw mismatch(number, 'root of the account trie', toHex(stateRoot), toHex(root))
  }
  const fault = findAccountFault(rows, stateRoot) ?? findSlotFault(rows)
  if (fault !== undefined)
    throw mismatch(number, `row ${toHex(fault.key)} of ${fault.table}`, 'its leaf', fault.problem)
}

function sum(a: StateUsage, b: StateUsage): StateUsage {
  return {
    accountCount: a.accountCount + b.accountCount,
    slotCount: a.slotCount + b.slotCount,
    byteCount: a.byteCount + b.byteCount,
  }
}

function mismatch(number: number, what: string, expected: string, found: string): VarveError {
  return new VarveError<WriteCheckErrorCode>(
    'ENGINE_WRITE_MISMATCH',
    `write of block ${number}: ${what}: expected ${expected}, its rows: ${found}; nothing was written`,
    { number, what, expected, found },
  )
}

/** Error codes of this module. */
export type WriteCheckErrorCode =
  /** The rows of a write do not make the state that it names: a fault of memory or of this program. Nothing was written. */
  'ENGINE_WRITE_MISMATCH'
