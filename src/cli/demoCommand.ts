/**
 * `varve demo`: the whole way in one command, with nothing but the package: the tour of `demoTour.ts`. With `--chain` it
 * makes a small chain, imports it and proves an account; given a file, it imports that file instead.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { encodeBlock } from '../codec/index.ts'
import type { JournalSync } from '../store/index.ts'
import { memoryOption, parsePositive, pipelineOption, syncOption } from './arguments.ts'
import {
  DEMO_BLOCK_COUNT,
  DEMO_FORKS,
  demoBlocks,
  demoGenesis,
  demoGenesisText,
} from './demoChain.ts'
import { tour } from './demoTour.ts'
import { EXIT_FAILED, toJson, UsageError } from './exit.ts'
import { type ImportReport, importFiles } from './importCommand.ts'
import { Progress } from './progress.ts'
import { describeProof, type ProvedAccount, proveAccount } from './proveAccount.ts'

type DemoFlags = {
  readonly numAccounts: number
  readonly blocks: number
  readonly blockSize: number
  readonly chain?: boolean
  readonly genesis?: string
  readonly pipeline: 'on' | 'off'
  readonly memory?: number
  readonly sync: JournalSync
  readonly keep?: boolean
  readonly json?: boolean
}

/** As large as a minute allows on two cores. */
const ACCOUNTS = 200_000
const BLOCKS = 20
const BLOCK_SIZE = 4000

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description(
      'a tour of one minute: make a database, run blocks with the pipeline off and on, verify a proof',
    )
    .argument('[file...]', 'instead: files to import')
    .option('--num-accounts <count>', 'of the database', parsePositive, ACCOUNTS)
    .option('--blocks <count>', 'to run', parsePositive, BLOCKS)
    .option('--block-size <count>', 'transactions of a block', parsePositive, BLOCK_SIZE)
    .option('--chain', 'instead: make a small chain of blocks of proof of work, and import it')
    .option('--genesis <name|file>', 'genesis of the given files (default: mainnet)')
    .addOption(pipelineOption())
    .addOption(memoryOption())
    .addOption(syncOption('group'))
    .option('--keep', 'keep the folder with the databases')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  varve demo\n')
    .action((files: string[], flags: DemoFlags) => runDemo(files, flags))
}

async function runDemo(files: readonly string[], flags: DemoFlags): Promise<void> {
  if (flags.chain === true && files.length > 0)
    throw new UsageError('--chain: expected no files, as it makes its own, got some')
  const folder = mkdtempSync(join(tmpdir(), 'varve-demo-'))
  try {
    if (flags.chain === true || files.length > 0) await importDemo(files, folder, flags)
    else await runTour(folder, flags)
  } finally {
    if (flags.keep === true) console.error(`kept ${folder}`)
    else rmSync(folder, { recursive: true, force: true })
  }
}

async function runTour(folder: string, flags: DemoFlags): Promise<void> {
  const { numAccounts: accounts, blocks, blockSize, sync, memory } = flags
  if (2 * blockSize > accounts)
    throw new UsageError(
      `--block-size: expected at most half of --num-accounts, ${accounts}, got ${blockSize}`,
    )
  const isQuiet = flags.json === true
  const report = await tour({
    ...{ folder, accounts, blocks, blockSize, sync },
    ...(memory === undefined ? {} : { memoryBytes: memory }),
    onStep: (text) => {
      if (!isQuiet) console.log(text)
    },
    hasBars: !isQuiet,
  })
  if (isQuiet) console.log(toJson(report))
}

/** Imports the files, or a chain that is made for it, and proves the newest block's miner. */
async function importDemo(
  files: readonly string[],
  folder: string,
  flags: DemoFlags,
): Promise<void> {
  const isMade = files.length === 0
  const genesis = isMade ? join(folder, 'genesis.json') : flags.genesis
  const chain = isMade ? [await makeChain(folder, flags)] : files
  const db = join(folder, 'db')
  const { pipeline, memory, sync } = flags
  const report = await importFiles(chain, {
    ...{ db, pipeline, sync },
    ...(memory === undefined ? {} : { memory }),
    ...(genesis === undefined ? {} : { genesis }),
    ...(flags.json === undefined ? {} : { json: flags.json }),
  })
  if (report.stopped) process.exitCode = EXIT_FAILED
  else printReport(report, await proveAccount(db, ({ header }) => header.coinbase), flags)
}

/** Writes genesis.json and chain.rlp; returns the path of the chain. */
async function makeChain(folder: string, flags: DemoFlags): Promise<string> {
  const start = performance.now()
  const bar = new Progress('making   ', 'blocks', flags.json !== true)
  writeFileSync(join(folder, 'genesis.json'), demoGenesisText())
  const parts: Uint8Array[] = []
  let uncleCount = 0
  for await (const block of demoBlocks(demoGenesis())) {
    parts.push(encodeBlock(block))
    uncleCount += block.uncles.length
    bar.update(parts.length, DEMO_BLOCK_COUNT + 1)
  }
  bar.stop()
  const path = join(folder, 'chain.rlp')
  writeFileSync(path, Buffer.concat(parts))
  const seconds = (performance.now() - start) / 1000
  if (flags.json !== true)
    console.log(
      `made     ${DEMO_BLOCK_COUNT} blocks with ${uncleCount} uncles, ${DEMO_FORKS}, in ${seconds.toFixed(2)} s`,
    )
  return path
}

function printReport(report: ImportReport, proof: ProvedAccount, flags: DemoFlags): void {
  if (flags.json === true) {
    console.log(toJson({ ...report, proof }))
    return
  }
  const { blocks, head, seconds, blocksPerSecond } = report
  if (head === null) return
  const rate = Math.round(blocksPerSecond).toLocaleString('en')
  console.log(
    `imported ${blocks} blocks in ${seconds.toFixed(2)} s, ${rate} blocks/s, every state root checked`,
  )
  console.log(`head     block ${head.number} ${head.hash}`)
  console.log(`root     ${head.stateRoot}`)
  console.log(describeProof(proof))
}
