/** go-ethereum's tables of opcodes with two operands: `X` is pushed first, `Y` lies on top of it. */
import { Machine, OPCODES, Status } from 'varve/evm'
import { blockOf, emptyHost } from './emptyHost.ts'
import { bytesOf, type Fixtures, hexOf } from './fixtures.ts'
import { osaka } from './forks.ts'
import type { SuiteReport } from './suiteReport.ts'

type Record = {
  readonly path: string
  readonly items: readonly { readonly X: string; readonly Y: string; readonly Expected: string }[]
}

const CALLER = new Uint8Array(20).fill(1)
const TARGET = new Uint8Array(20).fill(2)
const NAMES: Readonly<{ [file: string]: string }> = { signext: 'SIGNEXTEND' }

export async function runOpcodeSuite(fixtures: Fixtures, report: SuiteReport): Promise<void> {
  const machine = new Machine()
  for await (const { path, items } of fixtures.records<Record>(report.suite)) {
    const file = /testcases_(\w+)\.json$/.exec(path)?.[1] ?? path
    const opcode = opcodeOf(NAMES[file] ?? file.toUpperCase())
    items.forEach(({ X, Y, Expected }, index) => {
      report.run(`${file}#${index}`, () => {
        const found = compute(machine, opcode, bytesOf(X), bytesOf(Y))
        const expected = hexOf(bytesOf(Expected))
        return found === expected ? undefined : `expected ${expected}, found ${found}`
      })
    })
  }
}

function opcodeOf(name: string): number {
  const code = OPCODES.findIndex((opcode) => opcode?.name === name)
  if (code < 0) throw new Error(`no opcode ${name}`)
  return code
}

function compute(machine: Machine, opcode: number, x: Uint8Array, y: Uint8Array): string {
  machine.beginBlock(blockOf({ fork: osaka }), emptyHost)
  machine.beginTransaction({ origin: CALLER, gasPrice: 0n })
  // PUSH32 x, PUSH32 y, the opcode; the result goes to memory and is returned.
  const store = [0x5f, 0x52, 0x60, 0x20, 0x5f, 0xf3]
  machine.setCode(TARGET, Uint8Array.of(0x7f, ...x, 0x7f, ...y, opcode, ...store))
  const input = new Uint8Array(0)
  const result = machine.call({ caller: CALLER, target: TARGET, input, value: 0n, gas: 100_000n })
  machine.finishTransaction()
  return result.status === Status.Success ? hexOf(result.output) : `status ${result.status}`
}
