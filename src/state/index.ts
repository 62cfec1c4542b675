export {
  type Account,
  accountHasCode,
  accountIsEmpty,
  accountsEqual,
  EMPTY_ACCOUNT,
} from './account.ts'
export {
  type AccountChange,
  type CodeChange,
  EMPTY_DELTA,
  type SlotChange,
  type StateDelta,
  sealDelta,
} from './delta.ts'
export {
  decodeFlatAccount,
  decodeFlatSlot,
  encodeFlatAccount,
  encodeFlatSlot,
  FlatState,
  type FlatStateErrorCode,
} from './flatState.ts'
export { addressHashOf, type HashKey, hashKey, hashOfKey, slotHashOf } from './key.ts'
export { type PendingAccount, PendingState } from './pendingState.ts'
export type { StateView, StateViewErrorCode } from './view.ts'
export { WorldState } from './worldState.ts'
