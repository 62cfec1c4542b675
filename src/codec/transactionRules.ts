/**
 * What a fork demands of a transaction by itself: no state, no header. The balance, the nonce of the account, the
 * base fee and the block's blob limits are checked where the transaction is executed. Frontier to Amsterdam.
 */
import { FORK_NAMES, Fork, U64_MAX, U256_MAX, VarveError } from '../base/index.ts'
import { floorGas, intrinsicGas } from './intrinsicGas.ts'
import { type Transaction, TransactionType } from './transaction.ts'
import { SECP256K1_ORDER } from './transactionReaders.ts'

/** Longest init code (EIP-3860, EIP-7954). */
const INIT_CODE_BYTES_MAX = 49_152
const INIT_CODE_BYTES_MAX_AMSTERDAM = 65_536
/**
 * Largest gas limit of one transaction in Osaka (EIP-7825). From Amsterdam on it bounds the gas of work alone: what a
 * limit has above it is for growth of the state (EIP-8037).
 */
export const TRANSACTION_GAS_MAX = 1n << 24n
/** Blobs of one transaction from Osaka on (EIP-7594); before, the block's limit is the only one. */
const BLOB_COUNT_MAX_OSAKA = 6
/** First byte of a hash of a KZG commitment (EIP-4844). */
const VERSIONED_HASH_KZG = 1

/** The fork that brought each type. */
const TYPE_FORK = [Fork.Frontier, Fork.Berlin, Fork.London, Fork.Cancun, Fork.Prague] as const

/** Bytes of the longest init code under a fork, from Shanghai on. */
export function initCodeBytesMax(fork: Fork): number {
  return fork >= Fork.Amsterdam ? INIT_CODE_BYTES_MAX_AMSTERDAM : INIT_CODE_BYTES_MAX
}

/**
 * Checks a decoded transaction against a fork and returns its intrinsic gas.
 * @throws VarveError with a TransactionRuleErrorCode
 */
export function validateTransaction(
  transaction: Transaction,
  rules: { readonly fork: Fork; readonly chainId: bigint },
): number {
  const { fork } = rules
  const typeFork = TYPE_FORK[transaction.type]
  if (fork < typeFork)
    throw ruleFault(
      'TRANSACTION_TYPE_UNSUPPORTED',
      `expected fork ${FORK_NAMES[typeFork]} or later for type ${transaction.type}, got ${FORK_NAMES[fork]}`,
    )
  validateSignature(transaction, rules)
  checkFees(transaction)
  if (transaction.nonce === U64_MAX)
    throw ruleFault('TRANSACTION_NONCE_MAX', 'expected a nonce below 2^64-1 (EIP-2681)')
  if (
    fork >= Fork.Shanghai &&
    transaction.to === undefined &&
    transaction.data.length > initCodeBytesMax(fork)
  )
    throw ruleFault(
      'TRANSACTION_INIT_CODE_LONG',
      `expected at most ${initCodeBytesMax(fork)} bytes of init code, got ${transaction.data.length}`,
    )
  if (transaction.type === TransactionType.Blob) checkBlobs(transaction.blobVersionedHashes, fork)
  if (transaction.type === TransactionType.SetCode && transaction.authorizationList.length === 0)
    throw ruleFault(
      'TRANSACTION_AUTHORIZATIONS_EMPTY',
      'expected at least one authorization, got 0',
    )
  return checkGas(transaction, fork)
}

/**
 * Checks what a fork demands of a signature: the chain that it is bound to, and its form. The type is the caller's.
 * @throws VarveError TRANSACTION_CHAIN_ID, TRANSACTION_SIGNATURE_HIGH_S
 */
export function validateSignature(
  transaction: Transaction,
  { fork, chainId }: { readonly fork: Fork; readonly chainId: bigint },
): void {
  if (transaction.chainId !== undefined) {
    if (fork < Fork.SpuriousDragon && transaction.type === TransactionType.Legacy)
      throw ruleFault(
        'TRANSACTION_CHAIN_ID',
        `expected v of 27 or 28 before EIP-155, got chain id ${transaction.chainId}`,
      )
    if (transaction.chainId !== chainId)
      throw ruleFault(
        'TRANSACTION_CHAIN_ID',
        `expected chain id ${chainId}, got ${transaction.chainId}`,
      )
  }
  // EIP-2: of the two forms of a signature only the one with the lower s is valid.
  if (fork >= Fork.Homestead && transaction.s > SECP256K1_ORDER >> 1n)
    throw ruleFault(
      'TRANSACTION_SIGNATURE_HIGH_S',
      `expected s of at most n/2, got ${transaction.s}`,
    )
}

function checkFees(transaction: Transaction): void {
  let feePerGas: bigint
  if (
    transaction.type === TransactionType.Legacy ||
    transaction.type === TransactionType.AccessList
  )
    feePerGas = transaction.gasPrice
  else {
    feePerGas = transaction.maxFeePerGas
    if (transaction.maxPriorityFeePerGas > feePerGas)
      throw ruleFault(
        'TRANSACTION_PRIORITY_FEE',
        `expected a priority fee of at most ${feePerGas}, got ${transaction.maxPriorityFeePerGas}`,
      )
  }
  // No balance could pay for it, so this is a fault of the transaction by itself.
  if (feePerGas * transaction.gasLimit > U256_MAX)
    throw ruleFault('TRANSACTION_FEE_OVERFLOW', 'expected gas limit times price below 2^256')
}

function checkBlobs(hashes: readonly Uint8Array[], fork: Fork): void {
  if (hashes.length === 0) throw ruleFault('TRANSACTION_BLOBS', 'expected at least one blob, got 0')
  if (fork >= Fork.Osaka && hashes.length > BLOB_COUNT_MAX_OSAKA)
    throw ruleFault(
      'TRANSACTION_BLOBS',
      `expected at most ${BLOB_COUNT_MAX_OSAKA} blobs, got ${hashes.length}`,
    )
  for (const hash of hashes)
    if (hash[0] !== VERSIONED_HASH_KZG)
      throw ruleFault('TRANSACTION_BLOBS', `expected blob hashes of version 1, got ${hash[0]}`)
}

function checkGas(transaction: Transaction, fork: Fork): number {
  const { gasLimit } = transaction
  if (fork === Fork.Osaka && gasLimit > TRANSACTION_GAS_MAX)
    throw ruleFault(
      'TRANSACTION_GAS_LIMIT_MAX',
      `expected a gas limit of at most ${TRANSACTION_GAS_MAX}, got ${gasLimit}`,
    )
  const intrinsic = intrinsicGas(transaction, fork)
  const required = Math.max(intrinsic, floorGas(transaction, fork))
  if (fork >= Fork.Amsterdam && BigInt(required) > TRANSACTION_GAS_MAX)
    throw ruleFault(
      'TRANSACTION_GAS_INTRINSIC',
      `expected intrinsic gas of at most ${TRANSACTION_GAS_MAX}, got ${required}`,
    )
  if (gasLimit < BigInt(required))
    throw ruleFault(
      'TRANSACTION_GAS_INTRINSIC',
      `expected a gas limit of at least ${required}, got ${gasLimit}`,
    )
  return intrinsic
}

function ruleFault(
  code: TransactionRuleErrorCode,
  problem: string,
): VarveError<TransactionRuleErrorCode> {
  return new VarveError(code, `transaction: ${problem}`)
}

/** Error codes of this module. */
export type TransactionRuleErrorCode =
  /** The fork does not know the type yet. */
  | 'TRANSACTION_TYPE_UNSUPPORTED'
  /** The chain id is another chain's, or the fork knows none. */
  | 'TRANSACTION_CHAIN_ID'
  /** s lies in the upper half (EIP-2). */
  | 'TRANSACTION_SIGNATURE_HIGH_S'
  /** The nonce is 2^64-1 (EIP-2681). */
  | 'TRANSACTION_NONCE_MAX'
  /** The priority fee is above the whole fee. */
  | 'TRANSACTION_PRIORITY_FEE'
  /** Gas limit times price does not fit in 256 bits. */
  | 'TRANSACTION_FEE_OVERFLOW'
  /** Init code is longer than EIP-3860 allows. */
  | 'TRANSACTION_INIT_CODE_LONG'
  /** No blob, too many of them, or a hash of unknown version. */
  | 'TRANSACTION_BLOBS'
  /** A set-code transaction without authorization. */
  | 'TRANSACTION_AUTHORIZATIONS_EMPTY'
  /** The gas limit is above the cap of EIP-7825. */
  | 'TRANSACTION_GAS_LIMIT_MAX'
  /** The gas limit is below the intrinsic gas or the floor of EIP-7623. */
  | 'TRANSACTION_GAS_INTRINSIC'
