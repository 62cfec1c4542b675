/** `varve statetest`: published state tests, from files, folders or packed shards. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { isVarveError } from '../base/index.ts'
import { PRECOMPILE_SETS, type PrecompileSet } from '../evm/index.ts'
import { threadCountDefault } from '../threads/index.ts'
import { parsePositive } from './arguments.ts'
import { EXIT_FAILED, EXIT_USAGE } from './exit.ts'
import { Progress } from './progress.ts'
import { findInputs, type InputFile, requestsOf } from './statetest/inputs.ts'
import type { InputFault, StateTestRequest } from './statetest/messages.ts'
import { JsonRows, Tally } from './statetest/report.ts'
import { isSystemError } from './statetest/serveStateTests.ts'
import { answerRequests } from './statetest/stateTestTask.ts'

type StatetestFlags = {
  readonly json?: boolean
  readonly fork?: string
  readonly filter?: string
  readonly precompiles?: PrecompileSet
  readonly trace?: boolean
  readonly workers: number
}

/** Most threads that make sense to ask for. */
const WORKER_COUNT_MAX = 256

export function addStatetestCommand(program: Command): void {
  program
    .command('statetest')
    .description('run state tests: JSON files as published, folders of them, or packed shards')
    .argument('<path...>', '.json file, folder, or .ndjson.br shard')
    .option('--json', 'print an array of {name, pass, fork, stateRoot, error?}, one a sub-case')
    .option('--fork <name>', 'only this fork, e.g. Cancun')
    .option('--filter <regexp>', 'only tests whose path/name matches', parseRegularExpression)
    .addOption(
      new Option(
        '--precompiles <set>',
        'precompiles of EIP-2537; without it, as a file was filled',
      ).choices(PRECOMPILE_SETS),
    )
    .option('--trace', 'write every step to standard error (EIP-3155); runs on one thread')
    .option('--workers <count>', 'threads', parseWorkerCount, threadCountDefault())
    .addHelpText(
      'after',
      '\nEnds with 1 where a test failed, with 2 where an input cannot be read.\n\nExample:\n  varve statetest GeneralStateTests/stExample --fork Cancun\n',
    )
    .action((paths: string[], flags: StatetestFlags) => runStatetests(paths, flags))
}

async function runStatetests(paths: readonly string[], flags: StatetestFlags): Promise<void> {
  const start = performance.now()
  const faults: InputFault[] = []
  const files = paths.flatMap((path) => guarded(faults, () => findInputs(path)) ?? [])
  const total = files.reduce((sum, { byteCount }) => sum + byteCount, 0)
  const bar = new Progress('running', 'bytes', flags.json !== true)
  let done = 0
  let testCount = 0
  const requests = allRequests(files, faults, (byteCount) => {
    done += byteCount
  })
  const tally = new Tally()
  const json = flags.json === true ? new JsonRows((text) => process.stdout.write(text)) : undefined
  const options = { fork: flags.fork, filter: flags.filter, precompileSet: flags.precompiles }
  // A thread for less than a file is one too many; a shard is cut into many requests.
  const isSmall = files.length === 1 && files[0]!.kind === 'json'
  const threadCount = isSmall || flags.trace === true ? 1 : flags.workers
  const trace = flags.trace === true ? (text: string) => process.stderr.write(text) : undefined
  for await (const reply of answerRequests(requests, options, threadCount, trace)) {
    faults.push(...reply.faults)
    testCount += reply.testCount
    for (const row of reply.rows) {
      tally.add(row)
      json?.add(row)
    }
    bar.update(done, total)
  }
  bar.stop()
  json?.end()
  if (testCount === 0 && faults.length === 0)
    faults.push({ code: 'STATETEST_UNREADABLE', message: `${paths.join(', ')}: no state tests` })
  for (const { code, message } of faults) console.error(`error: ${message} [${code}]`)
  if (json === undefined && testCount > 0)
    console.log(tally.describe((performance.now() - start) / 1000, threadCount))
  if (tally.failCount > 0) process.exitCode = EXIT_FAILED
  if (faults.length > 0) process.exitCode = EXIT_USAGE
}

/** The requests of all files. A file that cannot be read is noted and passed over. */
async function* allRequests(
  files: readonly InputFile[],
  faults: InputFault[],
  onBytes: (byteCount: number) => void,
): AsyncGenerator<StateTestRequest> {
  for (const file of files)
    try {
      yield* requestsOf(file, onBytes)
    } catch (error) {
      faults.push(inputFault(error))
    }
}

function guarded<Result>(faults: InputFault[], work: () => Result): Result | undefined {
  try {
    return work()
  } catch (error) {
    faults.push(inputFault(error))
    return undefined
  }
}

/** A fault of the input as a message. @throws what is none */
function inputFault(error: unknown): InputFault {
  if (isVarveError(error)) return { code: error.code, message: error.message }
  if (isSystemError(error)) return { code: 'STATETEST_UNREADABLE', message: error.message }
  throw error
}

function parseRegularExpression(text: string): string {
  try {
    new RegExp(text)
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
  return text
}

function parseWorkerCount(text: string): number {
  const count = parsePositive(text)
  if (count > WORKER_COUNT_MAX)
    throw new InvalidArgumentError(`expected at most ${WORKER_COUNT_MAX}.`)
  return count
}
