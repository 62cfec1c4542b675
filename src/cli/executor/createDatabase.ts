/**
 * The benchmark's database: a chain of one block whose state holds accounts with a balance and the contracts that
 * workloads call. Signers also hold tokens, in the token's and in the pool's storage.
 */
import { existsSync, rmSync } from 'node:fs'
import { bigintToBytes, bytesCompare, EMPTY_BYTES, Fork, toHex } from '../../base/index.ts'
import { type Genesis, singleForkSpec } from '../../chain/index.ts'
import type { Header } from '../../codec/index.ts'
import { type BulkAccount, writeGenesis } from '../../engine/index.ts'
import { type StoredSlot, slotHashOf } from '../../state/index.ts'
import { openLmdbStore, type Store } from '../../store/index.ts'
import { AccountBook, type AccountCounts, contractAddress, encodeCounts } from './accountBook.ts'
import { CONTRACTS, type ContractName, holdingSlot } from './contracts.ts'
import { hashAt, hashOrderOf } from './hashOrder.ts'
import { MemoryGauge, type MemoryReport } from './report.ts'

export type CreateOptions = AccountCounts & {
  readonly folder: string
  /** Wei of each account. */
  readonly balance: bigint
  /** Called for each account that was put in. */
  readonly onAccount?: (done: number, total: number) => void
}

/** What was made; the shape of `--json`. */
export type CreateReport = {
  readonly accounts: number
  readonly signers: number
  readonly contracts: number
  readonly seconds: number
  readonly accountsPerSecond: number
  readonly head: { readonly number: number; readonly hash: string; readonly stateRoot: string }
  readonly memory: MemoryReport
}

const CHAIN_ID = 7_665_246n
/** So high that the largest blocks are nowhere near it and the base fee stays at its lowest. */
const GAS_LIMIT = 1n << 50n
const BASE_FEE = 7n
/** What a signer holds of each token, and what the pool holds. */
const TOKENS = 10n ** 24n
const RESERVES = 10n ** 27n
const NO_SLOTS: readonly StoredSlot[] = []

/**
 * Makes the database. A folder that was made for it is taken away again where this fails.
 * @throws VarveError ENGINE_STORE_NOT_EMPTY, STORE_*
 */
export function createDatabase(options: CreateOptions): CreateReport {
  const start = performance.now()
  const existed = existsSync(options.folder)
  const store = openLmdbStore(options.folder)
  let header: Header
  try {
    header = writeDatabase(store, options)
    store.close()
  } catch (error) {
    store.close()
    if (!existed) rmSync(options.folder, { recursive: true, force: true })
    throw error
  }
  const seconds = (performance.now() - start) / 1000
  const { accounts, signers } = options
  const { number, hash, stateRoot } = header
  return {
    accounts,
    signers,
    contracts: contractCount(options),
    seconds,
    accountsPerSecond: accounts / seconds,
    head: { number, hash: toHex(hash), stateRoot: toHex(stateRoot) },
    memory: new MemoryGauge().report(),
  }
}

/** Lines for a person. */
export function describeCreation(report: CreateReport): string {
  const { accounts, contracts, seconds, accountsPerSecond, head } = report
  const rate = Math.round(accountsPerSecond).toLocaleString('en')
  return [
    `made     ${accounts.toLocaleString('en')} accounts and ${contracts} contracts in ${seconds.toFixed(2)} s (${rate} accounts/s)`,
    `root     ${head.stateRoot}`,
  ].join('\n')
}

/** Writes block 0 of a benchmark's chain into an empty store. */
export function writeDatabase(store: Store, options: Omit<CreateOptions, 'folder'>): Header {
  const { accounts, balance, onAccount } = options
  const total = accounts + contractCount(options)
  const book = new AccountBook(options)
  return writeGenesis(store, genesisOf(options), sortedAccounts(book, balance), (done) =>
    onAccount?.(done, total),
  )
}

function genesisOf(counts: AccountCounts): Omit<Genesis, 'accounts'> {
  return {
    spec: { ...singleForkSpec(Fork.Cancun, CHAIN_ID), name: 'executor-benchmark' },
    fields: {
      parentHash: undefined,
      coinbase: undefined,
      difficulty: 0n,
      gasLimit: GAS_LIMIT,
      gasUsed: 0n,
      timestamp: 1n,
      extraData: encodeCounts(counts),
      mixHash: undefined,
      nonce: 0n,
      baseFeePerGas: BASE_FEE,
      excessBlobGas: undefined,
      blobGasUsed: undefined,
      slotNumber: undefined,
    },
  }
}

function contractCount({ moduleCopies }: AccountCounts): number {
  return moduleCopies * Object.keys(CONTRACTS).length
}

function* sortedAccounts(book: AccountBook, balance: bigint): Generator<BulkAccount> {
  const { accounts } = book.counts
  const names = Object.keys(CONTRACTS) as ContractName[]
  const nameOf = (index: number) => names[(index - accounts) % names.length]!
  const hashOrder = hashOrderOf(accounts + contractCount(book.counts), (index) =>
    index < accounts
      ? book.address(index)
      : contractAddress(nameOf(index), Math.floor((index - accounts) / names.length)),
  )
  // All copies of a contract begin alike.
  const slotsOf = new Map(names.map((name) => [name, firstSlots(name, book)]))
  for (const index of hashOrder.order) {
    const addressHash = hashAt(hashOrder, index)
    if (index < accounts)
      yield { addressHash, nonce: 0n, balance, code: EMPTY_BYTES, slots: NO_SLOTS }
    else {
      // The nonce of a contract that a transaction has made (EIP-161).
      const name = nameOf(index)
      const slots = slotsOf.get(name)!
      yield { addressHash, nonce: 1n, balance: 0n, code: CONTRACTS[name], slots }
    }
  }
}

/** First storage of a contract, in the order of the hashes. */
function firstSlots(name: ContractName, book: AccountBook): readonly StoredSlot[] {
  if (name !== 'token' && name !== 'amm') return NO_SLOTS
  const slots: StoredSlot[] = []
  const put = (slot: Uint8Array, value: bigint) =>
    slots.push({ slotHash: slotHashOf(slot), value: bigintToBytes(value, 32) })
  const tokens = name === 'token' ? [0n] : [0n, 1n]
  if (name === 'amm') for (const token of tokens) put(bigintToBytes(token, 32), RESERVES)
  for (let index = 0; index < book.counts.signers; index++)
    for (const token of tokens) put(holdingSlot(book.address(index), token), TOKENS)
  return slots.sort((a, b) => bytesCompare(a.slotHash, b.slotHash))
}
