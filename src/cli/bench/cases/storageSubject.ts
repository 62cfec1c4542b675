/** A machine in one arm of storage, over a contract whose cell i holds what the case says. */
import { bigintToBytes, bigintToMinimalBytes } from '../../../base/index.ts'
import { Machine, Status } from '../../../evm/index.ts'
import { BLOCK, ContractHost, SENDER, TARGET } from './contractHost.ts'

/** The first keeps words in the kernel; the second byte strings without leading zeros on the heap, its baseline. */
export const STORAGE_ARMS = ['words', 'trimmed'] as const

const TRANSACTION = { origin: SENDER, gasPrice: 1n }
const GAS = 1n << 50n
const NO_OUTPUT = new Uint8Array(0)

export type StorageSubjectOptions = {
  readonly arm: string
  readonly code: Uint8Array
  readonly cells: number
  /** Value of each cell, 0 for none; the cell's number without it. */
  readonly valueAt?: (cell: number) => bigint
}

export class StorageSubject {
  readonly machine: Machine
  readonly host: ContractHost
  /** Gas of all calls since `forget`: exact, so it tells what ran. */
  gas = 0
  /** Blocks begun since `forget`, as the machine asked for their number. */
  blockCount = 0
  /** Output of the last call. */
  output: Uint8Array = NO_OUTPUT
  private readonly block

  constructor({ arm, code, cells, valueAt = BigInt }: StorageSubjectOptions) {
    this.machine = new Machine({ storage: arm === 'trimmed' ? 'trimmed' : 'words' })
    const values = Array.from({ length: cells }, (_, cell) => bigintToMinimalBytes(valueAt(cell)))
    const storage = (slot: Uint8Array) => values[(slot[29]! << 16) | (slot[30]! << 8) | slot[31]!]
    this.host = new ContractHost({ code, storage })
    const count = () => BigInt(++this.blockCount)
    this.block = Object.defineProperty({ ...BLOCK }, 'number', { get: count })
    this.begin()
  }

  /** A block of nothing known, and a transaction in it. */
  begin(): void {
    this.machine.beginBlock(this.block, this.host)
    this.machine.beginTransaction(TRANSACTION)
  }

  /** Counts anew. */
  forget(): void {
    this.gas = 0
    this.blockCount = 0
    this.host.slotCount = 0
  }

  /** Reads all cells into the block's table, and ends the transaction. */
  cache(cells: number): void {
    for (let cell = 0; cell < cells; cell++) this.cell(cell)
    this.machine.finishTransaction()
  }

  cell(cell: number): bigint {
    return this.machine.getStorage(TARGET, bigintToBytes(BigInt(cell), 32))
  }

  nextTransaction(): void {
    this.machine.beginTransaction(TRANSACTION)
  }

  call(input: Uint8Array): void {
    const message = { caller: SENDER, target: TARGET, input, value: 0n, gas: GAS }
    const { status, gasLeft, output } = this.machine.call(message)
    if (status !== Status.Success) throw new Error(`the call ended with status ${status}`)
    this.gas += Number(GAS - gasLeft)
    this.output = output
  }
}

/** Numbers as an input of words. */
export function inputOf(...numbers: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(32 * numbers.length)
  numbers.forEach((number, index) => {
    bytes.set(bigintToBytes(BigInt(number), 32), 32 * index)
  })
  return bytes
}
