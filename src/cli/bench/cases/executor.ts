/** Execution of the executor benchmark's blocks, in memory: state, receipts and root, and nothing written. */
import { type Engine, openEngine } from '../../../engine/index.ts'
import { type BlockExecutor, executeBlock, executeTransfers } from '../../../execute/index.ts'
import type { BenchCase, BenchSize, PreparedBench } from '../../../measure/index.ts'
import { memoryStore } from '../../../store/index.ts'
import type { TransactionKind } from '../../executor/kinds.ts'
import { NATIVE_TOKEN } from '../../executor/nativeToken.ts'
import { choicesAfter, proveHead, workloadBlocks, writeFirstState } from './workloadChain.ts'

const BLOCK_COUNT = 10

const native: BlockExecutor = (block, context) => {
  const outcome = executeTransfers(block, context, [NATIVE_TOKEN])
  if (outcome === undefined) throw new Error('expected transfers alone, got what takes the EVM')
  return outcome
}

function producing(kind: TransactionKind, size: number, arm: string): PreparedBench {
  const workload = workloadBlocks(kind, { blockCount: BLOCK_COUNT, blockSize: size / BLOCK_COUNT })
  const blockExecutor = arm === 'native' ? native : executeBlock
  let engine: Engine | undefined
  return {
    async before() {
      const store = memoryStore()
      writeFirstState(store)
      engine = await openEngine({ store, blockExecutor })
    },
    run() {
      for (const block of workload)
        engine!.produce(choicesAfter(engine!, block), 'latest', block.senders)
    },
    prove: () => proveHead(engine!, workload, 0),
  }
}

const caseOf = (
  kind: TransactionKind,
  arms: BenchCase['arms'],
  { size, digest }: BenchSize,
  smokeDigest: string,
): BenchCase => ({
  group: 'executor',
  name: kind,
  about: `ten blocks of ${kind} made in memory, executed and hashed, senders known`,
  operation: 'transaction',
  sizeUnit: 'transactions',
  sizes: [{ size, digest }],
  smoke: { size: 20, digest: smokeDigest },
  arms,
  prepare: (size, arm) => producing(kind, size, arm),
})

export const CASES: readonly BenchCase[] = [
  caseOf(
    'native-transfer',
    ['native', 'evm'],
    { size: 2000, digest: 'b31e6283632a6e15' },
    '6e23bbb336fc5456',
  ),
  caseOf(
    'erc20-transfer',
    ['native', 'evm'],
    { size: 2000, digest: 'fe6ba93b6d9d3710' },
    '7edbd1d8df003840',
  ),
  caseOf(
    'account-generation',
    ['native', 'evm'],
    { size: 2000, digest: 'e34f5ca25c758886' },
    '71c04881017a163c',
  ),
  caseOf(
    'storage-write-1k',
    ['evm'],
    { size: 200, digest: '8d15f750cf88a395' },
    '75e79f12bd1d82d7',
  ),
  caseOf('amm-swap', ['evm'], { size: 2000, digest: '9c5338c3a4f9ca1f' }, '14d012accbf3aac4'),
]
