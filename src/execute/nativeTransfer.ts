/**
 * A block of plain transfers without the machine: delta, receipts and gas are those that `executeBlock` gives, at a
 * fraction of its cost. A transfer goes to an account without code; what is checked of it is `checkTransaction`, the
 * same function that the EVM's way goes through.
 *
 *     block ─▶ all of it plain, valid, and without an effect that is not named here? ─┬─ yes ─▶ outcome
 *                                                                                    └─ no ──▶ `undefined`
 *
 * Whatever is out of the ordinary makes the whole block the EVM's: code at a receiver, a creation, a precompile, a
 * system contract, an empty account that is touched (EIP-161), a transaction that is refused and is to be named.
 * Nothing has happened by then. London to Cancun: before, receipts may hold roots, and after, every block calls
 * contracts.
 */
import { assert, bytesAreZero, EMPTY_BYTES, Fork, isVarveError, U256_MAX } from '../base/index.ts'
import { type BlockRules, blockRewards } from '../chain/index.ts'
import { type Block, type Receipt, type Transaction, TransactionType } from '../codec/index.ts'
import { Status } from '../evm/index.ts'
import {
  type Account,
  type AccountChange,
  accountHasCode,
  accountIsEmpty,
  addressHashOf,
  EMPTY_ACCOUNT,
  hashKey,
  type StateView,
  sealDelta,
} from '../state/index.ts'
import { type BlockCredit, withdrawalCredits } from './blockCredits.ts'
import { BlockGas } from './blockGas.ts'
import {
  type BlockContext,
  type BlockOutcome,
  environmentOf,
  executeBlock,
  recoverSenders,
} from './executor.ts'
import { BEACON_ROOTS_ADDRESS } from './systemCalls.ts'
import {
  type AccountReader,
  type BlockSpace,
  checkTransaction,
  type ExecutionBlock,
  emptyBlockSpace,
} from './transactionCheck.ts'
import { transactionReceipt } from './transactionReceipt.ts'

/** An address that begins with so many zero bytes may be a precompile's. */
const PRECOMPILE_ZERO_BYTES = 18
/** Outcome of every plain transfer. */
const SUCCESS = { status: Status.Success, logs: [] } as const

/**
 * Executes a block, natively where all of it is plain transfers and else by `executeBlock`.
 * @throws as `executeBlock`
 */
export function executeBlockNatively(block: Block, context: BlockContext): BlockOutcome {
  return executeTransfers(block, context) ?? executeBlock(block, context)
}

/**
 * Executes a block whose header and body were checked, or leaves it: `undefined` where it takes the EVM, or a
 * transaction of it is refused. Cost: two keccaks and two reads an account, no call of WebAssembly but the hashes.
 * @throws VarveError as `recoverSenders`, where the context has no senders; what the view throws
 */
export function executeTransfers(block: Block, context: BlockContext): BlockOutcome | undefined {
  const { header, uncles, withdrawals } = block
  const { rules, spec, view } = context
  if (!isPlainBlock(block, context)) return undefined
  const accounts = new TransferAccounts(view)
  if (rules.fork >= Fork.Cancun && accounts.isThere(BEACON_ROOTS_ADDRESS)) return undefined
  const environment = environmentOf(header, context)
  const senders = context.senders ?? recoverSenders(block, { ...context, spec })
  const run = new TransfersRun(accounts, environment)
  for (let index = 0; index < block.transactions.length; index++)
    if (!run.add(block.transactions[index]!, senders[index]!)) return undefined
  const credits = [
    ...blockRewards(rules.fork, header, uncles),
    ...withdrawalCredits(withdrawals ?? []),
  ]
  if (!credits.every((credit) => accounts.give(credit))) return undefined
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

  constructor(accounts: TransferAccounts, block: ExecutionBlock) {
    this.accounts = accounts
    this.block = block
    this.space = emptyBlockSpace(block)
  }

  /** False where the transaction is not for this way. */
  add(transaction: Transaction, sender: Uint8Array): boolean {
    const { accounts, block, space, gas } = this
    const { value, type } = transaction
    const to = transaction.to!
    if (!accounts.isPlain(to)) return false
    let cost: ReturnType<typeof checkTransaction>
    try {
      cost = checkTransaction(accounts, block, space, transaction, sender)
    } catch (error) {
      // The EVM's way names what is wrong, and where.
      if (isVarveError(error)) return false
      throw error
    }
    // No code runs, so nothing is used but what is paid ahead, and nothing is refunded.
    const gasUsed = cost.intrinsicGas
    assert(cost.floorGas === 0n && cost.blobGas === 0n, 'a plain transfer has one price')
    accounts.pay(sender, gasUsed * cost.gasPrice + value)
    if (!accounts.give({ address: to, amount: value })) return false
    const tip = gasUsed * (cost.gasPrice - block.baseFee)
    if (!accounts.give({ address: block.coinbase, amount: tip })) return false
    space.gasLeft -= gasUsed
    gas.add({ gasUsed, blockGasUsed: gasUsed, blockStateGasUsed: 0n })
    this.receipts.push(transactionReceipt(SUCCESS, { type, cumulativeGasUsed: gas.paid }))
    return true
  }
}

/** An account in the block. `nonce` and `balance` are those of `before` until something changes them. */
type TransferAccount = {
  readonly addressHash: Uint8Array
  readonly before: Account | undefined
  readonly hasCode: boolean
  nonce: bigint
  balance: bigint
}

/** The accounts that a block has touched, over the state before it. Lives for one block. */
class TransferAccounts implements AccountReader {
  private readonly view: StateView
  private readonly byAddress = new Map<string, TransferAccount>()

  constructor(view: StateView) {
    this.view = view
  }

  getNonce(address: Uint8Array): bigint {
    return this.load(address).nonce
  }

  getBalance(address: Uint8Array): bigint {
    return this.load(address).balance
  }

  /** 1 where there is code: no sender may have any, whatever its size, before delegations (EIP-3607). */
  getCodeSize(address: Uint8Array): number {
    return this.load(address).hasCode ? 1 : 0
  }

  getCode(): Uint8Array {
    return EMPTY_BYTES
  }

  /** Whether there is an account in the state before. */
  isThere(address: Uint8Array): boolean {
    return this.load(address).before !== undefined
  }

  /** Whether a message to this address runs nothing. */
  isPlain(address: Uint8Array): boolean {
    return !this.load(address).hasCode
  }

  /** Takes what a checked transaction costs its sender, and counts the transaction. */
  pay(address: Uint8Array, amount: bigint): void {
    const account = this.load(address)
    assert(account.balance >= amount, 'a checked transaction can be paid for')
    account.balance -= amount
    account.nonce++
  }

  /**
   * Gives wei. False for what the machine must do: a balance above 2^256-1, and the deletion of an empty account that
   * is touched. Giving nothing to what does not exist makes no account.
   */
  give({ address, amount }: BlockCredit): boolean {
    const account = this.load(address)
    if (account.before !== undefined && accountIsEmpty(account.before)) return false
    account.balance += amount
    return account.balance <= U256_MAX
  }

  /** What has become of all accounts. Those that were only looked at come as they were; sealing drops them. */
  changes(): AccountChange[] {
    const changes: AccountChange[] = []
    for (const { addressHash, before, nonce, balance } of this.byAddress.values()) {
      if (nonce === 0n && balance === 0n && before === undefined) continue
      const after = { nonce, balance, codeHash: (before ?? EMPTY_ACCOUNT).codeHash }
      changes.push({ addressHash, before, after, storageCleared: false, slots: [] })
    }
    return changes
  }

  private load(address: Uint8Array): TransferAccount {
    const key = hashKey(address)
    let account = this.byAddress.get(key)
    if (account === undefined) {
      const addressHash = addressHashOf(address)
      const before = this.view.account(addressHash)
      const { nonce, balance } = before ?? EMPTY_ACCOUNT
      const hasCode = before !== undefined && accountHasCode(before)
      account = { addressHash, before, hasCode, nonce, balance }
      this.byAddress.set(key, account)
    }
    return account
  }
}
