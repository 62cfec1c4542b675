/** Small databases and runs for tests. */
import { memoryStore, type Store } from '../../store/index.ts'
import { writeDatabase } from './createDatabase.ts'
import type { TransactionKind } from './kinds.ts'
import type { RunReport } from './report.ts'
import { type RunOptions, runOn } from './runExecutor.ts'

export const COUNTS = { accounts: 300, signers: 40, moduleCopies: 3 }
export const BLOCKS = 3
export const BLOCK_SIZE = 25

/** Writes a small benchmark's database. */
export function fill<Empty extends Store>(store: Empty): Empty {
  writeDatabase(store, { ...COUNTS, balance: 10n ** 18n })
  return store
}

export function database(): Store {
  return fill(memoryStore())
}

export function optionsOf(
  kinds: readonly TransactionKind[],
  change: Partial<RunOptions> = {},
): RunOptions {
  return {
    ...{ folder: '', blocks: BLOCKS, blockSize: BLOCK_SIZE, transactionsPerSender: 2 },
    ...{ mainSignersOf: ({ signers }) => signers, additionalDestinationCount: 200 },
    ...{ kinds: kinds.map((kind) => ({ kind, weight: 1 })), hotspotProbability: 0.5 },
    ...{ connectedGroupCount: 0, shuffleConnected: false, moduleWorkingSet: 1 },
    ...{ executor: 'evm', generateThenExecute: false, splitStages: false, recoverSenders: false },
    ...{ verifyNonces: true, skipCommit: false, seed: 7, isPipelined: false },
    sync: { mode: 'always' },
    ...change,
  }
}

export function run(
  store: Store,
  kinds: readonly TransactionKind[],
  change: Partial<RunOptions> = {},
): Promise<RunReport> {
  return runOn(store, optionsOf(kinds, change))
}
