/** `varve bench replay`: two configurations import the same chain side by side. */
import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { parseCount, parsePositive } from './arguments.ts'
import { parseReplayConfig, type ReplayConfig } from './bench/replay/config.ts'
import { replay } from './bench/replay/replay.ts'
import { replayPage } from './bench/replay/replayPage.ts'
import { describeReplay, replayReport } from './bench/replay/replayReport.ts'
import { type BuiltRevision, buildRevision } from './bench/revision.ts'
import { PACKAGE_ROOT } from './bench/sourceTree.ts'
import { EXIT_FAILED, toJson } from './exit.ts'
import { Progress } from './progress.ts'

type ReplayFlags = {
  readonly a: ReplayConfig
  readonly b: ReplayConfig
  readonly file: readonly string[]
  readonly genesis?: string
  readonly to?: number
  readonly segments: number
  readonly report?: string
  readonly json?: boolean
  readonly quiet?: boolean
}

const SEGMENTS = 20
const SEGMENTS_MIN = 4

export function addBenchReplayCommand(bench: Command): void {
  bench
    .command('replay')
    .description('two configurations import the same chain side by side: who leads, and where')
    .requiredOption('--a <config>', 'the one to compare with', parseReplayConfig)
    .requiredOption('--b <config>', 'the other one', parseReplayConfig)
    .requiredOption('--file <file...>', 'blocks as varve import takes them, in their order')
    .option('--genesis <name|file>', 'as in varve import')
    .option('--to <number>', 'last block', parseCount)
    .option('--segments <count>', 'turns of each, an even number', parseSegments, SEGMENTS)
    .option('--report <file>', 'write a page with charts, as replay.html')
    .option('--json', 'print one JSON object')
    .option('--quiet', 'no progress')
    .addHelpText(
      'after',
      '\nA configuration is default, or some of pipeline=on|off, sync=always|group[:ms]|os, memory=512M, history=128,\n' +
        'batch=1000, rev=REVISION, joined by commas.\n' +
        '\nExample:\n  varve bench replay --a pipeline=off --b pipeline=on --file chain.rlp --genesis genesis.json --report replay.html\n',
    )
    .action((_: unknown, command: Command) => runReplay(command.optsWithGlobals()))
}

async function runReplay(flags: ReplayFlags): Promise<void> {
  const { a, b, file: files, genesis, to, segments: segmentCount } = flags
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  const built = new Map<string, BuiltRevision>()
  try {
    for (const { revision } of [a, b])
      if (revision !== undefined && !built.has(revision)) {
        if (flags.quiet !== true) console.error(`building revision ${revision}`)
        built.set(revision, buildRevision(revision))
      }
    const bar = new Progress('replaying', 'segments', flags.quiet !== true)
    const before = loadavg()[0]!
    const startedAt = new Date().toISOString()
    const result = await replay({
      ...{ a, b, files, segmentCount, signal: stop.signal },
      ...(genesis === undefined ? {} : { genesis }),
      ...(to === undefined ? {} : { to }),
      programOf: ({ revision }) =>
        replayProgram(revision === undefined ? PACKAGE_ROOT : built.get(revision)!.tree),
      onSegment: (done, total) => bar.update(done, total),
    })
    bar.stop()
    const report = replayReport(result, {
      startedAt,
      load: { before, after: loadavg()[0]! },
      labels: { a: a.label, b: b.label },
    })
    if (flags.report !== undefined) writeFileSync(flags.report, replayPage(report))
    console.log(flags.json === true ? toJson(report) : describeReplay(report))
    if (report.judgement.verdict === 'void') process.exitCode = EXIT_FAILED
  } finally {
    for (const revision of built.values()) revision.close()
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

const replayProgram = (root: string): string => join(root, 'dist/cli/bench/replay/replayProcess.js')

function parseSegments(text: string): number {
  const count = parsePositive(text)
  if (count < SEGMENTS_MIN || count % 2 === 1)
    throw new InvalidArgumentError(`expected an even number from ${SEGMENTS_MIN} up.`)
  return count
}
