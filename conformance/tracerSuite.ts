/**
 * go-ethereum's tests of its tracers: a transaction of a real chain over the accounts it used, and what each tracer
 * says of it.
 */
import {
  blobBaseFee,
  nextExcessBlobGas,
  parseAllocJson,
  parseGenesisJson,
  rulesAt,
} from 'varve/chain'
import { decodeRlp, decodeTransaction, SenderRecovery, type Transaction } from 'varve/codec'
import { Machine, preparePrecompiles } from 'varve/evm'
import { type ExecutionBlock, emptyBlockSpace } from 'varve/execute'
import { openTracer, traceTransaction } from 'varve/trace'
import { allocHost } from './allocHost.ts'
import { bytesOf, type Fixtures } from './fixtures.ts'
import type { SuiteReport } from './suiteReport.ts'

type Json = { readonly [key: string]: unknown }

type TracerTest = {
  readonly genesis: Json & { readonly config: Json; readonly alloc: Json }
  readonly context: { readonly [field: string]: string | undefined }
  readonly input: string
  readonly tracerConfig?: unknown
  readonly result: unknown
}
type Record = { readonly path: string; readonly test: TracerTest }

/** Tracer of each folder. */
const TRACERS: { readonly [folder: string]: string } = {
  call_tracer: 'callTracer',
  call_tracer_legacy: 'callTracerLegacy',
  call_tracer_withLog: 'callTracer',
  call_tracer_flat: 'flatCallTracer',
  prestate_tracer: 'prestateTracer',
  prestate_tracer_with_diff_mode: 'prestateTracer',
  erc7562_tracer: 'erc7562Tracer',
}

/** Fork keys of a genesis file from the first fork on. */
const FORK_KEYS = [
  'homesteadBlock',
  'eip150Block',
  'eip158Block',
  'byzantiumBlock',
  'constantinopleBlock',
  'petersburgBlock',
  'istanbulBlock',
  'muirGlacierBlock',
  'berlinBlock',
  'londonBlock',
  'arrowGlacierBlock',
  'grayGlacierBlock',
  'shanghaiTime',
  'cancunTime',
  'pragueTime',
  'osakaTime',
]

export async function runTracerSuite(fixtures: Fixtures, report: SuiteReport): Promise<void> {
  await preparePrecompiles()
  const recovery = await SenderRecovery.open()
  for await (const { path, test } of fixtures.records<Record>(report.suite)) {
    const [folder, file] = path.split('/').slice(-2) as [string, string]
    report.run(`${folder}/${file}`, () => runTracerTest(folder, test, recovery))
  }
}

function runTracerTest(
  folder: string,
  test: TracerTest,
  recovery: SenderRecovery,
): string | undefined {
  const name = TRACERS[folder]
  if (name === undefined) return `no tracer is known for the folder ${folder}`
  const transaction = transactionOf(bytesOf(test.input))
  const block = blockOf(test)
  const machine = new Machine()
  const accounts = parseAllocJson(JSON.stringify(test.genesis.alloc))
  machine.beginBlock(block, allocHost(accounts, bytesOf(test.genesis['hash'] as string)))
  const tracer = openTracer(name, test.tracerConfig)
  const space = { ...emptyBlockSpace(block), gasLeft: transaction.gasLimit }
  const sender = recovery.recoverSender(transaction)
  traceTransaction({ machine, block, space, recovery }, transaction, sender, tracer)
  // As text and back, so that what is left out is absent.
  const found = JSON.parse(JSON.stringify(tracer.result())) as unknown
  return difference(comparable(test.result), comparable(found), '')
}

/** In a block a transaction of a later type is wrapped as a byte string. */
function transactionOf(bytes: Uint8Array): Transaction {
  if (bytes[0]! >= 0xc0 || bytes[0]! < 0x80) return decodeTransaction(bytes)
  return decodeTransaction(decodeRlp(bytes) as Uint8Array)
}

function blockOf({ genesis, context }: TracerTest): ExecutionBlock {
  const number = BigInt(context['number'] ?? 0)
  const timestamp = BigInt(context['timestamp'] ?? 0)
  const { spec } = parseGenesisJson(JSON.stringify(startedGenesis(genesis, number, timestamp)))
  const { fork, blob } = rulesAt(spec, Number(number), timestamp)
  const integer = (value: unknown) => BigInt((value as string | undefined) ?? 0)
  const isMerged = integer(genesis.config['terminalTotalDifficulty'] ?? 1) === 0n
  const excess =
    blob === undefined
      ? 0n
      : nextExcessBlobGas(
          {
            excessBlobGas: integer(genesis['excessBlobGas']),
            blobGasUsed: integer(genesis['blobGasUsed']),
            baseFeePerGas: integer(genesis['baseFeePerGas']),
          },
          fork,
          blob,
        )
  return {
    fork,
    blob,
    chainId: spec.chainId,
    coinbase: bytesOf(context['miner'] ?? '00'.repeat(20)),
    number,
    timestamp,
    gasLimit: integer(context['gasLimit']),
    random: integer(isMerged ? genesis['mixHash'] : context['difficulty']),
    baseFee: integer(context['baseFeePerGas']),
    blobBaseFee: blob === undefined ? 0n : blobBaseFee(excess, blob),
  }
}

/**
 * These files set forks out of order and leave some out, which no chain does: all forks up to the last that has
 * begun are taken as begun.
 */
function startedGenesis(genesis: TracerTest['genesis'], number: bigint, timestamp: bigint): Json {
  // A file spells a key with a capital, and go-ethereum reads keys of any case.
  const config: Json = Object.fromEntries(
    Object.entries(genesis.config).flatMap(([key, value]) => [
      [key, value],
      [FORK_KEYS.find((known) => known.toLowerCase() === key.toLowerCase()) ?? key, value],
    ]),
  )
  const begun = FORK_KEYS.findLastIndex((key) => {
    const at = config[key] as number | undefined
    return at !== undefined && BigInt(at) <= (key.endsWith('Time') ? timestamp : number)
  })
  const { chainId, terminalTotalDifficulty, blobSchedule } = config
  const started = {
    chainId,
    ...(terminalTotalDifficulty === undefined ? {} : { terminalTotalDifficulty }),
    ...(blobSchedule === undefined ? {} : { blobSchedule }),
    ...Object.fromEntries(FORK_KEYS.slice(0, begun + 1).map((key) => [key, 0])),
  }
  return { config: started, difficulty: '0x1', gasLimit: '0x1', alloc: {} }
}

/** Fields that go-ethereum's own comparison passes over: the place in the chain, and when the test was made. */
const PLACE_FIELDS = ['blockHash', 'blockNumber', 'transactionHash', 'transactionPosition', 'time']

/** A result as go-ethereum compares it: a field with an empty value is one that is not there. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value === 'string') return value.startsWith('0x') ? value.toLowerCase() : value
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
    .filter(([key]) => !PLACE_FIELDS.includes(key))
    .map(([key, item]) => [key.toLowerCase(), comparable(item)])
  return Object.fromEntries(entries)
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value === 'string') return /^(?:0x0*)?$/.test(value)
  return typeof value === 'object' && value !== null && Object.values(value).every(isEmpty)
}

/** Fields that were added to go-ethereum's results after the tests were written. */
const LATER_FIELDS = ['index', 'creationmethod']

/** The first difference, as a text with its place, or `undefined`. */
function difference(expected: unknown, found: unknown, place: string): string | undefined {
  if (
    typeof expected !== 'object' ||
    expected === null ||
    typeof found !== 'object' ||
    found === null
  ) {
    if (expected === found || (isEmpty(expected) && isEmpty(found))) return undefined
    return `${place}: expected ${shown(expected)}, found ${shown(found)}`
  }
  const left = expected as Json
  const right = found as Json
  if (Array.isArray(expected) && Array.isArray(found) && expected.length !== found.length)
    return `${place}: expected ${expected.length} entries, found ${found.length}`
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (LATER_FIELDS.includes(key) && left[key] === undefined) continue
    const problem = difference(left[key], right[key], `${place}.${key}`)
    if (problem !== undefined) return problem
  }
  return undefined
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
