/** What a person may ask of a run, and what of it goes together. */
import type { JournalSync } from '../../store/index.ts'
import { UsageError } from '../exit.ts'
import type { WatchFlags } from '../metrics/watching.ts'
import type { AccountCounts } from './accountBook.ts'
import { CONNECTED_KINDS, NATIVE_KINDS, TOKEN_KINDS, type TransactionKind } from './kinds.ts'
import type { ExecutorKind } from './watchedExecutor.ts'
import type { WeightedKind } from './workload.ts'

export type RunFlags = WatchFlags & {
  readonly dataDir: string
  readonly checkpointDir?: string
  readonly blocks: number
  readonly blockSize: number
  readonly transactionsPerSender: number
  readonly mainSignerAccounts?: number
  readonly additionalDstPoolAccounts: number
  readonly transactionType: readonly TransactionKind[]
  readonly transactionWeights?: readonly number[]
  readonly hotspotProbability: number
  readonly connectedTxGrps: number
  readonly shuffleConnectedTxns?: boolean
  readonly moduleWorkingSetSize: number
  readonly blockExecutorType: ExecutorKind
  readonly generateThenExecute?: boolean
  readonly splitStages?: boolean
  readonly recoverSenders?: boolean
  readonly numSigVerifyThreads?: number
  readonly verifySequenceNumbers?: boolean
  readonly skipCommit?: boolean
  readonly sync: JournalSync
  readonly pipeline: 'on' | 'off'
  readonly memory?: number
  readonly statePruneWindow?: number
  readonly expect?: string
  readonly calibrate?: string
  readonly cpuProfiling?: string
  readonly memoryProfiling?: string
  readonly seed: number
  readonly json?: boolean
}

/** Senders, unless the database has fewer accounts. */
const MAIN_SIGNERS = 1_000_000
/** Flags that do not change what is measured. */
const FLAGS_APART: readonly string[] = [
  'dataDir',
  'checkpointDir',
  'expect',
  'calibrate',
  'seed',
  'json',
]

/** What must be alike for two rates to be compared: everything but folders, output and seed. */
export function workloadName(flags: RunFlags): string {
  return Object.entries(flags)
    .filter(([name]) => !FLAGS_APART.includes(name))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .sort()
    .join(' ')
}

/** Refuses flags that need others. @throws UsageError */
export function checkFlags(flags: RunFlags): void {
  const { connectedTxGrps: groups, transactionType, recoverSenders } = flags
  if (groups === 0 && flags.shuffleConnectedTxns === true)
    throw new UsageError('--shuffle-connected-txns: expected --connected-tx-grps, got none')
  const foreign = transactionType.find((kind) => !CONNECTED_KINDS.includes(kind))
  if (groups > 0 && foreign !== undefined)
    throw new UsageError(
      `--connected-tx-grps: expected ${CONNECTED_KINDS.join(' or ')}, got ${foreign}, which has no receiver`,
    )
  if (flags.numSigVerifyThreads !== undefined && recoverSenders !== true)
    throw new UsageError('--num-sig-verify-threads: expected --recover-senders, got none')
}

/** @throws UsageError */
export function kindsOf(flags: RunFlags): WeightedKind[] {
  const { transactionType: kinds, transactionWeights: weights, blockExecutorType } = flags
  if (weights !== undefined && weights.length !== kinds.length)
    throw new UsageError(
      `--transaction-weights: expected ${kinds.length}, one a type, got ${weights.length}`,
    )
  const foreign = kinds.find((kind) => !NATIVE_KINDS.includes(kind))
  if (blockExecutorType === 'native' && foreign !== undefined)
    throw new UsageError(
      `--block-executor-type native: expected ${NATIVE_KINDS.join(' or ')}, got ${foreign}, which takes the EVM`,
    )
  return kinds.map((kind, index) => ({ kind, weight: weights?.[index] ?? 1 }))
}

/** How many accounts send, as far as the database has such accounts. @throws UsageError */
export function mainSignersOf(counts: AccountCounts, flags: RunFlags): number {
  const { accounts, signers, moduleCopies } = counts
  const { additionalDstPoolAccounts: more, moduleWorkingSetSize: copies } = flags
  const takesKeys =
    flags.recoverSenders === true ||
    flags.transactionType.some((kind) => TOKEN_KINDS.includes(kind))
  const most = takesKeys ? signers : accounts
  const count = flags.mainSignerAccounts ?? Math.min(MAIN_SIGNERS, most)
  const what = takesKeys ? 'accounts with keys and tokens' : 'accounts'
  if (count > most)
    throw new UsageError(
      `--main-signer-accounts: expected at most ${most}, the ${what} of the database, got ${count}`,
    )
  checkSenders(count, flags)
  if (count + more > accounts)
    throw new UsageError(
      `--additional-dst-pool-accounts: expected at most ${accounts - count}, as the database has ${accounts} accounts, got ${more}`,
    )
  if (copies > moduleCopies)
    throw new UsageError(
      `--module-working-set-size: expected at most ${moduleCopies}, as often as create-db has made each contract, got ${copies}`,
    )
  return count
}

/** @param count of senders */
function checkSenders(count: number, flags: RunFlags): void {
  const { connectedTxGrps: groups, blockSize, transactionsPerSender } = flags
  if (2 * groups > count)
    throw new UsageError(
      `--connected-tx-grps: expected at most ${count >> 1}, two of ${count} accounts each, got ${groups}`,
    )
  const needed = Math.ceil(blockSize / transactionsPerSender)
  if (groups === 0 && needed > count)
    throw new UsageError(
      `--block-size: expected at most ${count * transactionsPerSender}, as ${count} accounts send ${transactionsPerSender} each, got ${blockSize}`,
    )
}
