/** Withdrawals from the beacon chain (EIP-4895). */
import { ADDRESS_BYTES } from '../base/index.ts'
import { encodeRlp, type RlpInput } from './rlp.ts'
import { RlpReader } from './rlpReader.ts'

export type Withdrawal = {
  /** Running number over all withdrawals, below 2^64. */
  readonly index: bigint
  /** Below 2^64. */
  readonly validatorIndex: bigint
  /** Receiver, 20 bytes. */
  readonly address: Uint8Array
  /** In gwei, below 2^64. */
  readonly amount: bigint
}

/** Decodes one withdrawal; the address is a view of `bytes`. @throws VarveError RLP_* */
export function decodeWithdrawal(bytes: Uint8Array): Withdrawal {
  const reader = new RlpReader(bytes)
  const withdrawal = readWithdrawal(reader)
  reader.finish('withdrawal')
  return withdrawal
}

/** Reads a withdrawal at the reader's position. @throws VarveError RLP_* */
export function readWithdrawal(reader: RlpReader): Withdrawal {
  const outerEnd = reader.openList('withdrawal')
  const withdrawal = {
    index: reader.readBigint(8, 'withdrawal.index'),
    validatorIndex: reader.readBigint(8, 'withdrawal.validatorIndex'),
    address: reader.readFixed(ADDRESS_BYTES, 'withdrawal.address'),
    amount: reader.readBigint(8, 'withdrawal.amount'),
  }
  reader.closeList(outerEnd, 'withdrawal')
  return withdrawal
}

/** Encodes one withdrawal: the value that the withdrawals trie holds. */
export function encodeWithdrawal(withdrawal: Withdrawal): Uint8Array {
  return encodeRlp(withdrawalToRlp(withdrawal))
}

/** A withdrawal as RLP fields, for encoders that embed it. */
export function withdrawalToRlp(withdrawal: Withdrawal): RlpInput[] {
  return [withdrawal.index, withdrawal.validatorIndex, withdrawal.address, withdrawal.amount]
}
