/**
 * Storage by words against trimmed byte strings, in the shapes of Nethermind's pull request 8482 with true counts, of
 * its later benches of SLOAD and of the journal, and over tables beyond the processor's caches. How many reads and
 * writes took place is told by exact gas and by what the host was asked.
 */
import { bigintFromBytes } from '../../../base/index.ts'
import type { Snapshot } from '../../../evm/index.ts'
import { type BenchCase, type BenchSize, type PreparedBench, Prng } from '../../../measure/index.ts'
import { assemble } from '../../executor/assembler.ts'
import { digestOf } from '../digest.ts'
import { COLD_LOAD, COLD_RESET, RETURN_TOP, staticGas, WARM } from './storageGas.ts'
import { JOURNAL_CASES } from './storageJournal.ts'
import { inputOf, STORAGE_ARMS, StorageSubject } from './storageSubject.ts'

/** Transactions, or blocks, of a run: one alone is over too soon. */
const ROUNDS = 64
/** Of the runs that touch the whole table. */
const MANY = 4096
/** The cells of the seed's micro benches. */
const SMALL_CELLS = [512, 511, 510, 509]
const SMALL_TABLE = 1024
const TRUE_COUNT = 'four cells are read, not one'

const READ_FOUR_TEXT =
  '0 CALLDATALOAD SLOAD 32 CALLDATALOAD SLOAD ADD 64 CALLDATALOAD SLOAD ADD 96 CALLDATALOAD SLOAD ADD'
const READ_FOUR = `${READ_FOUR_TEXT} ${RETURN_TOP}`
const SET_FOUR =
  '1 0 CALLDATALOAD SSTORE 2 32 CALLDATALOAD SSTORE 3 64 CALLDATALOAD SSTORE 4 96 CALLDATALOAD SSTORE'

/** Inputs of four cells: the seed's, or random ones where the table is to be missed by the caches. */
function fourCells(cells: number): Uint8Array[] {
  if (cells === SMALL_TABLE) return [inputOf(...SMALL_CELLS)]
  const random = new Prng(1)
  return Array.from({ length: MANY }, () =>
    // Four different ones.
    inputOf(...SMALL_CELLS.map((_, index) => (random.between(1, cells - 1) & ~3) | index)),
  )
}

function reset(cells: number, arm: string): PreparedBench {
  const subject = new StorageSubject({ arm, code: assemble(READ_FOUR), cells })
  return {
    before: () => subject.forget(),
    run() {
      for (let round = 0; round < ROUNDS; round++) subject.begin()
    },
    prove: () => {
      const operations = subject.blockCount
      return { operations, digest: digestOf(`${subject.cell(5)}`) }
    },
  }
}

function readFour(cells: number, arm: string, isCached: boolean): PreparedBench {
  const subject = new StorageSubject({ arm, code: assemble(READ_FOUR), cells })
  if (isCached) subject.cache(cells)
  const inputs = fourCells(cells)
  const outputs: Uint8Array[] = new Array(ROUNDS)
  return {
    before: () => subject.forget(),
    run() {
      for (let round = 0; round < ROUNDS; round++) {
        if (isCached) subject.nextTransaction()
        else subject.begin()
        subject.call(inputs[round % inputs.length]!)
        outputs[round] = subject.output
        subject.machine.finishTransaction()
      }
    },
    prove() {
      const paid = (subject.gas - ROUNDS * staticGas(READ_FOUR)) / COLD_LOAD
      const operations = isCached && subject.host.slotCount === 0 ? paid : subject.host.slotCount
      return { operations, digest: digestOf(outputs.map(bigintFromBytes).join()) }
    },
  }
}

function setFour(cells: number, arm: string): PreparedBench {
  const subject = new StorageSubject({ arm, code: assemble(SET_FOUR), cells })
  subject.cache(cells)
  const { machine } = subject
  const inputs = fourCells(cells)
  let snapshot: Snapshot | undefined
  const takeBack = (): void => {
    if (snapshot === undefined) return
    machine.revert(snapshot)
    machine.finishTransaction()
    snapshot = undefined
  }
  return {
    before: () => subject.forget(),
    run() {
      for (let round = 0; round < ROUNDS; round++) {
        takeBack()
        subject.nextTransaction()
        snapshot = machine.snapshot()
        subject.call(inputs[round % inputs.length]!)
      }
    },
    prove() {
      const operations = (subject.gas - ROUNDS * staticGas(SET_FOUR)) / COLD_RESET
      const last = inputs[(ROUNDS - 1) % inputs.length]!
      const written = [0, 32, 64, 96].map((at) =>
        subject.cell(Number(bigintFromBytes(last.subarray(at, at + 32)))),
      )
      return { operations, digest: digestOf(written.join()) }
    },
    after: takeBack,
  }
}

/** A program of the seed's coarse bench: the only transaction of a block over cells 0 to 15, which hold 1 to 16. */
type Program = {
  readonly text: string
  readonly gas: number
  readonly accessCount: number
  /** Cells that the host is asked for. */
  readonly loadCount: number
  readonly digest: string
}

const FOUR_LOADS = '5 SLOAD SLOAD SLOAD SLOAD POP'
const PROGRAMS: Readonly<Record<string, Program>> = {
  'coarse-14': {
    text: `${FOUR_LOADS} ${FOUR_LOADS}`,
    gas: 2 * staticGas(FOUR_LOADS) + 4 * COLD_LOAD + 4 * WARM,
    accessCount: 8,
    loadCount: 4,
    digest: '271dd4461305a63a',
  },
  'coarse-27': {
    text: `1 1 SSTORE 2 2 SSTORE 3 3 SSTORE 4 4 SSTORE ${FOUR_LOADS}`,
    gas: 4 * (6 + COLD_RESET) + staticGas(FOUR_LOADS) + 4 * COLD_LOAD,
    accessCount: 8,
    loadCount: 8,
    digest: '173dc66f3c37466c',
  },
  'coarse-36': {
    text: [1, 2, 3, 4].map((value) => `1 SLOAD POP ${value} 1 SSTORE`).join(' '),
    // 2 becomes 1, 2 again, 3 and 4: two first changes at 2,900, two of a changed cell at 100.
    gas: 4 * 11 + COLD_LOAD + 3 * WARM + 2 * 2900 + 2 * WARM,
    accessCount: 8,
    loadCount: 1,
    digest: '40305d07572e1c77',
  },
}

function coarse({ text, gas, accessCount, loadCount }: Program, arm: string): PreparedBench {
  const code = assemble(text)
  const valueAt = (cell: number) => BigInt(cell + 1)
  const subject = new StorageSubject({ arm, code, cells: 16, valueAt })
  const input = new Uint8Array(0)
  return {
    before: () => subject.forget(),
    run() {
      for (let round = 0; round < ROUNDS; round++) {
        subject.begin()
        subject.call(input)
        subject.machine.finishTransaction()
      }
    },
    prove() {
      const rounds = Math.min(subject.gas / gas, subject.host.slotCount / loadCount)
      const cells = Array.from({ length: 16 }, (_, cell) => subject.cell(cell))
      return { operations: accessCount * rounds, digest: digestOf(cells.join()) }
    },
  }
}

/** `count` loads of one warm cell, one behind the other, and no loop. */
function loadsOfOne(count: number, arm: string, value: bigint): PreparedBench {
  const text = `${'1 SLOAD POP '.repeat(count - 1)} 1 SLOAD ${RETURN_TOP}`
  const valueAt = (cell: number) => (cell === 1 ? value : 0n)
  const subject = new StorageSubject({ arm, code: assemble(text), cells: 2, valueAt })
  subject.cache(2)
  return warmLoads(subject, staticGas(text))
}

/** A chain of loads, each of the cell that the one before has named: always the same. 24 KiB of code, run six times. */
function loadsInChain(count: number, arm: string): PreparedBench {
  const turns = 6
  const turn = `${'SLOAD '.repeat(count / turns)} SWAP1 1 SWAP1 SUB SWAP1 DUP2 @next JUMPI`
  const text = `6 1 next: ${turn} ${RETURN_TOP}`
  const subject = new StorageSubject({ arm, code: assemble(text), cells: 2 })
  subject.cache(2)
  const head = staticGas('6 1') + staticGas(RETURN_TOP)
  return warmLoads(subject, head + turns * (staticGas('next:') + staticGas(turn)))
}

const LOADED = [
  { name: 'zero', value: 0n, digest: '290decd9548b62a8' },
  { name: 'one', value: 1n, digest: 'b10e2d527612073b' },
  { name: 'ether', value: 10n ** 18n, digest: 'eb56b1d3ea8cb70a' },
] as const

/** Calls once. All but the loads costs `fixed`, and the first of them is cold. */
function warmLoads(subject: StorageSubject, fixed: number): PreparedBench {
  const input = new Uint8Array(0)
  return {
    before: () => subject.forget(),
    run() {
      subject.nextTransaction()
      subject.call(input)
      subject.machine.finishTransaction()
    },
    prove: () => ({
      operations: (subject.gas - fixed - (COLD_LOAD - WARM)) / WARM,
      digest: digestOf(subject.output),
    }),
  }
}

const STEP = 0x9e3779b1
const CELL = `DUP1 ${STEP} MUL 8 SHR 32 CALLDATALOAD AND`
/** Input: rounds, and a mask of cells. Adds up what it reads. */
const LOAD_TURN = `${CELL} SLOAD DUP3 ADD SWAP2 POP 1 SWAP1 SUB DUP1 @next JUMPI`
const LOAD_MANY = `0 0 CALLDATALOAD next: ${LOAD_TURN} POP ${RETURN_TOP}`
/** Writes the number of each round. */
const STORE_TURN = `DUP1 ${CELL} SSTORE 1 SWAP1 SUB DUP1 @next JUMPI`
const STORE_MANY = `0 CALLDATALOAD next: ${STORE_TURN} STOP`

/** Cell of a round, counted down. */
const cellOf = (round: number, cells: number): number =>
  Number(((BigInt(round) * BigInt(STEP)) >> 8n) & BigInt(cells - 1))

/** Gas of the accesses of each round: of a load, or of a store of the round's number over the cell's. */
function* gasOfRounds(cells: number, isStore: boolean): Generator<number> {
  const values = new Map<number, number>()
  for (let round = MANY; round > 0; round--) {
    const cell = cellOf(round, cells)
    const current = values.get(cell)
    values.set(cell, round)
    const isSame = (current ?? cell) === round
    if (!isStore) yield current === undefined ? COLD_LOAD : WARM
    else if (isSame) yield current === undefined ? COLD_LOAD + WARM : WARM
    // The first change of a cell that held something, or of cell 0, which held nothing.
    else if (current === undefined) yield cell === 0 ? COLD_RESET + 17_100 : COLD_RESET
    else yield WARM
  }
}

function many(cells: number, arm: string, isStore: boolean): PreparedBench {
  const text = isStore ? STORE_MANY : LOAD_MANY
  const subject = new StorageSubject({ arm, code: assemble(text), cells })
  subject.cache(cells)
  const { machine } = subject
  const input = inputOf(MANY, cells - 1)
  let snapshot: Snapshot | undefined
  return {
    before() {
      subject.forget()
      subject.nextTransaction()
      snapshot = machine.snapshot()
    },
    run: () => subject.call(input),
    prove() {
      const turn = staticGas('next:') + staticGas(isStore ? STORE_TURN : LOAD_TURN)
      const ends = isStore ? '0 CALLDATALOAD STOP' : `0 0 CALLDATALOAD POP ${RETURN_TOP}`
      let left = subject.gas - staticGas(ends)
      let operations = 0
      for (const gas of gasOfRounds(cells, isStore)) {
        left -= gas + turn
        if (left >= 0) operations++
      }
      if (left !== 0) operations = 0
      const digest = isStore
        ? digestOf(
            Array.from({ length: MANY }, (_, round) =>
              subject.cell(cellOf(round + 1, cells)),
            ).join(),
          )
        : digestOf(subject.output)
      return { operations, digest }
    },
    after() {
      machine.revert(snapshot!)
      machine.finishTransaction()
    },
  }
}

type Shape = Pick<BenchCase, 'name' | 'about' | 'operation' | 'prepare'> & {
  readonly sizes: readonly BenchSize[]
  readonly count?: number
  readonly sizeUnit?: string
}

function wordsCase({ count, sizeUnit = 'cells', ...shape }: Shape): BenchCase {
  return {
    group: 'words',
    sizeUnit,
    smoke: shape.sizes[0]!,
    arms: STORAGE_ARMS,
    ...shape,
    ...(count === undefined ? {} : { operationsOf: () => count }),
  }
}

/** A table in the caches, and one beyond them. */
const tables = (small: string, large: string): BenchSize[] => [
  { size: SMALL_TABLE, digest: small },
  { size: 2 ** 16, digest: large },
]

export const CASES: readonly BenchCase[] = [
  wordsCase({
    name: 'just-reset',
    about: 'a block begins, and nothing is read',
    operation: 'reset',
    sizes: [{ size: SMALL_TABLE, digest: 'ceebf77a833b3052' }],
    count: ROUNDS,
    prepare: reset,
  }),
  wordsCase({
    name: 'pre-cached-small-indexes',
    about: `transactions that read four cells which the block has read before; ${TRUE_COUNT}`,
    operation: 'read',
    sizes: tables('b91b523eca0679b1', 'cd0c135bea8c8731'),
    count: 4 * ROUNDS,
    prepare: (cells, arm) => readFour(cells, arm, true),
  }),
  wordsCase({
    name: 'not-cached-small-indexes',
    about: `blocks whose only transaction reads four cells, asked of the host; ${TRUE_COUNT}`,
    operation: 'read',
    sizes: tables('b91b523eca0679b1', 'cd0c135bea8c8731'),
    count: 4 * ROUNDS,
    prepare: (cells, arm) => readFour(cells, arm, false),
  }),
  wordsCase({
    name: 'set',
    about: 'transactions that write four cells which the block has read before, and are undone',
    operation: 'write',
    sizes: tables('4419e189aae02df9', '4419e189aae02df9'),
    count: 4 * ROUNDS,
    prepare: setFour,
  }),
  ...Object.entries(PROGRAMS).map(([name, program]) =>
    wordsCase({
      name,
      about: `blocks whose only transaction runs ${assemble(program.text).length} bytes of code with ${program.accessCount} accesses`,
      operation: 'access',
      sizes: [{ size: 16, digest: program.digest }],
      count: program.accessCount * ROUNDS,
      prepare: (_, arm) => coarse(program, arm),
    }),
  ),
  ...LOADED.map(({ name, value, digest }) =>
    wordsCase({
      name: `load-${name}`,
      about: `4,096 SLOAD in one call, of one warm cell that holds ${value}`,
      operation: 'read',
      sizeUnit: 'reads',
      sizes: [{ size: MANY, digest }],
      prepare: (count, arm) => loadsOfOne(count, arm, value),
    }),
  ),
  wordsCase({
    name: 'load-same-key',
    about:
      '24 KiB of SLOAD six times over, each of the cell that the one before has named: 14.7 million gas',
    operation: 'read',
    sizeUnit: 'reads',
    sizes: [{ size: 147_240, digest: 'b10e2d527612073b' }],
    prepare: loadsInChain,
  }),
  wordsCase({
    name: 'loads',
    about: '4,096 loads in one call all over the table, which the block has read before',
    operation: 'read',
    sizes: tables('eec8146c71c7003f', 'f0ed0b5714eb1949'),
    count: MANY,
    prepare: (cells, arm) => many(cells, arm, false),
  }),
  wordsCase({
    name: 'stores',
    about:
      '4,096 stores in one call all over the table, which the block has read before; undone untimed',
    operation: 'write',
    sizes: tables('2574c88041abd116', '2a348cb9c89775bd'),
    count: MANY,
    prepare: (cells, arm) => many(cells, arm, true),
  }),
  ...JOURNAL_CASES.map(wordsCase),
]
