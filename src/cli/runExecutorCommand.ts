/** `varve run-executor`: the executor benchmark on a database of `create-db`. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  addWatchOptions,
  memoryOption,
  parseCount,
  parseFolder,
  parsePositive,
  pipelineOption,
  syncOption,
} from './arguments.ts'
import { databaseHasChain } from './database.ts'
import {
  addCalibration,
  checkRunCount,
  gateOf,
  readCalibration,
} from './executor/calibrationFile.ts'
import { TRANSACTION_KINDS } from './executor/kinds.ts'
import { profiled } from './executor/profile.ts'
import { addRefusedOptions } from './executor/refusedOptions.ts'
import { isAlarm } from './executor/regressionGate.ts'
import { describeRun, type RunReport } from './executor/report.ts'
import { type RunOptions, runExecutor } from './executor/runExecutor.ts'
import {
  checkFlags,
  kindsOf,
  mainSignersOf,
  type RunFlags,
  workloadName,
} from './executor/runFlags.ts'
import type { WeightedKind } from './executor/workload.ts'
import { EXIT_FAILED, toJson, UsageError } from './exit.ts'
import { watched } from './metrics/watching.ts'
import { Progress } from './progress.ts'

export function addRunExecutorCommand(program: Command): void {
  const command = program
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
    .option(
      '--module-working-set-size <count>',
      'copies of each contract that are called, of those that create-db has made',
      parsePositive,
      1,
    )
    .option('--enable-storage-sharding', 'taken and without effect: states always lie in 16 shards')
    .option('--generate-then-execute', 'make all blocks before the clock starts')
    .option('--split-stages', 'as that; recover all senders before the first block is executed')
    .option('--recover-senders', 'sign for real and recover on threads; else senders are known')
    .option(
      '--num-sig-verify-threads <count>',
      'threads that recover senders (default: one a core)',
      parsePositive,
    )
    .option(
      '--skip-commit',
      'make roots and write nothing: the database stays as it is, blocks are held in memory',
    )
    .option('--verify-sequence-numbers', 'compare nonces with what was sent, in the end')
    .addOption(pipelineOption())
    .addOption(memoryOption())
    .option(
      '--state-prune-window <blocks>',
      'blocks behind the head whose states are kept (default: 128)',
      parseCount,
    )
    .addOption(syncOption('always'))
    .option(
      '--expect <file>',
      'fail where the rate is below, or above, what the file leads to expect',
    )
    .option('--calibrate <file>', 'add the rate to the file, or make it')
    .option('--cpu-profiling <file>', 'write a .cpuprofile of the main thread')
    .option('--memory-profiling <file>', 'write a .heapprofile of the main thread')
    .option('--seed <number>', 'of the workload', parseCount, 1)
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  varve run-executor --data-dir ./bench-db --checkpoint-dir ./bench-run --blocks 30 --block-size 8086 \\\n' +
        '    --transactions-per-sender 1 --main-signer-accounts 20000 --block-executor-type native\n',
    )
    .action((flags: RunFlags) => runCommand(flags))
  addWatchOptions(command)
  addRefusedOptions(command)
}

const hotspotText =
  'share of transfers that go to the first (1 - share) of the receivers, 0.5 to below 1'

async function runCommand(flags: RunFlags): Promise<void> {
  const { dataDir, blocks, json } = flags
  const kinds = kindsOf(flags)
  checkFlags(flags)
  const workload = workloadName(flags)
  const rates = flags.expect === undefined ? undefined : readCalibration(flags.expect, workload)
  if (rates !== undefined) checkRunCount(flags.expect!, rates)
  if (!databaseHasChain(dataDir))
    throw new UsageError(`--data-dir ${dataDir}: expected a database of create-db, got none`)
  const bar = new Progress('executing', 'blocks', json !== true)
  let report: RunReport
  try {
    const files = {
      ...(flags.cpuProfiling === undefined ? {} : { cpu: flags.cpuProfiling }),
      ...(flags.memoryProfiling === undefined ? {} : { memory: flags.memoryProfiling }),
    }
    const options = {
      ...optionsOf(flags, kinds),
      onBlock: (done: number) => bar.update(done, blocks),
    }
    report = await watched(flags, (watching) =>
      profiled(files, () => runExecutor({ ...options, watching })),
    )
  } finally {
    bar.stop()
  }
  if (rates !== undefined) report = { ...report, gate: gateOf(rates, report.tps) }
  if (flags.calibrate !== undefined) addCalibration(flags.calibrate, workload, report.tps)
  console.log(json === true ? toJson(report) : describeRun(report))
  if (report.gate !== undefined && isAlarm(report.gate.verdict)) process.exitCode = EXIT_FAILED
}

/** An option of the seed's benchmark of which there is one here: 1 is taken, more is refused. */
function onlyOne(flag: string, why: string): Option {
  return new Option(flag, `1: ${why}`).default(1).argParser((text: string) => {
    if (text !== '1') throw new InvalidArgumentError(`expected 1, as ${why}.`)
    return 1
  })
}

function optionsOf(flags: RunFlags, kinds: readonly WeightedKind[]): RunOptions {
  const { checkpointDir, memory, numSigVerifyThreads, statePruneWindow } = flags
  return {
    folder: flags.dataDir,
    ...(checkpointDir === undefined ? {} : { checkpointFolder: checkpointDir }),
    blocks: flags.blocks,
    blockSize: flags.blockSize,
    transactionsPerSender: flags.transactionsPerSender,
    mainSignersOf: (counts) => mainSignersOf(counts, flags),
    additionalDestinationCount: flags.additionalDstPoolAccounts,
    kinds,
    hotspotProbability: flags.hotspotProbability,
    connectedGroupCount: flags.connectedTxGrps,
    shuffleConnected: flags.shuffleConnectedTxns === true,
    moduleWorkingSet: flags.moduleWorkingSetSize,
    executor: flags.blockExecutorType,
    generateThenExecute: flags.generateThenExecute === true,
    splitStages: flags.splitStages === true,
    recoverSenders: flags.recoverSenders === true,
    ...(numSigVerifyThreads === undefined ? {} : { recoverThreadCount: numSigVerifyThreads }),
    verifyNonces: flags.verifySequenceNumbers === true,
    skipCommit: flags.skipCommit === true,
    seed: flags.seed,
    sync: flags.sync,
    isPipelined: flags.pipeline === 'on',
    ...(memory === undefined ? {} : { memoryBytes: memory }),
    ...(statePruneWindow === undefined ? {} : { historyBlocks: statePruneWindow }),
  }
}

function parseHotspot(text: string): number {
  const share = Number(text)
  if (text === '' || !(share >= 0.5 && share < 1))
    throw new InvalidArgumentError('expected a number from 0.5 to below 1.')
  return share
}
