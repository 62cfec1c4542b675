/** Why geth refuses a transaction, in its exact words: `result.json` repeats them, and tools compare. */
import { ADDRESS_BYTES, Fork, isVarveError, toBareHex } from '../../base/index.ts'
import { SECP256K1_ORDER, TRANSACTION_GAS_MAX, type Transaction } from '../../codec/index.ts'
import { feeCap, type TransactionRejection } from '../../execute/index.ts'
import { keccak256 } from '../../kernels/index.ts'

/** The fork that brought each type. */
const TYPE_FORK = [Fork.Frontier, Fork.Berlin, Fork.London, Fork.Cancun, Fork.Prague] as const
const INVALID_SIGNATURE = 'invalid transaction v, r, s values'
/** Most blobs of one transaction (EIP-7594). */
const TRANSACTION_BLOB_COUNT_MAX = 6

/** What keeps geth from naming the sender, or `undefined`. */
export function signatureProblem(
  transaction: Pick<Transaction, 'type' | 'r' | 's'> & { readonly chainId: bigint | undefined },
  fork: Fork,
  chainId: bigint,
): string | undefined {
  if (fork < TYPE_FORK[transaction.type]) return 'transaction type not supported'
  if (transaction.chainId !== undefined) {
    if (fork < Fork.SpuriousDragon) return INVALID_SIGNATURE
    if (transaction.chainId !== chainId)
      return `invalid chain id for signer: have ${transaction.chainId} want ${chainId}`
  }
  const { r, s } = transaction
  const most = fork >= Fork.Homestead ? SECP256K1_ORDER >> 1n : SECP256K1_ORDER - 1n
  const isValid = r > 0n && r < SECP256K1_ORDER && s > 0n && s <= most
  return isValid ? undefined : INVALID_SIGNATURE
}

/** geth's words for a rejection by execution. */
export function rejectionText(
  rejection: TransactionRejection,
  transaction: Transaction,
  sender: Uint8Array,
  code: Uint8Array,
): string {
  const data = rejection.data
  const address = `address ${checksumAddress(sender)}`
  const words = rejection.message.slice(0, rejection.message.indexOf(': '))
  switch (rejection.code) {
    case 'TX_NONCE_TOO_LOW':
    case 'TX_NONCE_TOO_HIGH':
      return `${words}: ${address}, tx: ${transaction.nonce} state: ${data['expected']}`
    case 'TX_NONCE_MAX':
      return `${words}: ${address}, nonce: ${transaction.nonce}`
    case 'TX_GAS_LIMIT_CAP':
      return `${words} (cap: ${TRANSACTION_GAS_MAX}, tx: ${transaction.gasLimit})`
    case 'TX_SENDER_NOT_EOA':
      return `${words}: ${address}, len(code): ${code.length}`
    case 'TX_TIP_ABOVE_FEE_CAP':
      return `${words}: ${address}, maxPriorityFeePerGas: ${data['tip']}, maxFeePerGas: ${data['cap']}`
    case 'TX_FEE_CAP_TOO_LOW':
      return `${words}: ${address}, maxFeePerGas: ${feeCap(transaction)}, baseFee: ${data['baseFee']}`
    case 'TX_BLOB_FEE_CAP_TOO_LOW':
      return `${words}: ${address} blobGasFeeCap: ${data['cap']}, blobBaseFee: ${data['blobBaseFee']}`
    case 'TX_BLOB_VERSION':
      return `blob ${/blob (\d+)/.exec(rejection.message)?.[1] ?? 0} has invalid hash version`
    case 'TX_BLOBS_TOO_MANY':
      return `${words}: have ${blobCount(transaction)}, permitted: ${TRANSACTION_BLOB_COUNT_MAX}`
    case 'TX_SET_CODE_CREATE':
    case 'TX_SET_CODE_EMPTY':
      return `${words} (sender ${checksumAddress(sender)})`
    case 'TX_FUNDS':
      return data['cost'] === undefined
        ? `${words}: ${address} required balance exceeds 256 bits`
        : `${words}: ${address} have ${data['balance']} want ${data['cost']}`
    case 'TX_INTRINSIC_GAS':
      return `${words}: have ${transaction.gasLimit}, want ${data['intrinsic']}`
    case 'TX_FLOOR_GAS':
      return `${words}: have ${transaction.gasLimit}, want ${data['floor']}`
    case 'TX_INIT_CODE_SIZE':
      return `${words}: code size ${data['size']} limit ${data['limit']}`
    case 'TX_TYPE_NOT_SUPPORTED':
    case 'TX_BLOB_CREATE':
    case 'TX_BLOBS_MISSING':
    case 'TX_BLOB_GAS_LIMIT_REACHED':
    case 'TX_GAS_LIMIT_REACHED':
      return words
    default:
      return isVarveError(rejection) ? words : String(rejection)
  }
}

function blobCount(transaction: Transaction): number {
  return 'blobVersionedHashes' in transaction ? transaction.blobVersionedHashes.length : 0
}

/** An address with the mixed case of EIP-55. */
export function checksumAddress(address: Uint8Array): string {
  const text = toBareHex(address)
  const hash = toBareHex(keccak256(new TextEncoder().encode(text)))
  let result = '0x'
  for (let index = 0; index < 2 * ADDRESS_BYTES; index++)
    result += Number.parseInt(hash[index]!, 16) >= 8 ? text[index]!.toUpperCase() : text[index]
  return result
}
