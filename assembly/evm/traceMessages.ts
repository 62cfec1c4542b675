/** Events of messages for the host, where it traces. */
import { A_NONCE, account } from './accounts'
import { ADDRESS_WORD, addressWord, createdAddress, createdAddressSalted } from './addresses'
import { returnData, returnSize } from './callMemory'
import { hostTrace } from './host'
import { SCRATCH } from './layout'
import { lastLog } from './logs'
import { copyWord } from './word'

const CREATE: u32 = 0xf0
const CREATE2: u32 = 0xf5

// Events for the host: 1 enter, 2 exit, 3 self-destruct; `src/evm/traceReader.ts` reads the details at these addresses.
export const TRACE_ENTER: u32 = 1
export const TRACE_EXIT: u32 = 2
export const TRACE_DESTRUCT: u32 = 3
/** A log that no LOG has made; 4 to 11 are the interpreter's. */
export const TRACE_PROTOCOL_LOG: u32 = 12
const TRACE_RECORD: usize = SCRATCH + 832 // 96 bytes

/** {u32 kind, account of caller, of callee, of code; at 32 the value; at 64 the callee's or created address}. */
export function traceEnter(
  kind: u32,
  caller: u32,
  callee: u32,
  code: u32,
  value: usize,
  salt: usize,
  gas: i64,
  input: usize,
  size: u32,
): void {
  store<u32>(TRACE_RECORD, kind)
  store<u32>(TRACE_RECORD, caller, 4)
  store<u32>(TRACE_RECORD, callee, 8)
  store<u32>(TRACE_RECORD, code, 12)
  copyWord(TRACE_RECORD + 32, value)
  if (kind == CREATE) createdAddress(caller, load<u64>(account(caller), A_NONCE))
  else if (kind == CREATE2) createdAddressSalted(caller, salt, input, size)
  if (kind == CREATE || kind == CREATE2) copyWord(TRACE_RECORD + 64, ADDRESS_WORD)
  else addressWord(code, TRACE_RECORD + 64)
  hostTrace(TRACE_ENTER, u32(TRACE_RECORD), u32(input), size, gas)
}

export function traceExit(status: i32, used: i64): void {
  hostTrace(TRACE_EXIT, u32(status), u32(returnData()), returnSize, used)
}

export function traceDestruct(self: u32, heir: u32, balance: usize): void {
  hostTrace(TRACE_DESTRUCT, self, heir, u32(balance), 0)
}

/** The newest log, which the protocol itself has made. */
export function traceProtocolLog(): void {
  hostTrace(TRACE_PROTOCOL_LOG, u32(lastLog), 0, 0, 0)
}
