/** The Ethereum virtual machine: messages over a block's state, for every fork. */

export {
  type EnterEvent,
  type EvmHooks,
  type ExitEvent,
  HOOK_NAMES,
  joinHooks,
  type LogEvent,
  type SelfDestructEvent,
  type SlotEvent,
  type StepEvent,
} from './hooks.ts'
export type { Host, HostAccount, StorageReader } from './host.ts'
export {
  type BlockEnvironment,
  type CallMessage,
  type CreateMessage,
  type Log,
  Machine,
  type MachineOptions,
  type MessageResult,
  type Snapshot,
  type StateGasResult,
  type TransactionEnvironment,
} from './machine.ts'
export { OPCODES, type Opcode, opcodeName } from './opcodes.ts'
export {
  PRECOMPILE_SETS,
  type Precompile,
  type PrecompileResult,
  type PrecompileSet,
  precompileAddresses,
  precompileAt,
  precompileLibraries,
  preparePrecompiles,
} from './precompiles/index.ts'
export type { AccountAccess, AccountChange } from './stateAccess.ts'
export { ACCOUNT_STATE_BYTES, DELEGATION_STATE_BYTES, stateByteGas } from './stateGas.ts'
export { STATUS_TEXTS, Status } from './status.ts'
export type { AccountState, AccountWrite, SlotWrite, WriteSet } from './writeSet.ts'
