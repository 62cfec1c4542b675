/** `varve run-executor`: the executor benchmark on a database of `create-db`. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { JournalSync } from '../store/index.ts'
import {
  memoryOption,
  parseCount,
  parseFolder,
  parsePositive,
  pipelineOption,
  syncOption,
} from './arguments.ts'
import { databaseHasChain } from './database.ts'
import type { AccountCounts } from './executor/accountBook.ts'
import {
  addCalibration,
  checkRunCount,
  gateOf,
  readCalibration,
} from './executor/calibrationFile.ts'
import {
  CONNECTED_KINDS,
  NATIVE_KINDS,
  TOKEN_KINDS,
  TRANSACTION_KINDS,
  type TransactionKind,
} from './executor/kinds.ts'
import { isAlarm } from './executor/regressionGate.ts'
import { describeRun, type RunReport } from './executor/report.ts'
import { runExecutor } from './executor/runExecutor.ts'
import type { WeightedKind } from './executor/workload.ts'
import { EXIT_FAILED, toJson, UsageError } from './exit.ts'
import { Progress } from './progress.ts'

type RunFlags = {
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
  readonly blockExecutorType: 'evm' | 'native'
  readonly generateThenExecute?: boolean
  readonly splitStages?: boolean
  readonly recoverSenders?: boolean
  readonly verifySequenceNumbers?: boolean
  readonly sync: JournalSync
  readonly pipeline: 'on' | 'off'
  readonly memory?: number
  readonly connectedTxGrps: number
  readonly shuffleConnectedTxns?: boolean
  readonly expect?: string
  readonly calibrate?: string
  readonly seed: number
  readonly json?: boolean
}

/** Senders, unless the database has fewer accounts. */
const MAIN_SIGNERS = 1_000_000

export function addRunExecutorCommand(program: Command): void {
  program
    .command('run-executor')
    .description(
      'execute blocks of made transactions on a database of create-db, and take the time',
    )
    .requiredOption('--data-dir <dir>', 'database folder', parseFolder)
    .option(
      '--checkpoint-dir <dir>',
      'run on a copy made here; without it the database itself goes on',
      parseFolder,
    )
    .option('--blocks <count>', 'blocks to execute', parsePositive, 1000)
    .option('--block-size <count>', 'transactions of a block', parsePositive, 10_000)
    .option('--transactions-per-sender <count>', 'of one block', parsePositive, 5)
    .option(
      '--main-signer-accounts <count>',
      'accounts that send (default: a million, or as many as can)',
      parsePositive,
    )
    .option(
      '--additional-dst-pool-accounts <count>',
      'accounts that receive, beside the senders',
      parseCount,
      0,
    )
    .addOption(
      new Option('--transaction-type <type...>', 'what transactions do')
        .choices(TRANSACTION_KINDS)
        .default(['native-transfer']),
    )
    .addOption(
      new Option('--transaction-weights <weight...>', 'how often each type comes').argParser(
        (text: string, before: readonly number[] | undefined) => [
          ...(before ?? []),
          parsePositive(text),
        ],
      ),
    )
    .option('--hotspot-probability <share>', hotspotText, parseHotspot, 0.5)
    .addOption(
      new Option('--block-executor-type <type>', 'native runs transfers without the EVM')
        .choices(['evm', 'native'])
        .default('evm'),
    )
    .option(
      '--connected-tx-grps <count>',
      'groups whose transfers all go to or from one account (default: none)',
      parseCount,
      0,
    )
    .option('--shuffle-connected-txns', 'mix the groups; else they follow one another')
    .addOption(onlyOne('--execution-threads <count>', 'transactions run one after the other'))
    .addOption(onlyOne('--num-generator-workers <count>', 'one thread makes all blocks'))
    .addOption(onlyOne('--module-working-set-size <count>', 'each contract stands once'))
    .option('--enable-storage-sharding', 'taken and without effect: states always lie in 16 shards')
    .option('--generate-then-execute', 'make all blocks before the clock starts')
    .option('--split-stages', 'as that; recover all senders before the first block is executed')
    .option('--recover-senders', 'sign for real and recover on threads; else senders are known')
    .option('--verify-sequence-numbers', 'compare nonces with what was sent, in the end')
    .addOption(pipelineOption())
    .addOption(memoryOption())
    .addOption(syncOption('always'))
    .option(
      '--expect <file>',
      'fail where the rate is below, or above, what the file leads to expect',
    )
    .option('--calibrate <file>', 'add the rate to the file, or make it')
    .option('--seed <number>', 'of the workload', parseCount, 1)
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  varve run-executor --data-dir ./bench-db --checkpoint-dir ./bench-run --blocks 30 --block-size 8086 \\\n' +
        '    --transactions-per-sender 1 --main-signer-accounts 20000 --block-executor-type native\n',
    )
    .action((flags: RunFlags) => runCommand(flags))
}

const hotspotText =
  'share of transfers that go to the first (1 - share) of the receivers, 0.5 to below 1'

async function runCommand(flags: RunFlags): Promise<void> {
  const { dataDir, checkpointDir, blocks, json } = flags
  const kinds = kindsOf(flags)
  checkGroups(flags)
  const workload = workloadName(flags)
  const rates = flags.expect === undefined ? undefined : readCalibration(flags.expect, workload)
  if (rates !== undefined) checkRunCount(flags.expect!, rates)
  if (!databaseHasChain(dataDir))
    throw new UsageError(`--data-dir ${dataDir}: expected a database of create-db, got none`)
  const bar = new Progress('executing', 'blocks', json !== true)
  let report: RunReport
  try {
    report = await runExecutor({
      folder: dataDir,
      ...(checkpointDir === undefined ? {} : { checkpointFolder: checkpointDir }),
      blocks,
      blockSize: flags.blockSize,
      transactionsPerSender: flags.transactionsPerSender,
      mainSignersOf: (counts) => mainSigners(counts, flags),
      additionalDestinationCount: flags.additionalDstPoolAccounts,
      kinds,
      hotspotProbability: flags.hotspotProbability,
      connectedGroupCount: flags.connectedTxGrps,
      shuffleConnected: flags.shuffleConnectedTxns === true,
      executor: flags.blockExecutorType,
      generateThenExecute: flags.generateThenExecute === true,
      splitStages: flags.splitStages === true,
      recoverSenders: flags.recoverSenders === true,
      verifyNonces: flags.verifySequenceNumbers === true,
      seed: flags.seed,
      sync: flags.sync,
      isPipelined: flags.pipeline === 'on',
      ...(flags.memory === undefined ? {} : { memoryBytes: flags.memory }),
      onBlock: (done) => bar.update(done, blocks),
    })
  } finally {
    bar.stop()
  }
  if (rates !== undefined) report = { ...report, gate: gateOf(rates, report.tps) }
  if (flags.calibrate !== undefined) addCalibration(flags.calibrate, workload, report.tps)
  console.log(json === true ? toJson(report) : describeRun(report))
  if (report.gate !== undefined && isAlarm(report.gate.verdict)) process.exitCode = EXIT_FAILED
}

/** What must be alike for two rates to be compared: everything but folders, output and seed. */
function workloadName(flags: RunFlags): string {
  const apart = ['dataDir', 'checkpointDir', 'expect', 'calibrate', 'seed', 'json']
  const named = Object.entries(flags).filter(([name]) => !apart.includes(name))
  return named
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .sort()
    .join(' ')
}

/** @throws UsageError */
function checkGroups({
  connectedTxGrps: groups,
  shuffleConnectedTxns,
  transactionType,
}: RunFlags): void {
  if (groups === 0 && shuffleConnectedTxns === true)
    throw new UsageError('--shuffle-connected-txns: expected --connected-tx-grps, got none')
  const foreign = transactionType.find((kind) => !CONNECTED_KINDS.includes(kind))
  if (groups > 0 && foreign !== undefined)
    throw new UsageError(
      `--connected-tx-grps: expected ${CONNECTED_KINDS.join(' or ')}, got ${foreign}, which has no receiver`,
    )
}

/** An option of the seed's benchmark of which there is one here: 1 is taken, more is refused. */
function onlyOne(flag: string, why: string): Option {
  return new Option(flag, `1: ${why}`).default(1).argParser((text: string) => {
    if (text !== '1') throw new InvalidArgumentError(`expected 1, as ${why}.`)
    return 1
  })
}

/** @throws UsageError */
function kindsOf(flags: RunFlags): WeightedKind[] {
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
function mainSigners({ accounts, signers }: AccountCounts, flags: RunFlags): number {
  const { blockSize, transactionsPerSender, additionalDstPoolAccounts: more } = flags
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
  const { connectedTxGrps: groups } = flags
  if (2 * groups > count)
    throw new UsageError(
      `--connected-tx-grps: expected at most ${count >> 1}, two of ${count} accounts each, got ${groups}`,
    )
  const needed = Math.ceil(blockSize / transactionsPerSender)
  if (groups === 0 && needed > count)
    throw new UsageError(
      `--block-size: expected at most ${count * transactionsPerSender}, as ${count} accounts send ${transactionsPerSender} each, got ${blockSize}`,
    )
  if (count + more > accounts)
    throw new UsageError(
      `--additional-dst-pool-accounts: expected at most ${accounts - count}, as the database has ${accounts} accounts, got ${more}`,
    )
  return count
}

function parseHotspot(text: string): number {
  const share = Number(text)
  if (text === '' || !(share >= 0.5 && share < 1))
    throw new InvalidArgumentError('expected a number from 0.5 to below 1.')
  return share
}
