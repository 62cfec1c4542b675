/** What the accounts that a transaction deletes would have added to the state (EIP-8037). */
import {
  A_DESTRUCT_IN,
  A_STORAGE_GENERATION,
  account,
  destructedAt,
  destructedLength,
} from './accounts'
import { C_SIZE, codeOf } from './codes'
import { ENTRY_BYTES, J_SLOT, journalBase, journalLength } from './journal'
import { S_ACCOUNT, S_COUNTED_IN, S_GENERATION, S_VALUE, slotRecord } from './slots'
import { epoch } from './state'
import { ACCOUNT_STATE_BYTES, SLOT_STATE_BYTES } from './stateGas'
import { isZero } from './word'

/**
 * State bytes of the marked accounts, their code and their slots that are not 0; all made by this transaction. To be
 * asked once, before the accounts are deleted.
 */
export function destructedStateBytes(): f64 {
  const count = destructedLength()
  if (count == 0) return 0
  let bytes = i64(count) * ACCOUNT_STATE_BYTES
  for (let at: u32 = 0; at < count; at++) bytes += i64(load<u32>(codeOf(destructedAt(at)), C_SIZE))
  const end = journalBase() + <usize>journalLength() * ENTRY_BYTES
  for (let entry = journalBase(); entry < end; entry += ENTRY_BYTES) {
    if (load<u32>(entry) == J_SLOT && isNewSlot(load<u32>(entry, 4))) bytes += SLOT_STATE_BYTES
  }
  return f64(bytes)
}

/** True where a marked account holds the slot, the first time it is asked. */
function isNewSlot(index: u32): bool {
  const record = slotRecord(index)
  if (load<u32>(record, S_COUNTED_IN) == epoch) return false
  store<u32>(record, epoch, S_COUNTED_IN)
  const owner = account(load<u32>(record, S_ACCOUNT))
  return (
    load<u32>(owner, A_DESTRUCT_IN) == epoch &&
    load<u32>(record, S_GENERATION) == load<u32>(owner, A_STORAGE_GENERATION) &&
    !isZero(record + S_VALUE)
  )
}
