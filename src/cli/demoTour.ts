/**
 * The one-minute tour: a database, the same blocks with the pipeline off and on, each on a copy of it, and an account
 * proved from what is on the disk in the end.
 *
 *     create-db ─▶ db ─┬─ copy ─▶ blocks, pipeline off ─┐
 *                      └─ copy ─▶ blocks, pipeline on  ─┴▶ the same roots? ─▶ open again, prove a sender
 */
import { join } from 'node:path'
import { VarveError } from '../base/index.ts'
import type { JournalSync } from '../store/index.ts'
import { AccountBook } from './executor/accountBook.ts'
import { type CreateReport, createDatabase, describeCreation } from './executor/createDatabase.ts'
import { describeRun, type RunReport } from './executor/report.ts'
import { type RunOptions, runExecutor } from './executor/runExecutor.ts'
import { Progress } from './progress.ts'
import { describeProof, type ProvedAccount, proveAccount } from './proveAccount.ts'

export type TourOptions = {
  /** Empty, or not there; the databases lie in it in the end. */
  readonly folder: string
  /** Of the database. */
  readonly accounts: number
  readonly blocks: number
  /** Transactions of a block, at most half the accounts. */
  readonly blockSize: number
  readonly sync: JournalSync
  readonly memoryBytes?: number
  /** Told of each step, as a text for a person, when it is done. */
  readonly onStep: (text: string) => void
  /** Whether bars may be shown. */
  readonly hasBars: boolean
}

/** What the tour has seen; the shape of `--json`. */
export type TourReport = {
  readonly database: CreateReport
  readonly off: RunReport
  readonly on: RunReport
  /** Rate with the pipeline on by the rate with it off. */
  readonly speedup: number
  readonly proof: ProvedAccount
}

const SIGNERS_MAX = 10_000
const BALANCE = 10n ** 18n
/** Code is compiled while it runs: blocks that do not count keep the first run from paying for the second. */
const WARM_BLOCKS = 2

/** @throws VarveError DEMO_ROOTS_DIFFER, and what the runs throw */
export async function tour(options: TourOptions): Promise<TourReport> {
  const { folder, accounts, onStep } = options
  const db = join(folder, 'db')
  const signers = Math.min(SIGNERS_MAX, accounts)
  const counts = { accounts, signers, moduleCopies: 1 }
  const database = await withBar('creating ', 'accounts', options, (update) =>
    createDatabase({ folder: db, ...counts, balance: BALANCE, onAccount: update }),
  )
  onStep(describeCreation(database))
  await runExecutor({ ...runOptions(options), ...{ folder: db, skipCommit: true } })
  const off = await arm('off', db, options)
  const on = await arm('on', db, options)
  checkRoots(off, on)
  const speedup = on.tps / off.tps
  onStep(
    `\nroots    the same ${off.roots.length} both ways; ${speedup.toFixed(2)}x with the pipeline`,
  )
  const proof = await proveAccount(join(folder, 'on'), () => new AccountBook(counts).address(0))
  onStep(describeProof(proof))
  return { database, off, on, speedup, proof }
}

/** Runs all blocks on a copy of the database. */
async function arm(pipeline: 'on' | 'off', db: string, options: TourOptions): Promise<RunReport> {
  const { folder, blocks, onStep } = options
  const report = await withBar(`${pipeline.padEnd(9)}`, 'blocks', options, (update) =>
    runExecutor({
      ...runOptions(options),
      ...{ blocks, folder: db, checkpointFolder: join(folder, pipeline) },
      isPipelined: pipeline === 'on',
      verifyNonces: true,
      onBlock: (done) => update(done, blocks),
    }),
  )
  onStep(`\n${describeRun(report)}`)
  return report
}

/** Native transfers through the EVM, made before the clock starts. */
function runOptions({ accounts, blockSize, sync, memoryBytes }: TourOptions): RunOptions {
  const senders = Math.max(blockSize, Math.floor(accounts / 4))
  return {
    ...{ folder: '', blocks: WARM_BLOCKS, blockSize, transactionsPerSender: 1 },
    ...{ mainSignersOf: () => senders, additionalDestinationCount: accounts - senders },
    ...{ kinds: [{ kind: 'native-transfer', weight: 1 }], hotspotProbability: 0.5 },
    ...{ connectedGroupCount: 0, shuffleConnected: false, moduleWorkingSet: 1 },
    ...{ executor: 'evm', generateThenExecute: true, splitStages: false, recoverSenders: false },
    ...{ verifyNonces: false, skipCommit: false, seed: 1, isPipelined: false, sync },
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
  }
}

async function withBar<Result>(
  label: string,
  unit: string,
  { hasBars }: TourOptions,
  work: (update: (done: number, total: number) => void) => Result | Promise<Result>,
): Promise<Result> {
  const bar = new Progress(label, unit, hasBars)
  try {
    return await work((done, total) => bar.update(done, total))
  } finally {
    bar.stop()
  }
}

function checkRoots(off: RunReport, on: RunReport): void {
  const index = off.roots.findIndex((root, at) => on.roots[at] !== root)
  if (index < 0) return
  throw new VarveError<TourErrorCode>(
    'DEMO_ROOTS_DIFFER',
    `block ${index + 1}: expected the root of the run without a pipeline, ${off.roots[index]}, got ${on.roots[index]}`,
    { blockNumber: index + 1, expected: off.roots[index], found: on.roots[index] },
  )
}

/** Error codes of this module. */
export type TourErrorCode =
  /** The same blocks came to other states with the pipeline on: a fault of Varve. */
  'DEMO_ROOTS_DIFFER'
