/**
 * Random trees of blocks with transactions, for the tests of branches: transfers, logs, slots set and cleared, contracts
 * made, destroyed with their storage, and made again at the same address. Beside each block a full copy of the state
 * after it, taken from a chain that knows no branches.
 */
import { bytesConcat, EMPTY_BYTES, Fork, fromHex, toBareHex, toHex } from '../../base/index.ts'
import { type Genesis, parseGenesisJson, singleForkSpec } from '../../chain/index.ts'
import {
  type Block,
  encodeRlp,
  SenderRecovery,
  sealHeader,
  sealTransaction,
  type Transaction,
} from '../../codec/index.ts'
import { keccak256 } from '../../kernels/index.ts'
import { memoryStore, type Store, type Table } from '../../store/index.ts'
import type { Prng } from '../../testing/index.ts'
import { openEngine } from '../engine.ts'
import { addressOf } from '../testChain.suite.ts'

/** Rows of accounts and slots as text: hash of the account, or of account and slot, to the row. */
export type StateCopy = ReadonlyMap<string, string>

export type TreeBlock = {
  readonly block: Block
  /** The state after it; `undefined` for one that is invalid, or stands on one, and where no copies were made. */
  readonly copy: StateCopy | undefined
}

export type TestTree = {
  readonly genesis: Genesis
  readonly genesisCopy: StateCopy
  /** Parents before children. */
  readonly blocks: readonly TreeBlock[]
}

/** Abscissa of the curve's generator: with it any s and hash make a signature of somebody. */
const R = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n
const recovery = await SenderRecovery.open()

/** With no call data the contract destroys itself, else it sets the slot to the value given, and logs. */
const VICTIM_CODE = '36600657' + '33ff' + '5b60203560003555' + '00'
/** Sets slot 0 and leaves `VICTIM_CODE`: 32 bytes. */
const VICTIM_INIT = `6001600055${'600f601160003960'}${'0f6000f3'}${VICTIM_CODE}`
/** Makes the victim at the same address again, by CREATE2. */
const FACTORY = addressOf(0xfa)
const FACTORY_CODE = `7f${VICTIM_INIT}60005260006020600060${'00f500'}`
const FACTORY_CHILD = keccak256(
  bytesConcat(
    Uint8Array.of(0xff),
    FACTORY,
    new Uint8Array(32),
    keccak256(fromHex(`0x${VICTIM_INIT}`)),
  ),
).slice(12)
/** Sets a slot, and logs. */
const KEEPER = addressOf(0xcc)
const KEEPER_CODE = '6020356000355560aa60206000a1'
const VICTIMS = [addressOf(0xd1), addressOf(0xd2), addressOf(0xd3)]

const word = (value: number) => new Uint8Array(32).fill(value, 31)

/** Transactions that a tree is made of, unless it asks for more. */
const POOL_COUNT = 120
/** One transaction for each number, of a sender that has no other. Grows as it is asked for. */
const pool: Transaction[] = []

function poolOf(count: number): readonly Transaction[] {
  while (pool.length < count) pool.push(poolTransaction(pool.length))
  return pool.slice(0, count)
}

function poolTransaction(index: number): Transaction {
  const [to, data] = callOf(index)
  return sealTransaction({
    ...{ type: 0, chainId: undefined, nonce: 0n, gasPrice: 20_000_000_000n, gasLimit: 200_000n },
    ...{ to, value: BigInt(index % 3), data, yParity: 0, r: R, s: 1n + BigInt(index) },
  })
}

function callOf(index: number): [to: Uint8Array | undefined, data: Uint8Array] {
  const slot = bytesConcat(word(index % 5), word(index % 4))
  const victim = VICTIMS[index % VICTIMS.length]!
  switch (index % 10) {
    case 0:
      return [addressOf(0x40 + (index % 7)), EMPTY_BYTES]
    case 1:
    case 2:
      return [KEEPER, slot]
    case 3:
    case 4:
      return [victim, slot]
    case 5:
      return [victim, EMPTY_BYTES]
    case 6:
      return [FACTORY, EMPTY_BYTES]
    case 7:
      return [FACTORY_CHILD, index % 20 === 7 ? slot : EMPTY_BYTES]
    case 8:
      return [undefined, initOf(index)]
    default:
      // What the transaction before it made, if it is there.
      return [createdBy(index - 1), index % 20 === 9 ? slot : EMPTY_BYTES]
  }
}

/** As `VICTIM_INIT`, with one byte more, so that each code is another. */
function initOf(index: number): Uint8Array {
  const code = `${VICTIM_CODE}${toBareHex(Uint8Array.of(index))}`
  return fromHex(`0x6001600055${'6010601160003960106000f3'}${code}`)
}

function createdBy(index: number): Uint8Array {
  const sender = recovery.recoverSender(poolTransaction(index))
  return keccak256(encodeRlp([sender, 0])).slice(12)
}

/** Proof of work under London, proof of stake under Shanghai. */
export function treeGenesis(fork: Fork, poolCount = POOL_COUNT): Genesis {
  const storage = { '0x00': '0x01', '0x01': '0xff00', '0x07': `0x${'ee'.repeat(32)}` }
  const alloc: Record<string, unknown> = {
    [toHex(KEEPER)]: { balance: '0x0', code: `0x${KEEPER_CODE}`, storage },
    [toHex(FACTORY)]: { balance: '0x0', nonce: '0x1', code: `0x${FACTORY_CODE}` },
  }
  for (const victim of VICTIMS)
    alloc[toHex(victim)] = { balance: '0x5', code: `0x${VICTIM_CODE}`, storage }
  for (const transaction of poolOf(poolCount))
    alloc[toHex(recovery.recoverSender(transaction))] = { balance: '0xde0b6b3a7640000' }
  const difficulty = fork >= Fork.Paris ? '0x0' : '0x20000'
  const file = { config: { chainId: 1 }, difficulty, gasLimit: '0x1c9c380', alloc }
  return { ...parseGenesisJson(JSON.stringify(file)), spec: singleForkSpec(fork) }
}

type Made = { readonly block: Block; readonly parent: Made | undefined; readonly used: Set<number> }

export type TreeOptions = {
  readonly fork: Fork
  readonly blockCount: number
  /** Branches start at most so many blocks behind the newest one. */
  readonly spread: number
  /** Makes the copies, which takes most of the time. */
  readonly withCopies: boolean
  /** Transactions to choose from, each once a branch; 120 without it. Blocks are empty when they are used up. */
  readonly poolCount?: number
}

/** Makes a tree with one heaviest branch. */
export async function makeTree(prng: Prng, options: TreeOptions): Promise<TestTree> {
  const transactionPool = poolOf(options.poolCount ?? POOL_COUNT)
  const genesis = treeGenesis(options.fork, transactionPool.length)
  const maker = await openEngine({ store: memoryStore(), genesis, historyBlocks: 10_000 })
  const { header } = maker.head
  const root: Made = {
    block: { header, transactions: [], uncles: [] },
    parent: undefined,
    used: new Set(),
  }
  const made: Made[] = [root]
  const produce = (parent: Made) => {
    const used = new Set(parent.used)
    const transactions = pickTransactions(prng, transactionPool, used)
    const choices = {
      coinbase: addressOf(prng.between(1, 200)),
      timestamp: parent.block.header.timestamp + BigInt(prng.between(1, 30)),
      transactions,
    }
    const block = maker.produce(choices, parent.block.header.hash)
    made.push({ block, parent, used })
  }
  while (made.length < options.blockCount)
    produce(made[Math.max(0, made.length - 1 - prng.below(options.spread))]!)
  // The heaviest one gets a child, so that no other is as heavy.
  const weightOf = ({ block }: Made) => maker.header(block.header.hash)!.totalDifficulty
  produce(made.reduce((best, each) => (weightOf(each) > weightOf(best) ? each : best)))
  const copies = options.withCopies ? await copiesOf(genesis, made) : new Map<string, StateCopy>()
  const blocks = made.slice(1).flatMap(({ block }): TreeBlock[] => {
    const valid = { block, copy: copies.get(toHex(block.header.hash)) }
    return prng.oneIn(4) ? [valid, ...invalidBlocks(prng, block)] : [valid]
  })
  return { genesis, genesisCopy: copies.get(toHex(header.hash)) ?? new Map(), blocks }
}

function pickTransactions(
  prng: Prng,
  from: readonly Transaction[],
  used: Set<number>,
): Transaction[] {
  const transactions: Transaction[] = []
  const first = prng.below(from.length)
  for (let count = prng.below(6), index = first; count > 0; count--, index++) {
    const number = index % from.length
    if (used.has(number)) continue
    used.add(number)
    transactions.push(from[number]!)
  }
  return transactions
}

/** A block with one thing wrong, and sometimes one that stands on it. */
function invalidBlocks(prng: Prng, { header, ...body }: Block): TreeBlock[] {
  const wrong = prng.pick([
    { stateRoot: prng.bytes(32) },
    { receiptsRoot: prng.bytes(32) },
    { gasUsed: header.gasUsed + 1n },
    { gasLimit: 1n },
    { timestamp: 0n },
  ])
  const block: Block = { ...body, header: sealHeader({ ...header, ...wrong }) }
  const invalid: TreeBlock = { block, copy: undefined }
  if (prng.oneIn(2)) return [invalid]
  const { hash: parentHash, number } = block.header
  const child = { ...header, parentHash, number: number + 1 }
  return [invalid, { block: { ...body, header: sealHeader(child) }, copy: undefined }]
}

/** The state after every block, each branch imported from block 0 on by an engine that keeps nothing older. */
async function copiesOf(genesis: Genesis, made: readonly Made[]): Promise<Map<string, StateCopy>> {
  const copies = new Map<string, StateCopy>()
  const parents = new Set(made.map(({ parent }) => parent))
  for (const tip of made) {
    if (parents.has(tip)) continue
    const branch: Made[] = []
    for (let each: Made | undefined = tip; each !== undefined; each = each.parent) branch.push(each)
    const store = memoryStore()
    const engine = await openEngine({ store, genesis, historyBlocks: 0 })
    for (const { block } of branch.reverse()) {
      engine.import(block)
      engine.flush()
      copies.set(toHex(block.header.hash), copyOf(store))
    }
  }
  return copies
}

/** The state in a store. */
export function copyOf(store: Store): StateCopy {
  const tables: Table[] = ['accounts', 'storages']
  return new Map(
    tables.flatMap((table) =>
      Array.from(store.range(table), ({ key, value }) => [toHex(key), toHex(value)] as const),
    ),
  )
}
