/**
 * Aim: who writes a case with one of the mistakes that misled published benchmarks gets no verdict from it. Method: such
 * cases, run for real in this process by what runs a turn, and judged with a sham and swapped order.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type FlagKind,
  type Judgement,
  judge,
  type PreparedBench,
  Prng,
  planTurns,
  type Turn,
} from '../../measure/index.ts'
import { gather } from './gather.ts'
import { thisMachine } from './machine.ts'

const CLAIMED = 4

/** Runs two arms as a comparison would, but for the processes, and judges them. */
async function compare(
  claimed: number,
  arms: { readonly head: () => PreparedBench; readonly base: () => PreparedBench },
  change: (turn: Turn) => Turn = (turn) => turn,
): Promise<Judgement> {
  const turns: Turn[] = []
  for (const { role, round, place } of planTurns(4, true)) {
    const prepared = role === 'head' ? arms.head() : arms.base()
    const options = { warmUpMs: 0, sampleMs: 0, clock: 'wall', claimed } as const
    const { samples, proof } = await gather(prepared, options)
    const { operations: counted, digest } = proof
    const work = { samples, claimed, counted, digest, machine: thisMachine() }
    turns.push(change({ role, subject: role === 'head' ? 'new' : 'old', round, place, ...work }))
  }
  const random = new Prng(1)
  return judge(turns, { fraction: () => random.uint32() / 2 ** 32 })
}

function assertVoid({ verdict, flags }: Judgement, kind: FlagKind): void {
  assert.equal(verdict, 'void')
  assert.ok(flags.some((flag) => flag.kind === kind && flag.isVoid))
}

/** Cells that count how often they are read: the layer below. */
class Cells {
  reads = 0
  isZero(cell: number): boolean {
    this.reads++
    return cell === 0
  }
}

/** Reads four cells; the answer is the same whether all are read or not. */
function reading(readAll: (cells: Cells) => boolean): () => PreparedBench {
  return () => {
    const cells = new Cells()
    let areZero = true
    return {
      before() {
        cells.reads = 0
      },
      run() {
        areZero = readAll(cells)
      },
      prove: () => ({ operations: cells.reads, digest: String(areZero) }),
    }
  }
}

const shortCircuited = reading(
  (cells) => cells.isZero(512) && cells.isZero(511) && cells.isZero(510) && cells.isZero(509),
)
const whole = reading((cells) => {
  let areZero = true
  for (const cell of [512, 511, 510, 509]) areZero = cells.isZero(cell) && areZero
  return areZero
})

test('reads that `&&` skips, divided by four all the same, are found in either arm and in both (row N12)', async () => {
  const none = await compare(CLAIMED, { head: whole, base: whole })
  assert.deepEqual(
    none.flags.filter(({ isVoid }) => isVoid),
    [],
  )
  for (const arms of [
    { head: shortCircuited, base: whole },
    { head: whole, base: shortCircuited },
    { head: shortCircuited, base: shortCircuited },
  ])
    assertVoid(await compare(CLAIMED, arms), 'operations-missing')
})

/** Puts as many accounts into a map; what is claimed is another matter. */
const building = (count: number) => (): PreparedBench => {
  let accounts = new Map<number, number>()
  return {
    run() {
      accounts = new Map()
      for (let index = 0; index < count; index++) accounts.set(index, index)
    },
    prove: () => ({ operations: accounts.size, digest: 'built' }),
  }
}

test('a bench of 10 that is built with 20 accounts (row G14)', async () => {
  assertVoid(await compare(10, { head: building(20), base: building(20) }), 'operations-beyond')
  const sound = await compare(20, { head: building(20), base: building(20) })
  assert.notEqual(sound.verdict, 'void')
})

test('the control ran on another machine (rows N14, G16)', async () => {
  const arms = { head: building(10), base: building(10) }
  const elsewhere = (turn: Turn): Turn =>
    turn.role === 'head'
      ? turn
      : { ...turn, machine: { ...turn.machine, coreCount: turn.machine.coreCount + 2 } }
  assertVoid(await compare(10, arms, elsewhere), 'unlike-machines')
})

test('runs of one process that differ are a fault, not a figure', async () => {
  let runs = 0
  const drifting = (): PreparedBench => ({
    run() {
      runs++
    },
    prove: () => ({ operations: 1, digest: String(runs) }),
  })
  await assert.rejects(
    compare(1, { head: drifting, base: drifting }),
    /expected runs with one result/,
  )
})
