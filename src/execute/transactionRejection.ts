/**
 * Why a transaction cannot be part of a block at this place: stable codes, each with the wording of geth, which tools
 * that drive several clients compare.
 */
import { type ErrorData, VarveError } from '../base/index.ts'

const WORDING = {
  TX_TYPE_NOT_SUPPORTED: 'transaction type not supported',
  TX_NONCE_TOO_LOW: 'nonce too low',
  TX_NONCE_TOO_HIGH: 'nonce too high',
  TX_NONCE_MAX: 'nonce has max value',
  TX_GAS_LIMIT_CAP: 'transaction gas limit too high',
  TX_SENDER_NOT_EOA: 'sender not an eoa',
  TX_TIP_ABOVE_FEE_CAP: 'max priority fee per gas higher than max fee per gas',
  TX_FEE_CAP_TOO_LOW: 'max fee per gas less than block base fee',
  TX_BLOB_CREATE: 'blob transaction of type create',
  TX_BLOBS_MISSING: 'blob transaction missing blob hashes',
  TX_BLOBS_TOO_MANY: 'blob transaction has too many blobs',
  TX_BLOB_VERSION: 'blob has invalid hash version',
  TX_BLOB_FEE_CAP_TOO_LOW: 'max fee per blob gas less than block blob gas fee',
  TX_BLOB_GAS_LIMIT_REACHED: 'blob gas limit reached',
  TX_SET_CODE_CREATE: 'EIP-7702 transaction cannot be used to create contract',
  TX_SET_CODE_EMPTY: 'EIP-7702 transaction with empty auth list',
  TX_FUNDS: 'insufficient funds for gas * price + value',
  TX_GAS_LIMIT_REACHED: 'gas limit reached',
  TX_INTRINSIC_GAS: 'intrinsic gas too low',
  TX_FLOOR_GAS: 'insufficient gas for floor data gas cost',
  TX_INIT_CODE_SIZE: 'max initcode size exceeded',
} as const satisfies Record<TransactionRejectionErrorCode, string>

/** A transaction that the block may not hold. The state is as if it had never been tried. */
export type TransactionRejection = VarveError<TransactionRejectionErrorCode>

/** @param detail what was expected and what came, after geth's wording */
export function rejection(
  code: TransactionRejectionErrorCode,
  detail: string,
  data?: ErrorData,
): TransactionRejection {
  return new VarveError(code, `${WORDING[code]}: ${detail}`, data)
}

/** Narrows an unknown thrown value to a rejection. */
export function isTransactionRejection(error: unknown): error is TransactionRejection {
  return error instanceof VarveError && Object.hasOwn(WORDING, error.code)
}

/** Error codes of this module, in the order in which they are checked. */
export type TransactionRejectionErrorCode =
  /** The fork does not know the transaction's type yet. */
  | 'TX_TYPE_NOT_SUPPORTED'
  /** The sender has sent a transaction with this nonce already. */
  | 'TX_NONCE_TOO_LOW'
  /** The sender has not sent the transaction before this one. */
  | 'TX_NONCE_TOO_HIGH'
  /** The sender's nonce is 2^64-1 and can rise no more (EIP-2681). */
  | 'TX_NONCE_MAX'
  /** The gas limit is above 2^24 (EIP-7825). */
  | 'TX_GAS_LIMIT_CAP'
  /** The sender has code that is no delegation (EIP-3607). */
  | 'TX_SENDER_NOT_EOA'
  /** The priority fee is above the whole fee (EIP-1559). */
  | 'TX_TIP_ABOVE_FEE_CAP'
  /** The fee offered a gas is below the block's base fee (EIP-1559). */
  | 'TX_FEE_CAP_TOO_LOW'
  /** A blob transaction has no receiver (EIP-4844). */
  | 'TX_BLOB_CREATE'
  /** A blob transaction has no blob. */
  | 'TX_BLOBS_MISSING'
  /** A transaction has more than six blobs (EIP-7594). */
  | 'TX_BLOBS_TOO_MANY'
  /** A versioned hash is of an unknown version. */
  | 'TX_BLOB_VERSION'
  /** The fee offered a blob gas is below the block's blob base fee. */
  | 'TX_BLOB_FEE_CAP_TOO_LOW'
  /** The block has no room left for this many blobs. */
  | 'TX_BLOB_GAS_LIMIT_REACHED'
  /** A set-code transaction has no receiver (EIP-7702). */
  | 'TX_SET_CODE_CREATE'
  /** A set-code transaction has no authorization. */
  | 'TX_SET_CODE_EMPTY'
  /** The sender cannot pay the value and the most that gas and blobs may cost. */
  | 'TX_FUNDS'
  /** The block has less gas left than the transaction's limit. */
  | 'TX_GAS_LIMIT_REACHED'
  /** The gas limit is below what the transaction costs before its first instruction. */
  | 'TX_INTRINSIC_GAS'
  /** The gas limit is below the floor for the transaction's data (EIP-7623). */
  | 'TX_FLOOR_GAS'
  /** Init code is longer than 49,152 bytes (EIP-3860). */
  | 'TX_INIT_CODE_SIZE'
