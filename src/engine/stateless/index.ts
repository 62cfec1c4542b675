/** Verifying a block without its state: `varve/stateless`. */
export type { UnprovenAccounts, WitnessPreimages } from '../../commit/index.ts'
export { AncestorChain, type AncestorChainErrorCode } from './ancestorChain.ts'
export {
  makeWitness,
  type RecordedWitness,
  recordWitness,
  type WitnessSource,
} from './makeWitness.ts'
export {
  executeWitness,
  type KnownParent,
  StatelessExecutor,
  type StatelessOptions,
  type StatelessResult,
} from './statelessExecutor.ts'
export {
  blockOfStatelessInput,
  decodeStatelessInput,
  encodeStatelessOutput,
  requestRootOf,
  type StatelessInput,
  type StatelessOutput,
} from './statelessInput.ts'
export {
  type BlockWitness,
  type WitnessErrorCode,
  type WitnessJson,
  witnessFromJson,
  witnessToJson,
} from './witness.ts'
