/** Suites of state tests, run by the command that users run: `varve statetest SUITE --json`. */
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

/** What the command ends with where all passed, and where some failed. */
const EXIT_CODES: readonly (number | null)[] = [0, 1]

export async function runStateSuite(fixtures: Fixtures, report: SuiteReport): Promise<void> {
  const path = fixtures.folderOf(report.suite)
  const command = join(import.meta.dirname, '../cli/main.js')
  const args = [command, 'statetest', path, '--json']
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
