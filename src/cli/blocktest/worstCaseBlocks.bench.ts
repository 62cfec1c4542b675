/**
 * Gas a second of the worst-case blocks that execution-spec-tests publishes as benchmarks, a figure a folder. Timed is
 * the whole import of the last block: senders, rules of header and body, execution, receipts, state root; its root
 * must be the header's. State before it, decoding and the blocks that prepare it are outside.
 */
import assert from 'node:assert/strict'
import { openEngine } from '../../engine/index.ts'
import { Machine, preparePrecompiles } from '../../evm/index.ts'
import { memoryStore } from '../../store/index.ts'
import {
  type BenchMode,
  bench,
  fixtureRecords,
  fixturesFolder,
  report,
} from '../../testing/index.ts'
import { type BlockTest, readBlockTest } from './blockTest.ts'

const SUITE = 'eest-benchmark-blockchain'
/** Blocks below are over too soon to say anything; those above say no more than one of this size. */
const GAS_MIN = 900_000n
const GAS_MAX = 30_100_000n
/** Counted imports of a block, unless they take longer than this. */
const RUNS_MAX = 5
const MS_MAX = 1500

type FixtureRecord = { readonly path: string; readonly tests: { readonly [name: string]: unknown } }
type Folder = { readonly samples: number[]; blockCount: number; gas: bigint }

/** Gas a second of one import, in Mgas/s, on a machine that has run other blocks. */
async function importOnce(test: BlockTest, machine: Machine): Promise<number> {
  const engine = await openEngine({ store: memoryStore(), genesis: test.genesis, machine })
  const blocks = test.blocks.map(({ decode }) => decode())
  const last = blocks.pop()
  assert.ok(last !== undefined, `${test.name} has blocks`)
  for (const block of blocks) engine.import(block)
  const start = performance.now()
  engine.import(last)
  const ms = performance.now() - start
  assert.deepEqual(engine.head.header.hash, test.lastBlockHash)
  return Number(last.header.gasUsed) / 1e3 / ms
}

/** The folder of a file below the benchmark's own, such as `instruction/keccak`. */
const folderOf = (path: string): string => path.split('/').slice(4, -1).join('/')

type SizedTest = { readonly test: BlockTest; readonly gas: bigint }

/** Tests of a file that are worth their time: all up to the greatest size, or the smallest where all are above. */
function choose(tests: FixtureRecord['tests'], mode: BenchMode): SizedTest[] {
  const sized = Object.entries(tests)
    .map(([name, value]) => readBlockTest(name, value, () => undefined))
    .map((test) => ({ test, gas: test.blocks.at(-1)!.decode().header.gasUsed }))
    .filter(({ gas }) => gas >= GAS_MIN)
    .sort((a, b) => Number(a.gas - b.gas))
  if (mode === 'smoke') return sized.filter(({ gas }) => gas < 2n * GAS_MIN).slice(0, 1)
  const moderate = sized.filter(({ gas }) => gas <= GAS_MAX)
  return moderate.length > 0 ? moderate : sized.slice(0, 1)
}

async function measure(test: BlockTest, machine: Machine, mode: BenchMode): Promise<number[]> {
  const samples: number[] = []
  // The first run warms code and compiler up.
  if (mode === 'full') await importOnce(test, machine)
  const end = performance.now() + MS_MAX
  do samples.push(await importOnce(test, machine))
  while (mode === 'full' && samples.length < RUNS_MAX && performance.now() < end)
  return samples
}

function reportFolder(name: string, { samples, blockCount, gas }: Folder): void {
  const check = `${blockCount} blocks, ${gas} gas`
  report({ name: `worst-case blocks ${name}`, unit: 'Mgas/s', samples, check })
}

bench('blocks: worst cases', async (mode) => {
  if (fixturesFolder === undefined) return
  await preparePrecompiles()
  const machine = new Machine()
  const folders = new Map<string, Folder>()
  for await (const { path, tests } of fixtureRecords<FixtureRecord>(SUITE))
    for (const { test, gas } of choose(tests, mode)) {
      const name = folderOf(path)
      let folder = folders.get(name)
      if (folder === undefined) {
        folder = { samples: [], blockCount: 0, gas: 0n }
        folders.set(name, folder)
      }
      folder.samples.push(...(await measure(test, machine, mode)))
      folder.blockCount++
      folder.gas += gas
    }
  for (const [name, folder] of folders) reportFolder(name, folder)
})
