export {
  type AccountLeaf,
  decodeAccountLeaf,
  encodeAccountLeaf,
  encodeSlotLeaf,
} from './accountLeaf.ts'
export {
  type AccountProof,
  type AccountProofErrorCode,
  proveAccount,
  type SlotProof,
  type VerifiedAccount,
  verifyAccountProof,
} from './accountProof.ts'
export { accountNodeReader, storageNodeReader } from './nodeReaders.ts'
export {
  StateSummary,
  type StateSummaryErrorCode,
  type StorageNodeSet,
  type SummaryNodeSet,
} from './stateSummary.ts'
