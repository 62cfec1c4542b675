/** `varve bench`: what things cost here, and against a mode, a revision or a peer. */
import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type BenchCase, caseId } from '../measure/index.ts'
import { parseCount } from './arguments.ts'
import {
  type BenchReport,
  comparisonReport,
  describeComparison,
  machineText,
  noiseOf,
  shareText,
} from './bench/benchReport.ts'
import { type ComparisonResult, runComparison } from './bench/comparison.ts'
import type { BenchClock } from './bench/gather.ts'
import { thisMachine } from './bench/machine.ts'
import { benchPage } from './bench/page.ts'
import { type Against, type BenchPlan, makePlan } from './bench/plan.ts'
import { findCases } from './bench/registry.ts'
import { smoke } from './bench/smoke.ts'
import { addBenchReplayCommand } from './benchReplayCommand.ts'
import { EXIT_FAILED, toJson } from './exit.ts'
import { duration, Progress } from './progress.ts'

type BenchFlags = {
  readonly vs?: Against
  readonly sizes?: readonly number[]
  readonly large?: boolean
  readonly minutes?: number
  readonly clock: BenchClock
  readonly list?: boolean
  readonly smoke?: boolean
  readonly report?: string
  readonly json?: boolean
  readonly quiet?: boolean
}

/** Of a run without `--minutes`: what all comparisons take, or as much as each needs where there are few. */
const MINUTES = 12
const SECONDS_EACH = 15
/** Where the machine is so busy that even the fewest rounds take longer, the rest is left out after this much more. */
const OVERTIME_SHARE = 0.2

export function addBenchCommand(program: Command): void {
  const bench = program
    .command('bench')
    .description('what things cost here, and against a mode, a revision or a peer')
    .argument(
      '[group...]',
      'trie, layers, words, keccak, evm, blocks, executor, all, or a case as --list shows it',
    )
    .option(
      '--vs <arm>',
      'the other side: mode:NAME, rev:REVISION of this repository, or peer:NAME of bench/thirdparty',
      parseAgainst,
    )
    .option('--sizes <sizes>', 'these sizes only, as 10,1000', parseSizes)
    .option('--large', 'sizes too that take seconds a run')
    .option('--minutes <count>', 'for all of it', parseMinutes)
    .addOption(
      new Option('--clock <clock>', 'wall time, or processor time where other work is going on')
        .choices(['wall', 'cpu'])
        .default('wall'),
    )
    .option('--list', 'print the cases and end')
    .option('--smoke', 'run each case once, small and untimed: does it do what it claims?')
    .option('--report <file>', 'write a page with tables and charts, as report.html')
    .option('--json', 'print one JSON object, with every sample')
    .option('--quiet', 'no progress')
    .addHelpText(
      'after',
      '\nArms take turns in fresh processes; the base runs twice, and a difference counts where it exceeds what the\n' +
        'base shows against itself. A result that is not the one on record, or proves fewer operations, is void.\n' +
        '\nExamples:\n  varve bench keccak\n  varve bench trie/commit-after-hash --vs rev:HEAD~1\n' +
        '  varve bench all --report report.html\n',
    )
    .action((names: string[], flags: BenchFlags) => runBench(names, flags))
  addBenchReplayCommand(bench)
}

async function runBench(names: readonly string[], flags: BenchFlags): Promise<void> {
  const cases = await findCases(names)
  if (flags.list === true) return list(cases, flags)
  if (flags.smoke === true) return await runSmoke(cases, flags)
  const { vs, sizes, large } = flags
  if (vs?.kind === 'revision') tell(flags, `building revision ${vs.name}`)
  const plan = await makePlan({
    cases,
    ...(vs === undefined ? {} : { against: vs }),
    ...(sizes === undefined ? {} : { sizes }),
    withLarge: large === true,
  })
  try {
    const report = await compareAll(plan, flags)
    if (flags.report !== undefined) writeFileSync(flags.report, benchPage(report))
    if (flags.json === true) console.log(toJson(report))
    else console.log(describeEnd(report))
    if (report.comparisons.some(isBad) || report.leftOut.length > 0) process.exitCode = EXIT_FAILED
  } finally {
    plan.close()
  }
}

const isBad = ({ fault, judgement }: BenchReport['comparisons'][number]): boolean =>
  fault !== null || judgement.verdict === 'void'

/** Runs all comparisons in the time there is, and prints each as it ends. Ctrl-C ends it with what it has. */
async function compareAll({ comparisons }: BenchPlan, flags: BenchFlags): Promise<BenchReport> {
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  const startedAt = new Date()
  const before = loadavg()[0]!
  const start = performance.now()
  const totalMs =
    flags.minutes === undefined
      ? Math.min(MINUTES * 60_000, comparisons.length * SECONDS_EACH * 1000)
      : flags.minutes * 60_000
  const results: ComparisonResult[] = []
  const leftOut: string[] = []
  try {
    for (const comparison of comparisons) {
      const { bench, size } = comparison
      const left = totalMs - (performance.now() - start)
      if (left < -OVERTIME_SHARE * totalMs) {
        leftOut.push(`${caseId(bench)} ${size.size}`)
        continue
      }
      const name = `${caseId(bench)} ${size.size}`
      const place = `${results.length + 1}/${comparisons.length}`
      const bar = new Progress(`${place} ${name}`, 'turns', flags.quiet !== true)
      if (process.stderr.isTTY !== true && flags.json === true)
        tell(flags, `${place} ${name}, ${duration(left / 1000)} left`)
      const result = await runComparison(comparison, {
        allottedMs: left / (comparisons.length - results.length),
        clock: flags.clock,
        signal: stop.signal,
        onTurn: (done, total) => bar.update(done, total),
      })
      bar.stop()
      results.push(result)
      if (flags.json !== true) console.log(describeComparison(comparisonReport(result)))
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
    process.exitCode = EXIT_FAILED
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
  const reports = results.map(comparisonReport)
  return {
    schema: 'varve-bench/1',
    startedAt: startedAt.toISOString(),
    seconds: (performance.now() - start) / 1000,
    machine: thisMachine(),
    clock: flags.clock,
    load: { before, after: loadavg()[0]! },
    against: flags.vs === undefined ? null : `${flags.vs.kind} ${flags.vs.name}`,
    noise: noiseOf(reports),
    comparisons: reports,
    leftOut,
  }
}

function describeEnd({ machine, noise, load, comparisons, leftOut, seconds }: BenchReport): string {
  const noiseText =
    noise === null ? '' : `noise ${shareText(noise.median)}, at most ${shareText(noise.max)}; `
  return [
    ...(leftOut.length === 0 ? [] : [`LEFT OUT, no time: ${leftOut.join(', ')}`]),
    `${comparisons.length} comparisons in ${duration(seconds)}; ${noiseText}load ${load.before.toFixed(1)} before, ${load.after.toFixed(1)} after`,
    machineText(machine),
  ].join('\n')
}

function list(cases: readonly BenchCase[], flags: BenchFlags): void {
  if (flags.json === true) {
    const entries = cases.map((bench) => ({
      case: caseId(bench),
      about: bench.about,
      operation: bench.operation,
      sizeUnit: bench.sizeUnit,
      sizes: bench.sizes,
      arms: bench.arms,
    }))
    console.log(toJson(entries))
    return
  }
  for (const bench of cases) {
    const { about, arms, sizes, sizeUnit } = bench
    const sizeText = sizes.map(
      ({ size, isLarge }) => `${size}${isLarge === true ? ' (large)' : ''}`,
    )
    console.log(`${caseId(bench)}: ${about}`)
    console.log(`  ${sizeText.join(', ')} ${sizeUnit}; ${arms.join(', ')}`)
  }
}

async function runSmoke(cases: readonly BenchCase[], flags: BenchFlags): Promise<void> {
  const results = []
  for (const bench of cases) results.push(...(await smoke(bench)))
  if (flags.json === true) console.log(toJson(results))
  else
    for (const { case: id, arm, size, proof, fault } of results)
      console.log(
        fault === undefined
          ? `ok   ${id} ${arm}: ${proof.operations} operations at size ${size}, result ${proof.digest}`
          : `FAIL ${id} ${arm}: ${fault}`,
      )
  if (results.some(({ fault }) => fault !== undefined)) process.exitCode = EXIT_FAILED
}

function tell({ quiet }: BenchFlags, text: string): void {
  if (quiet !== true) console.error(text)
}

const KINDS = { mode: 'mode', rev: 'revision', peer: 'peer' } as const

function parseAgainst(text: string): Against {
  const [, kind, name] = /^(mode|rev|peer):(.+)$/.exec(text) ?? []
  if (kind === undefined || name === undefined)
    throw new InvalidArgumentError('expected mode:NAME, rev:REVISION or peer:NAME.')
  return { kind: KINDS[kind as keyof typeof KINDS], name }
}

function parseMinutes(text: string): number {
  const minutes = Number(text)
  if (!(minutes > 0)) throw new InvalidArgumentError('expected a number above 0.')
  return minutes
}

const parseSizes = (text: string): number[] => text.split(',').map(parseCount)
