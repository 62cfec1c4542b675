/**
 * Executes transactions over accounts as one block, as geth's `t8n` does: what cannot be part of the block is
 * rejected with a reason, and the rest goes on.
 *
 *     system calls ─▶ transaction … ─▶ reward, withdrawals ─▶ requests ─▶ roots
 */
import { Fork, isVarveError } from '../../base/index.ts'
import {
  BLOB_GAS_PER_BLOB,
  type BlockRules,
  type GenesisAccount,
  mainnet,
  receiptFields,
  transactionsRootOf,
  withdrawalsRootOf,
} from '../../chain/index.ts'
import {
  encodeRlp,
  type Log,
  logsToRlp,
  type Receipt,
  type SenderRecovery,
  type Transaction,
} from '../../codec/index.ts'
import { BlockRoots, type StateSummary } from '../../commit/index.ts'
import { type Host, Machine, type WriteSet } from '../../evm/index.ts'
import {
  applyCredits,
  type BlockCredit,
  BlockGas,
  collectRequests,
  deltaOfWrites,
  emptyBlockSpace,
  executeTransaction,
  isRequestFault,
  isTransactionRejection,
  openBlock,
  requestsHash,
  type TransactionOutcome,
  transactionReceipt,
  ViewHost,
  withdrawalCredits,
} from '../../execute/index.ts'
import { keccak256 } from '../../kernels/index.ts'
import { contractAddress, type Tracer, traceTransaction } from '../../trace/index.ts'
import { PreState, RootCalculator } from '../testfiles/preState.ts'
import type { Environment, T8nBlock } from './environment.ts'
import { rejectionText, signatureProblem } from './rejectionText.ts'
import { T8nExit, T8nFault } from './t8nFault.ts'

/** A transaction to try, or why it could not even be read. */
export type Candidate =
  | { readonly kind: 'transaction'; readonly transaction: Transaction }
  | { readonly kind: 'unreadable'; readonly error: string }

export type OpenTrace = { readonly tracer: Tracer; close(): void }

export type TransitionInput = {
  readonly accounts: readonly GenesisAccount[]
  readonly environment: Environment
  readonly block: T8nBlock
  readonly rules: BlockRules
  readonly candidates: readonly Candidate[]
  /** Wei for the miner; -1 gives nobody anything. */
  readonly reward: bigint
  readonly recovery: SenderRecovery
  /** Called for each transaction that is tried; `undefined` traces none. */
  readonly openTrace: ((index: number, hash: Uint8Array) => OpenTrace) | undefined
}

export type Executed = {
  readonly transaction: Transaction
  readonly outcome: TransactionOutcome
  readonly receipt: Receipt
  /** Of the contract that the transaction creates; zero where it creates none. */
  readonly contractAddress: Uint8Array
}

export type Rejected = { readonly index: number; readonly error: string }

export type TransitionResult = {
  readonly stateRoot: Uint8Array
  readonly transactionsRoot: Uint8Array
  readonly receiptsRoot: Uint8Array
  readonly logsHash: Uint8Array
  readonly logsBloom: Uint8Array
  readonly executed: readonly Executed[]
  readonly rejected: readonly Rejected[]
  readonly gasUsed: bigint
  readonly blobGasUsed: bigint
  readonly withdrawalsRoot: Uint8Array | undefined
  /** `undefined` before Prague. */
  readonly requests: readonly Uint8Array[] | undefined
  readonly requestsHash: Uint8Array | undefined
  /** The block's changes, for the accounts after it. */
  readonly writes: WriteSet
}

/** @throws T8nFault MissingBlockhash, Evm; what a tracer throws */
export function runTransition(input: TransitionInput): TransitionResult {
  const preState = new PreState(input.accounts)
  return new RootCalculator().at(preState, (summary) =>
    new BlockRun(input, preState, summary).run(),
  )
}

/** One block on its way. */
class BlockRun {
  private readonly input: TransitionInput
  private readonly preState: PreState
  private readonly roots: BlockRoots
  private readonly machine = new Machine()
  private readonly executed: Executed[] = []
  private readonly rejected: Rejected[] = []
  private readonly gas = new BlockGas()
  private blobGasUsed = 0n

  constructor(input: TransitionInput, preState: PreState, summary: StateSummary) {
    this.input = input
    this.preState = preState
    this.roots = new BlockRoots(summary)
  }

  run(): TransitionResult {
    const { environment, block, rules, candidates } = this.input
    const { machine } = this
    machine.beginBlock(block.execution, this.host())
    openBlock(machine, rules.fork, {
      parentBeaconBlockRoot: environment.parentBeaconBlockRoot,
      parentHash: environment.blockHashes?.get(environment.number - 1n),
    })
    const space = emptyBlockSpace(block.execution)
    candidates.forEach((candidate, index) => {
      const error =
        candidate.kind === 'unreadable'
          ? candidate.error
          : this.tryTransaction(candidate.transaction, space)
      if (error !== undefined) this.rejected.push({ index, error })
    })
    applyCredits(machine, this.rewards())
    applyCredits(machine, withdrawalCredits(environment.withdrawals ?? []))
    const logs = this.executed.flatMap(({ receipt }) => receipt.logs)
    const requests = rules.fork >= Fork.Prague ? this.requests(logs) : undefined
    return this.result(logs, requests)
  }

  private result(
    logs: readonly Log[],
    requests: readonly Uint8Array[] | undefined,
  ): TransitionResult {
    const { withdrawals } = this.input.environment
    const writes = this.machine.writeSet()
    const { receiptsRoot, logsBloom } = receiptFields(this.executed.map(({ receipt }) => receipt))
    return {
      stateRoot: this.stateRoot(),
      transactionsRoot: transactionsRootOf(this.executed.map(({ transaction }) => transaction)),
      receiptsRoot,
      logsHash: keccak256(encodeRlp(logsToRlp(logs))),
      logsBloom,
      executed: this.executed,
      rejected: this.rejected,
      gasUsed: this.gas.used,
      blobGasUsed: this.blobGasUsed,
      withdrawalsRoot: withdrawals === undefined ? undefined : withdrawalsRootOf(withdrawals),
      requests,
      requestsHash: requests === undefined ? undefined : requestsHash(requests),
      writes,
    }
  }

  private host(): Host {
    const { blockHashes } = this.input.environment
    return new ViewHost(this.preState.view, (number) => {
      const hash = blockHashes?.get(number)
      if (hash !== undefined) return hash
      const reason =
        blockHashes === undefined
          ? 'no blockhashes provided'
          : 'blockhash for that block not provided'
      throw new T8nFault(T8nExit.MissingBlockhash, `getHash(${number}) invoked, ${reason}`)
    })
  }

  /** Why the transaction cannot be part of the block, or `undefined` where it now is. */
  private tryTransaction(
    transaction: Transaction,
    space: ReturnType<typeof emptyBlockSpace>,
  ): string | undefined {
    const { block, rules, recovery, openTrace } = this.input
    const { fork, chainId } = block.execution
    const problem = signatureProblem(transaction, fork, chainId)
    if (problem !== undefined) return problem
    let sender: Uint8Array
    try {
      sender = recovery.recoverSender(transaction)
    } catch (error) {
      if (isVarveError(error)) return 'invalid transaction v, r, s values'
      throw error
    }
    const blobProblem = this.blobProblem(transaction, rules)
    if (blobProblem !== undefined) return blobProblem
    const context = { machine: this.machine, block: block.execution, space, recovery }
    const trace = openTrace?.(this.executed.length, transaction.hash)
    try {
      const outcome =
        trace === undefined
          ? executeTransaction(context, transaction, sender)
          : traceTransaction(context, transaction, sender, trace.tracer)
      this.accept(transaction, sender, outcome)
      return undefined
    } catch (error) {
      if (!isTransactionRejection(error)) throw error
      return rejectionText(error, transaction, sender, this.machine.getCode(sender))
    } finally {
      trace?.close()
    }
  }

  private blobProblem(transaction: Transaction, { blob }: BlockRules): string | undefined {
    if (transaction.type !== 3) return undefined
    if (this.input.block.excessBlobGas === undefined)
      return 'blob tx used but field env.ExcessBlobGas missing'
    const wanted =
      this.blobGasUsed + BigInt(transaction.blobVersionedHashes.length) * BLOB_GAS_PER_BLOB
    const most = BigInt(blob?.max ?? 0) * BLOB_GAS_PER_BLOB
    return wanted > most ? `blob gas (${wanted}) would exceed maximum allowance ${most}` : undefined
  }

  private accept(transaction: Transaction, sender: Uint8Array, outcome: TransactionOutcome): void {
    this.gas.add(outcome)
    this.blobGasUsed += outcome.blobGasUsed
    const isByzantium = this.input.rules.fork >= Fork.Byzantium
    const receipt = transactionReceipt(outcome, {
      type: transaction.type,
      cumulativeGasUsed: this.gas.paid,
      stateRoot: isByzantium ? undefined : this.stateRoot(),
    })
    this.executed.push({
      transaction,
      outcome,
      receipt,
      contractAddress:
        transaction.to === undefined
          ? contractAddress(sender, transaction.nonce)
          : new Uint8Array(20),
    })
  }

  private stateRoot(): Uint8Array {
    return this.roots.rootAfter(deltaOfWrites(this.machine.writeSet()))
  }

  /** Yellow Paper section 11.3, for a reward that the caller names. */
  private rewards(): BlockCredit[] {
    const { reward, environment } = this.input
    if (reward < 0n) return []
    const { coinbase, ommers } = environment
    const credits = ommers.map(({ address, delta }) => {
      if (delta > 8n)
        throw new T8nFault(T8nExit.Config, `ommer: expected a delta of at most 8, found ${delta}`)
      return { address, amount: (reward * (8n - delta)) / 8n }
    })
    const amount = reward + (reward / 32n) * BigInt(ommers.length)
    return [...credits, { address: coinbase, amount }]
  }

  private requests(logs: readonly Log[]): Uint8Array[] {
    try {
      return collectRequests(this.machine, logs, {
        depositContract: mainnet.depositContract,
        mustHaveContracts: false,
      })
    } catch (error) {
      if (!isRequestFault(error)) throw error
      throw new T8nFault(T8nExit.Evm, `could not parse requests logs: ${error.message}`)
    }
  }
}
