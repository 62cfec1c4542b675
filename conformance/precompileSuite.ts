/** go-ethereum's vectors of precompiled contracts: output and price, or the reason of a refusal. */
import { precompileAt, preparePrecompiles } from 'varve/evm'
import { bytesOf, type Fixtures, hexOf } from './fixtures.ts'
import { berlin, byzantium, istanbul, osaka, prague } from './forks.ts'
import type { SuiteReport } from './suiteReport.ts'

type Record = {
  readonly path: string
  readonly items: readonly {
    readonly Name: string
    readonly Input: string
    readonly Expected?: string
    readonly Gas?: number
    readonly ExpectedError?: string
  }[]
}

type ForkRank = typeof osaka

/** Address and fork of each file. A multiplication is a sum of one term (EIP-2537). */
const PLACES: Readonly<{ [file: string]: readonly [address: number, fork: ForkRank] }> = {
  ecRecover: [0x01, byzantium],
  modexp: [0x05, byzantium],
  modexp_eip2565: [0x05, berlin],
  modexp_eip7883: [0x05, osaka],
  bn256Add: [0x06, istanbul],
  bn256ScalarMul: [0x07, istanbul],
  bn256Pairing: [0x08, istanbul],
  blake2F: [0x09, istanbul],
  blake2f: [0x09, istanbul],
  pointEvaluation: [0x0a, prague],
  blsG1Add: [0x0b, prague],
  blsG1Mul: [0x0c, prague],
  blsG1MultiExp: [0x0c, prague],
  blsG2Add: [0x0d, prague],
  blsG2Mul: [0x0e, prague],
  blsG2MultiExp: [0x0e, prague],
  blsPairing: [0x0f, prague],
  blsMapG1: [0x10, prague],
  blsMapG2: [0x11, prague],
  p256Verify: [0x100, osaka],
}

const GAS_LIMIT = 1n << 40n

export async function runPrecompileSuite(fixtures: Fixtures, report: SuiteReport): Promise<void> {
  await preparePrecompiles()
  for await (const { path, items } of fixtures.records<Record>(report.suite)) {
    const file = /([^/]+)\.json$/.exec(path)?.[1] ?? path
    const place = PLACES[file.replace(/^fail-/, '')]
    for (const item of items)
      report.run(`${file}: ${item.Name}`, () =>
        place === undefined ? 'no such precompile is known' : check(place, item),
      )
  }
}

function check(
  [address, fork]: readonly [number, ForkRank],
  item: Record['items'][number],
): string | undefined {
  const precompile = precompileAt(address, fork)
  if (precompile === undefined) return `nothing at 0x${address.toString(16)}`
  const input = bytesOf(item.Input)
  const result = precompile.run(input, GAS_LIMIT)
  if (item.ExpectedError !== undefined) {
    if (result.kind !== 'failure') return `expected a refusal, found ${result.kind}`
    return result.reason === item.ExpectedError
      ? undefined
      : `expected "${item.ExpectedError}", found "${result.reason}"`
  }
  if (result.kind !== 'success') return `expected an output, found ${result.kind}`
  const expected = hexOf(bytesOf(item.Expected ?? ''))
  if (hexOf(result.output) !== expected)
    return `expected ${expected}, found ${hexOf(result.output)}`
  const gas = BigInt(item.Gas ?? 0)
  if (item.Gas !== undefined && result.gasUsed !== gas)
    return `expected ${gas} gas, found ${result.gasUsed}`
  // One unit short must be refused before anything is computed.
  if (gas > 0n && precompile.run(input, gas - 1n).kind !== 'outOfGas')
    return `expected ${gas} gas to be the least that suffices`
  return undefined
}
