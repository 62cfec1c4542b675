/** The way of a command that runs published tests: inputs, threads, progress, rows, sum, exit code. */
import { type Command, InvalidArgumentError } from 'commander'
import { isVarveError } from '../../base/index.ts'
import { threadCountDefault } from '../../threads/index.ts'
import { parsePositive } from '../arguments.ts'
import { EXIT_FAILED, EXIT_USAGE } from '../exit.ts'
import { Progress } from '../progress.ts'
import { findInputs, type InputFile, requestsOf } from './inputs.ts'
import type { InputFault, TestRequest, TestResult } from './messages.ts'
import { JsonRows, Tally } from './report.ts'
import { isSystemError } from './serveTests.ts'
import { answerRequests, type TestTask } from './testTask.ts'

/** What such commands have in common on their command line. */
export type TestFlags = {
  readonly json?: boolean
  readonly fork?: string
  readonly filter?: string
  readonly workers: number
}

/** Most threads that make sense to ask for. */
const WORKER_COUNT_MAX = 256

/** Adds the argument and the options of `TestFlags`. */
export function addTestOptions(command: Command, rowFields: string): Command {
  return command
    .argument('<path...>', '.json file, folder, or .ndjson.br shard')
    .option('--json', `print an array of {${rowFields}}`)
    .option('--fork <name>', 'only this fork, e.g. Cancun')
    .option('--filter <regexp>', 'only tests whose path/name matches', parseRegularExpression)
    .option('--workers <count>', 'threads', parseWorkerCount, threadCountDefault())
}

/**
 * Runs the tests below `paths` and sets the exit code: 1 where a test failed, 2 where an input cannot be read.
 * @param noun what is run, for messages: `state tests`
 * @param isOneThread true where the work cannot be spread
 */
export async function runTests<Result extends TestResult>(
  paths: readonly string[],
  flags: TestFlags,
  task: TestTask<Result>,
  { noun, isOneThread = false }: { readonly noun: string; readonly isOneThread?: boolean },
): Promise<void> {
  const start = performance.now()
  const faults: InputFault[] = []
  const files = paths.flatMap((path) => guarded(faults, () => findInputs(path)) ?? [])
  const total = files.reduce((sum, { byteCount }) => sum + byteCount, 0)
  const bar = new Progress('running', 'bytes', flags.json !== true)
  let done = 0
  let testCount = 0
  let rowCount = 0
  const requests = allRequests(files, faults, (byteCount) => {
    done += byteCount
  })
  const tally = new Tally()
  const json = flags.json === true ? new JsonRows((text) => process.stdout.write(text)) : undefined
  // A thread for less than a file is one too many; a shard is cut into many requests.
  const isSmall = files.length === 1 && files[0]!.kind === 'json'
  const threadCount = isSmall || isOneThread ? 1 : flags.workers
  for await (const reply of answerRequests(requests, task, threadCount)) {
    faults.push(...reply.faults)
    testCount += reply.testCount
    for (const row of reply.rows) {
      rowCount++
      tally.add(row)
      json?.add(row)
    }
    bar.update(done, total)
  }
  bar.stop()
  json?.end()
  if (testCount === 0 && faults.length === 0)
    faults.push({ code: 'TESTFILE_UNREADABLE', message: `${paths.join(', ')}: no ${noun}` })
  // A name mistyped would else be a success for ever.
  if (testCount > 0 && rowCount === 0 && faults.length === 0)
    faults.push({ code: 'TESTFILE_NONE_SELECTED', message: noneSelected(flags) })
  for (const { code, message } of faults) console.error(`error: ${message} [${code}]`)
  if (json === undefined && testCount > 0)
    console.log(tally.describe((performance.now() - start) / 1000, threadCount))
  if (tally.failCount > 0) process.exitCode = EXIT_FAILED
  if (faults.length > 0) process.exitCode = EXIT_USAGE
}

function noneSelected({ fork, filter }: TestFlags): string {
  const by = [
    ...(fork === undefined ? [] : [`--fork ${fork}`]),
    ...(filter === undefined ? [] : [`--filter ${filter}`]),
  ]
  return `expected a test to run, found none${by.length === 0 ? '' : ` by ${by.join(' ')}`}`
}

/** The requests of all files. A file that cannot be read is noted and passed over. */
async function* allRequests(
  files: readonly InputFile[],
  faults: InputFault[],
  onBytes: (byteCount: number) => void,
): AsyncGenerator<TestRequest> {
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
  if (isSystemError(error)) return { code: 'TESTFILE_UNREADABLE', message: error.message }
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
