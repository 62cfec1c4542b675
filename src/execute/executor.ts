/**
 * One block over one state: what it changes and what its receipts are. Nothing is written but in the machine, which
 * forgets at the next block: a block that fails leaves no trace.
 *
 *     DAO ─▶ system calls ─▶ transaction … ─▶ rewards, withdrawals ─▶ requests ─▶ delta
 *     EIP-779  EIP-4788, 2935                            EIP-4895      EIP-7685
 *
 * Not here: whether header and body are valid (`chain/`), whether the outcome is the header's (`chain/`, `engine/`).
 */
import { bigintFromBytes, Fork, isVarveError, VarveError } from '../base/index.ts'
import { type BlockRules, blobBaseFee, blockRewards, type ChainSpec } from '../chain/index.ts'
import {
  type Block,
  type BlockAccessList,
  type Header,
  type Receipt,
  type SenderRecovery,
  type Transaction,
  validateSignature,
} from '../codec/index.ts'
import type { Machine, PrecompileSet } from '../evm/index.ts'
import type { StateDelta, StateView } from '../state/index.ts'
import { AccessListBuilder } from './accessListBuilder.ts'
import { applyCredits, withdrawalCredits } from './blockCredits.ts'
import { BlockGas } from './blockGas.ts'
import { moveDaoFunds } from './daoFork.ts'
import { collectRequests } from './requests.ts'
import { openBlock } from './systemCalls.ts'
import { executeTransaction } from './transaction.ts'
import { type BlockSpace, type ExecutionBlock, emptyBlockSpace } from './transactionCheck.ts'
import { transactionReceipt } from './transactionReceipt.ts'
import { type BlockHashReader, ViewHost } from './viewHost.ts'
import { deltaOfWrites } from './writtenDelta.ts'

/** What a block runs over. */
export type BlockContext = {
  readonly spec: ChainSpec
  readonly rules: BlockRules
  /** State of the parent. */
  readonly view: StateView
  /** The 256 blocks before; asked only for what code asks for. */
  readonly blockHash: BlockHashReader
  /** Used from block to block by its owner; holds the block's changes until the next one. */
  readonly machine: Machine
  readonly recovery: SenderRecovery
  /** What `recoverSenders` gave ahead. */
  readonly senders?: readonly Uint8Array[] | undefined
  /**
   * Root after the block's changes so far, for receipts before Byzantium. Without it those have a status in its place,
   * and their root is none that a header could have.
   */
  readonly stateRootOf?: ((delta: StateDelta) => Uint8Array) | undefined
  /** In the place of `executeTransaction`, for whoever watches transactions. */
  readonly runTransaction?: typeof executeTransaction | undefined
  /** Precompiles of the protocol, unless the chain was made under a draft. */
  readonly precompileSet?: PrecompileSet | undefined
}

/** What a block did. */
export type BlockOutcome = {
  readonly delta: StateDelta
  readonly receipts: readonly Receipt[]
  /** What the header says: the sum over all transactions; from Amsterdam on the larger of two sums (EIP-8037). */
  readonly gasUsed: bigint
  readonly blobGasUsed: bigint
  /** In the order of their types (EIP-7685); `undefined` before Prague. */
  readonly requests: readonly Uint8Array[] | undefined
  /** EIP-7928; `undefined` before Amsterdam. */
  readonly accessList: BlockAccessList | undefined
  /** In the order of the transactions, 20 bytes each. */
  readonly senders: readonly Uint8Array[]
}

/** A way to execute a block: `executeBlock`, or one that gives the same. */
export type BlockExecutor = (block: Block, context: BlockContext) => BlockOutcome

/**
 * Executes a block whose header and body were checked.
 * @throws VarveError with the code of the fault: of a signature (TRANSACTION_*), a TransactionRejectionErrorCode, a
 *   RequestErrorCode, and what view and block hashes throw
 */
export function executeBlock(block: Block, context: BlockContext): BlockOutcome {
  const { header, uncles, withdrawals } = block
  const { machine, rules, view, spec, blockHash } = context
  const environment = environmentOf(header, context)
  machine.beginBlock(environment, new ViewHost(view, blockHash))
  const accesses = rules.fork >= Fork.Amsterdam ? new AccessListBuilder() : undefined
  accesses?.watch(machine)
  const { dao } = spec.schedule
  if (dao?.support === true && header.number === dao.block) moveDaoFunds(machine)
  const { parentHash, parentBeaconBlockRoot } = header
  openBlock(machine, rules.fork, { parentHash, parentBeaconBlockRoot })
  const run = new TransactionsRun(header.number, environment, context)
  const senders = context.senders ?? recoverSenders(block, context)
  block.transactions.forEach((transaction, index) => {
    accesses?.nextStep()
    run.add(transaction, senders[index]!, index)
  })
  accesses?.nextStep()
  applyCredits(machine, blockRewards(rules.fork, header, uncles))
  applyCredits(machine, withdrawalCredits(withdrawals ?? []))
  const { receipts, blobGasUsed } = run
  const gasUsed = run.gas.used
  const { depositContract } = spec
  const requests =
    rules.fork < Fork.Prague
      ? undefined
      : collectRequests(
          machine,
          receipts.flatMap(({ logs }) => logs),
          { depositContract, mustHaveContracts: true },
        )
  const accessList = accesses?.build(machine.accesses())
  const delta = deltaOfWrites(machine.writeSet())
  return { delta, receipts, gasUsed, blobGasUsed, requests, accessList, senders }
}

/**
 * Checks the signatures of a block's transactions and names their senders, 20 bytes each. Needs no state, so it can be
 * done ahead. Cost: 60 to 170 us a transaction whose sender is not known.
 * @param known senders that somebody has recovered from the same signatures; the rules of the block's fork are checked
 *   all the same
 * @throws VarveError TRANSACTION_CHAIN_ID, TRANSACTION_SIGNATURE_HIGH_S, TRANSACTION_SENDER
 */
export function recoverSenders(
  block: Block,
  { spec, rules, recovery }: Pick<BlockContext, 'spec' | 'rules' | 'recovery'>,
  known?: readonly Uint8Array[],
): Uint8Array[] {
  const { number } = block.header
  const signatureRules = { fork: rules.fork, chainId: spec.chainId }
  return block.transactions.map((transaction, index) =>
    withPlace(number, index, () => {
      validateSignature(transaction, signatureRules)
      return known?.[index] ?? recovery.recoverSender(transaction)
    }),
  )
}

/** What code sees of a block. */
export function environmentOf(
  header: Header,
  {
    spec,
    rules: { fork, blob },
    precompileSet,
  }: Pick<BlockContext, 'spec' | 'rules' | 'precompileSet'>,
): ExecutionBlock {
  const { number, timestamp, coinbase, gasLimit, difficulty, mixHash, excessBlobGas } = header
  return {
    fork,
    blob,
    precompileSet,
    chainId: spec.chainId,
    coinbase,
    number: BigInt(number),
    timestamp,
    gasLimit,
    random: fork >= Fork.Paris ? bigintFromBytes(mixHash) : difficulty,
    baseFee: header.baseFeePerGas ?? 0n,
    blobBaseFee:
      blob === undefined || excessBlobGas === undefined ? 0n : blobBaseFee(excessBlobGas, blob),
    slotNumber: header.slotNumber,
    amsterdamDraft: spec.amsterdamDraft,
  }
}

/** A block's transactions, one after the other. */
class TransactionsRun {
  readonly receipts: Receipt[] = []
  blobGasUsed = 0n
  readonly gas = new BlockGas()
  private readonly number: number
  private readonly block: ExecutionBlock
  private readonly context: BlockContext
  private readonly space: BlockSpace

  constructor(number: number, block: ExecutionBlock, context: BlockContext) {
    this.number = number
    this.block = block
    this.context = context
    this.space = emptyBlockSpace(block)
  }

  add(transaction: Transaction, sender: Uint8Array, index: number): void {
    const { block, space } = this
    const { machine, recovery, runTransaction = executeTransaction } = this.context
    const outcome = withPlace(this.number, index, () =>
      runTransaction({ machine, block, space, recovery }, transaction, sender),
    )
    this.gas.add(outcome)
    this.blobGasUsed += outcome.blobGasUsed
    const receiptContext = {
      type: transaction.type,
      cumulativeGasUsed: this.gas.paid,
      stateRoot: this.stateRoot(),
    }
    this.receipts.push(transactionReceipt(outcome, receiptContext))
  }

  private stateRoot(): Uint8Array | undefined {
    const { machine, stateRootOf } = this.context
    if (this.block.fork >= Fork.Byzantium) return undefined
    return stateRootOf?.(deltaOfWrites(machine.writeSet()))
  }
}

/** Puts the place in front of a fault of `work`. */
function withPlace<Result>(blockNumber: number, index: number, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!isVarveError(error)) throw error
    throw new VarveError(
      error.code,
      `block ${blockNumber}, transaction ${index}: ${error.message}`,
      { ...error.data, blockNumber, transactionIndex: index },
      { cause: error },
    )
  }
}
