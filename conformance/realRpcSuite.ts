/**
 * Real blocks as nodes answer them: header, transactions and withdrawals are encoded anew and must hash to what the
 * answer says, and each signature to its sender. Where the accounts that a block reads stand beside it, it is executed.
 */
import { mainnet, rulesAt, validateBody, validateReceipts, validateRequests } from 'varve/chain'
import { type Block, SenderRecovery } from 'varve/codec'
import { Machine, preparePrecompiles } from 'varve/evm'
import { executeBlock, requestsHash } from 'varve/execute'
import { keccak256 } from 'varve/kernels'
import { bytesOf, type Fixtures, hexOf } from './fixtures.ts'
import { type PrestateAccount, prestateView } from './realPrestateSuite.ts'
import { type RpcBlock, readRpcBlock } from './rpcBlock.ts'
import type { SuiteReport } from './suiteReport.ts'

/** What a block reads of the state before it, by address. */
type Prestate = {
  readonly accounts: {
    readonly [address: string]: { readonly nonce: string; readonly balance: string } | null
  }
  readonly code: { readonly [address: string]: string }
  readonly storage: { readonly [address: string]: { readonly [slot: string]: string } }
}
type Record = { readonly path: string; readonly block: RpcBlock } & {
  readonly [field: string]: unknown
}

export async function runRealRpcSuite(fixtures: Fixtures, report: SuiteReport): Promise<void> {
  await preparePrecompiles()
  const recovery = await SenderRecovery.open()
  let executedCount = 0
  for await (const record of fixtures.records<Record>(report.suite))
    report.run(record.path, () => {
      const block = readRpcBlock(record.block)
      const problem = formProblem(record.block, block, recovery)
      const prestate = prestateOf(record)
      if (problem !== undefined || prestate === undefined) return problem
      executedCount++
      execute(block, prestate, recovery)
      return undefined
    })
  report.note(`${executedCount} executed over their prestate`)
}

function formProblem(json: RpcBlock, block: Block, recovery: SenderRecovery): string | undefined {
  const { header } = block
  if (hexOf(header.hash) !== json.hash)
    return `expected hash ${json.hash}, found ${hexOf(header.hash)}`
  // The uncles' headers are not in the answer: only their hash is.
  if ((json.uncles ?? []).length === 0)
    validateBody(header, block, rulesAt(mainnet, header.number, header.timestamp).fork)
  for (const [index, transaction] of block.transactions.entries()) {
    const { hash, from } = json.transactions[index]!
    if (hexOf(transaction.hash) !== hash) return `transaction ${index}: expected hash ${hash}`
    const sender = hexOf(recovery.recoverSender(transaction))
    if (sender !== from.toLowerCase())
      return `transaction ${index}: expected sender ${from}, found ${sender}`
  }
  return undefined
}

/** The one field that has the form of a prestate. */
function prestateOf(record: Record): Prestate | undefined {
  return Object.values(record).find(
    (value): value is Prestate =>
      typeof value === 'object' && value !== null && 'accounts' in value && 'storage' in value,
  )
}

/** @throws VarveError where the outcome is not the header's */
function execute(block: Block, prestate: Prestate, recovery: SenderRecovery): void {
  const { header } = block
  const preState: { [address: string]: PrestateAccount } = {}
  const codes = new Map<string, string>()
  for (const [address, account] of Object.entries(prestate.accounts)) {
    if (account === null) continue
    const code = prestate.code[address] ?? '0x'
    const codeHash = hexOf(keccak256(bytesOf(code)))
    codes.set(codeHash, code)
    const storage = prestate.storage[address] ?? {}
    preState[address] = { ...account, storage, ...(code === '0x' ? {} : { code_hash: codeHash }) }
  }
  const { receipts, requests } = executeBlock(block, {
    spec: mainnet,
    rules: rulesAt(mainnet, header.number, header.timestamp),
    view: prestateView(preState, codes),
    blockHash: (number) => {
      if (number === BigInt(header.number - 1)) return header.parentHash
      throw new Error(`the hash of block ${number} is not known`)
    },
    machine: new Machine(),
    recovery,
  })
  validateReceipts(header, receipts)
  validateRequests(header, requests && requestsHash(requests))
}
