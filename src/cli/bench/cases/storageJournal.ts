/** Cases of the storage journal: many slots read, written and taken back, or committed, in one transaction. */

import type { WriteSet } from '../../../evm/index.ts'
import type { BenchCase, BenchSize, PreparedBench } from '../../../measure/index.ts'
import { assemble } from '../../executor/assembler.ts'
import { digestOf } from '../digest.ts'
import { COLD_LOAD, COLD_RESET, COLD_SET, staticGas, WARM } from './storageGas.ts'
import { inputOf, StorageSubject } from './storageSubject.ts'

/** How often each slot is met. */
const REPEATS = 8
/** Cells hold their number and this, so that no write below meets its own value. */
const VALUE_BASE = 1000n

/** Input: how many slots, how often. Slots go down from the count to 1; the stack holds rounds left, slots left. */
const looped = (access: string) => ({
  head: '32 CALLDATALOAD',
  outer: 'outer: 0 CALLDATALOAD',
  inner: `inner: ${access} 1 SWAP1 SUB DUP1 @inner JUMPI`,
  end: 'POP 1 SWAP1 SUB DUP1 @outer JUMPI',
})
const textOf = ({ head, outer, inner, end }: ReturnType<typeof looped>): string =>
  `${head} ${outer} ${inner} ${end} STOP`

const READ = 'DUP1 SLOAD POP'
/** Writes the number of rounds that are left. */
const WRITE = 'DUP2 DUP2 SSTORE'

type Kind = {
  readonly access: string
  readonly repeats: number
  /** Gas of a slot's first access; each after it is warm. */
  readonly first: number
  readonly isEmpty?: boolean
  readonly end: 'finish' | 'revert' | 'commit'
  /** Of 128 slots, and of 4,096. */
  readonly digests: readonly [small: string, large: string]
}

const KINDS: Readonly<
  Record<string, Kind & { readonly about: string; readonly operation: string }>
> = {
  'journal-cached-reads': {
    about: 'one transaction reads each slot eight times; the block has read them before',
    operation: 'read',
    ...{
      access: READ,
      repeats: REPEATS,
      first: COLD_LOAD,
      end: 'finish',
      digests: ['cc39dfa4b7f7e3f3', '53b074499276be66'],
    },
  },
  'journal-repeated-writes': {
    about: 'one transaction writes each slot eight times, and is undone',
    operation: 'write',
    ...{
      access: WRITE,
      repeats: REPEATS,
      first: COLD_RESET,
      end: 'revert',
      digests: ['cc39dfa4b7f7e3f3', '53b074499276be66'],
    },
  },
  'journal-fresh-writes': {
    about: 'one transaction writes each slot, which held nothing, and is undone',
    operation: 'write',
    ...{
      access: WRITE,
      repeats: 1,
      first: COLD_SET,
      isEmpty: true,
      end: 'revert',
      digests: ['0021746a5918efdc', '9e465d9da30098bb'],
    },
  },
  'journal-write-commit': {
    about: 'one transaction writes each slot, ends, and the block hands over what it changed',
    operation: 'write',
    ...{
      access: WRITE,
      repeats: 1,
      first: COLD_RESET,
      end: 'commit',
      digests: ['091c2a5667f1a0b7', '5bd9a36fce5e3120'],
    },
  },
}

function prepareKind(slots: number, arm: string, kind: Kind): PreparedBench {
  const { access, repeats, first, isEmpty = false, end } = kind
  const loop = looped(access)
  const valueAt = (cell: number) => (isEmpty ? 0n : BigInt(cell) + VALUE_BASE)
  const subject = new StorageSubject({
    arm,
    code: assemble(textOf(loop)),
    cells: slots + 1,
    valueAt,
  })
  const { machine } = subject
  const input = inputOf(slots, repeats)
  subject.cache(slots + 1)
  let writes: WriteSet = []
  return {
    before() {
      if (end === 'commit') {
        // What was committed is the state before the next block's.
        subject.begin()
        subject.cache(slots + 1)
      }
      subject.forget()
      subject.nextTransaction()
    },
    run() {
      const snapshot = machine.snapshot()
      subject.call(input)
      if (end === 'revert') machine.revert(snapshot)
      machine.finishTransaction()
      if (end === 'commit') writes = machine.writeSet()
    },
    prove() {
      const outerGas = staticGas(loop.outer) + staticGas(loop.end)
      const loopGas = subject.gas - staticGas(loop.head) - repeats * outerGas
      const innerGas = staticGas(loop.inner) + WARM
      const operations = (loopGas - slots * (first - WARM)) / innerGas
      const written = writes.flatMap(({ slots: changed }) =>
        changed.map(({ slot, before, after }) => `${slot} ${before} ${after}`),
      )
      const cells = Array.from({ length: slots + 1 }, (_, cell) => subject.cell(cell))
      return { operations, digest: digestOf(`${written} ${cells}`) }
    },
  }
}

type JournalCase = Pick<BenchCase, 'name' | 'about' | 'operation' | 'operationsOf' | 'prepare'> & {
  readonly sizes: readonly BenchSize[]
  readonly sizeUnit: string
}

export const JOURNAL_CASES: readonly JournalCase[] = Object.entries(KINDS).map(([name, kind]) => {
  const [small, large] = kind.digests
  return {
    name,
    about: kind.about,
    operation: kind.operation,
    sizeUnit: 'slots',
    sizes: [
      { size: 128, digest: small },
      { size: 4096, digest: large },
    ],
    operationsOf: (slots) => slots * kind.repeats,
    prepare: (slots, arm) => prepareKind(slots, arm, kind),
  }
})
