/**
 * `varve demo`: the whole way in one command, with nothing but the package: make a chain, import it, prove an account.
 * Given a file, it imports that file instead.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { toHex } from '../base/index.ts'
import { encodeBlock } from '../codec/index.ts'
import { verifyAccountProof } from '../engine/index.ts'
import type { JournalSync } from '../store/index.ts'
import { memoryOption, pipelineOption, syncOption } from './arguments.ts'
import { withEngine } from './database.ts'
import {
  DEMO_BLOCK_COUNT,
  DEMO_FORKS,
  demoBlocks,
  demoGenesis,
  demoGenesisText,
} from './demoChain.ts'
import { EXIT_FAILED, toJson } from './exit.ts'
import { type ImportReport, importFiles } from './importCommand.ts'
import { Progress } from './progress.ts'

type DemoFlags = {
  readonly genesis?: string
  readonly pipeline: 'on' | 'off'
  readonly memory?: number
  readonly sync: JournalSync
  readonly keep?: boolean
  readonly json?: boolean
}

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('make a small chain, import it, and verify a proof; or import a given file')
    .argument('[file...]', 'files to import instead of the made chain')
    .option('--genesis <name|file>', 'genesis of the given files (default: mainnet)')
    .addOption(pipelineOption())
    .addOption(memoryOption())
    .addOption(syncOption('group'))
    .option('--keep', 'keep the folder with chain and database')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  varve demo\n')
    .action((files: string[], flags: DemoFlags) => runDemo(files, flags))
}

async function runDemo(files: readonly string[], flags: DemoFlags): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'varve-demo-'))
  try {
    const isMade = files.length === 0
    const genesis = isMade ? join(folder, 'genesis.json') : flags.genesis
    const chain = isMade ? [await makeChain(folder, flags)] : files
    const db = join(folder, 'db')
    const { pipeline, memory, sync } = flags
    const importFlags = {
      db,
      pipeline,
      sync,
      ...(memory === undefined ? {} : { memory }),
      ...(genesis === undefined ? {} : { genesis }),
      ...(flags.json === undefined ? {} : { json: flags.json }),
    }
    const report = await importFiles(chain, importFlags)
    if (report.stopped) process.exitCode = EXIT_FAILED
    else printReport(report, await proveMiner(db), flags)
  } finally {
    if (flags.keep === true) console.error(`kept ${folder}`)
    else rmSync(folder, { recursive: true, force: true })
  }
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

/** Proves the newest block's miner and verifies the proof against the head's root alone. */
function proveMiner(db: string) {
  return withEngine(db, (engine) => {
    const view = engine.at('latest')
    const proof = view.proof(view.header.coinbase)
    const verified = verifyAccountProof(view.root(), proof)
    return {
      address: toHex(view.header.coinbase),
      balance: verified.account?.balance ?? 0n,
      nodes: proof.accountProof.length,
      bytes: proof.accountProof.reduce((sum, node) => sum + node.length, 0),
    }
  })
}

function printReport(
  report: ImportReport,
  proof: Awaited<ReturnType<typeof proveMiner>>,
  flags: DemoFlags,
): void {
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
  console.log(
    `proof    ${proof.address} has ${proof.balance} wei: ${proof.nodes} nodes, ${proof.bytes} bytes, verified`,
  )
}
