/** `varve soak`: layers and blocks for a long time, and whether memory stays flat. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { MEMORY_BYTES_MIN } from '../engine/index.ts'
import type { JournalSync } from '../store/index.ts'
import { memoryOption, parseCount, syncOption } from './arguments.ts'
import { EXIT_FAILED, toJson, UsageError } from './exit.ts'
import { type BlocksSoakReport, soakBlocks } from './soak/blocksSoak.ts'
import { type LayersSoakReport, soakLayers } from './soak/layersSoak.ts'
import { MemoryMeter, type MemoryReport } from './soak/memoryMeter.ts'
import type { MemoryTrend } from './soak/memoryTrend.ts'

type SoakFlags = {
  readonly layers: number
  readonly minutes: number
  readonly memory?: number
  readonly sync: JournalSync
  readonly seed: number
  readonly json?: boolean
}

/** What a soak reports; the shape of `--json`. Parts that were not asked for are not there. */
export type SoakReport = {
  readonly ok: boolean
  readonly seed: number
  readonly layers?: LayersSoakReport & { readonly memory: MemoryReport }
  readonly blocks?: BlocksSoakReport & { readonly memory: MemoryReport }
}

/** Seconds between two lines of progress. */
const LINE_SECONDS = 15

export function addSoakCommand(program: Command): void {
  program
    .command('soak')
    .description('make and release layers, then run blocks for some time; fails where memory grows')
    .option('--layers <count>', 'layers, 0 for none', parseCount, 1_000_000)
    .option('--minutes <count>', 'of blocks through a pipeline, 0 for none', parseMinutes, 30)
    .addOption(memoryOption('the least, 64M'))
    .addOption(syncOption('group'))
    .option('--seed <number>', 'of layers and blocks', parseCount, 1)
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nFlat: in the second half of each part, a line through the lows of ten windows grows by at most 3 % or 8 MiB.\n' +
        'Looked at are resident pages (those of the mapped database left out) and what is alive after a collection.\n' +
        'The database lies in the folder for temporary files, and is some gigabytes after half an hour.\n' +
        '\nExample:\n  varve soak --minutes 5\n',
    )
    .action((flags: SoakFlags) => runSoak(flags))
}

async function runSoak(flags: SoakFlags): Promise<void> {
  const { layers, minutes, seed, json } = flags
  if (layers === 0 && minutes === 0)
    throw new UsageError('--layers 0 --minutes 0: expected something to do, got nothing')
  const parts = {
    ...(layers === 0 ? {} : { layers: layersPart(flags) }),
    ...(minutes === 0 ? {} : { blocks: await blocksPart(flags) }),
  }
  const ok = [parts.layers, parts.blocks].every((part) => part === undefined || part.memory.isFlat)
  const report: SoakReport = { ok, seed, ...parts }
  console.log(json === true ? toJson(report) : describe(report))
  if (!ok) process.exitCode = EXIT_FAILED
}

function layersPart({ layers: count, seed }: SoakFlags): NonNullable<SoakReport['layers']> {
  const { meter, line } = watch('layers')
  const onLayer = (done: number): void => {
    meter.sample(done / count)
    line(done)
  }
  return { ...soakLayers({ count, seed, onLayer }), memory: meter.report() }
}

async function blocksPart(flags: SoakFlags): Promise<NonNullable<SoakReport['blocks']>> {
  const { minutes, memory: memoryBytes = MEMORY_BYTES_MIN, sync, seed } = flags
  const folder = mkdtempSync(join(tmpdir(), 'varve-soak-'))
  const { meter, line } = watch('blocks')
  const onBlock = (share: number, blocks: number): void => {
    meter.sample(share)
    line(blocks)
  }
  try {
    const options = { folder: join(folder, 'db'), minutes, memoryBytes, sync, seed, onBlock }
    return { ...(await soakBlocks(options)), memory: meter.report() }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A meter, and a line of progress now and then. */
function watch(noun: string): { readonly meter: MemoryMeter; line(done: number): void } {
  let resident = 0
  const meter = new MemoryMeter(({ bytes }) => {
    resident = bytes
  })
  let due = LINE_SECONDS
  const line = (done: number): void => {
    const { seconds } = meter
    if (seconds < due) return
    due = seconds + LINE_SECONDS
    const count = done.toLocaleString('en')
    console.error(`${seconds.toFixed(0)} s: ${count} ${noun}, resident ${mebibytes(resident)}`)
  }
  return { meter, line }
}

function describe({ layers, blocks }: SoakReport): string {
  const lines: string[] = []
  if (layers !== undefined) {
    const rate = Math.round(layers.layersPerSecond).toLocaleString('en')
    const count = layers.layers.toLocaleString('en')
    lines.push(
      `layers   ${count} made and released in ${layers.seconds.toFixed(1)} s, ${rate} a second`,
    )
    lines.push(...describeMemory(layers.memory))
  }
  if (blocks !== undefined) {
    const { refusedBlocks, branches, reopenings, databaseBytes, transactions, seconds } = blocks
    lines.push(
      `blocks   ${blocks.blocks} with ${transactions} transactions in ${seconds.toFixed(0)} s, database ${mebibytes(databaseBytes)}`,
      `         besides ${refusedBlocks} refused, ${branches} branches, ${reopenings} pipelines`,
      ...describeMemory(blocks.memory),
    )
  }
  return lines.join('\n')
}

function describeMemory({ resident, alive }: MemoryReport): string[] {
  return [describeTrend('resident', resident), describeTrend('alive', alive)]
}

function describeTrend(name: string, trend: MemoryTrend): string {
  const { meanBytes, growthBytes, allowedBytes, isFlat } = trend
  const verdict = isFlat ? 'flat' : 'GROWS'
  return `${name.padEnd(9)}${verdict}: ${mebibytes(meanBytes)}, ${mebibytes(growthBytes)} more in the second half, at most ${mebibytes(allowedBytes)}`
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`
}

function parseMinutes(text: string): number {
  const minutes = Number(text)
  if (text === '' || !(minutes >= 0 && minutes <= 100_000))
    throw new InvalidArgumentError(`"${text}" is no number of minutes.`)
  return minutes
}
