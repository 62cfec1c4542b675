/** `varve import`: blocks of files into a database, verified. */
import type { Command } from 'commander'
import { toHex } from '../base/index.ts'
import { type BlockSource, type Engine, type ImportProgress, importChain } from '../engine/index.ts'
import type { JournalSync } from '../store/index.ts'
import {
  addWatchOptions,
  memoryOption,
  parseCount,
  parseFolder,
  parsePositive,
  pipelineOption,
  syncOption,
} from './arguments.ts'
import { genesisOf, openChainFile } from './chainFiles.ts'
import { databaseHasChain, withWritableEngine } from './database.ts'
import { EXIT_FAILED, toJson } from './exit.ts'
import { type WatchFlags, type Watching, watched } from './metrics/watching.ts'
import { Progress } from './progress.ts'

type ImportFlags = WatchFlags & {
  readonly db: string
  readonly genesis?: string
  readonly to?: number
  readonly batch?: number
  readonly history?: number
  readonly pipeline?: 'on' | 'off'
  readonly memory?: number
  readonly sync?: JournalSync
  readonly json?: boolean
  readonly quiet?: boolean
}

export function addImportCommand(program: Command): void {
  const command = program
    .command('import')
    .description(
      'verify and import blocks: era1 files, files of RLP blocks as geth exports them, or JSON',
    )
    .argument('<file...>', 'files in the order of their blocks')
    .requiredOption('--db <dir>', 'database folder; made where there is none', parseFolder)
    .option(
      '--genesis <name|file>',
      'mainnet, sepolia, holesky, hoodi, or a genesis.json (default: that of the database, else mainnet)',
    )
    .option('--to <number>', 'last block to import', parseCount)
    .option('--batch <blocks>', 'blocks in one write to the database', parsePositive)
    .option('--history <blocks>', 'blocks behind the head whose states are kept (128)', parseCount)
    .addOption(pipelineOption())
    .addOption(memoryOption())
    // The file is there again after a power cut, so no block needs a disk sync of its own.
    .addOption(syncOption('group'))
    .option('--json', 'print one JSON object')
    .option('--quiet', 'no progress')
    .addHelpText(
      'after',
      '\nJSON files (.json) are a list of blocks as RLP in hex, or one blockchain test, which brings its own genesis.\n' +
        '\nExamples:\n  varve import mainnet-00000-5ec1ffb8.era1 --db ./mainnet --genesis mainnet\n' +
        '  varve import chain.rlp --db ./test --genesis genesis.json\n',
    )
    .action((files: string[], flags: ImportFlags) => runImport(files, flags))
  addWatchOptions(command)
}

/** What an import reports; the shape of `--json`. */
export type ImportReport = {
  readonly blocks: number
  /** Newest block in the database; `null` where it was stopped before anything was written. */
  readonly head: {
    readonly number: number
    readonly hash: string
    readonly stateRoot: string
  } | null
  readonly seconds: number
  readonly blocksPerSecond: number
  /** Gas of the imported blocks, in millions. */
  readonly megagas: number
  readonly megagasPerSecond: number
  readonly phases: Engine['phases']
  /** True where a signal ended the import early. */
  readonly stopped: boolean
}

/** Runs the command. Ctrl-C stops after the block at hand and keeps what was imported. */
export async function runImport(files: readonly string[], flags: ImportFlags): Promise<void> {
  const report = await importFiles(files, flags)
  if (flags.json === true) console.log(toJson(report))
  else console.log(describe(report))
  if (report.stopped) process.exitCode = EXIT_FAILED
}

/** Imports files one after the other. */
export async function importFiles(
  files: readonly string[],
  flags: ImportFlags,
): Promise<ImportReport> {
  return await watched(flags, (watching) => importWatched(files, flags, watching))
}

async function importWatched(
  files: readonly string[],
  flags: ImportFlags,
  watching: Watching,
): Promise<ImportReport> {
  const isFresh = !databaseHasChain(flags.db)
  const inputs = files.map(openChainFile)
  const found = await genesisOf(flags.genesis, inputs, isFresh)
  const genesis = found === undefined ? {} : { genesis: found }
  const batch = flags.batch === undefined ? {} : { batchBlockCount: flags.batch }
  const history = flags.history === undefined ? {} : { historyBlocks: flags.history }
  const memory = flags.memory === undefined ? {} : { memoryBytes: flags.memory }
  const { sync = { mode: 'group', milliseconds: 50 } } = flags
  const { observer } = watching
  const watch = observer === undefined ? {} : { observer }
  const options = { ...genesis, ...batch, ...history, ...memory, ...watch, sync }
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  try {
    return await withWritableEngine(flags.db, options, async (engine) => {
      watching.attach(engine)
      const start = performance.now()
      let blocks = 0
      let megagas = 0
      let stopped = false
      for (const { open } of inputs) {
        if (stopped) break
        const result = await importSource(engine, open(), flags, stop.signal)
        blocks += result.blockCount
        megagas += megagasOf(result.gasUsed)
        stopped = result.isStopped
      }
      const seconds = (performance.now() - start) / 1000
      const isUntouched = stopped && blocks === 0 && isFresh
      return reportOf(engine, { blocks, megagas, seconds, stopped, isUntouched })
    })
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

async function importSource(
  engine: Engine,
  source: BlockSource,
  flags: ImportFlags,
  signal: AbortSignal,
) {
  const isShown = flags.json !== true && flags.quiet !== true
  const bars = {
    check: new Progress('checking ', 'blocks', isShown),
    import: new Progress('importing', 'blocks', isShown),
  }
  const onProgress = ({ stage, done, total, gasUsed }: ImportProgress) => {
    if (stage === 'import') bars.check.stop()
    const gas = gasUsed === 0n ? undefined : { amount: megagasOf(gasUsed), unit: 'Mgas' }
    bars[stage].update(done, total, gas)
  }
  try {
    return await importChain(engine, source, {
      signal,
      onProgress,
      isPipelined: flags.pipeline !== 'off',
      ...(flags.to === undefined ? {} : { to: flags.to }),
    })
  } finally {
    bars.check.stop()
    bars.import.stop()
    source.close()
  }
}

function reportOf(
  engine: Engine,
  run: {
    readonly blocks: number
    readonly megagas: number
    readonly seconds: number
    readonly stopped: boolean
    readonly isUntouched: boolean
  },
): ImportReport {
  const { number, hash, stateRoot } = engine.head.header
  const { blocks, megagas, seconds, stopped, isUntouched } = run
  return {
    blocks,
    head: isUntouched ? null : { number, hash: toHex(hash), stateRoot: toHex(stateRoot) },
    seconds,
    blocksPerSecond: blocks === 0 ? 0 : blocks / seconds,
    megagas,
    megagasPerSecond: blocks === 0 ? 0 : megagas / seconds,
    phases: engine.phases,
    stopped,
  }
}

function megagasOf(gas: bigint): number {
  return Number(gas) / 1e6
}

function describe(report: ImportReport): string {
  const { blocks, head, seconds, blocksPerSecond, megagas, megagasPerSecond } = report
  const { phases, stopped } = report
  if (head === null) return 'stopped before anything was imported; nothing was written'
  const at = `head: block ${head.number}\nhash: ${head.hash}\nroot: ${head.stateRoot}`
  if (blocks === 0) {
    if (stopped) return `stopped before a further block was imported\n${at}`
    return `nothing to do: the database holds these blocks already\n${at}`
  }
  const rate = Math.round(blocksPerSecond).toLocaleString('en')
  const shares = Object.entries(phases)
    .filter(([, value]) => value > 0)
    .map(([phase, value]) => `${phase} ${value.toFixed(2)} s`)
  // Blocks without transactions have no gas to speak of.
  const gas = megagas === 0 ? '' : `${megagasPerSecond.toFixed(1)} Mgas/s; `
  const verb = stopped ? 'stopped: imported' : 'imported'
  return `${verb} ${blocks} blocks in ${seconds.toFixed(2)} s (${rate} blocks/s; ${gas}${shares.join(', ')})\n${at}`
}
