// The EVM here, in @ethereumjs/evm and in EDR (revm behind JSON-RPC), on the same programs, in one run, taking turns.
// Usage: node evm.mjs [--programs a,b] [--engines a,b] [--target MS] [--rounds N] [--runs N] [--json]
//
// First each engine runs a small count of rounds: output, and gas of the whole transaction, must be equal. Then each gets
// a count of rounds that takes it about `target` ms, and its output there (and gas, where it tells) must be Varve's.
// Mgas/s is gas before refunds over wall time; `cpu` is over CPU time of all threads, the one to trust on a machine that
// others use. Clocks hold the whole call: Varve begins a block and loads all state and code again, EDR reads its JSON.
import { edrMissing } from './edrProvider.mjs'
import { ENGINES } from './evmEngines.mjs'
import { compileContracts, install, PROGRAMS, snailtracerPath } from './evmPrograms.mjs'
import {
  circumstances,
  count,
  cpuMs,
  nowMs,
  readOptions,
  runAsSubject,
  shown,
  takeTurns,
  versionOf,
} from './harness.mjs'

const options = readOptions({
  programs: Object.keys(PROGRAMS).join(','),
  engines: Object.keys(ENGINES).join(','),
  target: '150',
  rounds: '2',
  runs: '3',
  'warm-up': '1',
  subject: undefined,
  check: undefined,
})
/** Geometric means asked of Varve over all programs. */
const GOALS = { ethereumjs: 40, 'EDR eth_call': 4 }
const CHECKED_ROUNDS = { default: 100, Fibonacci: 12 }
const GOLDEN = 1.618

const needsCompiler = (name) => PROGRAMS[name].contract !== undefined
const contractsFor = async (name) => (needsCompiler(name) ? await compileContracts() : undefined)

/** The next count to try where the last took `factor` times less than it should. */
function grown(rounds, factor, { isExponential }) {
  const bounded = Math.min(20, Math.max(1.3, factor))
  if (isExponential) return rounds + Math.max(1, Math.round(Math.log(bounded) / Math.log(GOLDEN)))
  return Math.ceil(rounds * bounded)
}

async function timed(engine, target, input) {
  const work = async () => {
    const cpuStart = cpuMs()
    const start = nowMs()
    const { output, gasUsed } = await engine.call(target, input)
    return { ms: nowMs() - start, cpu: cpuMs() - cpuStart, output, gasUsed }
  }
  return engine.isolate === undefined ? await work() : await engine.isolate(work)
}

async function runTimed(engineName, programName) {
  const program = PROGRAMS[programName]
  const contracts = await contractsFor(programName)
  const engine = await ENGINES[engineName].create()
  const { target, inputOf } = await install(engine, programName, contracts)
  const targetMs = count(options.target, 'target')
  let rounds = program.start
  if (!program.isFixed)
    for (let tries = 0; tries < 12; tries++) {
      const { ms } = await timed(engine, target, inputOf(rounds))
      if (ms >= targetMs * 0.6) break
      rounds = grown(rounds, targetMs / Math.max(ms, 0.05), program)
    }
  const input = inputOf(rounds)
  const reference = await referenceOf(programName, contracts, input)
  const run = async () => {
    const { ms, cpu, output, gasUsed } = await timed(engine, target, input)
    if (output !== reference.output) throw new Error(`${engineName}: ${output} from ${programName}`)
    // Simple state prices some resets wrongly, so that gas counts in the check with the other state only.
    const mgas = Number(gasUsed ?? reference.gasUsed) / 1e6
    return {
      figures: { wall: (mgas / ms) * 1000, cpu: (mgas / cpu) * 1000, mgas },
      result: programName,
    }
  }
  await runAsSubject({ run, ...runCounts() })
}

/** Varve's answer to the same input. */
async function referenceOf(programName, contracts, input) {
  const engine = await ENGINES['varve'].create()
  const { target } = await install(engine, programName, contracts)
  return engine.call(target, input)
}

async function runCheck(engineName, programName) {
  const { create, createExact = create } = ENGINES[engineName]
  const engine = await createExact()
  const { target, inputOf } = await install(engine, programName, await contractsFor(programName))
  const input = inputOf(CHECKED_ROUNDS[programName] ?? CHECKED_ROUNDS.default)
  const run = async () => {
    const isolate = engine.isolate ?? ((work) => work())
    const { output, gasUsed } = await isolate(() => engine.transact(target, input))
    return { figures: {}, result: `output ${output}, gas ${gasUsed}` }
  }
  await runAsSubject({ run, warmUpCount: 0, runCount: 1 })
}

const runCounts = () => ({
  warmUpCount: Number(options['warm-up']),
  runCount: count(options.runs, 'runs'),
})

function countsOf(engineName, programName) {
  // Twenty seconds warm up whatever they run.
  if (ENGINES[engineName].isSlow && PROGRAMS[programName].isHeavy)
    return { warmUpCount: 0, runCount: 1, roundCount: 1 }
  return { ...runCounts(), roundCount: count(options.rounds, 'rounds') }
}

function compare(programName, allEngineNames) {
  const engineNames = allEngineNames.filter(
    (name) => !ENGINES[name].hashesOnly || PROGRAMS[programName].hashes,
  )
  const script = import.meta.filename
  const checked = takeTurns({
    script,
    subjects: engineNames.map((name) => ({ name, warmUpCount: 0, runCount: 1, roundCount: 1 })),
    childOptions: { programs: programName, check: 'yes' },
  })
  const comparison = takeTurns({
    script,
    subjects: engineNames.map((name) => ({ name, ...countsOf(name, programName) })),
    childOptions: { programs: programName, target: options.target },
  })
  const engines = Object.fromEntries(
    comparison.subjects.map(({ name, figures }) => [name, figures]),
  )
  const ratios = Object.fromEntries(
    engineNames
      .filter((name) => name !== 'varve' && engineNames.includes('varve'))
      .map((name) => [name, ratiosOf(engines['varve'], engines[name])]),
  )
  return { program: programName, checked: checked.result, engines, ratios }
}

const ratiosOf = (own, peer) => ({
  wall: own.wall.median / peer.wall.median,
  cpu: own.cpu.median / peer.cpu.median,
})

const geometricMean = (values) =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length)

/** Means over all programs that the peer ran, and the one where Varve does worst, in CPU time. */
function summarise(allResults, peer) {
  const results = allResults.filter(({ ratios }) => peer in ratios)
  const of = (kind) => results.map(({ ratios }) => ratios[peer][kind])
  const worst = results.reduce((a, b) => (a.ratios[peer].cpu < b.ratios[peer].cpu ? a : b))
  return {
    wall: geometricMean(of('wall')),
    cpu: geometricMean(of('cpu')),
    programCount: results.length,
    worst: { program: worst.program, cpu: worst.ratios[peer].cpu },
    ...(GOALS[peer] === undefined
      ? {}
      : { goal: GOALS[peer], goalMet: geometricMean(of('cpu')) >= GOALS[peer] }),
  }
}

function main() {
  const engineNames = options.engines.split(',')
  let programNames = options.programs.split(',')
  for (const name of engineNames) if (!(name in ENGINES)) throw new Error(`no engine ${name}`)
  for (const name of programNames) if (!(name in PROGRAMS)) throw new Error(`no program ${name}`)
  const notes = [edrMissing()].filter(Boolean)
  const present = engineNames.filter((name) => notes.length === 0 || name !== 'EDR eth_call')
  if (snailtracerPath() === undefined && programNames.includes('snailtracer')) {
    notes.push('snailtracer is left out: set VARVE_SNAILTRACER to its code')
    programNames = programNames.filter((name) => name !== 'snailtracer')
  }
  for (const note of notes) console.error(note)
  const results = []
  for (const name of programNames) {
    const result = compare(name, present)
    results.push(result)
    if (!options.json) printProgram(result)
  }
  const peers = [...new Set(results.flatMap(({ ratios }) => Object.keys(ratios)))]
  const means = Object.fromEntries(peers.map((peer) => [peer, summarise(results, peer)]))
  const versions = {
    '@ethereumjs/evm': versionOf('@ethereumjs/evm'),
    '@nomicfoundation/edr': versionOf('@nomicfoundation/edr'),
    solc: versionOf('solc'),
  }
  const report = {
    bench: 'evm',
    unit: 'Mgas/s',
    ...circumstances(),
    versions,
    notes,
    results,
    means,
  }
  if (options.json) console.log(JSON.stringify(report))
  else printMeans(means)
}

function printProgram({ program, checked, engines, ratios }) {
  console.log(`${program}, Mgas/s`.padEnd(36), '    median       min       max')
  for (const [name, { wall, cpu }] of Object.entries(engines)) {
    console.log(`  ${name.padEnd(34)}`, shown(wall))
    console.log(`  ${`${name}, CPU time`.padEnd(34)}`, shown(cpu))
  }
  for (const [peer, { wall, cpu }] of Object.entries(ratios))
    console.log(`  against ${peer}: ${wall.toFixed(2)}x, in CPU time ${cpu.toFixed(2)}x`)
  console.log(`  equal: ${checked.slice(0, 100)}`)
}

function printMeans(means) {
  for (const [peer, { wall, cpu, programCount, worst, goal, goalMet }] of Object.entries(means))
    console.log(
      `geometric mean against ${peer}, ${programCount} programs: ${wall.toFixed(2)}x, in CPU time ${cpu.toFixed(2)}x; least ${worst.cpu.toFixed(2)}x (${worst.program})${goal === undefined ? '' : `; goal ${goal}x ${goalMet ? 'met' : 'missed'}`}`,
    )
}

if (options.subject === undefined) main()
else if (options.check !== undefined) await runCheck(options.subject, options.programs)
else await runTimed(options.subject, options.programs)
// EDR keeps threads that would hold the process open.
if (options.subject !== undefined) process.exit(0)
