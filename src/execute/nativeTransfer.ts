/**
 * A block of transfers without the machine: delta, receipts and gas are those that `executeBlock` gives, at a fraction
 * of its cost. A transfer goes to an account without code, or to a contract that the caller has written out
 * (`nativeContract.ts`); what is checked of it is `checkTransaction`, the same function that the EVM's way goes through.
 *
 *     block ─▶ all of it native, valid, and without an effect that is not named here? ─┬─ yes ─▶ outcome
 *                                                                                    └─ no ──▶ `undefined`
 *
 * Whatever is out of the ordinary makes the whole block the EVM's: other code at a receiver, a creation, a precompile, a
 * system contract, an empty account that is touched (EIP-161), a transaction that is refused and is to be named.
 * Nothing has happened by then. London to Cancun: before, receipts may hold roots, and after, every block calls
 * contracts.
 */
import { assert, bytesAreZero, bytesEqual, Fork, isVarveError } from '../base/index.ts'
import { type BlockRules, blockRewards } from '../chain/index.ts'
import {
  type AccessListEntry,
  type Block,
  type Receipt,
  type Transaction,
  TransactionType,
} from '../codec/index.ts'
import { Status } from '../evm/index.ts'
import { sealDelta } from '../state/index.ts'
import { smaller } from './bigints.ts'
import { withdrawalCredits } from './blockCredits.ts'
import { BlockGas } from './blockGas.ts'
import {
  type BlockContext,
  type BlockOutcome,
  environmentOf,
  executeBlock,
  recoverSenders,
} from './executor.ts'
import { REFUND_DIVISOR_LONDON } from './gasSettlement.ts'
import {
  give,
  pay,
  SenderReader,
  type TransferAccount,
  TransferAccounts,
} from './nativeAccounts.ts'
import { GAS_SSTORE_SENTRY, type NativeContract, type NativeResult } from './nativeContract.ts'
import { BEACON_ROOTS_ADDRESS } from './systemCalls.ts'
import {
  type BlockSpace,
  checkTransaction,
  type ExecutionBlock,
  emptyBlockSpace,
  type TransactionCost,
} from './transactionCheck.ts'
import { transactionReceipt } from './transactionReceipt.ts'

/** An address that begins with so many zero bytes may be a precompile's. */
const PRECOMPILE_ZERO_BYTES = 18

/**
 * Executes a block, natively where all of it is transfers and else by `executeBlock`.
 * @throws as `executeBlock`
 */
export function executeBlockNatively(
  block: Block,
  context: BlockContext,
  contracts: readonly NativeContract[] = [],
): BlockOutcome {
  return executeTransfers(block, context, contracts) ?? executeBlock(block, context)
}

/**
 * Executes a block whose header and body were checked, or leaves it: `undefined` where it takes the EVM, or a
 * transaction of it is refused. Cost: two keccaks and two reads an account, no call of WebAssembly but the hashes.
 * @param contracts whose messages are run natively, too; a receiver with any other code takes the EVM
 * @throws VarveError as `recoverSenders`, where the context has no senders; what the view throws
 */
export function executeTransfers(
  block: Block,
  context: BlockContext,
  contracts: readonly NativeContract[] = [],
): BlockOutcome | undefined {
  const { header, uncles, withdrawals } = block
  const { rules, spec, view } = context
  if (!isPlainBlock(block, context)) return undefined
  const accounts = new TransferAccounts(view)
  if (rules.fork >= Fork.Cancun && accounts.load(BEACON_ROOTS_ADDRESS).before !== undefined)
    return undefined
  const environment = environmentOf(header, context)
  const senders = context.senders ?? recoverSenders(block, { ...context, spec })
  const run = new TransfersRun(accounts, environment, contracts)
  for (let index = 0; index < block.transactions.length; index++)
    if (!run.add(block.transactions[index]!, senders[index]!)) return undefined
  const credits = [
    ...blockRewards(rules.fork, header, uncles),
    ...withdrawalCredits(withdrawals ?? []),
  ]
  if (!credits.every(({ address, amount }) => give(accounts.load(address), amount)))
    return undefined
  return {
    delta: sealDelta(accounts.changes()),
    receipts: run.receipts,
    gasUsed: run.gas.used,
    blobGasUsed: 0n,
    requests: undefined,
    accessList: undefined,
    senders,
  }
}

/** Whether everything but the accounts allows the native way. */
function isPlainBlock({ header, transactions }: Block, context: BlockContext): boolean {
  const { spec, rules, runTransaction } = context
  const { dao } = spec.schedule
  return (
    isPlainFork(rules) &&
    runTransaction === undefined &&
    dao?.block !== header.number &&
    transactions.every(isPlain)
  )
}

function isPlainFork({ fork }: BlockRules): boolean {
  return fork >= Fork.London && fork <= Fork.Cancun
}

/** Whether a transaction transfers and does nothing else, unless its receiver has code. */
function isPlain({ type, to }: Transaction): boolean {
  if (to === undefined || type > TransactionType.DynamicFee) return false
  return !bytesAreZero(to.subarray(0, PRECOMPILE_ZERO_BYTES))
}

/** Transfers of a block, one after the other. */
class TransfersRun {
  readonly receipts: Receipt[] = []
  readonly gas = new BlockGas()
  private readonly accounts: TransferAccounts
  private readonly block: ExecutionBlock
  private readonly space: BlockSpace
  private readonly contracts: readonly NativeContract[]
  private readonly coinbase: TransferAccount

  constructor(
    accounts: TransferAccounts,
    block: ExecutionBlock,
    contracts: readonly NativeContract[],
  ) {
    this.accounts = accounts
    this.block = block
    this.space = emptyBlockSpace(block)
    this.contracts = contracts
    this.coinbase = accounts.load(block.coinbase)
  }

  /** False where the transaction is not for this way. */
  add(transaction: Transaction, sender: Uint8Array): boolean {
    const { accounts, block, space, gas } = this
    const from = accounts.load(sender)
    const to = accounts.load(transaction.to!)
    const { codeHash } = to
    const contract = codeHash === undefined ? undefined : this.contractOf(codeHash)
    if (codeHash !== undefined && contract === undefined) return false
    let cost: TransactionCost
    try {
      cost = checkTransaction(new SenderReader(from), block, space, transaction, sender)
    } catch (error) {
      // The EVM's way names what is wrong, and where.
      if (isVarveError(error)) return false
      throw error
    }
    assert(cost.floorGas === 0n && cost.blobGas === 0n, 'a native transfer has one price')
    const message =
      contract === undefined
        ? PLAIN
        : this.runContract(contract, transaction, { sender, to, intrinsicGas: cost.intrinsicGas })
    if (message === undefined) return false
    const gasUsed = cost.intrinsicGas + message.gas
    pay(from, gasUsed * cost.gasPrice + transaction.value)
    if (!give(to, transaction.value)) return false
    if (!give(this.coinbase, gasUsed * (cost.gasPrice - block.baseFee))) return false
    space.gasLeft -= gasUsed
    gas.add({ gasUsed, blockGasUsed: gasUsed, blockStateGasUsed: 0n })
    const outcome = { status: Status.Success, logs: message.logs }
    const receipt = { type: transaction.type, cumulativeGasUsed: gas.paid }
    this.receipts.push(transactionReceipt(outcome, receipt))
    return true
  }

  private contractOf(codeHash: Uint8Array): NativeContract | undefined {
    const { fork } = this.block
    return this.contracts.find((each) => fork >= each.since && bytesEqual(each.codeHash, codeHash))
  }

  /** Gas after the intrinsic gas and refunds, and logs; `undefined` where the EVM must look. */
  private runContract(
    contract: NativeContract,
    transaction: Transaction,
    { sender: caller, to, intrinsicGas }: ContractCall,
  ): Message | undefined {
    const target = transaction.to!
    const storage = this.accounts.storageOf(to)
    storage.beginTransaction(transaction.type === 0 ? [] : slotsIn(transaction.accessList, target))
    const result = contract.run({ caller, target, input: transaction.data, storage })
    if (result === undefined) return undefined
    const gas = BigInt(result.gas + storage.gas)
    // Nearly all gas used: where it has run out, or an SSTORE met the sentry, is the EVM's to say.
    if (transaction.gasLimit - intrinsicGas - gas <= GAS_SSTORE_SENTRY) return undefined
    const used = intrinsicGas + gas
    const refund = smaller(BigInt(storage.refund), used / REFUND_DIVISOR_LONDON)
    return { gas: gas - refund, logs: result.logs }
  }
}

/** Who calls which account with the gas limit less what is paid ahead. */
type ContractCall = {
  readonly sender: Uint8Array
  readonly to: TransferAccount
  readonly intrinsicGas: bigint
}

/** Outcome of a message, its gas after refunds. */
type Message = { readonly gas: bigint; readonly logs: NativeResult['logs'] }

/** No code runs, so nothing is used but what is paid ahead. */
const PLAIN: Message = { gas: 0n, logs: [] }

/** Slots of one contract in an access list. An address may stand in it more than once. */
function slotsIn(list: readonly AccessListEntry[], address: Uint8Array): readonly Uint8Array[] {
  if (list.length === 0) return []
  return list.flatMap((each) => (bytesEqual(each.address, address) ? each.storageKeys : []))
}
