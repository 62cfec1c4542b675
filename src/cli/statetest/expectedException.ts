/**
 * Whether a rejection is the one that a test expects. The names come from three tools over the years; a name that is
 * not listed is met by any rejection.
 */

/** Prefixes of the codes that answer to a name; alternatives where the fault can be found in two places. */
const CODES_BY_NAME: Readonly<Record<string, readonly string[]>> = {
  TYPE_1_TX_PRE_FORK: ['TX_TYPE_NOT_SUPPORTED'],
  TYPE_2_TX_PRE_FORK: ['TX_TYPE_NOT_SUPPORTED'],
  TYPE_3_TX_PRE_FORK: ['TX_TYPE_NOT_SUPPORTED'],
  TYPE_4_TX_PRE_FORK: ['TX_TYPE_NOT_SUPPORTED'],
  TR_TypeNotSupported: ['TX_TYPE_NOT_SUPPORTED'],
  NONCE_MISMATCH_TOO_LOW: ['TX_NONCE_TOO_LOW'],
  NONCE_MISMATCH_TOO_HIGH: ['TX_NONCE_TOO_HIGH'],
  NONCE_IS_MAX: ['TX_NONCE_MAX'],
  GAS_LIMIT_EXCEEDS_MAXIMUM: ['TX_GAS_LIMIT_CAP'],
  SENDER_NOT_EOA: ['TX_SENDER_NOT_EOA'],
  SenderNotEOA: ['TX_SENDER_NOT_EOA'],
  PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS: ['TX_TIP_ABOVE_FEE_CAP'],
  TR_TipGtFeeCap: ['TX_TIP_ABOVE_FEE_CAP'],
  INSUFFICIENT_MAX_FEE_PER_GAS: ['TX_FEE_CAP_TOO_LOW'],
  TR_FeeCapLessThanBlocks: ['TX_FEE_CAP_TOO_LOW'],
  // Without a receiver a blob or set-code transaction is no valid encoding either.
  TYPE_3_TX_CONTRACT_CREATION: ['TX_BLOB_CREATE', 'RLP_'],
  TR_BLOBCREATE: ['TX_BLOB_CREATE', 'RLP_'],
  TYPE_4_TX_CONTRACT_CREATION: ['TX_SET_CODE_CREATE', 'RLP_'],
  TYPE_4_EMPTY_AUTHORIZATION_LIST: ['TX_SET_CODE_EMPTY'],
  TYPE_3_TX_ZERO_BLOBS: ['TX_BLOBS_MISSING'],
  TYPE_3_TX_INVALID_BLOB_VERSIONED_HASH: ['TX_BLOB_VERSION'],
  TYPE_3_TX_BLOB_COUNT_EXCEEDED: ['TX_BLOBS_TOO_MANY', 'TX_BLOB_GAS_LIMIT_REACHED'],
  TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED: ['TX_BLOBS_TOO_MANY', 'TX_BLOB_GAS_LIMIT_REACHED'],
  INSUFFICIENT_MAX_FEE_PER_BLOB_GAS: ['TX_BLOB_FEE_CAP_TOO_LOW'],
  INSUFFICIENT_ACCOUNT_FUNDS: ['TX_FUNDS'],
  TR_NoFunds: ['TX_FUNDS'],
  GAS_ALLOWANCE_EXCEEDED: ['TX_GAS_LIMIT_REACHED'],
  TR_GasLimitReached: ['TX_GAS_LIMIT_REACHED'],
  INTRINSIC_GAS_TOO_LOW: ['TX_INTRINSIC_GAS', 'TX_FLOOR_GAS'],
  TR_IntrinsicGas: ['TX_INTRINSIC_GAS'],
  INTRINSIC_GAS_BELOW_FLOOR_GAS_COST: ['TX_INTRINSIC_GAS', 'TX_FLOOR_GAS'],
  INITCODE_SIZE_EXCEEDED: ['TX_INIT_CODE_SIZE'],
  TR_InitCodeLimitExceeded: ['TX_INIT_CODE_SIZE'],
  RLP_INVALID_VALUE: ['RLP_'],
  TR_RLP_WRONGVALUE: ['RLP_'],
  INVALID_CHAINID: ['TRANSACTION_CHAIN_ID'],
}

/**
 * @param expected names joined by `|`, each with or without `TransactionException.`
 * @param code of the rejection
 */
export function isExpectedException(expected: string, code: string): boolean {
  return expected.split('|').some((alternative) => {
    const name = alternative.slice(alternative.lastIndexOf('.') + 1)
    const codes = Object.hasOwn(CODES_BY_NAME, name) ? CODES_BY_NAME[name] : undefined
    return codes === undefined || codes.some((prefix) => code.startsWith(prefix))
  })
}
