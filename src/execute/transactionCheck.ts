/**
 * Whether a transaction may run at this place of a block, and what it pays. Reads the state, changes nothing.
 * Yellow Paper section 6.2, in the order in which geth checks, so that a transaction with several faults gets the
 * same answer.
 *
 * Not here: the signature (`codec/`), which yields the sender.
 */
import { type BlobParameters, FORK_NAMES, Fork, U64_MAX, U256_MAX } from '../base/index.ts'
import { BLOB_GAS_PER_BLOB } from '../chain/index.ts'
import {
  floorGas,
  initCodeBytesMax,
  intrinsicGas,
  intrinsicStateBytes,
  TRANSACTION_GAS_MAX,
  TransactionType,
  type UnsignedTransaction,
} from '../codec/index.ts'
import { type BlockEnvironment, type Machine, stateByteGas } from '../evm/index.ts'
import { larger, smaller } from './bigints.ts'
import { delegateOf } from './delegation.ts'
import { rejection } from './transactionRejection.ts'

/** The block that transactions run in: what code sees of it, and its blob limits. */
export type ExecutionBlock = BlockEnvironment & {
  /** `undefined` before Cancun. */
  readonly blob: BlobParameters | undefined
}

/** What earlier transactions left of a block. */
export type BlockSpace = {
  /** From Amsterdam on the gas of work alone. */
  gasLeft: bigint
  /** For growth of the state (EIP-8037); nothing takes from it before Amsterdam. */
  stateGasLeft: bigint
  blobGasLeft: bigint
}

/** Price of an accepted transaction. Gas and wei. */
export type TransactionCost = {
  readonly intrinsicGas: bigint
  /** Of that kind, for growth of the state (EIP-8037); 0 before Amsterdam. */
  readonly intrinsicStateGas: bigint
  /** Least gas it pays, whatever it does (EIP-7623); 0 before Prague. */
  readonly floorGas: bigint
  /** Wei a gas it pays: base fee and tip. */
  readonly gasPrice: bigint
  readonly blobGas: bigint
}

/** EIP-7594. */
const TRANSACTION_BLOB_COUNT_MAX = 6
/** EIP-4844: first byte of a versioned hash. */
const VERSION_KZG = 1

/** The fork that brought each type. */
const TYPE_FORK = [Fork.Frontier, Fork.Berlin, Fork.London, Fork.Cancun, Fork.Prague] as const

/** The whole of a block that is to be filled. */
export function emptyBlockSpace(block: ExecutionBlock): BlockSpace {
  return {
    gasLeft: block.gasLimit,
    stateGasLeft: block.gasLimit,
    blobGasLeft: BigInt(block.blob?.max ?? 0) * BLOB_GAS_PER_BLOB,
  }
}

/** What the check asks of the state. Addresses have 20 bytes. */
export type AccountReader = Pick<Machine, 'getNonce' | 'getBalance' | 'getCodeSize' | 'getCode'>

/** @throws VarveError with a TransactionRejectionErrorCode */
export function checkTransaction(
  accounts: AccountReader,
  block: ExecutionBlock,
  space: BlockSpace,
  transaction: UnsignedTransaction,
  sender: Uint8Array,
): TransactionCost {
  const { fork } = block
  const { type } = transaction
  if (fork < TYPE_FORK[type])
    throw rejection(
      'TX_TYPE_NOT_SUPPORTED',
      `type ${type} needs ${FORK_NAMES[TYPE_FORK[type]]}, the block is ${FORK_NAMES[fork]}`,
    )
  checkNonce(accounts.getNonce(sender), transaction.nonce)
  if (fork === Fork.Osaka && transaction.gasLimit > TRANSACTION_GAS_MAX)
    throw rejection(
      'TX_GAS_LIMIT_CAP',
      `at most ${TRANSACTION_GAS_MAX}, got ${transaction.gasLimit}`,
    )
  const codeSize = accounts.getCodeSize(sender)
  if (codeSize > 0 && delegateOf(accounts, sender) === undefined)
    throw rejection('TX_SENDER_NOT_EOA', `the sender has ${codeSize} bytes of code`)
  const gasPrice = checkFees(block, transaction)
  const blobGas = checkBlobs(block, transaction)
  if (type === TransactionType.SetCode) checkAuthorizations(transaction)
  checkFunds(accounts.getBalance(sender), transaction, blobGas)
  const gas = gasOf(transaction, block)
  checkSpace(space, transaction, blobGas, fork)
  if (fork >= Fork.Amsterdam) checkSpaces(space, transaction, sureGas(block, gas))
  checkGas(transaction, fork, gas)
  // Named one by one: copying with `...` took a tenth of a transfer's time.
  return {
    intrinsicGas: gas.intrinsicGas,
    intrinsicStateGas: gas.intrinsicStateGas,
    floorGas: gas.floorGas,
    gasPrice,
    blobGas,
  }
}

/** Most that a gas may cost the sender. */
export function feeCap(transaction: UnsignedTransaction): bigint {
  return transaction.type === TransactionType.Legacy ||
    transaction.type === TransactionType.AccessList
    ? transaction.gasPrice
    : transaction.maxFeePerGas
}

function checkNonce(expected: bigint, nonce: bigint): void {
  if (nonce < expected)
    throw rejection('TX_NONCE_TOO_LOW', `expected ${expected}, got ${nonce}`, { expected, nonce })
  if (nonce > expected)
    throw rejection('TX_NONCE_TOO_HIGH', `expected ${expected}, got ${nonce}`, { expected, nonce })
  if (expected === U64_MAX) throw rejection('TX_NONCE_MAX', 'the nonce is 2^64-1')
}

/** Returns the price of a gas. */
function checkFees(block: ExecutionBlock, transaction: UnsignedTransaction): bigint {
  const cap = feeCap(transaction)
  if (block.fork < Fork.London) return cap
  const { baseFee } = block
  const tip = 'maxPriorityFeePerGas' in transaction ? transaction.maxPriorityFeePerGas : cap
  if (tip > cap) throw rejection('TX_TIP_ABOVE_FEE_CAP', `tip ${tip}, fee cap ${cap}`, { tip, cap })
  if (cap < baseFee)
    throw rejection('TX_FEE_CAP_TOO_LOW', `fee cap ${cap}, base fee ${baseFee}`, { cap, baseFee })
  return smaller(baseFee + tip, cap)
}

/** Returns the blob gas. */
function checkBlobs(block: ExecutionBlock, transaction: UnsignedTransaction): bigint {
  if (transaction.type !== TransactionType.Blob) return 0n
  const hashes = transaction.blobVersionedHashes
  // The type says that there is a receiver; what a person wrote as JSON may still lack one.
  if ((transaction.to as Uint8Array | undefined) === undefined)
    throw rejection('TX_BLOB_CREATE', 'expected a receiver')
  if (hashes.length === 0) throw rejection('TX_BLOBS_MISSING', 'expected at least one')
  if (block.fork >= Fork.Osaka && hashes.length > TRANSACTION_BLOB_COUNT_MAX)
    throw rejection(
      'TX_BLOBS_TOO_MANY',
      `at most ${TRANSACTION_BLOB_COUNT_MAX}, got ${hashes.length}`,
    )
  hashes.forEach((hash, index) => {
    if (hash[0] !== VERSION_KZG)
      throw rejection('TX_BLOB_VERSION', `expected ${VERSION_KZG}, blob ${index} has ${hash[0]}`)
  })
  const { blobBaseFee } = block
  const cap = transaction.maxFeePerBlobGas
  if (cap < blobBaseFee)
    throw rejection('TX_BLOB_FEE_CAP_TOO_LOW', `fee cap ${cap}, blob base fee ${blobBaseFee}`, {
      cap,
      blobBaseFee,
    })
  return BigInt(hashes.length) * BLOB_GAS_PER_BLOB
}

function checkAuthorizations(transaction: UnsignedTransaction & { readonly type: 4 }): void {
  if ((transaction.to as Uint8Array | undefined) === undefined)
    throw rejection('TX_SET_CODE_CREATE', 'expected a receiver')
  if (transaction.authorizationList.length === 0)
    throw rejection('TX_SET_CODE_EMPTY', 'expected at least one authorization')
}

function checkFunds(balance: bigint, transaction: UnsignedTransaction, blobGas: bigint): void {
  let cost = transaction.gasLimit * feeCap(transaction) + transaction.value
  if (transaction.type === TransactionType.Blob) cost += blobGas * transaction.maxFeePerBlobGas
  if (cost > U256_MAX) throw rejection('TX_FUNDS', 'required balance exceeds 256 bits')
  if (balance < cost) throw rejection('TX_FUNDS', `have ${balance} want ${cost}`, { balance, cost })
}

/** What a transaction pays before its first instruction, and at least. */
type GasOfTransaction = Pick<TransactionCost, 'intrinsicGas' | 'intrinsicStateGas' | 'floorGas'>

function gasOf(transaction: UnsignedTransaction, block: ExecutionBlock): GasOfTransaction {
  const { fork, amsterdamDraft } = block
  const stateBytes = BigInt(intrinsicStateBytes(transaction, fork))
  return {
    intrinsicGas: BigInt(intrinsicGas(transaction, fork, amsterdamDraft)),
    intrinsicStateGas: stateBytes * stateByteGas(block),
    floorGas: BigInt(floorGas(transaction, fork, amsterdamDraft)),
  }
}

function checkSpace(
  space: BlockSpace,
  transaction: UnsignedTransaction,
  blobGas: bigint,
  fork: Fork,
): void {
  const { gasLimit } = transaction
  if (fork < Fork.Amsterdam && gasLimit > space.gasLeft)
    throw spaceRejection(space.gasLeft, gasLimit)
  if (blobGas > space.blobGasLeft)
    throw rejection('TX_BLOB_GAS_LIMIT_REACHED', `have ${space.blobGasLeft}, want ${blobGas}`, {
      blobGasLeft: space.blobGasLeft,
      blobGas,
    })
}

/** What a transaction surely pays of each kind, as far as the draft looks at it. */
function sureGas({ amsterdamDraft }: ExecutionBlock, gas: GasOfTransaction): GasOfTransaction {
  return amsterdamDraft === 'bal@v5.6' ? NO_GAS : gas
}

const NO_GAS: GasOfTransaction = { intrinsicGas: 0n, intrinsicStateGas: 0n, floorGas: 0n }

/**
 * The most that the transaction may take of the block has to be left of it: of each kind of gas, what its limit leaves
 * when it has paid what is surely of the other kind (EIP-8037).
 */
function checkSpaces(
  space: BlockSpace,
  { gasLimit }: UnsignedTransaction,
  sure: GasOfTransaction,
): void {
  const work = smaller(gasLimit - sure.intrinsicStateGas, TRANSACTION_GAS_MAX)
  if (work > space.gasLeft) throw spaceRejection(space.gasLeft, work)
  const growth = gasLimit - sure.intrinsicGas
  if (growth > space.stateGasLeft) throw spaceRejection(space.stateGasLeft, growth)
}

function spaceRejection(gasLeft: bigint, gasLimit: bigint): ReturnType<typeof rejection> {
  return rejection('TX_GAS_LIMIT_REACHED', `have ${gasLeft}, want ${gasLimit}`, {
    gasLeft,
    gasLimit,
  })
}

function checkGas(transaction: UnsignedTransaction, fork: Fork, gas: GasOfTransaction): void {
  const { gasLimit, data } = transaction
  const intrinsic = gas.intrinsicGas + gas.intrinsicStateGas
  if (gasLimit < intrinsic)
    throw rejection('TX_INTRINSIC_GAS', `have ${gasLimit}, want ${intrinsic}`, {
      gasLimit,
      intrinsic,
    })
  const floor = gas.floorGas
  if (gasLimit < floor)
    throw rejection('TX_FLOOR_GAS', `have ${gasLimit}, want ${floor}`, { gasLimit, floor })
  if (fork >= Fork.Amsterdam) checkGasOfWork(gas)
  const isCreation = transaction.to === undefined
  const limit = initCodeBytesMax(fork)
  if (isCreation && fork >= Fork.Shanghai && data.length > limit)
    throw rejection('TX_INIT_CODE_SIZE', `code size ${data.length} limit ${limit}`, {
      size: data.length,
      limit,
    })
}

/** The cap of EIP-7825 is one for the gas of work, whatever the limit has beyond it (EIP-8037). */
function checkGasOfWork({ intrinsicGas, floorGas }: GasOfTransaction): void {
  const least = larger(intrinsicGas, floorGas)
  if (least > TRANSACTION_GAS_MAX)
    throw rejection('TX_INTRINSIC_GAS', `at most ${TRANSACTION_GAS_MAX}, want ${least}`, {
      gasLimit: TRANSACTION_GAS_MAX,
      intrinsic: least,
    })
}
