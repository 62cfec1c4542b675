export {
  asDecoded,
  type Block,
  type Body,
  bodyOf,
  decodeBlock,
  decodeBody,
  decodeTransactions,
  encodeBlock,
  encodeBody,
  isDecodedList,
  joinDecoded,
  uncleHashOf,
} from './block.ts'
export {
  type AccountAccesses,
  accessItemCount,
  type BlockAccessList,
  type BlockAccessListErrorCode,
  blockAccessListHash,
  decodeBlockAccessList,
  encodeBlockAccessList,
  type SlotChanges,
  type StepChange,
} from './blockAccessList.ts'
export { type ChainFileBlock, type ChainFileErrorCode, ChainFileReader } from './chainFile.ts'
export { ERA1_BLOCK_COUNT_MAX, type Era1Block, type Era1ErrorCode, Era1Reader } from './era1.ts'
export { Era1Accumulator } from './era1Accumulator.ts'
export {
  decodeEra1Block,
  type Era1DecodedBlock,
  type Era1Summary,
  verifiedEra1Blocks,
  verifyEra1,
} from './era1Verify.ts'
export type { FileErrorCode } from './fileWindow.ts'
export {
  BLOOM_BYTES,
  decodeHeader,
  encodeHeader,
  type Header,
  type HeaderErrorCode,
  type HeaderFields,
  headerToRlp,
  NONCE_BYTES,
  readHeader,
  sealHeader,
} from './header.ts'
export { floorGas, intrinsicGas, intrinsicStateBytes } from './intrinsicGas.ts'
export {
  addLogToBloom,
  bloomOfLogs,
  decodeReceipt,
  decodeReceipts,
  decodeSlimReceipts,
  EMPTY_BLOOM,
  encodeEnvelopes,
  encodeReceipt,
  encodeReceipts,
  encodeSlimReceipts,
  type Log,
  logsToRlp,
  mergeBloom,
  type Receipt,
  type ReceiptErrorCode,
} from './receipt.ts'
export {
  decodeRlp,
  encodeRlp,
  encodeRlpWithPrefix,
  type RlpInput,
  type RlpItem,
  type RlpRaw,
  rlpBytesLength,
  rlpHeaderBytes,
  rlpIntegerLength,
  writeRlpBytes,
  writeRlpInteger,
  writeRlpListHeader,
} from './rlp.ts'
export { type RlpErrorCode, RlpReader } from './rlpReader.ts'
export { openSecp256k1, type Secp256k1, type Secp256k1ErrorCode } from './secp256k1.ts'
export { addressOfPublicKey, type SenderErrorCode, SenderRecovery } from './sender.ts'
export { type SnappyErrorCode, type SnappyStream, unpackSnappyStream } from './snappyFrame.ts'
export {
  type SszErrorCode,
  type SszType,
  type SszValue,
  sszBoolean,
  sszByteList,
  sszBytes,
  sszContainer,
  sszList,
  sszUint,
} from './ssz.ts'
export {
  type AccessListEntry,
  type AccessListFields,
  type Authorization,
  type BlobFields,
  type DynamicFeeFields,
  decodeTransaction,
  encodeTransaction,
  type LegacyFields,
  type SetCodeFields,
  sealTransaction,
  signingHash,
  type Transaction,
  type TransactionErrorCode,
  type TransactionFields,
  TransactionType,
  type UnsignedTransaction,
} from './transaction.ts'
export { SECP256K1_ORDER } from './transactionReaders.ts'
export {
  initCodeBytesMax,
  TRANSACTION_GAS_MAX,
  type TransactionRuleErrorCode,
  validateSignature,
  validateTransaction,
} from './transactionRules.ts'
export {
  decodeWithdrawal,
  encodeWithdrawal,
  type Withdrawal,
} from './withdrawal.ts'
