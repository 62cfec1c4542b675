/** A short chain of one kind of transactions, made as the executor benchmark makes them, for cases that execute it. */
import type { HeaderChoices } from '../../../chain/index.ts'
import type { Block } from '../../../codec/index.ts'
import { type Engine, openEngine } from '../../../engine/index.ts'
import type { BenchProof } from '../../../measure/index.ts'
import { memoryStore, type Store } from '../../../store/index.ts'
import { AccountBook } from '../../executor/accountBook.ts'
import { writeDatabase } from '../../executor/createDatabase.ts'
import type { TransactionKind } from '../../executor/kinds.ts'
import { Workload, type WorkloadBlock } from '../../executor/workload.ts'
import { digestOf } from '../digest.ts'

const COUNTS = { accounts: 4000, signers: 400, moduleCopies: 1 }
const BALANCE = 10n ** 18n
const SECONDS_PER_BLOCK = 12n
const COINBASE = new Uint8Array(20).fill(0xcb)

/** Puts the chain's first state into an empty store. */
export function writeFirstState(store: Store): void {
  writeDatabase(store, { ...COUNTS, balance: BALANCE })
}

/** Blocks from the first state on, without signatures. */
export function workloadBlocks(
  kind: TransactionKind,
  { blockCount, blockSize }: { readonly blockCount: number; readonly blockSize: number },
): WorkloadBlock[] {
  const workload = new Workload({
    book: new AccountBook(COUNTS),
    chainId: 7_665_246n,
    blockSize,
    transactionsPerSender: 2,
    mainSignerCount: COUNTS.signers,
    additionalDestinationCount: COUNTS.accounts - COUNTS.signers,
    kinds: [{ kind, weight: 1 }],
    hotspotProbability: 0.5,
    connectedGroupCount: 0,
    shuffleConnected: false,
    moduleWorkingSet: 1,
    seed: 1,
    run: 0,
    isSigned: false,
    nonceOf: () => 0n,
  })
  return Array.from({ length: blockCount }, () => workload.next())
}

/** What the block behind the head is made from. */
export function choicesAfter(engine: Engine, { transactions }: WorkloadBlock): HeaderChoices {
  const timestamp = engine.head.header.timestamp + SECONDS_PER_BLOCK
  return { coinbase: COINBASE, timestamp, transactions }
}

/** The blocks with their roots, for whoever verifies them. */
export async function sealedBlocks(workload: readonly WorkloadBlock[]): Promise<Block[]> {
  const store = memoryStore()
  writeFirstState(store)
  const engine = await openEngine({ store })
  return workload.map((each) => engine.produce(choicesAfter(engine, each), 'latest', each.senders))
}

/**
 * Counts what the senders' accounts say that they sent since a block; the hash of the head stands for all else.
 * @param from number of a kept block
 */
export function proveHead(
  engine: Engine,
  workload: readonly WorkloadBlock[],
  from: number,
): BenchProof {
  const senders = new Map(
    workload.flatMap((block) => block.senders.map((address) => [address.join(), address])),
  )
  const [start, end] = [engine.at(from), engine.at('latest')]
  let operations = 0
  for (const address of senders.values())
    operations += Number(
      (end.account(address)?.nonce ?? 0n) - (start.account(address)?.nonce ?? 0n),
    )
  return { operations, digest: digestOf(engine.head.header.hash) }
}
