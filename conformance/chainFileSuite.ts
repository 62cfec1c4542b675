/**
 * Chains as files: every folder of the raw files with a `chain.rlp` and its `genesis.json` is imported from block 0,
 * each block's state root checked on the way, and then executed again from a witness. Where the folder says more, that is compared: the head's hash
 * (`headfcu.json`), and the head's whole state (`headstate.json`, geth's dump).
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, importChain, openBlockSource, openEngine } from 'varve'
import { parseGenesisJson } from 'varve/chain'
import { preparePrecompiles } from 'varve/evm'
import { keccak256 } from 'varve/kernels'
import { FlatState } from 'varve/state'
import { StatelessExecutor } from 'varve/stateless'
import { memoryStore, type Store } from 'varve/store'
import type { BlockRun } from './commandSuite.ts'
import { bytesOf, type Fixtures, hexOf } from './fixtures.ts'
import type { SuiteReport } from './suiteReport.ts'

/** Every state of these chains is kept, so that each block's witness can be made at the end. */
const HISTORY_BLOCKS = 10_000

type Dump = {
  readonly root: string
  readonly accounts: { readonly [address: string]: DumpAccount }
}
type DumpAccount = {
  readonly balance: string
  readonly nonce: number
  readonly root: string
  readonly codeHash: string
  readonly code?: string
  readonly address?: string
  /** Hash of the address. */
  readonly key: string
  /** By slot; values in hex without leading zeros. */
  readonly storage?: { readonly [slot: string]: string }
}
type HeadFcu = { readonly params: readonly [{ readonly headBlockHash: string }] }

export async function runChainFileSuite(
  fixtures: Fixtures,
  report: SuiteReport,
  { pipeline }: BlockRun,
): Promise<void> {
  await preparePrecompiles()
  for (const folder of fixtures.rawFolders('chain.rlp')) {
    const store = memoryStore()
    let engine: Engine
    try {
      engine = await importFolder(fixtures, folder, store, pipeline !== 'off')
      report.add(`${folder}: every block`, undefined)
    } catch (error) {
      report.add(`${folder}: every block`, String(error))
      continue
    }
    const executor = await StatelessExecutor.open({ spec: engine.spec })
    report.run(`${folder}: every block by its witness`, () => witnessDifference(engine, executor))
    const text = (name: string) => fixtures.rawText(`${folder}/${name}`)
    const fcu = text('headfcu.json')
    if (fcu !== undefined)
      report.run(`${folder}: head`, () => {
        const [{ headBlockHash }] = (JSON.parse(fcu) as HeadFcu).params
        const found = hexOf(engine.head.header.hash)
        return found === headBlockHash ? undefined : `expected ${headBlockHash}, found ${found}`
      })
    const dump = text('headstate.json')
    if (dump !== undefined)
      report.run(`${folder}: state of the head`, () =>
        stateDifference(engine, store, JSON.parse(dump) as Dump),
      )
  }
}

/** Through a file, as the source reads one. */
async function importFolder(
  fixtures: Fixtures,
  folder: string,
  store: Store,
  isPipelined: boolean,
): Promise<Engine> {
  const genesis = parseGenesisJson(fixtures.rawText(`${folder}/genesis.json`)!)
  const engine = await openEngine({ store, genesis, historyBlocks: HISTORY_BLOCKS })
  const scratch = mkdtempSync(join(tmpdir(), 'varve-chain-'))
  try {
    const path = join(scratch, 'chain.rlp')
    writeFileSync(path, fixtures.rawBytes(`${folder}/chain.rlp`)!)
    const source = openBlockSource(path)
    try {
      const { blockCount } = await importChain(engine, source, { isPipelined })
      const { lastNumber } = source
      if (blockCount === 0 || engine.head.header.number !== lastNumber)
        throw new Error(`expected head ${lastNumber}, found ${engine.head.header.number}`)
    } finally {
      source.close()
    }
  } finally {
    rmSync(scratch, { recursive: true })
  }
  return engine
}

/** Each block once more, from a witness made at its parent's state, with the head far away. */
function witnessDifference(engine: Engine, executor: StatelessExecutor): string | undefined {
  for (let number = 1; number <= engine.head.header.number; number++) {
    const { gasUsed } = executor.execute(engine.block(number)!, engine.witness(number))
    if (gasUsed !== engine.block(number)!.header.gasUsed) return `block ${number}: ${gasUsed} gas`
  }
  return undefined
}

/** The first difference of a whole state to geth's dump of it, or `undefined`. */
function stateDifference(engine: Engine, store: Store, dump: Dump): string | undefined {
  const root = hexOf(engine.head.header.stateRoot)
  if (root !== `0x${dump.root.replace(/^0x/, '')}`)
    return `expected root ${dump.root}, found ${root}`
  const accounts = Object.entries(dump.accounts)
  const count = rowCount(store, 'accounts')
  if (count !== accounts.length) return `expected ${accounts.length} accounts, found ${count}`
  let slotCount = 0
  for (const [name, account] of accounts) {
    const problem = accountDifference(engine, store, account)
    if (problem !== undefined) return `account ${name}: ${problem}`
    slotCount += Object.keys(account.storage ?? {}).length
  }
  const found = rowCount(store, 'storages')
  return found === slotCount ? undefined : `expected ${slotCount} slots, found ${found}`
}

function accountDifference(
  engine: Engine,
  store: Store,
  expected: DumpAccount,
): string | undefined {
  const flat = new FlatState(store)
  const addressHash = bytesOf(expected.key)
  const account = flat.account(addressHash)
  if (account === undefined) return 'it is missing'
  if (account.balance !== BigInt(expected.balance)) return `found balance ${account.balance}`
  if (account.nonce !== BigInt(expected.nonce)) return `found nonce ${account.nonce}`
  if (hexOf(account.codeHash) !== expected.codeHash) return 'its code hash differs'
  if (expected.code !== undefined && hexOf(flat.code(account.codeHash)!) !== expected.code)
    return 'its code differs'
  for (const [slot, value] of Object.entries(expected.storage ?? {})) {
    const found = flat.storage(addressHash, keccak256(bytesOf(slot)))
    if (found === undefined || hexOf(found) !== `0x${value.padStart(64, '0')}`)
      return `slot ${slot}: expected ${value}, found ${found && hexOf(found)}`
  }
  if (expected.address === undefined) return undefined
  const { storageRoot } = engine.at('latest').proof(bytesOf(expected.address))
  return hexOf(storageRoot) === expected.root ? undefined : 'its storage root differs'
}

function rowCount(store: Store, table: 'accounts' | 'storages'): number {
  let count = 0
  for (const _ of store.range(table)) count++
  return count
}
