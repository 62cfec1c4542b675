/**
 * Storage by words in the kernel against the baseline of trimmed byte strings: the six benchmarks of Nethermind's change
 * (its pull request 8482), and tables beyond the processor's caches. Every run proves that all its reads and
 * writes took place, by exact gas, by the sum or the values that come out, and by the host's count.
 *
 *     reset          a block begins, nothing is read
 *     pre-cached     a transaction reads four cells that the block has read before
 *     not cached     a block begins, and its first transaction reads four cells: the host is asked
 *     set            a transaction writes four cells that are cached, and is undone
 *     14, 27, 36     three programs named by their length, each the transaction of a block of its own
 *     loads, stores  4,096 in one call, all over the table: what one costs
 */
import assert from 'node:assert/strict'
import { bigintFromBytes, bigintToBytes, bigintToMinimalBytes, Fork } from '../base/index.ts'
import { type BenchMode, bench, Prng, quantile, report } from '../testing/index.ts'
import { Machine, type Snapshot } from './machine.ts'
import { assemble, blockOf, RETURN_TOP, SENDER, TARGET, World } from './testWorld.suite.ts'

type Arm = 'words' | 'trimmed'
const ARMS: readonly Arm[] = ['words', 'trimmed']
const GAS = 1n << 50n
/** A cold access, alone and with another value but 0 in place of one that is not 0 (EIP-2200, EIP-2929). */
const COLD_LOAD = 2100n
const COLD_RESET = 5000n
const OPERATION_COUNT = 4096
const TRANSACTION = { origin: SENDER, gasPrice: 1n }
const BLOCK = blockOf(Fork.Prague)
/** The cells of Nethermind's micro benchmarks. */
const SMALL_CELLS = [512, 511, 510, 509]

const READ_FOUR = assemble(
  `0 CALLDATALOAD SLOAD 32 CALLDATALOAD SLOAD ADD 64 CALLDATALOAD SLOAD ADD 96 CALLDATALOAD SLOAD ADD ${RETURN_TOP}`,
)
const READ_FOUR_GAS = 4n * COLD_LOAD + 8n * 3n + 3n * 3n + 12n + 3n
const SET_FOUR = assemble(
  '1 0 CALLDATALOAD SSTORE 2 32 CALLDATALOAD SSTORE 3 64 CALLDATALOAD SSTORE 4 96 CALLDATALOAD SSTORE',
)
const SET_FOUR_GAS = 4n * (COLD_RESET + 3n * 3n)

const STEP = 0x9e3779b1n
const CELL = `DUP1 ${STEP} MUL 8 SHR 32 CALLDATALOAD AND`
const cellOf = (round: number, cells: number): number =>
  Number(((BigInt(round) * STEP) >> 8n) & BigInt(cells - 1))
/** Input: rounds, then a mask of cells. */
const LOAD_MANY = assemble(
  `0 0 CALLDATALOAD :l ${CELL} SLOAD DUP3 ADD SWAP2 POP 1 SWAP1 SUB DUP1 @l JUMPI POP ${RETURN_TOP}`,
)
const STORE_MANY = assemble(`0 CALLDATALOAD :l DUP1 ${CELL} SSTORE 1 SWAP1 SUB DUP1 @l JUMPI STOP`)

/** The coarse programs over cells 0 to 15, which hold 1 to 16; gas and loads of the host by the EIPs. */
const COARSE = [
  {
    name: '14',
    code: assemble('5 SLOAD SLOAD SLOAD SLOAD POP 5 SLOAD SLOAD SLOAD SLOAD POP'),
    gas: 2n * 5n + 4n * COLD_LOAD + 4n * 100n,
    loads: 4,
  },
  {
    name: '27',
    code: assemble('1 1 SSTORE 2 2 SSTORE 3 3 SSTORE 4 4 SSTORE 5 SLOAD SLOAD SLOAD SLOAD POP'),
    gas: 4n * (6n + COLD_RESET) + 5n + 4n * COLD_LOAD,
    loads: 8,
  },
  {
    name: '36',
    code: assemble([1, 2, 3, 4].map((value) => `1 SLOAD POP ${value} 1 SSTORE`).join(' ')),
    // 2 becomes 1, 2 again, 3 and 4: two first changes at 2,900, two of a changed cell at 100.
    gas: 4n * 11n + COLD_LOAD + 3n * 100n + 2n * 2900n + 2n * 100n,
    loads: 1,
  },
]

/** One arm with a contract whose cell i holds what `valueAt` says, 0 being none. Counts what the host is asked. */
class Subject {
  readonly machine: Machine
  loads = 0
  private readonly world = new World()

  constructor(arm: Arm, code: Uint8Array, cells: number, valueAt = (cell: number) => cell) {
    this.machine = new Machine({ storage: arm })
    this.world.put(SENDER, { nonce: 1n, balance: 1n << 100n })
    this.world.put(TARGET, { nonce: 1n, code })
    // As a store keeps them: bytes that are there, so that the host costs both arms next to nothing.
    const values = Array.from({ length: cells }, (_, cell) =>
      bigintToMinimalBytes(BigInt(valueAt(cell))),
    )
    this.world.openStorage = () => (slot) => {
      this.loads++
      return values[(slot[29]! << 16) | (slot[30]! << 8) | slot[31]!]
    }
    this.reset()
  }

  reset(): void {
    this.machine.beginBlock(BLOCK, this.world)
    this.machine.beginTransaction(TRANSACTION)
  }

  /** Reads all cells into the block's table. */
  cache(cells: number): void {
    for (let cell = 0; cell < cells; cell++) this.cell(cell)
    this.machine.finishTransaction()
  }

  cell(cell: number): bigint {
    return this.machine.getStorage(TARGET, bigintToBytes(BigInt(cell), 32))
  }

  /** Calls the contract; the gas must be `gas`, where given. Returns output and gas. */
  call(input: Uint8Array, gas?: bigint): { output: Uint8Array; gasUsed: bigint } {
    const message = { caller: SENDER, target: TARGET, input, value: 0n, gas: GAS }
    const { status, gasLeft, output } = this.machine.call(message)
    const gasUsed = GAS - gasLeft
    if (status !== 0 || (gas !== undefined && gasUsed !== gas))
      throw new Error(`status ${status}, gas ${gasUsed}: the work was not done`)
    return { output, gasUsed }
  }
}

const wordsOf = (numbers: readonly number[]): Uint8Array => {
  const bytes = new Uint8Array(32 * numbers.length)
  numbers.forEach((number, index) => {
    bytes.set(bigintToBytes(BigInt(number), 32), 32 * index)
  })
  return bytes
}

/** What is timed; `divisor` operations a run. `prove` is called at the end and gives what both arms must agree on. */
type Work = { run(): void; prove(): string; readonly divisor: number }

/** P50 and P99 of single runs and bytes a run, of both arms in turns. */
function compare(name: string, mode: BenchMode, runs: number, create: (arm: Arm) => Work): void {
  const rounds = mode === 'full' ? 5 : 1
  const runCount = mode === 'full' ? runs : 3
  const subjects = ARMS.map((arm) => ({
    arm,
    work: create(arm),
    p50: [] as number[],
    p99: [] as number[],
    bytes: [] as number[],
  }))
  const samples = new Float64Array(runCount)
  for (const { work } of subjects) for (let run = 0; run < runCount; run++) work.run()
  for (let round = 0; round < rounds; round++)
    for (const { work, p50, p99, bytes } of subjects) {
      globalThis.gc?.()
      for (let run = 0; run < runCount; run++) {
        const start = performance.now()
        work.run()
        samples[run] = (1e6 * (performance.now() - start)) / work.divisor
      }
      p50.push(quantile(samples, 0.5))
      p99.push(quantile(samples, 0.99))
      globalThis.gc?.()
      const before = process.memoryUsage().heapUsed
      for (let run = 0; run < Math.min(runCount, 200); run++) work.run()
      bytes.push((process.memoryUsage().heapUsed - before) / Math.min(runCount, 200))
    }
  const proofs = subjects.map(({ work }) => work.prove())
  assert.equal(proofs[0], proofs[1], `${name}: the arms differ`)
  for (const { arm, p50, p99, bytes } of subjects) {
    const check = proofs[0]!
    report({ name: `storage ${name} (${arm}) P50`, unit: 'ns', samples: p50, check })
    report({ name: `storage ${name} (${arm}) P99`, unit: 'ns', samples: p99, check })
    report({ name: `storage ${name} (${arm}) heap a run`, unit: 'bytes', samples: bytes, check })
  }
}

/** Inputs of four cells: Nethermind's, or random ones where the table is meant to be missed by the caches. */
function drawInputs(cells: number): { input: Uint8Array; sum: bigint }[] {
  const random = new Prng(1)
  return Array.from({ length: cells > 1024 ? 4096 : 1 }, () => {
    const chosen = cells > 1024 ? SMALL_CELLS.map(() => random.between(1, cells - 1)) : SMALL_CELLS
    // Four different cells, each with a value of its own: the sum tells that all were read.
    const distinct = chosen.map((cell, index) => (cell & ~3) | index)
    const numbers = cells > 1024 ? distinct : chosen
    return { input: wordsOf(numbers), sum: BigInt(numbers.reduce((a, b) => a + b)) }
  })
}

function readFour(arm: Arm, cells: number, isCached: boolean): Work {
  const subject = new Subject(arm, READ_FOUR, cells)
  if (isCached) subject.cache(cells)
  const inputs = drawInputs(cells)
  let runs = 0
  subject.loads = 0
  return {
    divisor: 4,
    run() {
      const { input, sum } = inputs[runs++ % inputs.length]!
      if (isCached) subject.machine.beginTransaction(TRANSACTION)
      else subject.reset()
      const { output } = subject.call(input, READ_FOUR_GAS)
      assert.ok(bigintFromBytes(output) === sum, 'four cells are read')
      subject.machine.finishTransaction()
    },
    prove() {
      assert.equal(subject.loads, isCached ? 0 : 4 * runs, 'reads of the host')
      return `${4 * runs} reads`
    },
  }
}

function setFour(arm: Arm, cells: number): Work {
  const subject = new Subject(arm, SET_FOUR, cells)
  subject.cache(cells)
  const inputs = drawInputs(cells).map(({ input }) => input)
  let runs = 0
  const write = (): Snapshot => {
    subject.machine.beginTransaction(TRANSACTION)
    const snapshot = subject.machine.snapshot()
    subject.call(inputs[runs++ % inputs.length]!, SET_FOUR_GAS)
    return snapshot
  }
  return {
    divisor: 4,
    run() {
      subject.machine.revert(write())
      subject.machine.finishTransaction()
    },
    prove() {
      runs = 0
      const snapshot = write()
      const cellsOf = (): bigint[] =>
        [0, 32, 64, 96].map((at) =>
          subject.cell(Number(bigintFromBytes(inputs[0]!.subarray(at, at + 32)))),
        )
      assert.deepEqual(cellsOf(), [1n, 2n, 3n, 4n])
      subject.machine.revert(snapshot)
      assert.ok(cellsOf().every((value) => value > 4n))
      return `writes ${[1, 2, 3, 4]}`
    },
  }
}

function coarse(arm: Arm, { code, gas, loads }: (typeof COARSE)[number]): Work {
  const subject = new Subject(arm, code, 16, (cell) => cell + 1)
  let runs = 0
  subject.loads = 0
  return {
    divisor: 1,
    run() {
      runs++
      subject.call(new Uint8Array(0), gas)
      subject.machine.finishTransaction()
      subject.reset()
    },
    prove() {
      assert.equal(subject.loads, loads * runs, 'reads of the host')
      return `gas ${gas}, ${loads} loads`
    },
  }
}

function reset(arm: Arm): Work {
  const subject = new Subject(arm, READ_FOUR, 1024)
  return {
    divisor: 1,
    run: () => subject.reset(),
    prove() {
      subject.loads = 0
      assert.equal(subject.cell(5), 5n)
      return `${subject.loads} loads after`
    },
  }
}

function many(arm: Arm, cells: number, rounds: number, isStore: boolean): Work {
  const subject = new Subject(arm, isStore ? STORE_MANY : LOAD_MANY, cells)
  subject.cache(cells)
  const input = wordsOf([rounds, cells - 1])
  let sum = 0n
  for (let round = 1; round <= rounds; round++) sum += BigInt(cellOf(round, cells))
  let gas: bigint | undefined
  return {
    divisor: rounds,
    run() {
      subject.machine.beginTransaction(TRANSACTION)
      const snapshot = subject.machine.snapshot()
      const { output, gasUsed } = subject.call(input, gas)
      gas = gasUsed
      if (!isStore) assert.ok(bigintFromBytes(output) === sum, 'all cells are read')
      subject.machine.revert(snapshot)
      subject.machine.finishTransaction()
    },
    prove() {
      subject.machine.beginTransaction(TRANSACTION)
      subject.call(input, gas)
      // The last round wrote 1.
      if (isStore) assert.equal(subject.cell(cellOf(1, cells)), 1n)
      return `gas ${gas}`
    },
  }
}

bench('evm: storage access, words and trimmed bytes', (mode) => {
  const [small, large] = mode === 'full' ? [1024, 1 << 18] : [1024, 2048]
  const rounds = mode === 'full' ? OPERATION_COUNT : 64
  compare('reset', mode, 5000, reset)
  for (const cells of [small, large]) {
    const of = `${cells} cells`
    compare(`pre-cached, ${of}`, mode, 5000, (arm) => readFour(arm, cells, true))
    compare(`not cached, ${of}`, mode, 3000, (arm) => readFour(arm, cells, false))
    compare(`set, ${of}`, mode, 5000, (arm) => setFour(arm, cells))
    compare(`loads, ${of}`, mode, 30, (arm) => many(arm, cells, rounds, false))
    compare(`stores, ${of}`, mode, 30, (arm) => many(arm, cells, rounds, true))
  }
  for (const each of COARSE) compare(each.name, mode, 3000, (arm) => coarse(arm, each))
})
