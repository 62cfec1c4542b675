/**
 * State tests of the BLS12-381 precompiles that were made in April 2024, under a draft of EIP-2537. The curves and the
 * encodings stayed; addresses and prices did not:
 *
 *     draft   0b G1ADD  0c G1MUL  0d G1MSM  0e G2ADD  0f G2MUL  10 G2MSM  11 PAIRING  12 MAP_FP  13 MAP_FP2
 *     final   0b G1ADD            0c G1MSM  0d G2ADD            0e G2MSM  0f PAIRING  10 MAP_FP  11 MAP_FP2
 *
 * So that their state roots can be held against the final rules, each test is put in today's terms: it calls today's
 * address (a multiplication is a sum of one term), and its sender starts with what the dearer draft took from it. A
 * call that fails costs all gas that it was given under both.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { precompileAt, preparePrecompiles } from 'varve/evm'
import { bytesOf, type Fixtures, hexOf, integerOf } from './fixtures.ts'
import { prague } from './forks.ts'
import { runStateTests } from './stateSuite.ts'
import type { SuiteReport } from './suiteReport.ts'

type StateTest = {
  readonly pre: { readonly [address: string]: { readonly balance: string } }
  readonly transaction: {
    readonly data: readonly string[]
    readonly sender: string
    readonly gasPrice: string
  }
  readonly env: { readonly currentBaseFee: string }
  readonly post: { readonly [fork: string]: readonly object[] }
}
type Record = { readonly path: string; readonly tests: { readonly [name: string]: StateTest } }

type DraftRule = {
  readonly addressNow: number
  /** Price under the draft. */
  gas(input: Uint8Array): bigint
}

/** Discounts of sums of 1 to 32 terms, in thousandths; the draft had one list for both groups. */
// biome-ignore format: a table reads by its columns
const DISCOUNTS = [
  1200, 888, 764, 641, 594, 547, 500, 453, 438, 423, 408, 394, 379, 364, 349, 334,
  330, 326, 322, 318, 314, 310, 306, 302, 298, 294, 289, 285, 281, 277, 273, 269,
]
const G1_TERM_BYTES = 160
const G2_TERM_BYTES = 288
const PAIR_BYTES = 384

const DRAFT_RULES = new Map<number, DraftRule>([
  [0x0b, { addressNow: 0x0b, gas: () => 500n }],
  [0x0c, { addressNow: 0x0c, gas: () => 12_000n }],
  [0x0d, { addressNow: 0x0c, gas: (input) => sumGas(input.length / G1_TERM_BYTES, 12_000) }],
  [0x0e, { addressNow: 0x0d, gas: () => 800n }],
  [0x0f, { addressNow: 0x0e, gas: () => 45_000n }],
  [0x10, { addressNow: 0x0e, gas: (input) => sumGas(input.length / G2_TERM_BYTES, 45_000) }],
  [
    0x11,
    { addressNow: 0x0f, gas: (input) => 65_000n + BigInt(input.length / PAIR_BYTES) * 43_000n },
  ],
  [0x12, { addressNow: 0x10, gas: () => 5500n }],
  [0x13, { addressNow: 0x11, gas: () => 75_000n }],
])

function sumGas(termCount: number, price: number): bigint {
  const discount = DISCOUNTS[termCount - 1]
  if (discount === undefined) throw new Error(`no discount is listed for ${termCount} terms`)
  return BigInt((termCount * price * discount) / 1000)
}

export async function runDraftEip2537Suite(fixtures: Fixtures, report: SuiteReport): Promise<void> {
  await preparePrecompiles()
  const folder = mkdtempSync(join(tmpdir(), 'varve-conformance-'))
  try {
    const tests: { [name: string]: unknown } = {}
    for await (const record of fixtures.records<Record>(report.suite))
      for (const [name, test] of Object.entries(record.tests))
        if (name !== '_info')
          tests[name] = record.path.includes('/stEIP2537/') ? inTodaysTerms(test) : test
    const file = join(folder, 'tests.json')
    writeFileSync(file, JSON.stringify(tests))
    await runStateTests(file, report)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The same test for the final rules. Call data are (selector, address, offset, length, input). */
function inTodaysTerms(test: StateTest): unknown {
  const { transaction, pre } = test
  // With a tip the coinbase's share would change as well.
  if (integerOf(transaction.gasPrice) !== integerOf(test.env.currentBaseFee))
    throw new Error('expected a gas price that is all base fee')
  const data = bytesOf(transaction.data[0]!)
  const ADDRESS_OFFSET = 4 + 31
  const rule = DRAFT_RULES.get(data[ADDRESS_OFFSET]!)
  if (rule === undefined || transaction.data.length !== 1) return test
  const length = Number(integerOf(hexOf(data.subarray(4 + 64, 4 + 96))))
  const input = data.slice(4 + 96, 4 + 96 + length)
  data[ADDRESS_OFFSET] = rule.addressNow
  const result = precompileAt(rule.addressNow, prague)!.run(input, 1n << 40n)
  const dearer = result.kind === 'success' ? rule.gas(input) - result.gasUsed : 0n
  const { sender } = transaction
  const balance = integerOf(pre[sender]!.balance) - dearer * integerOf(transaction.gasPrice)
  return {
    ...test,
    pre: { ...pre, [sender]: { ...pre[sender], balance: `0x${balance.toString(16)}` } },
    transaction: { ...transaction, data: [hexOf(data)] },
    // The signed transaction is the draft's.
    post: Object.fromEntries(
      Object.entries(test.post).map(([fork, list]) => [
        fork,
        list.map((post) => ({ ...post, txbytes: undefined })),
      ]),
    ),
  }
}
