/**
 * Aim (rows A25, A26): create-db and run-executor as a person calls them: options, report and gate are those on record.
 * Method: the compiled command in processes of its own. @isolate
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { REFUSED_OPTIONS } from './executor/refusedOptions.ts'

const main = join(import.meta.dirname, 'main.js')
const folder = mkdtempSync(join(tmpdir(), 'varve-executor-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const db = join(folder, 'db')

function varve(...parameters: string[]) {
  return spawnSync(process.execPath, [main, ...parameters], { encoding: 'utf8' })
}

const SMALL = ['--blocks', '3', '--block-size', '20', '--transactions-per-sender', '1']

/** The options of `create-db --help`. */
const CREATE_OPTIONS = `--data-dir <dir>
--num-accounts <count>
--init-account-balance <wei>
--main-signer-accounts <count>
--module-working-set-size <count>
--json`

/** The options of `run-executor --help`. */
const RUN_OPTIONS = `--data-dir <dir>
--checkpoint-dir <dir>
--blocks <count>
--block-size <count>
--transactions-per-sender <count>
--main-signer-accounts <count>
--additional-dst-pool-accounts <count>
--transaction-type <type...>
--transaction-weights <weight...>
--hotspot-probability <share>
--block-executor-type <type>
--connected-tx-grps <count>
--shuffle-connected-txns
--execution-threads <count>
--num-generator-workers <count>
--module-working-set-size <count>
--enable-storage-sharding
--generate-then-execute
--split-stages
--recover-senders
--num-sig-verify-threads <count>
--skip-commit
--verify-sequence-numbers
--pipeline <on|off>
--memory <bytes>
--state-prune-window <blocks>
--sync <always|group[:ms]|os>
--expect <file>
--calibrate <file>
--cpu-profiling <file>
--memory-profiling <file>
--seed <number>
--json
--metrics <port|host:port>
--slow-block <ms>
--slow-block-log <file>`

/** Options of the seed's benchmark, by its own list. */
const SEED_OPTIONS =
  `execution-threads block-executor-type transactions-per-sender generate-then-execute
block-size enable-storage-sharding enable-feature transaction-type transaction-weights module-working-set-size
main-signer-accounts additional-dst-pool-accounts data-dir checkpoint-dir blocks connected-tx-grps
shuffle-connected-txns hotspot-probability use-sender-account-pool num-generator-workers num-sig-verify-threads
num-executor-shards use-global-executor verify-sequence-numbers cpu-profiling memory-profiling skip-paranoid-checks
use-keyless-accounts allow-aborts allow-discards allow-retries split-stages skip-commit enable-state-pruner
enable-ledger-pruner enable-epoch-snapshot-pruner state-prune-window num-accounts init-account-balance`.split(
    /\s+/,
  )

const STAGE = { thread: 'string', seconds: 0, tps: 0, gasPerSecond: 0, share: 0 }
const THREAD = { busySeconds: 0, share: 0 }
/** The report of a run with `--json`: names in their order, and types by example. */
const REPORT = {
  database: { accounts: 0, signers: 0, moduleCopies: 0 },
  executor: 'string',
  pipeline: 'string',
  kinds: ['string'],
  checkpoint: 'string',
  isCommitted: true,
  blocks: 0,
  transactions: 0,
  seconds: 0,
  tps: 0,
  durableSeconds: 0,
  durableTps: 0,
  gas: 'string',
  gasPerSecond: 0,
  latencyMs: { p50: 0, p90: 0, p99: 0, max: 0 },
  stages: {
    generate: STAGE,
    validate: STAGE,
    senders: STAGE,
    execute: STAGE,
    journal: STAGE,
    root: STAGE,
    collect: STAGE,
    write: STAGE,
    seal: STAGE,
  },
  threads: { main: THREAD, summary: THREAD, commit: THREAD },
  roots: ['string'],
  noncesVerified: 0,
  memory: { rss: 0, peakRss: 0, heapUsed: 0, heapPeak: 0, arenas: 0, arenasPeak: 0, layersPeak: 0 },
}

/** A value with its leaves replaced by their types; of a list the first item stands for all. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [shapeOf(value[0])]
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.entries(value).map(([name, item]) => [name, shapeOf(item)])
}

function optionsInHelp(command: string): string[] {
  const { status, stdout } = varve(command, '--help')
  assert.equal(status, 0)
  const lines = stdout.matchAll(/^ {2}(?:-\w, )?(--\S+(?: <\S+>)?) /gm)
  return [...lines].map(([, option]) => option!).filter((option) => option !== '--help')
}

function sumOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

test('A25: options are those on record; each of the seed’s is one, or is refused and documented', () => {
  assert.deepEqual(optionsInHelp('create-db'), CREATE_OPTIONS.split('\n'))
  assert.deepEqual(optionsInHelp('run-executor'), RUN_OPTIONS.split('\n'))
  const readme = readFileSync(join(import.meta.dirname, '../../src/cli/README.md'), 'utf8')
  for (const name of SEED_OPTIONS) {
    const isTaken = new RegExp(`^--${name}\\b`, 'm').test(`${CREATE_OPTIONS}\n${RUN_OPTIONS}`)
    const isRefused = Object.hasOwn(REFUSED_OPTIONS, name)
    assert.ok(isTaken !== isRefused, `--${name}`)
    if (isRefused) assert.ok(readme.includes(`\`--${name}\``), `--${name} in the README of cli`)
  }
  for (const [name, reason] of Object.entries(REFUSED_OPTIONS).slice(0, 2)) {
    const refused = varve('run-executor', '--data-dir', db, `--${name}`)
    assert.equal(refused.status, 2)
    assert.ok(refused.stderr.includes(reason), refused.stderr)
  }
})

test('A25: a database is made once, runs on copies of it are equal and leave it byte by byte', () => {
  const made = varve(
    ...['create-db', '--data-dir', db, '--num-accounts', '200'],
    ...['--init-account-balance', '1000000000000000000', '--main-signer-accounts', '100'],
    ...['--module-working-set-size', '2', '--json'],
  )
  assert.equal(made.status, 0, made.stderr)
  assert.equal(JSON.parse(made.stdout).accounts, 200)
  assert.equal(JSON.parse(made.stdout).contracts, 14)
  assert.equal(varve('create-db', '--data-dir', db, '--num-accounts', '200').status, 1)
  const before = sumOf(join(db, 'data.mdb'))
  const arms = [
    ['--block-executor-type', 'evm', '--pipeline', 'off'],
    ['--block-executor-type', 'native', '--pipeline', 'on'],
  ]
  const reports = arms.map((arm, index) => {
    const copy = join(folder, `arm ${index}`)
    const ran = varve(
      ...['run-executor', '--data-dir', db, '--checkpoint-dir', copy, ...SMALL, ...arm],
      ...['--verify-sequence-numbers', '--json'],
    )
    assert.equal(ran.status, 0, ran.stderr)
    assert.equal(varve('db', 'verify', '--db', copy).status, 0)
    assert.equal(sumOf(join(db, 'data.mdb')), before)
    return JSON.parse(ran.stdout)
  })
  assert.deepEqual(reports[0].roots, reports[1].roots)
  assert.deepEqual(shapeOf(reports[1]), shapeOf(REPORT))
  assert.deepEqual(Object.keys(reports[0].threads), ['main'])
  const { head } = JSON.parse(varve('db', 'stats', '--db', db, '--json').stdout)
  assert.equal(head.number, 0)
})

test('A25: all options at once, for a person', () => {
  const cpu = join(folder, 'run.cpuprofile')
  const memory = join(folder, 'run.heapprofile')
  const ran = varve(
    ...['run-executor', '--data-dir', db, '--checkpoint-dir', join(folder, 'all'), ...SMALL],
    ...['--main-signer-accounts', '80', '--additional-dst-pool-accounts', '100'],
    ...['--transaction-type', 'erc20-transfer', 'amm-swap', '--transaction-weights', '3', '1'],
    ...['--hotspot-probability', '0.8', '--block-executor-type', 'evm', '--connected-tx-grps', '0'],
    ...['--execution-threads', '1', '--num-generator-workers', '1', '--module-working-set-size'],
    ...['2', '--enable-storage-sharding', '--generate-then-execute', '--split-stages'],
    ...['--recover-senders', '--num-sig-verify-threads', '1', '--skip-commit'],
    ...['--verify-sequence-numbers', '--pipeline', 'on', '--memory', '128M', '--sync', 'group:5'],
    ...['--state-prune-window', '4', '--cpu-profiling', cpu, '--memory-profiling', memory],
    ...['--seed', '9'],
  )
  assert.equal(ran.status, 0, ran.stderr)
  for (const word of ['TPS', 'P99', 'execute', 'summary', 'arenas', 'a full copy|a copy on write'])
    assert.match(ran.stdout, new RegExp(word))
  for (const file of [cpu, memory]) assert.ok(JSON.parse(readFileSync(file, 'utf8')) !== null)
  assert.ok(!existsSync(join(folder, 'all', 'journal')), 'nothing is written')
})

test('A26: a run that is too slow, or too good, for its calibration ends with 1', () => {
  const file = join(folder, 'rates.json')
  const run = ['run-executor', '--data-dir', db, '--skip-commit', ...SMALL]
  assert.equal(varve(...run, '--calibrate', file).status, 0)
  const { workload, tps } = JSON.parse(readFileSync(file, 'utf8'))
  const gate = (rates: number[], ...more: string[]) => {
    writeFileSync(file, JSON.stringify({ workload, tps: rates }))
    return varve(...run, '--expect', file, ...more)
  }
  const rate = tps[0] as number
  const six = (factor: number) => Array.from({ length: 6 }, () => rate * factor)
  const slow = gate(six(1000))
  assert.equal(slow.status, 1)
  assert.match(slow.stdout, /too slow/)
  const good = gate(six(0.001), '--json')
  assert.equal(good.status, 1)
  assert.equal(JSON.parse(good.stdout).gate.verdict, 'too good')
  const fine = gate([...six(0.02), ...six(50)])
  assert.equal(fine.status, 0, fine.stdout)
  // Too few runs, and those of another workload, say nothing.
  assert.equal(gate([rate]).status, 2)
  const other = gate(six(1), '--pipeline', 'off')
  assert.equal(other.status, 2)
  assert.match(other.stderr, /expected rates of/)
})

test('the tour runs the same blocks both ways, and proves a sender from what was written', () => {
  const small = ['demo', '--num-accounts', '400', '--blocks', '3', '--block-size', '50']
  const shown = varve(...small)
  assert.equal(shown.status, 0, shown.stderr)
  for (const text of [/pipeline off/, /pipeline on/, /summary/, /the same 3 both ways/, /verified/])
    assert.match(shown.stdout, text)
  const { status, stdout } = varve(...small, '--json')
  assert.equal(status, 0)
  const report = JSON.parse(stdout)
  assert.deepEqual(Object.keys(report), ['database', 'off', 'on', 'speedup', 'proof'])
  assert.deepEqual(report.on.roots, report.off.roots)
  assert.equal(report.off.pipeline, 'off')
  assert.deepEqual(Object.keys(report.on.threads), ['ahead', 'main', 'summary', 'commit'])
  assert.ok(report.proof.nodes > 0)
  assert.equal(varve(...small, '--chain', 'file').status, 2)
  assert.equal(varve('demo', '--num-accounts', '400', '--block-size', '201').status, 2)
})

test('what makes no sense ends with 2 and one line', () => {
  const run = ['run-executor', '--data-dir', db, ...SMALL]
  const create = ['create-db', '--data-dir', join(folder, 'x'), '--num-accounts', '1']
  const cases: [RegExp, string[]][] = [
    [/takes the EVM/, [...run, '--block-executor-type', 'native', '--transaction-type', 'no-op']],
    [/expected at most 200/, [...run, '--block-size', '201']],
    [/one a type/, [...run, '--transaction-weights', '1', '2']],
    [/Allowed choices/, [...run, '--transaction-type', 'nothing']],
    [/expected at most 2, as often/, [...run, '--module-working-set-size', '3']],
    [/expected --recover-senders/, [...run, '--num-sig-verify-threads', '2']],
    [/one after the other/, [...run, '--execution-threads', '2']],
    [/expected at most --num-accounts/, [...create, '--main-signer-accounts', '2']],
    [/a database of create-db/, ['run-executor', '--data-dir', join(folder, 'none')]],
    [/an empty folder or none/, [...run, '--checkpoint-dir', db]],
  ]
  for (const [text, parameters] of cases) {
    const { status, stderr } = varve(...parameters)
    assert.equal(status, 2, stderr)
    assert.match(stderr, text)
  }
})
