/**
 * Runs published suites: `npm run conformance [-- suite …] [--pipeline off|on|delayed] [--seed N]`. `blocks` names all
 * suites of blocks that an engine imports. Prints passed, failed and skipped a suite, and ends with 1 where any case
 * failed.
 */
import { parseArgs } from 'node:util'
import { runChainFileSuite } from './chainFileSuite.ts'
import {
  type BlockRun,
  PIPELINE_MODES,
  runBlockSuite,
  runStateSuite,
  runWitnessSuite,
} from './commandSuite.ts'
import { Fixtures } from './fixtures.ts'
import { KNOWN_SKIPS } from './knownSkips.ts'
import { runOpcodeSuite } from './opcodeSuite.ts'
import { runPrecompileSuite } from './precompileSuite.ts'
import { runCodeSuite, runRealPrestateSuite } from './realPrestateSuite.ts'
import { runRealRpcSuite } from './realRpcSuite.ts'
import { runRealWitnessSuite } from './realWitnessSuite.ts'
import { SuiteReport } from './suiteReport.ts'
import { runT8nSuite } from './t8nSuite.ts'
import { runTracerSuite } from './tracerSuite.ts'
import { runVmSuite } from './vmSuite.ts'

type SuiteRunner = (fixtures: Fixtures, report: SuiteReport, run: BlockRun) => Promise<void>

/** Not one of the packed suites: folders of raw files. */
const CHAIN_FILES = 'chain-files'

const SUITES: readonly (readonly [suite: string, run: SuiteRunner])[] = [
  ['geth-opcodes', runOpcodeSuite],
  ['geth-precompiles', runPrecompileSuite],
  ['geth-tracers', runTracerSuite],
  ['geth-t8n', (fixtures, report) => runT8nSuite(fixtures, report)],
  ['legacy-constantinople-vm', runVmSuite],
  ['et-state', runStateSuite],
  ['et-eip-state', runStateSuite],
  ['legacy-constantinople-state', runStateSuite],
  ['legacy-cancun-state', runStateSuite],
  ['eest-state', runStateSuite],
  ['eest-state-static', runStateSuite],
  ['fusaka-devnet5-state', runStateSuite],
  ['et-blockchain', runBlockSuite],
  ['et-blockchain-state', runBlockSuite],
  ['et-eip-blockchain', runBlockSuite],
  ['legacy-constantinople-blockchain', runBlockSuite],
  ['legacy-constantinople-blockchain-state', runBlockSuite],
  ['legacy-cancun-blockchain', runBlockSuite],
  ['legacy-cancun-blockchain-state', runBlockSuite],
  ['eest-blockchain', runBlockSuite],
  ['eest-blockchain-static', runBlockSuite],
  ['eest-devnet-oldforks', runBlockSuite],
  ['eest-devnet-transitions', runBlockSuite],
  ['eest-devnet-cancun-osaka', runBlockSuite],
  ['eest-devnet-amsterdam', runBlockSuite],
  ['eest-devnet-amsterdam-regress', runBlockSuite],
  ['eest-zkevm-witness', runWitnessSuite],
  ['eest-benchmark-blockchain', runBlockSuite],
  ['eest-benchmark-blockchain-old', runBlockSuite],
  ['eest-benchmark-engine', runBlockSuite],
  ['eest-benchmark-enginex', runBlockSuite],
  ['real-witness-blocks', runRealWitnessSuite],
  ['real-prestate-codes', runCodeSuite],
  ['real-prestate-blocks', runRealPrestateSuite],
  ['real-rpc-blocks', runRealRpcSuite],
  [CHAIN_FILES, runChainFileSuite],
]

/** Runners whose blocks may go through a pipeline. */
const BLOCK_RUNNERS: readonly SuiteRunner[] = [runBlockSuite, runWitnessSuite, runChainFileSuite]
/** Names all suites of these. */
const BLOCKS = 'blocks'
const BLOCK_SUITES = SUITES.filter(([, run]) => BLOCK_RUNNERS.includes(run)).map(([name]) => name)

/** What is wrong with the command line, or what it asks for. */
function readArguments(args: readonly string[]): string | { suites: string[]; run: BlockRun } {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { pipeline: { type: 'string' }, seed: { type: 'string', default: '1' } },
  })
  const known = SUITES.map(([suite]) => suite)
  const unknown = positionals.filter((name) => name !== BLOCKS && !known.includes(name))
  if (unknown.length > 0)
    return `unknown suite ${unknown.join(', ')}; known: ${BLOCKS}, ${known.join(', ')}`
  const pipeline = PIPELINE_MODES.find((mode) => mode === (values.pipeline ?? 'off'))
  if (pipeline === undefined)
    return `--pipeline: expected ${PIPELINE_MODES.join(', ')}, got ${values.pipeline}`
  const all = values.pipeline === undefined ? known : BLOCK_SUITES
  const suites =
    positionals.length === 0
      ? all
      : positionals.flatMap((name) => (name === BLOCKS ? BLOCK_SUITES : [name]))
  const other = suites.find((name) => !BLOCK_SUITES.includes(name))
  if (values.pipeline !== undefined && other !== undefined)
    return `--pipeline: expected suites of ${BLOCKS}, got ${other}`
  return { suites, run: { pipeline, seed: Number(values.seed) } }
}

async function main(args: readonly string[]): Promise<number> {
  const asked = readArguments(args)
  if (typeof asked === 'string') {
    console.error(asked)
    return 2
  }
  const fixtures = Fixtures.open()
  if (fixtures === undefined) {
    console.error('no fixtures: VARVE_FIXTURES names the folder with their index.json')
    return 2
  }
  let failCount = 0
  let passCount = 0
  for (const [suite, run] of SUITES) {
    if (!asked.suites.includes(suite)) continue
    const report = new SuiteReport(suite, KNOWN_SKIPS)
    const isPacked = suite !== CHAIN_FILES
    if (isPacked && !fixtures.has(suite)) {
      console.log(`${suite.padEnd(40)} absent from the fixtures`)
      continue
    }
    const start = performance.now()
    await run(fixtures, report, asked.run)
    if (isPacked) report.finish(fixtures.caseCount(suite))
    console.log(`${report.line}  ${((performance.now() - start) / 1000).toFixed(1)} s`)
    for (const line of report.details) console.log(line)
    failCount += report.failCount
    passCount += report.passCount
  }
  const count = (value: number) => value.toLocaleString('en')
  console.log(`all: ${count(passCount)} passed, ${count(failCount)} failed`)
  return failCount === 0 ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
