/**
 * Runs published suites: `npm run conformance [-- suite …]`. Prints passed, failed and skipped a suite, and ends with 1
 * where any case failed.
 */
import { runChainFileSuite } from './chainFileSuite.ts'
import { runBlockSuite, runStateSuite, runWitnessSuite } from './commandSuite.ts'
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

type SuiteRunner = (fixtures: Fixtures, report: SuiteReport) => Promise<void>

/** Not one of the packed suites: folders of raw files. */
const CHAIN_FILES = 'chain-files'

const SUITES: readonly (readonly [suite: string, run: SuiteRunner])[] = [
  ['geth-opcodes', runOpcodeSuite],
  ['geth-precompiles', runPrecompileSuite],
  ['geth-tracers', runTracerSuite],
  ['geth-t8n', runT8nSuite],
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

async function main(wanted: readonly string[]): Promise<number> {
  const fixtures = Fixtures.open()
  if (fixtures === undefined) {
    console.error('no fixtures: VARVE_FIXTURES names the folder with their index.json')
    return 2
  }
  const unknown = wanted.filter((name) => !SUITES.some(([suite]) => suite === name))
  if (unknown.length > 0) {
    console.error(
      `unknown suite ${unknown.join(', ')}; known: ${SUITES.map(([suite]) => suite).join(', ')}`,
    )
    return 2
  }
  let failCount = 0
  for (const [suite, run] of SUITES) {
    if (wanted.length > 0 && !wanted.includes(suite)) continue
    const report = new SuiteReport(suite, KNOWN_SKIPS)
    const isPacked = suite !== CHAIN_FILES
    if (isPacked && !fixtures.has(suite)) {
      console.log(`${suite.padEnd(40)} absent from the fixtures`)
      continue
    }
    const start = performance.now()
    await run(fixtures, report)
    if (isPacked) report.finish(fixtures.caseCount(suite))
    console.log(`${report.line}  ${((performance.now() - start) / 1000).toFixed(1)} s`)
    for (const line of report.details) console.log(line)
    failCount += report.failCount
  }
  return failCount === 0 ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
