export {
  type AccountLeaf,
  type AccountLeafErrorCode,
  type ByteSpan,
  decodeAccountLeaf,
  decodeSlotLeaf,
  encodeAccountLeaf,
  encodeSlotLeaf,
  leafOfRow,
  slotLeafIsOfRow,
} from './accountLeaf.ts'
export {
  type AccountProof,
  type AccountProofErrorCode,
  proveAccount,
  type SlotProof,
  type VerifiedAccount,
  verifyAccountProof,
} from './accountProof.ts'
export { BlockRoots } from './blockRoots.ts'
export type { ChangeSink, SinkModule, SinkSource } from './modes/changeSink.ts'
export {
  COMMIT_MODES,
  type CommitMode,
  type CommitModeWish,
  type ModeChoice,
  ModeChooser,
  type ModeCost,
  type ModeModel,
  type ModeOperation,
} from './modes/modeChooser.ts'
export { type CommitPart, type CommitToOptions, TrieCrew } from './modes/trieCrew.ts'
export {
  accountNodeReader,
  type RowReader,
  type StateNodes,
  storageNodeReader,
  storageRootOf,
  storedNodes,
} from './nodeReaders.ts'
export {
  StateSummary,
  type StateSummaryErrorCode,
  type StorageNodeSet,
  type SummaryNodeSet,
} from './stateSummary.ts'
export { type CodeReader, SummaryView } from './summaryView.ts'
export {
  type KeyNodes,
  type NodeCounts,
  type TriePart,
  type TrieReport,
  TrieWatch,
} from './trieWatch.ts'
export { RecordingView, WitnessRecorder } from './witnessRecorder.ts'
export {
  openWitnessState,
  type UnprovenAccounts,
  type WitnessPreimages,
  type WitnessState,
  type WitnessStateErrorCode,
} from './witnessState.ts'
