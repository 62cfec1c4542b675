/**
 * Small programs on the engines of the machine. What a program costs in gas follows from the EIPs, and is what a run has
 * to prove: no opcode can be left out of it.
 */
import { bigintToBytes } from '../../../base/index.ts'
import { Machine, type MessageResult } from '../../../evm/index.ts'
import { EvmEngine } from '../../../kernels/index.ts'
import type { BenchCase, PreparedBench } from '../../../measure/index.ts'
import { assemble } from '../../executor/assembler.ts'
import { digestOfAll } from '../digest.ts'
import { BLOCK, ContractHost, SENDER, TARGET } from './contractHost.ts'

const GAS = 1n << 50n
const STOP = Uint8Array.of(0)
const PRIME = `0x${((1n << 256n) - 189n).toString(16)}`
const ODD = '0xdeadbeefcafebabe0123456789abcdeffedcba9876543210f00dfacefeedbeef'
type Program = {
  readonly name: string
  readonly about: string
  /** Leaves the stack as it found it: the round's number on top. */
  readonly body: string
  /** Gas of the body, each round. */
  readonly gasEach: number
  /** Gas beyond that: memory, first accesses. */
  readonly gasMore: number
}

/** Jump target, `1 ADD DUP1 ROUNDS GT @loop JUMPI`. */
const LOOP_GAS = 1 + 3 + 3 + 3 + 3 + 3 + 3 + 10
/** The first 0; `0 MSTORE 32 0 RETURN`. */
const FRAME_GAS = 2 + (2 + 3 + 3 + 2)
/** Where the program has no memory of its own: one word for what it returns. */
const RETURN_WORD_GAS = 3
const COLD_ACCOUNT_MORE = 2600 - 100
const COLD_SLOT_MORE = 2100 - 100
/** A slot that was 0 is set, beyond a warm access. */
const FIRST_SET_MORE = 20_000 - 100

const PROGRAMS: readonly Program[] = [
  {
    name: 'small-arithmetic',
    about: 'products, sums and comparisons of numbers below 2^64',
    body: 'DUP1 7 MUL 3 ADD DUP2 SWAP1 SUB DUP1 LT POP',
    gasEach: 3 + 3 + 5 + 3 + 3 + 3 + 3 + 3 + 3 + 3 + 2,
    gasMore: RETURN_WORD_GAS,
  },
  {
    name: 'wide-arithmetic',
    about: 'products, a modular product and a division of 256 bits',
    body: `DUP1 ${ODD} MUL ${PRIME} SWAP1 DUP1 MULMOD ${ODD} SWAP1 DIV POP`,
    gasEach: 3 + 3 + 5 + 3 + 3 + 3 + 8 + 3 + 3 + 5 + 2,
    gasMore: RETURN_WORD_GAS,
  },
  {
    name: 'keccak',
    about: 'keccak-256 of 64 bytes of memory',
    body: 'DUP1 0 MSTORE 64 0 KECCAK256 POP',
    gasEach: 3 + 2 + 3 + 3 + 2 + (30 + 2 * 6) + 2,
    gasMore: 2 * 3,
  },
  {
    name: 'memory',
    about: 'words and a byte, written and read',
    body: 'DUP1 64 MSTORE 64 MLOAD POP DUP1 128 MSTORE8',
    gasEach: 3 + 3 + 3 + 3 + 3 + 2 + 3 + 3 + 3,
    gasMore: 5 * 3,
  },
  {
    name: 'warm-storage',
    about: 'one slot read and one written, again and again',
    body: '5 SLOAD POP DUP1 6 SSTORE',
    gasEach: 3 + 100 + 2 + 3 + 3 + 100,
    // The first write is of the 0 that is there.
    gasMore: COLD_SLOT_MORE + (2100 + FIRST_SET_MORE) + RETURN_WORD_GAS,
  },
  {
    name: 'cold-storage',
    about: 'a slot that no one has read, each time',
    body: `DUP1 ${ODD} MUL SLOAD POP`,
    gasEach: 3 + 3 + 5 + 2100 + 2,
    gasMore: RETURN_WORD_GAS,
  },
  {
    name: 'transient-storage',
    about: 'a slot written and read',
    body: 'DUP1 5 TSTORE 5 TLOAD POP',
    gasEach: 3 + 3 + 100 + 3 + 100 + 2,
    gasMore: RETURN_WORD_GAS,
  },
  {
    name: 'calls',
    about: 'calls of a contract that stops at once',
    body: '0 0 0 0 0 0xee GAS CALL POP',
    gasEach: 5 * 2 + 3 + 2 + 100 + 2,
    gasMore: COLD_ACCOUNT_MORE + RETURN_WORD_GAS,
  },
]

const ENGINES: Record<string, EvmEngine> = { fast: EvmEngine.Fast, plain: EvmEngine.Plain }

const gasOf = ({ gasEach, gasMore }: Program, rounds: number): number =>
  FRAME_GAS + gasMore + rounds * (LOOP_GAS + gasEach)

function codeOf({ body }: Program, rounds: number): Uint8Array {
  return assemble(`0 loop: ${body} 1 ADD DUP1 ${rounds} GT @loop JUMPI 0 MSTORE 32 0 RETURN`)
}

/** Code of a program, for other machines. Its calls go to 0xee, which stops. */
export function evmProgram(name: string, rounds: number): Uint8Array {
  return codeOf(PROGRAMS.find((each) => each.name === name)!, rounds)
}

/** The proof of a call: its gas, and the count of rounds that it returns. */
export function proveCall(
  status: number,
  gas: bigint,
  output: Uint8Array,
): { readonly operations: number; readonly digest: string } {
  const outcome = new TextEncoder().encode(`status ${status}, rounds `)
  return { operations: Number(gas), digest: digestOfAll([outcome, output]) }
}

function prepare(program: Program, rounds: number, arm: string): PreparedBench {
  const code = codeOf(program, rounds)
  const host = new ContractHost({ code, callee: STOP, storage: () => undefined })
  const machine = new Machine({ engine: ENGINES[arm]! })
  const input = new Uint8Array(0)
  const message = { caller: SENDER, target: TARGET, input, value: 0n, gas: GAS }
  let result: MessageResult | undefined
  return {
    before() {
      machine.beginBlock(BLOCK, host)
      machine.beginTransaction({ origin: SENDER, gasPrice: 10n })
    },
    run() {
      result = machine.call(message)
    },
    prove() {
      const { status, gasLeft, output } = result!
      return proveCall(status, GAS - gasLeft, output)
    },
    after: () => machine.finishTransaction(),
  }
}

/** What a program of so many rounds returns, by itself. */
const resultOf = (rounds: number): string =>
  proveCall(0, 0n, bigintToBytes(BigInt(rounds), 32)).digest

export const CASES: readonly BenchCase[] = PROGRAMS.map((program) => ({
  group: 'evm',
  name: program.name,
  about: `${program.about}; rounds of a loop in one call`,
  operation: 'gas',
  sizeUnit: 'rounds',
  sizes: [{ size: 20_000, digest: resultOf(20_000) }],
  smoke: { size: 50, digest: resultOf(50) },
  arms: ['fast', 'plain'],
  operationsOf: (rounds) => gasOf(program, rounds),
  prepare: (rounds, arm) => prepare(program, rounds, arm),
}))
