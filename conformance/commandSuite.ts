/** Suites of state and blockchain tests, run by the commands that users run: `varve statetest SUITE --json`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Fixtures } from './fixtures.ts'
import type { SuiteReport } from './suiteReport.ts'

type Row = {
  readonly name: string
  readonly pass: boolean
  readonly fork: string
  readonly stateRoot: string
  readonly error?: string
}

/** What a command ends with where all passed, and where some failed. */
const EXIT_CODES: readonly (number | null)[] = [0, 1]
/** Holds the states that suites of the engine API name by a hash. */
const PRE_ALLOC_SUITE = 'eest-benchmark-prealloc'

export const PIPELINE_MODES = ['off', 'on', 'delayed'] as const

/** How blocks come in: `--pipeline` and `--seed` of `varve blocktest`. */
export type BlockRun = {
  readonly pipeline: (typeof PIPELINE_MODES)[number]
  readonly seed: number
}

export function runStateSuite(fixtures: Fixtures, report: SuiteReport): Promise<void> {
  return runCommand(['statetest', fixtures.folderOf(report.suite)], report)
}

export function runBlockSuite(
  fixtures: Fixtures,
  report: SuiteReport,
  run: BlockRun,
): Promise<void> {
  const preAlloc = fixtures.has(PRE_ALLOC_SUITE)
    ? ['--pre-alloc', fixtures.folderOf(PRE_ALLOC_SUITE)]
    : []
  return runBlocks([fixtures.folderOf(report.suite), ...preAlloc], report, run)
}

/** Blocks are run a second time from their witnesses; where the suite has witnesses, ours must be those. */
export function runWitnessSuite(
  fixtures: Fixtures,
  report: SuiteReport,
  run: BlockRun,
): Promise<void> {
  return runBlocks([fixtures.folderOf(report.suite), '--cross-check'], report, run)
}

function runBlocks(
  args: readonly string[],
  report: SuiteReport,
  { pipeline, seed }: BlockRun,
): Promise<void> {
  return runCommand(['blocktest', ...args, '--pipeline', pipeline, '--seed', String(seed)], report)
}

async function runCommand(command: readonly string[], report: SuiteReport): Promise<void> {
  const args = [join(import.meta.dirname, '../cli/main.js'), ...command, '--json']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  let failCount = 0
  // The array has one row a line, so that no run is too long to be read.
  for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) {
    if (!line.startsWith('{')) continue
    const { name, pass, fork, stateRoot, error } = JSON.parse(line.replace(/,$/, '')) as Row
    if (!pass) failCount++
    const isWhole = !pass || /^0x[0-9a-f]{64}$/.test(stateRoot)
    const problem = pass ? undefined : (error ?? 'no reason given')
    report.add(`${name} [${fork}]`, isWhole ? problem : `no state root, found "${stateRoot}"`)
  }
  const [exitCode] = (await closed) as [number | null]
  const isConsistent = EXIT_CODES.includes(exitCode) && (exitCode === 1) === failCount > 0
  if (!isConsistent)
    report.add('exit code', `${failCount} rows failed, and the command ended with ${exitCode}`)
}
