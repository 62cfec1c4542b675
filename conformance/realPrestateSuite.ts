/**
 * Real blocks with the accounts and slots that they read, and no tries: gas, bloom, requests and, from Byzantium on,
 * receipts root, by the block executor over a view of the accounts. Of blocks whose codes are not all there only the
 * parts that need no state are checked.
 */
import { mainnet, receiptFields, rulesAt } from 'varve/chain'
import { type Block, decodeBlock, encodeTransaction, SenderRecovery } from 'varve/codec'
import { Machine, preparePrecompiles } from 'varve/evm'
import { executeBlock, requestsHash } from 'varve/execute'
import { keccak256 } from 'varve/kernels'
import type { Account, StateView } from 'varve/state'
import { orderedRoot } from 'varve/trie'
import { bytesOf, type Fixtures, hexOf, integerOf } from './fixtures.ts'
import { byzantium } from './forks.ts'
import type { SuiteReport } from './suiteReport.ts'

const CODE_SUITE = 'real-prestate-codes'

type CodeRecord = { readonly path: string; readonly code: string }
export type PrestateAccount = {
  readonly balance: string
  readonly nonce: number | string
  readonly code_hash?: string
  readonly storage: { readonly [slot: string]: string }
}
type Record = {
  readonly id: string
  readonly block: string
  readonly preState: { readonly [address: string]: PrestateAccount }
  readonly blockHashes: { readonly [number: string]: string }
  readonly missingCodes: number
  readonly expect: {
    readonly hash: string
    readonly gasUsed: string
    readonly receiptsRoot: string
    readonly logsBloom: string
  }
}

/** The pool of codes itself: each under its hash. */
export async function runCodeSuite(fixtures: Fixtures, report: SuiteReport): Promise<void> {
  for await (const { path, code } of fixtures.records<CodeRecord>(report.suite))
    report.run(path, () => {
      const found = hexOf(keccak256(bytesOf(code)))
      return found === path ? undefined : `expected hash ${path}, found ${found}`
    })
}

export async function runRealPrestateSuite(fixtures: Fixtures, report: SuiteReport): Promise<void> {
  await preparePrecompiles()
  const codes = new Map<string, string>()
  for await (const { path, code } of fixtures.records<CodeRecord>(CODE_SUITE)) codes.set(path, code)
  const run = new PrestateRun(await SenderRecovery.open(), codes)
  for await (const record of fixtures.records<Record>(report.suite))
    report.run(record.id, () => run.check(record))
  report.note(`${run.megagasPerSecond.toFixed(1)} Mgas/s, senders recovered`)
}

class PrestateRun {
  private readonly machine = new Machine()
  private readonly recovery: SenderRecovery
  private readonly codes: ReadonlyMap<string, string>
  private gas = 0n
  private milliseconds = 0

  constructor(recovery: SenderRecovery, codes: ReadonlyMap<string, string>) {
    this.recovery = recovery
    this.codes = codes
  }

  get megagasPerSecond(): number {
    return Number(this.gas) / 1000 / this.milliseconds
  }

  check(record: Record): string | undefined {
    const { expect } = record
    const block = decodeBlock(bytesOf(record.block))
    const { header } = block
    if (hexOf(header.hash) !== expect.hash)
      return `expected hash ${expect.hash}, found ${hexOf(header.hash)}`
    const root = hexOf(orderedRoot(block.transactions.map(encodeTransaction)))
    if (root !== hexOf(header.transactionsRoot)) return `transactions make root ${root}`
    if (record.missingCodes > 0) {
      for (const transaction of block.transactions) this.recovery.recoverSender(transaction)
      return undefined
    }
    return this.execute(record, block)
  }

  private execute({ preState, blockHashes, expect }: Record, block: Block): string | undefined {
    const { machine, recovery } = this
    const { header } = block
    const rules = rulesAt(mainnet, header.number, header.timestamp)
    const start = performance.now()
    const { gasUsed, receipts, requests } = executeBlock(block, {
      spec: mainnet,
      rules,
      view: prestateView(preState, this.codes),
      blockHash: (number) => bytesOf(blockHashes[number.toString()]!),
      machine,
      recovery,
    })
    this.milliseconds += performance.now() - start
    this.gas += gasUsed
    if (gasUsed !== integerOf(expect.gasUsed))
      return `expected ${integerOf(expect.gasUsed)} gas, found ${gasUsed}`
    const fields = receiptFields(receipts)
    if (hexOf(fields.logsBloom) !== expect.logsBloom) return 'the bloom differs'
    if (requests !== undefined && hexOf(requestsHash(requests)) !== hexOf(header.requestsHash!))
      return 'the requests differ'
    // Earlier receipts hold state roots, which accounts alone do not make.
    if (rules.fork < byzantium) return undefined
    const receiptsRoot = hexOf(fields.receiptsRoot)
    return receiptsRoot === expect.receiptsRoot
      ? undefined
      : `expected receipts root ${expect.receiptsRoot}, found ${receiptsRoot}`
  }
}

/** Accounts by the hash of their address, slots by the hash of their number; whoever is not listed does not exist. */
export function prestateView(
  preState: { readonly [address: string]: PrestateAccount },
  codes: ReadonlyMap<string, string>,
): StateView {
  const accounts = new Map<string, { account: Account; storage: ReadonlyMap<string, Uint8Array> }>()
  const emptyCodeHash = keccak256(new Uint8Array(0))
  for (const [address, { balance, nonce, code_hash: codeHash, storage }] of Object.entries(
    preState,
  ))
    accounts.set(hexOf(keccak256(bytesOf(address))), {
      account: {
        balance: integerOf(balance),
        nonce: BigInt(nonce),
        codeHash: codeHash === undefined ? emptyCodeHash : bytesOf(codeHash),
      },
      storage: storageOf(storage),
    })
  return {
    account: (addressHash) => accounts.get(hexOf(addressHash))?.account,
    storage: (addressHash, slotHash) =>
      accounts.get(hexOf(addressHash))?.storage.get(hexOf(slotHash)),
    hasStorage: (addressHash) => (accounts.get(hexOf(addressHash))?.storage.size ?? 0) > 0,
    code: (hash) => {
      const code = codes.get(hexOf(hash))
      if (code === undefined) throw new Error(`no code with hash ${hexOf(hash)}`)
      return bytesOf(code)
    },
  }
}

function storageOf(slots: { readonly [slot: string]: string }): ReadonlyMap<string, Uint8Array> {
  const storage = new Map<string, Uint8Array>()
  for (const [slot, text] of Object.entries(slots)) {
    const value = wordOf(text)
    if (value.some((byte) => byte !== 0)) storage.set(hexOf(keccak256(wordOf(slot))), value)
  }
  return storage
}

function wordOf(text: string): Uint8Array {
  return bytesOf(text.replace(/^0x/, '').padStart(64, '0'))
}
