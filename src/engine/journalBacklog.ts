/**
 * What a journal has that the database beside it lacks, for whoever only looks: an engine that opens both takes it in.
 * Either may be written to meanwhile, so the journal is looked at first: what it loses then, the database has.
 */
import { isVarveError, VarveError } from '../base/index.ts'
import { inspectJournal, type JournalStats, readJournal, type Store } from '../store/index.ts'
import { readJournalSequence } from './chainRecords.ts'
import { checkContinues, journaledBlock } from './journaling.ts'

export type JournalBacklog = JournalStats & {
  /** Records that the database lacks. */
  readonly beyondCount: number
  /** The newest block of these; `undefined` where there is none, or it was not asked for. */
  readonly newest: { readonly number: number; readonly hash: Uint8Array } | undefined
}

/**
 * @param depth `count` goes through the headers, `newest` reads what the database lacks, `all` also what it has
 * @throws VarveError ENGINE_JOURNAL_GAP, JOURNAL_CORRUPT, JOURNAL_VERSION, JOURNAL_IO
 */
export function readBacklog(
  folder: string,
  store: Store,
  depth: 'count' | 'newest' | 'all',
): JournalBacklog {
  const stats = inspectJournal(folder)
  store.refresh()
  const stored = readJournalSequence(store)
  const { recordCount, first, last } = stats
  if (recordCount > 0) checkContinues({ folder, first }, stored)
  const beyondCount = recordCount === 0 ? 0 : Math.max(0, last - stored)
  let newest: JournalBacklog['newest']
  if (depth !== 'count')
    for (const record of readJournal(folder, depth === 'all' ? first : stored + 1)) {
      const block = readBlock(folder, record)
      if (record.sequence <= stored || block === undefined) continue
      const { number, hash } = block.header
      newest = { number, hash }
    }
  return { ...stats, beyondCount, newest }
}

function readBlock(folder: string, record: Parameters<typeof journaledBlock>[0]) {
  try {
    return journaledBlock(record)?.block
  } catch (cause) {
    if (!isVarveError(cause)) throw cause
    throw new VarveError(
      'JOURNAL_CORRUPT',
      `journal ${folder}: record ${record.sequence}: ${cause.message}`,
      { folder, sequence: record.sequence },
      { cause },
    )
  }
}
