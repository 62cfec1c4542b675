/**
 * One transaction of any type over the machine: check, buy gas, run, refund, pay. Yellow Paper section 6, EIP-1559,
 * 2929, 2930, 3529, 3651, 4844, 7623, 7702.
 *
 *     check ─▶ gas is bought ─▶ nonce, warm set, authorizations ─▶ call or create ─▶ refund ─▶ sender, coinbase are paid
 *
 * Not here: the block around it (`executor.ts`), its receipt (`transactionReceipt.ts`).
 */
import { Fork } from '../base/index.ts'
import { type SenderRecovery, TransactionType, type UnsignedTransaction } from '../codec/index.ts'
import {
  ACCOUNT_STATE_BYTES,
  type Log,
  type Machine,
  type MessageResult,
  type Status,
  stateByteGas,
} from '../evm/index.ts'
import { applyAuthorizations, delegateOf } from './delegation.ts'
import {
  type GasSettlement,
  type MessageGas,
  messageGas,
  type SettlementInput,
  settleGas,
} from './gasSettlement.ts'
import {
  type BlockSpace,
  checkTransaction,
  type ExecutionBlock,
  type TransactionCost,
} from './transactionCheck.ts'

/** What a transaction did that is not in the state. */
export type TransactionOutcome = {
  /** How its message ended; `Status.Success` or not is the receipt's status. */
  readonly status: Status
  /** After refund and floor. */
  readonly gasUsed: bigint
  /** What the block counts of it: from Amsterdam on the gas of work before refunds (EIP-7778, EIP-8037). */
  readonly blockGasUsed: bigint
  /** What the block counts of growth of the state (EIP-8037); 0 before Amsterdam. */
  readonly blockStateGasUsed: bigint
  readonly blobGasUsed: bigint
  /** Wei a gas that the sender paid. */
  readonly gasPrice: bigint
  /** Output of a call, reason of a revert, or code of the new contract. */
  readonly output: Uint8Array
  /** Address of the contract that it created. */
  readonly created: Uint8Array | undefined
  readonly logs: readonly Log[]
}

/** Where transactions run. The machine has begun `block`. */
export type TransactionContext = {
  readonly machine: Machine
  readonly block: ExecutionBlock
  /** Shrinks with every transaction. */
  readonly space: BlockSpace
  readonly recovery: SenderRecovery
}

/** What an authorization of an existing account gets back: 25,000 were paid ahead, and 12,500 are its price (EIP-7702). */
const GAS_AUTHORIZATION_REFUND = 12_500n

/**
 * Executes a transaction.
 * @param sender recovered from the signature, 20 bytes
 * @throws VarveError with a TransactionRejectionErrorCode where it may not be in the block, and what the host throws;
 *   the state is then as before
 */
export function executeTransaction(
  context: TransactionContext,
  transaction: UnsignedTransaction,
  sender: Uint8Array,
): TransactionOutcome {
  const { machine, block, space } = context
  const cost = checkTransaction(machine, block, space, transaction, sender)
  machine.beginTransaction({
    origin: sender,
    gasPrice: cost.gasPrice,
    blobHashes: transaction.type === TransactionType.Blob ? transaction.blobVersionedHashes : [],
  })
  const start = machine.snapshot()
  try {
    const { message, settlement } = run(context, transaction, sender, cost)
    machine.finishTransaction()
    const { gasUsed, blockGasUsed, blockStateGasUsed } = settlement
    const { gasPrice, blobGas: blobGasUsed } = cost
    space.gasLeft -= blockGasUsed
    space.stateGasLeft -= blockStateGasUsed
    space.blobGasLeft -= blobGasUsed
    const { status, output, created } = message
    return {
      status,
      gasUsed,
      blockGasUsed,
      blockStateGasUsed,
      blobGasUsed,
      gasPrice,
      output,
      created,
      // The end of a transaction may log, too.
      logs: machine.logs(),
    }
  } catch (error) {
    machine.revert(start)
    throw error
  }
}

function run(
  context: TransactionContext,
  transaction: UnsignedTransaction,
  sender: Uint8Array,
  cost: TransactionCost,
): { readonly message: MessageResult; readonly settlement: GasSettlement } {
  const { machine, block } = context
  const { gasLimit } = transaction
  machine.subtractBalance(sender, gasLimit * cost.gasPrice + cost.blobGas * block.blobBaseFee)
  if (block.fork >= Fork.Berlin) warm(machine, block, transaction, sender)
  const given = messageGas(gasLimit, block.fork, cost)
  const sent = sendMessage(context, transaction, sender, given)
  const settlement = settleGas(machine, {
    block,
    gasLimit,
    cost,
    given,
    message: sent.message,
    refund: sent.refund,
    returnedStateGas: sent.returnedStateGas,
  })
  const { message } = sent
  const { gasUsed } = settlement

  machine.addBalance(sender, (gasLimit - gasUsed) * cost.gasPrice)
  // The base fee is burnt (EIP-1559). Paying nothing still touches the coinbase, as all eras demand.
  machine.addBalance(block.coinbase, gasUsed * (cost.gasPrice - block.baseFee))
  return { message, settlement }
}

/** Warm before the first instruction: EIP-2929, EIP-2930, EIP-3651. The machine knows precompiles as warm. */
function warm(
  machine: Machine,
  block: ExecutionBlock,
  transaction: UnsignedTransaction,
  sender: Uint8Array,
): void {
  machine.warmAddress(sender)
  if (transaction.to !== undefined) machine.warmAddress(transaction.to)
  if (block.fork >= Fork.Shanghai) machine.warmAddress(block.coinbase)
  if (transaction.type === TransactionType.Legacy) return
  for (const { address, storageKeys } of transaction.accessList) {
    machine.warmAddress(address)
    for (const slot of storageKeys) machine.warmSlot(address, slot)
  }
}

/**
 * Runs the message itself. Its failure undoes what it did, and neither the nonce nor the authorizations. The refund is
 * the counter's.
 */
function sendMessage(
  context: TransactionContext,
  transaction: UnsignedTransaction,
  sender: Uint8Array,
  given: MessageGas,
): Pick<SettlementInput, 'message' | 'refund' | 'returnedStateGas'> {
  const { machine, block, recovery } = context
  const { to, data, value } = transaction
  const { gas } = given
  if (to === undefined) {
    const message = machine.create({ caller: sender, initCode: data, value, ...given })
    return { message, refund: machine.refund, returnedStateGas: 0n }
  }
  machine.setNonce(sender, transaction.nonce + 1n)
  let refund = 0n
  let returnedStateGas = 0n
  if (transaction.type === TransactionType.SetCode) {
    const list = transaction.authorizationList
    const existing = BigInt(applyAuthorizations(machine, list, block.chainId, recovery))
    // The accounts that were paid for ahead and are not new: gas for growth goes back to where it came from.
    if (block.fork < Fork.Amsterdam) refund = existing * GAS_AUTHORIZATION_REFUND
    else returnedStateGas = existing * ACCOUNT_STATE_BYTES * stateByteGas(block)
  }
  if (block.fork >= Fork.Prague) {
    const target = delegateOf(machine, to)
    if (target !== undefined) machine.warmAddress(target)
  }
  const stateGas = given.stateGas + returnedStateGas
  const message = machine.call({ caller: sender, target: to, input: data, value, gas, stateGas })
  return { message, refund: machine.refund + refund, returnedStateGas }
}
