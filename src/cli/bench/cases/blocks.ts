/** Whole blocks on their way into a database: checked, executed, hashed, written. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, openEngine, type Pipeline } from '../../../engine/index.ts'
import type { BenchCase, PreparedBench } from '../../../measure/index.ts'
import { openDatabase, type WritableDatabase } from '../../database.ts'
import type { TransactionKind } from '../../executor/kinds.ts'
import { proveHead, sealedBlocks, workloadBlocks, writeFirstState } from './workloadChain.ts'

const BLOCK_COUNT = 10
/** Blocks before them: threads of a pipeline have code of their own to warm up. */
const WARM_UP_BLOCK_COUNT = 20

/** Imports blocks whose senders are known, up to the last write; disk syncs are left to the system. */
async function importing(kind: TransactionKind, size: number, arm: string): Promise<PreparedBench> {
  const workload = workloadBlocks(kind, {
    blockCount: WARM_UP_BLOCK_COUNT + BLOCK_COUNT,
    blockSize: size / BLOCK_COUNT,
  })
  const blocks = await sealedBlocks(workload)
  const folder = mkdtempSync(join(tmpdir(), 'varve-bench-blocks-'))
  let database: WritableDatabase | undefined
  let engine: Engine | undefined
  let pipeline: Pipeline | undefined
  const importBlocks = async (from: number, end: number): Promise<void> => {
    for (let index = from; index < end; index++) {
      const block = blocks[index]!
      const { senders } = workload[index]!
      if (pipeline === undefined) engine!.import(block, senders)
      else await pipeline.push(block, senders)
    }
    await pipeline?.drain()
    if (pipeline === undefined) engine!.flush()
    else await pipeline.flush()
  }
  return {
    async before() {
      rmSync(folder, { recursive: true, force: true })
      database = openDatabase(folder, { mode: 'os' })
      writeFirstState(database.store)
      const { store, journal } = database
      engine = await openEngine({ store, journal })
      pipeline = arm === 'pipeline' ? engine.pipeline() : undefined
      await importBlocks(0, WARM_UP_BLOCK_COUNT)
    },
    run: () => importBlocks(WARM_UP_BLOCK_COUNT, blocks.length),
    prove: () => proveHead(engine!, workload, WARM_UP_BLOCK_COUNT),
    async after() {
      await pipeline?.close()
      database!.close()
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const caseOf = (
  name: string,
  kind: TransactionKind,
  [digest, smokeDigest]: readonly [string, string],
): BenchCase => ({
  group: 'blocks',
  name,
  about: `ten blocks of ${kind} into a database, behind twenty others; each root verified, senders known`,
  operation: 'transaction',
  sizeUnit: 'transactions',
  sizes: [{ size: 1000, digest }],
  smoke: { size: 20, digest: smokeDigest },
  arms: ['pipeline', 'inline'],
  prepare: (size, arm) => importing(kind, size, arm),
})

export const CASES: readonly BenchCase[] = [
  caseOf('import-transfers', 'native-transfer', ['93930f303ca63094', '7193bcd5ddc2bd6e']),
  caseOf('import-token-transfers', 'erc20-transfer', ['dcddc6b453f7b334', '3ec813afe22e6079']),
]
