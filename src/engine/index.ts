export { NodeArena } from '../arena/index.ts'
export { fromHex, type Hex, isVarveError, toHex, VarveError } from '../base/index.ts'
export {
  type AccountProof,
  type SlotProof,
  type VerifiedAccount,
  verifyAccountProof,
} from '../commit/index.ts'
export type { BlockCheckErrorCode } from './blockCheck.ts'
export type { BlockSource } from './blockSource.ts'
export { Branch, type BranchChoices, type BranchOutcome } from './branch/branch.ts'
export type { BranchStatus } from './branch/branchBases.ts'
export { type BulkAccount, type BulkGenesisErrorCode, writeGenesis } from './bulkGenesis.ts'
export type { ChainRecordErrorCode, HeadRecord, StoredHeader } from './chainRecords.ts'
export {
  Engine,
  type EngineErrorCode,
  type EngineOptions,
  openEngine,
} from './engine.ts'
export { allocationDelta, networkOfAccounts } from './genesisState.ts'
export {
  type ImportErrorCode,
  type ImportOptions,
  type ImportProgress,
  type ImportResult,
  importChain,
} from './importChain.ts'
export type { ImportOutcome } from './importOutcome.ts'
export type { IntakeErrorCode } from './intake.ts'
export { type JournalBacklog, readBacklog } from './journalBacklog.ts'
export type { JournalingErrorCode } from './journaling.ts'
export { MEMORY_BYTES_MIN } from './memory.ts'
export { encodedBlockSource, openBlockSource } from './openBlockSource.ts'
export {
  blockOfPayload,
  type ExecutionPayload,
  type PayloadErrorCode,
  type PayloadExtras,
} from './payload.ts'
export { PHASES, type Phase, type PhaseSeconds } from './phases.ts'
export { delayedStages } from './pipeline/delayedStages.ts'
export type {
  Pipeline,
  PipelineErrorCode,
  PipelineOptions,
  PipelineStatus,
  Pushed,
} from './pipeline/pipeline.ts'
export type { Accepted } from './pipeline/speculation.ts'
export { DURABLE_STEPS, STEP_NEEDS, type Step, type StepListener } from './pipeline/stepOrder.ts'
export { SenderPool, type SentBlock } from './senders/senderPool.ts'
export type { BlockWitness } from './stateless/witness.ts'
export type { HeadMove } from './tree/keptChain.ts'
export type { KeptStateErrorCode } from './tree/keptState.ts'
export type { BlockId } from './tree/lookup.ts'
export { type Difference, describeDifference } from './verify/difference.ts'
export { type VerifyProgress, verifyStore } from './verify/verifyStore.ts'
export { EngineView } from './view.ts'
export type { BlockCosts, Cost, KeyCost } from './watch/blockCosts.ts'
export type { EngineStatus } from './watch/engineStatus.ts'
export type {
  BlockReport,
  EngineObserver,
  ReadCounts,
  WriteCounts,
  WriteReport,
} from './watch/observer.ts'
