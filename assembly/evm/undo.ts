/** Undoes one journal entry. */
import {
  A_BALANCE,
  A_CODE,
  A_CODE_HASH,
  A_CREATED_IN,
  A_DESTRUCT_IN,
  A_FLAGS,
  A_NONCE,
  A_TOUCHED_IN,
  A_WARM_IN,
  account,
  popDestructed,
  popTouched,
} from './accounts'
import { hostTrimmedUndo } from './host'
import {
  J_BALANCE,
  J_CODE,
  J_CREATED,
  J_DESTRUCT,
  J_FLAGS,
  J_LOG,
  J_NONCE,
  J_REFUND,
  J_SLOT,
  J_TOUCH,
  J_TRANSIENT,
  J_TRIMMED,
  J_WARM_ACCOUNT,
  J_WARM_SLOT,
} from './journal'
import { truncateLogs } from './logs'
import { S_VALUE, S_WARM_IN, slotRecord } from './slots'
import { setRefund } from './state'
import { FAULT_BUG, fail } from './status'
import { transientRecord } from './transient'
import { copyWord } from './word'

export function undo(kind: u32, record: u32, extra: u64, previous: usize): void {
  switch (kind) {
    case J_BALANCE:
      copyWord(account(record) + A_BALANCE, previous)
      break
    case J_NONCE:
      store<u64>(account(record), extra, A_NONCE)
      break
    case J_CODE:
      copyWord(account(record) + A_CODE_HASH, previous)
      store<u32>(account(record), u32(extra), A_CODE)
      break
    case J_SLOT:
      copyWord(slotRecord(record) + S_VALUE, previous)
      break
    case J_TRANSIENT:
      copyWord(transientRecord(record) + 32, previous)
      break
    case J_WARM_ACCOUNT:
      store<u32>(account(record), 0, A_WARM_IN)
      break
    case J_WARM_SLOT:
      store<u32>(slotRecord(record), 0, S_WARM_IN)
      break
    case J_TOUCH:
      store<u32>(account(record), 0, A_TOUCHED_IN)
      popTouched()
      break
    case J_FLAGS:
      store<u32>(account(record), u32(extra), A_FLAGS)
      break
    case J_CREATED:
      store<u32>(account(record), u32(extra), A_CREATED_IN)
      break
    case J_DESTRUCT:
      store<u32>(account(record), 0, A_DESTRUCT_IN)
      popDestructed()
      break
    case J_LOG:
      truncateLogs(u32(extra))
      break
    case J_REFUND:
      setRefund(i64(extra))
      break
    case J_TRIMMED:
      hostTrimmedUndo(record)
      break
    default:
      fail(FAULT_BUG)
  }
}
